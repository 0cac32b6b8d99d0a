//! One parse in bounded time, whatever the bytes.

use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, ParseState, Parser, Tree};
use tslp_core::extract::ExtractError;

use crate::language::Language;

/// Progress calls (one per hundred parser operations) granted to any text.
const CALLS_BASE: usize = 2_000;

/// Source bytes that earn one more progress call. Ordinary code needs one call for 200 to 400 bytes; text full of
/// errors needs up to twenty times as many, and beyond that the parser is no longer getting anywhere.
const BYTES_PER_CALL: usize = 12;

/// Parses `text`; the budget counts parser operations, never time, so that the answer is the same on every machine.
///
/// # Errors
/// [`ExtractError::Unparsable`] when the budget is spent.
pub(crate) fn bounded(language: &dyn Language, text: &[u8]) -> Result<Tree, ExtractError> {
    let mut parser = Parser::new();
    parser
        .set_language(&language.grammar())
        .map_err(|_| ExtractError::Unparsable)?;
    let mut calls_left = CALLS_BASE + text.len() / BYTES_PER_CALL;
    let mut progress = |_: &ParseState| {
        calls_left = calls_left.saturating_sub(1);
        if calls_left == 0 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    parser
        .parse_with_options(
            &mut |at, _| text.get(at..).unwrap_or_default(),
            None,
            Some(options),
        )
        .ok_or(ExtractError::Unparsable)
}
