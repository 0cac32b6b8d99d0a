//! A text read with one tree: parsed, repaired, walked, and again without its torn blocks.

use std::collections::HashSet;

use tslp_core::extract::{ExtractError, Extraction};
use tslp_core::limits::PARSE_BYTES_MAX;

use crate::language::Language;
use crate::readable::Readable;
use crate::{elided, parse, repair, torn, walk};

/// Most rounds of searching for torn blocks: blanking one may uncover another.
const TORN_ROUNDS_MAX: usize = 3;

/// Reads a source with one tree. `firsts` are the symbols that earlier pieces of the text define.
pub(crate) fn read(
    language: &'static Language,
    source: &[u8],
    mut readable: Readable,
    firsts: &mut HashSet<String>,
) -> Result<Extraction, ExtractError> {
    if source.len() > PARSE_BYTES_MAX {
        return Err(ExtractError::TooLarge);
    }
    // A text that is too dense is refused before the parse, which is where the memory would go.
    parse::check_density(source, &readable)?;
    let mut tree = parse::parse_bounded(language, readable.text(source))?;
    let elided = elided::elided_lines(readable.text(source), &tree, &language.ready().kinds);
    if !elided.is_empty() {
        readable.blank_elided(source, elided);
        tree = parse::parse_bounded(language, readable.text(source))?;
    }
    tree = repair::repaired(language, source, &mut readable, tree)?;
    let mut known = firsts.clone();
    let mut read = walk::walk(language, &tree, source, &readable, &mut known);
    debug_assert_eq!(
        readable.text(source).len(),
        source.len(),
        "blanking keeps every byte's place"
    );
    for _ in 0..TORN_ROUNDS_MAX {
        if !tree.root_node().has_error() || read.errors as usize > repair::ERRORS_MAX {
            break;
        }
        let text = readable.text(source);
        let torn = torn::torn_blocks(language, source, text, &tree);
        if torn.is_empty() {
            break;
        }
        // One tree at a time: each takes many times the memory of its text.
        drop(tree);
        torn::pass_over(&mut readable, source, &torn);
        tree = parse::parse_bounded(language, readable.text(source))?;
        // The repair of macros may have depended on code that is blanked now, so it starts again from the source.
        tree = repair::repaired(language, source, &mut readable, tree)?;
        let mut known_now = firsts.clone();
        let mut mended = walk::walk(language, &tree, source, &readable, &mut known_now);
        // Blanking costs at most the torn blocks' own definitions; it must gain at least as many elsewhere.
        if count_sound(&mended) + torn.len() < count_sound(&read) {
            break;
        }
        // Placeholders inside torn blocks still count, and so does that the text breaks off.
        mended.elisions.append(&mut read.elisions);
        mended.elisions.sort_unstable();
        mended.elisions.dedup();
        mended.breaks_off |= read.breaks_off;
        (read, known) = (mended, known_now);
    }
    *firsts = known;
    Ok(read)
}

/// The number of definitions without errors.
fn count_sound(read: &Extraction) -> usize {
    let sound = read.definitions.iter().filter(|it| !it.damaged);
    sound.count()
}
