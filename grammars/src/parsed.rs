//! What a thread has parsed, for as long as it works on one thing.

use std::cell::RefCell;
use std::collections::HashMap;

use tslp_core::extract::{ExtractError, Extraction, LanguageId};
use tslp_core::hash::ArtifactHash;

/// What parsed texts hold, by language and content: nothing else decides it.
pub type ParsedTexts = HashMap<(LanguageId, ArtifactHash), Result<Extraction, ExtractError>>;

thread_local! {
    static PARSED: RefCell<Option<ParsedTexts>> = const { RefCell::new(None) };
}

/// Does `work`, for which no text is parsed twice, nor one that `parsed` holds. Returns what is known then: what was added was parsed
/// here. Not to be called by `work`.
pub fn remembering<T>(parsed: ParsedTexts, work: impl FnOnce() -> T) -> (T, ParsedTexts) {
    PARSED.set(Some(parsed));
    let done = work();
    (done, PARSED.take().unwrap_or_default())
}

/// What a text holds, by `parse` if this thread doesn't remember it.
pub(crate) fn once(
    language: LanguageId,
    source: &[u8],
    parse: impl FnOnce() -> Result<Extraction, ExtractError>,
) -> Result<Extraction, ExtractError> {
    // Nothing that parses asks here again.
    let Some(mut parsed) = PARSED.take() else {
        return parse();
    };
    let of_text = parsed.entry((language, ArtifactHash::of(source)));
    let found = of_text.or_insert_with(parse).clone();
    PARSED.set(Some(parsed));
    found
}
