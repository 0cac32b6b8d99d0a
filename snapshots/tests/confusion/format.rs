//! The formats in which a model gives an edit: from an edit to the text of a reply.

mod diff;

use tslp_snapshots::script::Ending;

use crate::case::Case;
use crate::edit::{Edit, ShownCode};
use crate::lexer::tokens;

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// The function by itself in a fence that names its file.
    Function,
    /// All that was shown in a fence that names its file.
    WholeText,
    /// aider's SEARCH/REPLACE.
    SearchReplace,
    /// A unified diff in a fence.
    UnifiedDiff,
    /// Codex's `apply_patch` in a fence.
    ApplyPatch,
}

impl Format {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::WholeText => "whole text",
            Self::SearchReplace => "SEARCH/REPLACE",
            Self::UnifiedDiff => "unified diff",
            Self::ApplyPatch => "apply_patch",
        }
    }
}

/// What the model says, and how its reply ends.
pub(crate) struct RenderedReply {
    pub(crate) text: String,
    pub(crate) ending: Ending,
    /// The code in the reply, if it is plain code.
    pub(crate) code: Option<String>,
}

/// An edit in a format, where the format can say it.
pub(crate) fn rendered(case: &Case, edit: &Edit, format: Format) -> Option<RenderedReply> {
    let path = edit.path.as_deref().unwrap_or(&case.path);
    let language = case.tag();
    let fence = |info: String, code: String| in_fence(&info, code, edit);
    let named = format!("{language}:{path}");
    match format {
        Format::Function => Some(fence(named, cut(alone(case, edit)?, edit))),
        Format::WholeText if edit.shows == ShownCode::FunctionAlone => None,
        // A whole text of which one function is seen is that function.
        Format::WholeText if case.neighbour.is_none() => None,
        Format::WholeText => Some(fence(named, cut(edit.text.clone(), edit))),
        _ if edit.shows == ShownCode::FunctionAlone => None,
        Format::SearchReplace => {
            let block = diff::search_replace(&case.shown, &edit.text);
            let mut rendered = fence(language.to_owned(), cut_change(block, edit));
            rendered.text = rendered.text.replacen("```", &format!("{path}\n```"), 1);
            Some(without_code(rendered))
        }
        Format::UnifiedDiff => {
            let block = diff::unified(path, &case.shown, &edit.text);
            Some(without_code(fence(
                "diff".to_owned(),
                cut_change(block, edit),
            )))
        }
        Format::ApplyPatch => {
            let block = diff::apply_patch(path, &case.shown, &edit.text);
            Some(without_code(fence(String::new(), cut_change(block, edit))))
        }
    }
}

fn without_code(rendered: RenderedReply) -> RenderedReply {
    RenderedReply {
        code: None,
        ..rendered
    }
}

/// Checks that what is said of the difference between two texts leads from the old one to the new one.
///
/// # Panics
/// When it doesn't.
pub(crate) fn check(path: &str, old: &str, new: &str) {
    let block = diff::search_replace(old, new);
    let parts = block
        .strip_prefix("<<<<<<< SEARCH\n")
        .and_then(|block| block.strip_suffix(">>>>>>> REPLACE\n"))
        .and_then(|block| block.split_once("=======\n"));
    let (search, replace) = parts.unwrap_or_else(|| panic!("no block: {block}"));
    assert_eq!(old.matches(search).count(), 1, "{path}: {block}");
    assert_eq!(old.replacen(search, replace, 1), new, "{path}: {block}");
    for patch in [
        diff::unified(path, old, new),
        diff::apply_patch(path, old, new),
    ] {
        let chunk = patch
            .split_once("\n@@")
            .and_then(|(_, rest)| rest.split_once('\n'));
        let (_, lines) = chunk.unwrap_or_else(|| panic!("no chunk: {patch}"));
        let lines = lines.strip_suffix("*** End Patch\n").unwrap_or(lines);
        let side = |mark: char| -> String {
            let own = lines
                .split_inclusive('\n')
                .filter(|line| line.starts_with([' ', mark]));
            own.map(|line| &line[1..]).collect()
        };
        assert_eq!(
            (side('-'), side('+')),
            (search.to_owned(), replace.to_owned()),
            "{path}: {patch}"
        );
    }
}

/// The function as a model gives it by itself: in its namespaces, and never out of its class.
fn alone(case: &Case, edit: &Edit) -> Option<String> {
    if edit.shows == ShownCode::WholeText {
        return None;
    }
    if edit.bare {
        return Some(edit.function.clone());
    }
    if case.function.class.is_some() {
        return None;
    }
    let mut code = String::new();
    for namespace in &case.function.namespaces {
        code.push_str(&format!("namespace {namespace} {{\n").replace("  ", " "));
    }
    code.push_str(&edit.function);
    for _ in &case.function.namespaces {
        code.push_str("}\n");
    }
    Some(code)
}

fn in_fence(info: &str, mut code: String, edit: &Edit) -> RenderedReply {
    if !code.ends_with('\n') && edit.cut.is_none_or(|cut| cut.closed) {
        code.push('\n');
    }
    let close = if edit.cut.is_none_or(|cut| cut.closed) {
        "```\n"
    } else {
        ""
    };
    RenderedReply {
        text: format!("Here is the change.\n\n```{info}\n{code}{close}"),
        ending: match edit.cut {
            Some(cut) if cut.by_length => Ending::Cut,
            _ => Ending::Whole,
        },
        code: Some(code),
    }
}

/// Cuts code inside of the edited function's body, if the edit says so.
fn cut(code: String, edit: &Edit) -> String {
    let (Some(cut), Some(function)) = (edit.cut, code.find(&edit.function)) else {
        return code;
    };
    let own = function..function + edit.function.len();
    let inside = tokens(&code[own.clone()]);
    let mut depth = 0;
    let open = inside.iter().find(|token| {
        depth += i32::from(token.is(b'(')) - i32::from(token.is(b')'));
        depth == 0 && token.is(b'{')
    });
    let close = inside.iter().rev().find(|token| token.is(b'}'));
    let (Some(open), Some(close)) = (open, close) else {
        return code;
    };
    let (open, close) = (own.start + open.end, own.start + close.start);
    let at = open + (close - open) * cut.percent / 100;
    truncated(code, at, cut.at_line)
}

/// Cuts a block that says what changes, before the last line that changes something.
fn cut_change(block: String, edit: &Edit) -> String {
    let Some(cut) = edit.cut else {
        return block;
    };
    let is_change = |line: &str| line.starts_with(['+', '-', '>']);
    let mut last = 0;
    let mut at = 0;
    for line in block.split_inclusive('\n') {
        if is_change(line) {
            last = at;
        }
        at += line.len();
    }
    truncated(block, last * cut.percent / 100, cut.at_line)
}

fn truncated(mut code: String, mut at: usize, at_line: bool) -> String {
    if at_line {
        at = code[..at].rfind('\n').map_or(at, |line| line + 1);
    }
    while !code.is_char_boundary(at) {
        at -= 1;
    }
    code.truncate(at);
    code
}
