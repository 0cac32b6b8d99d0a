//! Edits that would lose code if they became true: lazy, broken off, emptied, misnamed, misplaced.

use std::ops::Range;

use crate::by_lines;
use crate::case::Case;
use crate::edit::{Cut, Edit, Shows, Worth};
use crate::statements::{core, indent, pieces, replaced};

/// What models write for code that they leave out.
pub(crate) const PLACEHOLDERS: [&str; 36] = [
    "// ... existing code ...",
    "// ... rest of the function remains the same ...",
    "/* ... */",
    "// ...",
    "// (rest of the code unchanged)",
    "// rest of the implementation",
    "/* unchanged */",
    "// ... same as before ...",
    "// … existing code …",
    "...",
    "// [rest of function unchanged]",
    "// --- existing code ---",
    "// Existing logic here",
    "// Rest of the original code...",
    "// ... (other code remains unchanged)",
    "/* ... existing implementation ... */",
    "// Remaining code stays the same",
    "// The rest of the function remains unchanged",
    "// (same as original)",
    "// ... keep existing code ...",
    "// Code omitted for brevity",
    "// [...]",
    "/* [unchanged] */",
    "// Original code continues here",
    "// ... previous code ...",
    "// No changes below this line",
    "// snip",
    "// Your existing code here",
    "// ... continue with the rest ...",
    "// Previous implementation remains here",
    "// Keep all existing checks here",
    "// The rest of your function goes here",
    "/* Same code as above */",
    "// ... error handling as before ...",
    "// <existing code>",
    "// Implementation remains the same",
];

/// One function with the bodies of two.
pub(crate) const MERGED: &str = "two functions merged";

/// What models write for functions that they leave out.
pub(crate) const PLACEHOLDERS_OF_FUNCTIONS: [&str; 10] = [
    "// ... other functions unchanged ...",
    "// ... rest of the file ...",
    "/* ... */",
    "// ... existing code ...",
    "// (other functions remain the same)",
    "// Other functions remain unchanged",
    "// The rest of the file is unchanged",
    "...",
    "// Remaining functions as before",
    "/* existing functions here */",
];

const CUTS: [Cut; 5] = [
    Cut {
        percent: 60,
        at_line: true,
        closed: true,
        by_length: false,
    },
    Cut {
        percent: 90,
        at_line: false,
        closed: false,
        by_length: false,
    },
    Cut {
        percent: 35,
        at_line: true,
        closed: false,
        by_length: true,
    },
    Cut {
        percent: 80,
        at_line: false,
        closed: true,
        by_length: true,
    },
    Cut {
        percent: 100,
        at_line: true,
        closed: true,
        by_length: false,
    },
];

/// Every damaging edit that the function has room for.
pub(crate) fn edits(case: &Case) -> Vec<Edit> {
    let mut edits = Vec::new();
    match case.style().zip(case.dice("lazy").of(&PLACEHOLDERS)) {
        Some((style, words)) => by_lines::damaging(case, style, words, &mut edits),
        None => {
            lazy(case, &mut edits);
            hollow(case, &mut edits);
            collapsed(case, &mut edits);
        }
    }
    lazy_text(case, &mut edits);
    truncated(case, &mut edits);
    dropped(case, &mut edits);
    misnamed(case, &mut edits);
    doubled(case, &mut edits);
    misplaced(case, &mut edits);
    edits
}

fn damaging(case: &Case, kind: &'static str, variant: &str, function: String) -> Edit {
    Edit::of_function(case, Worth::Damaging, kind, variant, function)
}

fn with(case: &Case, places: Vec<(Range<usize>, String)>) -> String {
    let function = &case.function;
    replaced(
        &case.shown,
        function.start..function.end(&case.shown),
        places,
    )
}

/// A placeholder at the head, in the middle and at the tail of the body, for one statement or for more.
fn lazy(case: &Case, edits: &mut Vec<Edit>) {
    let text = &case.shown;
    let all = pieces(text, case.function.open, case.function.close);
    if all.len() < 2 {
        return;
    }
    let mut dice = case.dice("lazy");
    let left_out = 1 + dice.below((all.len() / 2).max(1));
    let middle = (all.len() - left_out) / 2;
    let places = [
        ("lazy at the head", 0),
        ("lazy in the middle", middle.max(1)),
        ("lazy at the tail", all.len() - left_out),
    ];
    for (kind, first) in places {
        let last = (first + left_out).min(all.len()) - 1;
        let Some(words) = dice.of(&PLACEHOLDERS).copied() else {
            return;
        };
        let start = core(text, &all[first]).start;
        let indent = indent(text, start);
        let place = all[first].start..all[last].end;
        // A line comment has its line to itself.
        let rest = text[place.end..].split('\n').next().unwrap_or_default();
        let end = if rest.trim().is_empty() { "" } else { "\n" };
        let new = format!("\n{indent}{words}{end}");
        edits.push(damaging(case, kind, words, with(case, vec![(place, new)])));
    }
}

/// A placeholder for a neighbour.
fn lazy_text(case: &Case, edits: &mut Vec<Edit>) {
    let (Some(neighbour), Some(words)) = (
        &case.neighbour,
        case.dice("lazy text").of(&PLACEHOLDERS_OF_FUNCTIONS),
    ) else {
        return;
    };
    let place = neighbour.start..neighbour.end(&case.shown);
    let all = 0..case.shown.len();
    let words = match case.style() {
        Some(style) if !style.has_braces => words
            .replace("//", "#")
            .replace("/*", "#")
            .replace("*/", ""),
        _ => (*words).to_owned(),
    };
    let words = words.as_str();
    let text = replaced(&case.shown, all, vec![(place, format!("{words}\n"))]);
    let kind = "lazy between functions";
    edits.push(Edit::of_text(case, kind, words, text));
}

fn truncated(case: &Case, edits: &mut Vec<Edit>) {
    let changed = crate::faithful::edits(case);
    let Some(changed) = changed.first() else {
        return;
    };
    // Where lines alone end a function, one that lacks its last ones is whole to every reader.
    let shows_end = case.style().is_none_or(|style| style.has_braces);
    let cuts = CUTS
        .iter()
        .filter(|cut| shows_end || cut.by_length || !cut.closed);
    for &cut in cuts {
        let kind = match (cut.by_length, cut.closed) {
            (true, true) => "truncated, length, fence closed",
            (true, false) => "truncated, length, fence open",
            (false, true) => "truncated, stop, fence closed",
            (false, false) => "truncated, stop, fence open",
        };
        let place = if cut.at_line { " % at a line" } else { " %" };
        edits.push(Edit {
            worth: Worth::Damaging,
            kind,
            variant: format!("{}{place}", cut.percent),
            cut: Some(cut),
            ..changed.clone()
        });
    }
}

/// Nothing where the body was, or what stands for it.
fn hollow(case: &Case, edits: &mut Vec<Edit>) {
    let function = &case.function;
    let body = function.open..function.close + 1;
    let variants = [
        ("body emptied", "{}"),
        ("body emptied", "{\n}"),
        ("body replaced by TODO", "{\n    // TODO: implement\n}"),
        ("body replaced by TODO", "{ /* TODO */ return 0; }"),
        (
            "body replaced by TODO",
            "{\n    // Implementation goes here\n}",
        ),
        ("signature only", ";"),
    ];
    let chosen = case.dice("hollow").below(2);
    for (index, (kind, new)) in variants.into_iter().enumerate() {
        if index % 2 != chosen && index < 2 || index == 3 && chosen == 0 {
            continue;
        }
        let hollow = with(case, vec![(body.clone(), new.to_owned())]);
        edits.push(damaging(case, kind, new, hollow));
    }
}

/// More than half of the body is gone.
fn collapsed(case: &Case, edits: &mut Vec<Edit>) {
    let text = &case.shown;
    let function = &case.function;
    let all = pieces(text, function.open, function.close);
    let code = |range: Range<usize>| {
        let tokens = crate::lexer::tokens(&text[range]);
        tokens.iter().filter(|token| token.is_code()).count()
    };
    let whole = code(function.head..function.close + 1);
    let head = code(function.head..function.open + 1) + 1;
    let mut kept = head;
    let Some(first) = all.iter().position(|piece| {
        kept += code(piece.clone());
        kept * 100 > whole * 42
    }) else {
        return;
    };
    if head * 100 > whole * 42 || first == 0 {
        return;
    }
    let place = all[first].start..function.close;
    let end = format!("\n{}", indent(text, function.head));
    let collapsed = with(case, vec![(place, end)]);
    edits.push(damaging(case, "collapsed", "", collapsed));
}

/// A function is gone from the whole text.
fn dropped(case: &Case, edits: &mut Vec<Edit>) {
    let text = case.shown_with("");
    edits.push(Edit::of_text(case, "function dropped", "itself", text));
    if let Some(neighbour) = &case.neighbour {
        let place = neighbour.start..neighbour.end(&case.shown);
        let text = replaced(
            &case.shown,
            0..case.shown.len(),
            vec![(place, String::new())],
        );
        edits.push(Edit::of_text(
            case,
            "function dropped",
            "its neighbour",
            text,
        ));
        let bodies = (case.function.open, neighbour.close);
        if bodies.0 < neighbour.open {
            let place = case.function.close..neighbour.open + 1;
            let text = replaced(
                &case.shown,
                0..case.shown.len(),
                vec![(place, String::new())],
            );
            edits.push(Edit::of_text(case, MERGED, "", text));
        }
    }
}

/// The definition bears another name, or lost what qualified it.
fn misnamed(case: &Case, edits: &mut Vec<Edit>) {
    let function = &case.function;
    let name = function.last_name();
    let Some(at) = case.shown[..function.parameters.0].rfind(name) else {
        return;
    };
    let renamed = with(case, vec![(at..at + name.len(), format!("{name}Renamed"))]);
    edits.push(damaging(case, "function renamed", "", renamed));
    let qualified = function.name.len() - name.len();
    let bare = if qualified > 0 {
        with(case, vec![(at - qualified..at, String::new())])
    } else if function.namespaces.is_empty() && function.class.is_none() {
        return;
    } else {
        case.text().to_owned()
    };
    let bare = bare.replacen(';', "; /* changed */", 1);
    edits.push(Edit {
        bare: true,
        shows: if qualified > 0 {
            Shows::Either
        } else {
            Shows::FunctionAlone
        },
        ..damaging(case, "qualification lost", function.class_of(), bare)
    });
}

/// The old and the new definition in one block.
fn doubled(case: &Case, edits: &mut Vec<Edit>) {
    let changed = crate::faithful::edits(case);
    let Some(new) = changed
        .iter()
        .find(|edit| edit.kind == "condition extended")
        .or(changed.first())
    else {
        return;
    };
    let doubled = format!("{}\n{}", case.text(), new.function);
    edits.push(damaging(case, "definition doubled", new.kind, doubled));
}

/// The right code under the path of another file.
fn misplaced(case: &Case, edits: &mut Vec<Edit>) {
    let changed = crate::faithful::edits(case);
    let Some(new) = changed.first() else { return };
    let base = case.path.rsplit('/').next().unwrap_or(&case.path);
    let (stem, extension) = base.rsplit_once('.').unwrap_or((base, "c"));
    for path in [
        format!("src/elsewhere/{base}"),
        format!("src/{stem}_new.{extension}"),
        format!("../{base}"),
    ] {
        edits.push(Edit {
            worth: Worth::Damaging,
            kind: "path of another file",
            variant: path.replace(stem, "STEM"),
            path: Some(path),
            ..new.clone()
        });
    }
}
