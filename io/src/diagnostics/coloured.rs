//! Code in the colours of its grammar, for the page.

use tslp_core::path::RelPath;

/// The code in pieces, each with its colour or none.
pub(super) fn coloured(path: &RelPath, code: &str) -> Vec<(&'static str, String)> {
    let mut pieces = Vec::new();
    let mut at = 0;
    for (range, colour) in tslp_grammars::colours(path, code.as_bytes()) {
        let (Some(plain), Some(text)) = (code.get(at..range.start), code.get(range.clone())) else {
            continue;
        };
        if !plain.is_empty() {
            pieces.push(("", plain.to_owned()));
        }
        pieces.push((colour, text.to_owned()));
        at = range.end;
    }
    pieces.push(("", code[at..].to_owned()));
    pieces
}
