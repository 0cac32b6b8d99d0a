//! What an edit that doesn't match must have meant: the lines of the file that are most like the text that it replaces, or the
//! definitions that it names (spec §12).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use tslp_projections::state::StateView;

use crate::prompt::hydrate;
use crate::wording::notice::MEANT_SHOWN;
use tslp_core::capture;
use tslp_core::capture::vocabulary::TEXT_NOT_FOUND_REMARKS;
use tslp_core::edit::{self, BaseTexts, Edit, EditError, Hunk};
use tslp_core::entity::EntityId;
use tslp_core::event::{Event, NoticeIssued};
use tslp_core::hash::quick_hash;
use tslp_core::ids::{EpisodeId, SessionId};
use tslp_core::known_lines::identifiers;
use tslp_core::message::Role;
use tslp_core::name_hash::search_word;
use tslp_core::path::RelPath;
use tslp_core::policy::{Policy, Repair};
use tslp_core::reason::Reason;
use tslp_core::redact;
use tslp_core::request::Request;
use tslp_core::slice::Span;

/// Comparisons of lines that one notice may cost.
const COMPARISONS_MAX: usize = 1 << 20;

/// Lines that are shown; of a longer place only its numbers are told.
const LINES_SHOWN_MAX: usize = 60;

/// Places that are told; of more nobody could say which is meant.
const PLACES_MAX: usize = 3;

/// A place: its first and last lines, from 1, and its text.
type Place = (usize, usize, String);

/// The lines that a reply's edits of a file must have meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeantLines {
    /// What is said of each text that is replaced and isn't there, and its places, the most similar first.
    missing: Vec<(String, Vec<Place>)>,
}

/// Of the client's tool results that say that an edit's old text isn't in the file: notices with what that file has instead.
#[must_use]
pub fn unmatched_edits(
    view: &StateView<'_>,
    policy: &Policy,
    request: &Request,
    ids: (EpisodeId, SessionId),
) -> Vec<Event> {
    let newest = request.messages.iter().rev();
    let mut results = newest
        .take_while(|message| message.role != Role::Assistant)
        .filter(|message| message.role == Role::Tool)
        .flat_map(|message| message.texts());
    let says_so = |text: &str| TEXT_NOT_FOUND_REMARKS.iter().any(|it| text.contains(it));
    if policy.repair == Repair::Off || !results.any(says_so) {
        return Vec::new();
    }
    let refused = view.state.sessions().refused_files(ids.1).into_iter();
    let notices = refused
        .map(|path| NoticeIssued::new(ids, Reason::EditTextNotFound, Some(EntityId::file(path))))
        .filter(|notice| MeantLines::of_notice(view, notice).is_some());
    notices.map(Event::NoticeIssued).collect()
}

impl MeantLines {
    /// What the edit that the notice is about must have meant; `None` if it matches, the file isn't known whole and as disk holds
    /// it, or nothing in it is like the text.
    #[must_use]
    pub fn of_notice(view: &StateView<'_>, notice: &NoticeIssued) -> Option<Self> {
        let file = notice.entity.as_ref();
        let file =
            file.filter(|it| notice.reason == Reason::EditTextNotFound && it.symbol.is_none())?;
        let current = view.current_version(file)?;
        let texts = whole_texts(view, file)?;
        let (truth, former) = texts.split_first()?;
        // What the client wrote of the others has ended it.
        let mut proposals = view.ended_proposals(file);
        proposals.extend(view.proposals_in(notice.session));
        proposals.retain(|it| it.entity == *file && it.session == notice.session);
        let newest = proposals.into_iter().max_by_key(|it| it.version)?;
        // The notice may be about code of the user's, while an older edit of the model's waits.
        let carried_out = view.state.sessions().reply_carried_out(notice.session);
        if ![Some(notice.episode), carried_out].contains(&Some(newest.episode)) {
            return None;
        }
        let written = view.text(newest.artifact)?;
        // What matched is in the file by now, and was replaced in the text before.
        let is_made = current.version > newest.version;
        let before = former.first().filter(|_| is_made).unwrap_or(truth);
        let (missing, is_only) = unmatched_texts(&written, before.clone());
        let missing = missing.into_iter().map(|old| {
            let mut places = similar_places(&old, truth);
            if places.is_empty() {
                places = named_places(view, &file.path, &old, truth);
            }
            let old = old.trim_matches('\n');
            let cause = match former.iter().any(|text| text.contains(old)) {
                true => "isn't in the file any more: it is of an earlier version",
                false => "is in no version of the file that is known",
            };
            let first = old.lines().next().unwrap_or_default().trim();
            let edit = match is_only {
                true => format!("The last edit of {file}"),
                false => format!("The edit of {file} at `{first}`"),
            };
            let said = format!("{edit} was not applied: the text that it replaces {cause}.");
            (said, places)
        });
        let missing: Vec<_> = missing.filter(|(_, places)| !places.is_empty()).collect();
        (!missing.is_empty()).then_some(Self { missing })
    }

    /// What the model is told.
    #[must_use]
    pub fn text(&self, file: &EntityId) -> String {
        let mut text = String::new();
        for (said, places) in &self.missing {
            text.push_str(if text.is_empty() { "" } else { "\n" });
            text.push_str(said);
            if places.len() > 1 {
                text.push_str(" Several places are like it.");
            }
            for (first, last, lines) in places {
                let is_short = last - first < LINES_SHOWN_MAX;
                let shown = if is_short { MEANT_SHOWN } else { "." };
                text.push_str(&format!("\n{file}:{first}-{last}{shown}"));
                if is_short {
                    text.push_str(lines);
                }
            }
        }
        text
    }
}

/// The definitions that `old` names in the first of its lines that names any: of a text that is like no line, since the model wrote it
/// from memory, that is what it knew. None if there are more than [`PLACES_MAX`].
fn named_places(view: &StateView<'_>, path: &RelPath, old: &str, truth: &str) -> Vec<Place> {
    let symbols = view.state.state_map().entities_in(path);
    let places_in = |line: &str| {
        let is_named = |entity: &&EntityId| {
            let name = search_word(entity);
            name.is_some_and(|name| identifiers(line).any(|word| &line[word] == name))
        };
        let places = symbols.iter().filter(is_named).filter_map(|entity| {
            let current = view.current_version(entity)?;
            let text = text_of(view, current.artifact, &current.spans)?;
            let first = truth[..truth.find(&text)?].matches('\n').count() + 1;
            Some((first, first + text.matches('\n').count(), text))
        });
        places.collect::<Vec<Place>>()
    };
    let mut named = old.lines().map(places_in);
    let places = named.find(|places| !places.is_empty());
    places
        .filter(|places| places.len() <= PLACES_MAX)
        .unwrap_or_default()
}

/// The text of a file that is known whole and as disk holds it, then those that it had before, the latest first.
pub(crate) fn whole_texts(view: &StateView<'_>, file: &EntityId) -> Option<Vec<String>> {
    let current = view.current_version(file)?;
    let known = hydrate::divergence_within(view, file).is_none();
    let mut texts = Vec::from([text_of(view, current.artifact, &current.spans).filter(|_| known)?]);
    let former = view.former_versions(file).into_iter().rev();
    texts.extend(former.filter_map(|it| text_of(view, it.artifact, &it.spans)));
    Some(texts)
}

/// A version's text, unless a credential in it was redacted: it isn't what the file holds then.
fn text_of(
    view: &StateView<'_>,
    artifact: tslp_core::hash::ArtifactHash,
    spans: &[Span],
) -> Option<String> {
    let text = String::from_utf8(view.artifact_slices(artifact, spans)?).ok()?;
    (!text.contains(redact::MARKER)).then_some(text)
}

/// The texts that a reply's edits replace and that aren't there, each edit made on the result of those before, and whether there is but
/// one edit. `written` is the edits' own text: calls' arguments, or blocks.
fn unmatched_texts(written: &str, mut base: String) -> (Vec<String>, bool) {
    let mut blocks = Vec::new();
    let mut call = String::new();
    for line in written.lines().filter(|_| written.starts_with('{')) {
        call.push_str(line);
        call.push('\n');
        let found = capture::tool_call("edit", &call);
        if found.iter().any(|block| matches!(block.edit, Some(Ok(_)))) {
            blocks.extend(found);
            call.clear();
        }
    }
    if blocks.is_empty() {
        blocks = capture::blocks(written);
    }
    let edits = blocks.into_iter().filter_map(|block| block.edit?.ok());
    let hunks = edits.flat_map(|edit| match edit {
        Edit::Change(hunks) | Edit::Move { hunks, .. } => hunks,
        Edit::Create(_) | Edit::Delete => Vec::new(),
    });
    let hunks: Vec<Hunk> = hunks.collect();
    let mut missing = Vec::new();
    for hunk in &hunks {
        match (
            edit::apply(core::slice::from_ref(hunk), BaseTexts::Whole(&base)),
            hunk,
        ) {
            (Ok(edited), _) => base = edited.into_iter().next().flatten().unwrap_or(base),
            (Err(EditError::NotFound), Hunk::Replace { old, .. }) => missing.push(old.clone()),
            (Err(_), _) => {}
        }
    }
    missing.truncate(2 * PLACES_MAX);
    (missing, hunks.len() == 1)
}

/// A line with text: its number from 1, and its sorted tokens.
struct Line {
    number: usize,
    tokens: Vec<u64>,
}

fn lines_of(text: &str) -> Vec<Line> {
    let lines = text.lines().enumerate().map(|(at, line)| {
        let mut tokens = Vec::new();
        let mut end = 0;
        let signs = |between: &str, tokens: &mut Vec<u64>| {
            let signs = between.bytes().filter(|byte| !byte.is_ascii_whitespace());
            tokens.extend(signs.map(|byte| quick_hash(&[byte])));
        };
        for word in identifiers(line) {
            signs(&line[end..word.start], &mut tokens);
            tokens.push(quick_hash(&line.as_bytes()[word.clone()]));
            end = word.end;
        }
        signs(&line[end..], &mut tokens);
        tokens.sort_unstable();
        Line {
            number: at + 1,
            tokens,
        }
    });
    lines.filter(|line| !line.tokens.is_empty()).collect()
}

/// How much two lines agree, in half tokens: all tokens of equal ones, nothing where a third differs.
fn agreement(one: &[u64], other: &[u64]) -> i64 {
    let (mut left, mut right, mut common) = (0, 0, 0);
    while left < one.len() && right < other.len() {
        match one[left].cmp(&other[right]) {
            core::cmp::Ordering::Less => left += 1,
            core::cmp::Ordering::Greater => right += 1,
            core::cmp::Ordering::Equal => (left, right, common) = (left + 1, right + 1, common + 1),
        }
    }
    weight(common * 3) * 2 - (weight(one.len()) + weight(other.len())) * 2
}

fn weight(tokens: usize) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX / 8)
}

/// The places of `truth` that are most like `old`, by the best local alignment of their lines; those that are nearly as good
/// count, too. None if there are more than [`PLACES_MAX`], or two fifths of the text are nowhere together.
fn similar_places(old: &str, truth: &str) -> Vec<Place> {
    let (old, lines) = (lines_of(old), lines_of(truth));
    if old.len().saturating_mul(lines.len()) > COMPARISONS_MAX {
        return Vec::new();
    }
    // Of each line of the truth, the best alignment that ends with it: its score, and the line it begins with.
    let mut ends: Vec<(i64, usize)> = (0..lines.len()).map(|at| (0, at)).collect();
    let mut above = ends.clone();
    for wanted in &old {
        let skipped = weight(wanted.tokens.len());
        let mut row: Vec<(i64, usize)> = Vec::with_capacity(lines.len());
        for (at, line) in lines.iter().enumerate() {
            let (score, from) = at.checked_sub(1).map_or((0, at), |at| above[at]);
            let from = if score == 0 { at } else { from };
            let here = (score + agreement(&wanted.tokens, &line.tokens), from);
            let without_wanted = (above[at].0 - skipped, above[at].1);
            let before = at.checked_sub(1).map_or((0, at), |at| row[at]);
            let without_line = (before.0 - weight(line.tokens.len()), before.1);
            let best = [here, without_wanted, without_line];
            let best = best.into_iter().max_by_key(|it| it.0).unwrap_or((0, at));
            let best = if best.0 <= 0 { (0, at) } else { best };
            ends[at] = ends[at].max(best);
            row.push(best);
        }
        above = row;
    }
    let whole: i64 = old.iter().map(|line| weight(line.tokens.len()) * 2).sum();
    let mut found: Vec<(i64, usize, usize)> = ends
        .iter()
        .enumerate()
        .map(|(at, (score, from))| (*score, *from, at))
        .collect();
    found.sort_by_key(|(score, from, at)| (core::cmp::Reverse(*score), *from, *at));
    let best = found.first().map_or(0, |(score, ..)| *score);
    let is_near = |score: i64| score > 0 && score * 5 >= whole * 2 && score * 10 >= best * 9;
    let mut places: Vec<(usize, usize)> = Vec::new();
    for (_, from, to) in found.into_iter().take_while(|(score, ..)| is_near(*score)) {
        if places
            .iter()
            .all(|(first, last)| to < *first || from > *last)
        {
            places.push((from, to));
        }
    }
    if places.len() > PLACES_MAX {
        return Vec::new();
    }
    let text: Vec<&str> = truth.lines().collect();
    let shown = places.into_iter().map(|(from, to)| {
        let (first, last) = (lines[from].number, lines[to].number);
        (first, last, text[first - 1..last].join("\n"))
    });
    shown.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "int add(int a, int b)\n{\n    return a + b;\n}\n\nint sub(int a, int b)\n{\n    int result = a - b;\n\n    log(result);\n    return result;\n}\n";

    /// The places that an old text must have meant, as numbers of lines.
    fn check(old: &str, expected: &[(usize, usize)]) {
        let places = similar_places(old, FILE).into_iter();
        let places: Vec<_> = places.map(|(first, last, _)| (first, last)).collect();
        assert_eq!(places, expected, "{old}");
    }

    #[test]
    fn lines_found() {
        check(
            "int sub(int a, int b) {\n    int result = a - b;\n    return result;\n}",
            &[(6, 12)],
        );
        check("\tint result  =  a-b;", &[(8, 8)]);
        check(
            "int result = a - b;\nlog(the_result);\nreturn result;",
            &[(8, 11)],
        );
        check("return a + b + c;", &[(3, 3)]);
        check("{\n}", &[]);
        check("static void *allocate(size_t size) {", &[]);
        check("", &[]);
        check("é", &[]);
    }

    /// Up to three equally similar places are all listed; more than that, none.
    #[test]
    fn equal_places() {
        let file = |times: usize| "    log(result);\n    other();\n".repeat(times);
        let places = |times| similar_places("log(results);", &file(times)).len();
        assert_eq!((places(2), places(3), places(4)), (2, 3, 0));
    }

    /// Random near-misses of published sources, which stay as they are: another layout, a line left out, a name changed. What is told is
    /// where the text was, or is at least as like it.
    #[test]
    fn near_misses() {
        let set = |name: &str| std::env::var(name).ok();
        let kept = "/../../snapshots/tests/confusion/functions";
        let kept = || [env!("CARGO_MANIFEST_DIR"), kept].concat();
        let folder = set("TSLP_NEAR_MISS_SOURCES").unwrap_or_else(kept);
        let count = set("TSLP_NEAR_MISSES").map_or(300, |it| it.parse().unwrap());
        let mut folders = Vec::from([std::path::PathBuf::from(folder)]);
        let mut files: Vec<String> = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|it| it != "md") {
                    files.extend(std::fs::read_to_string(path).ok());
                }
            }
        }
        files.sort();
        files.retain(|text| (40..4000).contains(&text.lines().count()));
        let mut state = 44_u64;
        let mut random = |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            usize::try_from(state >> 33).unwrap() % below
        };
        let (mut told, mut wrong) = (0, Vec::new());
        for _ in 0..count {
            let file = &files[random(files.len())];
            let lines: Vec<&str> = file.lines().collect();
            let length = 3 + random(10);
            let from = random(lines.len() - length);
            let mut old: Vec<String> = lines[from..from + length]
                .iter()
                .map(|it| it.trim().into())
                .collect();
            let at = random(old.len());
            match random(3) {
                0 => {}
                1 => drop(old.remove(at)),
                _ => old[at] = old[at].replacen(|c: char| c.is_alphabetic(), "zz", 1),
            }
            let old = old.join("\n");
            let places = similar_places(&old, file);
            told += usize::from(!places.is_empty());
            let is_right = |(first, last, _): &Place| *first <= from + length && from < *last;
            // A copy with exactly these lines is as right.
            let tokens = |text: &str| {
                lines_of(text)
                    .into_iter()
                    .map(|it| it.tokens)
                    .collect::<Vec<_>>()
            };
            let is_copy = |(.., text): &Place| tokens(text) == tokens(&old);
            if !places.is_empty() && !places.iter().any(|it| is_right(it) || is_copy(it)) {
                wrong.push((old, places));
            }
        }
        assert_eq!(wrong, [], "{} of {told} told of {count}", wrong.len());
        assert!(told * 10 > count * 8, "{told} of {count}");
    }
}
