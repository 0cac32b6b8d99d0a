//! A text in one language, whatever its length.

use std::collections::HashSet;

use tslp_core::extract::{ExtractError, Extraction};
use tslp_core::limits::PARSE_BYTES_MAX;

use crate::language::Language;
use crate::readable::Readable;
use crate::{one_tree, pieces};

/// Definitions of a text in one language, in pieces if it is too much for one tree.
pub(crate) fn extract_as(
    language: &'static Language,
    source: &[u8],
) -> Result<Extraction, ExtractError> {
    if source.len() > PARSE_BYTES_MAX {
        pieces::extract(language, source)
    } else {
        extract_from(language, source, (language.readable)(source))
    }
}

/// As [`extract_as`], where the source was made readable already.
pub(crate) fn extract_from(
    language: &'static Language,
    source: &[u8],
    readable: Readable,
) -> Result<Extraction, ExtractError> {
    match one_tree::read(language, source, readable, &mut HashSet::new()) {
        Err(ExtractError::TooLarge | ExtractError::TooDense) => pieces::extract(language, source),
        read => read,
    }
}
