//! An edit of one function, apart from the format that a model would give it in.

use crate::case::Case;

/// Whether an edit should become true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Worth {
    Faithful,
    Damaging,
}

/// Where a reply breaks off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BreakOff {
    /// Percent of the function's body that are still there.
    pub(crate) percent: usize,
    /// Whether it is at the end of a line, or anywhere.
    pub(crate) at_line: bool,
    /// Whether the fence is closed all the same.
    pub(crate) closed: bool,
    /// Whether the upstream says `finish_reason: length`.
    pub(crate) by_length: bool,
}

/// Which code a reply must hold to show the edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShownCode {
    /// The function is enough, and the whole text shows it as well.
    Either,
    /// Only the function by itself.
    FunctionAlone,
    /// Only the whole text.
    WholeText,
}

/// One edit.
#[derive(Clone, Debug)]
pub(crate) struct Edit {
    pub(crate) worth: Worth,
    /// The row of the table that it counts in.
    pub(crate) kind: &'static str,
    /// What exactly was done, where a kind has variants.
    pub(crate) variant: String,
    /// The function as the edit leaves it.
    pub(crate) function: String,
    /// The text that was shown, as the edit leaves it.
    pub(crate) text: String,
    /// The path that the reply gives, if it is another one.
    pub(crate) path: Option<String>,
    /// The function by itself, without the namespace around it.
    pub(crate) bare: bool,
    pub(crate) shows: ShownCode,
    pub(crate) cut: Option<BreakOff>,
}

impl Edit {
    /// An edit that changes nothing but the function.
    pub(crate) fn of_function(
        case: &Case,
        worth: Worth,
        kind: &'static str,
        variant: &str,
        function: String,
    ) -> Self {
        Self {
            worth,
            kind,
            variant: variant.to_owned(),
            text: case.shown_with(&function),
            function,
            path: None,
            bare: false,
            shows: ShownCode::Either,
            cut: None,
        }
    }

    /// An edit that only the whole text can show.
    pub(crate) fn of_text(case: &Case, kind: &'static str, variant: &str, text: String) -> Self {
        Self {
            text,
            shows: ShownCode::WholeText,
            ..Self::of_function(case, Worth::Damaging, kind, variant, String::new())
        }
    }
}
