//! Edits of functions in languages other than C and C++: what lines and their columns are enough for.

use std::ops::Range;

use crate::case::Case;
use crate::edit::{Edit, Worth};
use crate::faithful::checks;
use crate::margin::{self, Style, indent, is_remark};
use crate::statements::replaced;

/// Every faithful edit that the function has room for.
pub(crate) fn faithful(case: &Case, style: &Style) -> Vec<Edit> {
    let statements = statements(case, style);
    let Some(first) = statements.first() else {
        return Vec::new();
    };
    let function = &case.function;
    let column = " ".repeat(function.head - line_start(&case.shown, function.head));
    let inner = &case.shown[first.start..first.start + indent(&case.shown[first.start..])];
    let comment = style.comment;
    let name = format!("{}Limited", function.last_name());
    let line = |at: usize, line: String| Some(with(case, at..at, &line));
    let second = statements.get(1).unwrap_or(first).start;
    let all = [
        ("constant changed", constant_changed(case)),
        (
            "statement added",
            line(first.start, format!("{inner}{}\n", style.call)),
        ),
        (
            "comment added",
            line(
                second,
                format!("{inner}{comment} Checked again by the caller.\n"),
            ),
        ),
        (
            "comment above rewritten",
            line(
                function.start,
                format!("{column}{comment} Says what it does.\n"),
            ),
        ),
        ("parameter added", parameter_added(case, style)),
        (
            "helper added beside",
            line(function.start, style.helper.replace("NAME", &name)),
        ),
        (
            "blanks at line ends",
            Some(case.text().replace(")\n", ")  \n")),
        ),
        ("statement removed", removed(case, &statements)),
    ];
    let edit = |kind, function| Edit::of_function(case, Worth::Faithful, kind, "", function);
    let changed = all
        .into_iter()
        .filter_map(|(kind, text)| Some((kind, text?)));
    let changed = changed.filter(|(_, text)| *text != case.text());
    changed.map(|(kind, text)| edit(kind, text)).collect()
}

/// Damage within the function: lazy, emptied, collapsed.
pub(crate) fn damaging(case: &Case, style: &Style, placeholder: &str, edits: &mut Vec<Edit>) {
    let mut statements = statements(case, style);
    // Nothing is lost with a remark, nor with a line of a long string.
    statements.retain(|place| !case.shown[place.clone()].lines().all(is_remark));
    let (Some(first), Some(last)) = (statements.first(), statements.last()) else {
        return;
    };
    let body = first.start..last.end;
    let inner = &case.shown[first.start..first.start + indent(&case.shown[first.start..])];
    let said = placeholder.trim_start_matches(['/', '*', ' ']);
    let said = said.trim_end_matches(['/', '*', ' ']);
    let words = format!("{inner}{} {said}\n", style.comment);
    let mut add = |kind, variant: &str, function: String| {
        edits.push(Edit::of_function(
            case,
            Worth::Damaging,
            kind,
            variant,
            function,
        ));
    };
    if statements.len() > 1 {
        let middle = &statements[statements.len() / 2];
        add(
            "lazy at the head",
            placeholder,
            with(case, first.clone(), &words),
        );
        add(
            "lazy in the middle",
            placeholder,
            with(case, middle.clone(), &words),
        );
        add(
            "lazy at the tail",
            placeholder,
            with(case, middle.start..body.end, &words),
        );
    }
    let todo = format!("{inner}{} TODO: implement\n", style.comment);
    let stub = if style.has_braces {
        String::new()
    } else {
        format!("{inner}pass\n")
    };
    add("body emptied", "", with(case, body.clone(), &stub));
    add(
        "body replaced by TODO",
        "",
        with(case, body.clone(), &format!("{todo}{stub}")),
    );
    let whole = case.shown[case.function.head..case.function.close].len();
    let fits = |end: usize| (end - case.function.head) * 100 <= whole * 35;
    if let Some(kept) = statements.iter().rev().find(|it| fits(it.end)) {
        add("collapsed", "", with(case, kept.end..body.end, ""));
    }
}

/// The body's statements.
fn statements(case: &Case, style: &Style) -> Vec<Range<usize>> {
    let (text, function) = (&case.shown, &case.function);
    let end = if style.has_braces {
        line_start(text, function.close)
    } else {
        function.end(text)
    };
    margin::statements(text, function.open + 1..end)
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

/// The function with something else in one place.
fn with(case: &Case, place: Range<usize>, new: &str) -> String {
    let function = &case.function;
    let all = function.start..function.end(&case.shown);
    replaced(&case.shown, all, vec![(place, new.to_owned())])
}

/// A number between blanks or brackets, one more.
fn constant_changed(case: &Case) -> Option<String> {
    let body = case.function.open..case.function.close;
    let text = &case.shown[body.clone()];
    let is_digit = |c: char| c.is_ascii_digit();
    let start = text.match_indices(is_digit).map(|(at, _)| at).find(|at| {
        let stands_alone = text[..*at].ends_with([' ', '(', '[']);
        stands_alone
            && !text[*at..]
                .trim_start_matches(is_digit)
                .starts_with(['.', 'x', ':'])
    })?;
    let digits = text[start..].find(|c| !is_digit(c))?;
    let number: u32 = text[start..start + digits].parse().ok()?;
    let place = body.start + start..body.start + start + digits;
    Some(with(case, place, &(number + 1).to_string()))
}

fn parameter_added(case: &Case, style: &Style) -> Option<String> {
    let (open, close) = case.function.parameters;
    let inside = case.shown[open + 1..close].trim();
    let separator = if inside.is_empty() { "" } else { ", " };
    let is_first = open + 1..open + 1;
    (!inside.starts_with("this"))
        .then(|| with(case, is_first, &format!("{}{separator}", style.parameter)))
}

/// One of many statements, and not the last.
fn removed(case: &Case, statements: &[Range<usize>]) -> Option<String> {
    let place = statements
        .get(1..statements.len().checked_sub(1)?)?
        .iter()
        .find(|place| !checks(&case.shown[(*place).clone()]))?;
    let whole = case.function.close - case.function.open;
    let is_small = place.len() * 5 < whole;
    (statements.len() >= 4 && is_small).then(|| with(case, place.clone(), ""))
}
