//! Edits that would lose code if they became true: lazy, broken off, emptied, misnamed, misplaced.

use std::ops::Range;

use crate::asked::is_named;
use crate::by_lines;
use crate::case::Case;
use crate::edit::{BreakOff, Edit, ShownCode, Worth};
use crate::statements::{core, indent, pieces, replaced};
use crate::structural;

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

const CUTS: [BreakOff; 5] = [
    BreakOff {
        percent: 60,
        at_line: true,
        closed: true,
        by_length: false,
    },
    BreakOff {
        percent: 90,
        at_line: false,
        closed: false,
        by_length: false,
    },
    BreakOff {
        percent: 35,
        at_line: true,
        closed: false,
        by_length: true,
    },
    BreakOff {
        percent: 80,
        at_line: false,
        closed: true,
        by_length: true,
    },
    BreakOff {
        percent: 100,
        at_line: true,
        closed: true,
        by_length: false,
    },
];

/// Every damaging edit that the function has room for.
pub(crate) fn edits(case: &Case) -> Vec<Edit> {
    let mut edits = Vec::new();
    match case.style() {
        Some(style) => {
            let wordings: Vec<&str> = WORDINGS.lines().collect();
            let mut dice = case.dice("lazy");
            let known = dice.of(&PLACEHOLDERS).copied();
            let other = dice.of(&wordings).copied();
            for words in [known, other].into_iter().flatten() {
                by_lines::damaging(case, style, words, &mut edits);
            }
        }
        None => {
            lazy(case, &mut edits);
            lazy_in_other_words(case, &mut edits);
            stubbed_tail(case, &mut edits);
            shrunk(case, &mut edits);
            branch_dropped(case, &mut edits);
            include_dropped(case, &mut edits);
            hollow(case, &mut edits);
            collapsed(case, &mut edits);
        }
    }
    for (kind, function) in structural::edits(case) {
        edits.push(damaging(case, kind, "", function));
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

/// Without a part of the body. What is taken away alone is deliberate, so another change stands beside it.
fn dropped_beside_a_call(case: &Case, kind: &'static str, place: Range<usize>) -> Edit {
    let open = case.function.open + 1;
    let call = "\n    trace_count(1);".to_owned();
    let function = with(case, vec![(open..open, call), (place, String::new())]);
    damaging(case, kind, "", function)
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

/// What people of twenty languages might write for code that they leave out; none of it is known to the gates.
pub(crate) const WORDINGS: &str = include_str!("wordings.txt");

/// Words of which sentences are made that say nothing.
const WORDS: [&str; 12] = [
    "lamp", "seven", "goes", "quietly", "river", "under", "blue", "engine", "we", "often", "table",
    "north",
];

/// Places of a body from which some of its statements are taken.
fn runs(all: usize, count: usize) -> [(&'static str, usize); 3] {
    let middle = (all - count) / 2;
    [
        ("head", 0),
        ("middle", middle.max(1).min(all - count)),
        ("tail", all - count),
    ]
}

/// How many words and marks of code there are.
fn weight(text: &str) -> usize {
    let tokens = crate::lexer::tokens(text);
    tokens.iter().filter(|token| token.is_code()).count()
}

fn lazy_in_other_words(case: &Case, edits: &mut Vec<Edit>) {
    let text = &case.shown;
    let all = pieces(text, case.function.open, case.function.close);
    if all.len() < 2 {
        return;
    }
    let wordings: Vec<&str> = WORDINGS.lines().collect();
    let mut dice = case.dice("other words");
    for form in 0..4 {
        let count = 1 + dice.below((all.len() / 2).max(1));
        let (_, first) = runs(all.len(), count)[dice.below(3)];
        let place = all[first].start..all[first + count - 1].end;
        if weight(&text[place.clone()]) < 4 {
            continue; // An empty statement or a label: nothing is lost.
        }
        let words = dice.of(&wordings).copied().unwrap_or_default();
        let sentence: Vec<&str> = (0..3 + dice.below(6))
            .filter_map(|_| dice.of(&WORDS).copied())
            .collect();
        let (kind, words) = match form {
            0 => ("lazy in other words", format!("// {words}")),
            1 => ("lazy in other words", format!("/* {words} */")),
            2 => (
                "lazy in a random sentence",
                format!("// {}", sentence.join(" ")),
            ),
            _ => ("lazy in a string", format!("\"{words}\";")),
        };
        let indent = indent(text, core(text, &all[first]).start);
        let new = format!("\n{indent}{words}\n");
        edits.push(damaging(case, kind, &words, with(case, vec![(place, new)])));
    }
    edits.push(damaging(
        case,
        "lazy in other words",
        "/**/",
        with(
            case,
            vec![(all[0].start..all[all.len() - 1].end, "\n/**/\n".into())],
        ),
    ));
}

/// The tail of a body is replaced by a statement that ends or fails.
fn stubbed_tail(case: &Case, edits: &mut Vec<Edit>) {
    let text = &case.shown;
    let all = pieces(text, case.function.open, case.function.close);
    let mut dice = case.dice("stubbed tail");
    let stubs = [
        "return 0;",
        "abort();",
        "assert(0);",
        "throw std::runtime_error(\"not implemented\");",
    ];
    let stubs = if !case.path.ends_with(".c") {
        &stubs[..]
    } else {
        &stubs[..3]
    };
    if all.len() < 3 {
        return;
    }
    let first = 1 + dice.below(all.len() - 2);
    let gone = all[first].start..all[all.len() - 1].end;
    let stub = dice.of(stubs).copied().unwrap_or_default();
    // The whole of what stood there must be more than the stub.
    if weight(&text[gone.clone()]) < 10 || text[gone.clone()].contains(stub) {
        return;
    }
    let indent = indent(text, core(text, &all[first]).start);
    let new = format!("\n{indent}{stub}");
    edits.push(damaging(
        case,
        "tail replaced by a stub",
        stub,
        with(case, vec![(gone, new)]),
    ));
}

/// A third or a half of the body is gone without a word.
fn shrunk(case: &Case, edits: &mut Vec<Edit>) {
    let text = &case.shown;
    let function = &case.function;
    let all = pieces(text, function.open, function.close);
    let whole = weight(&text[function.head..function.close + 1]);
    let mut dice = case.dice("shrunk");
    for (kind, percents) in [
        ("a third dropped without a word", 25..=40),
        ("half dropped without a word", 41..=50),
    ] {
        let runs =
            (0..all.len()).flat_map(|first| (first + 1..=all.len()).map(move |past| (first, past)));
        let fitting: Vec<Range<usize>> = runs
            .filter(|(first, past)| past - first >= 2)
            .map(|(first, past)| all[first].start..all[past - 1].end)
            .filter(|place| percents.contains(&(weight(&text[place.clone()]) * 100 / whole)))
            .collect();
        if let Some(place) = dice.of(&fitting) {
            edits.push(dropped_beside_a_call(case, kind, place.clone()));
        }
    }
}

/// An `else` branch or a `case` is gone.
fn branch_dropped(case: &Case, edits: &mut Vec<Edit>) {
    let text = &case.shown;
    let body = case.function.open + 1..case.function.close;
    let all = crate::lexer::tokens(&text[body.clone()]);
    let code: Vec<_> = all.iter().filter(|token| token.is_code()).collect();
    let at = |index: usize| body.start + code[index].start..body.start + code[index].end;
    let closes = |open: usize| {
        let mut depth = 0;
        (open..code.len()).find(|index| {
            depth += i32::from(code[*index].is(b'{')) - i32::from(code[*index].is(b'}'));
            depth == 0
        })
    };
    let has_directive = |place: &Range<usize>| text[place.clone()].contains("\n#");
    let branches = (0..code.len().saturating_sub(1))
        .filter(|index| &text[at(*index)] == "else" && code[index + 1].is(b'{'));
    let branch = branches
        .filter_map(|index| Some(at(index).start..at(closes(index + 1)?).end))
        .find(|place| weight(&text[place.clone()]) > 4 && !has_directive(place));
    if let Some(place) = branch {
        edits.push(dropped_beside_a_call(case, "an else branch dropped", place));
    }
    let marks: Vec<usize> = (0..code.len())
        .filter(|index| matches!(&text[at(*index)], "case" | "default"))
        .collect();
    let cases = marks
        .windows(2)
        .map(|pair| at(pair[0]).start..at(pair[1]).start);
    let is_whole = |place: &Range<usize>| {
        let inside = &text[place.clone()];
        inside.matches('{').count() == inside.matches('}').count()
            && inside.contains("break;")
            && weight(inside) > 5
            && !has_directive(place)
    };
    if let Some(place) = cases.into_iter().find(is_whole) {
        edits.push(dropped_beside_a_call(case, "a case dropped", place));
    }
}

/// An include is gone, together with a faithful change.
fn include_dropped(case: &Case, edits: &mut Vec<Edit>) {
    let changed = crate::faithful::edits(case);
    let Some(new) = changed.first() else { return };
    let mut at = 0;
    let mut includes = Vec::new();
    for line in new.text.split_inclusive('\n') {
        if line.starts_with("#include") {
            includes.push(at..at + line.len());
        }
        at += line.len();
    }
    if let Some(place) = case.dice("include").of(&includes) {
        let mut text = new.text.clone();
        text.replace_range(place.clone(), "");
        edits.push(Edit::of_text(case, "an include dropped", "", text));
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

/// Nothing where the body was, or a placeholder.
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

/// A function is gone from the whole text, and something still names it.
fn dropped(case: &Case, edits: &mut Vec<Edit>) {
    let mut drop = |variant: &str, name: &str, text: String| {
        if is_named(&case.path, &text, name) {
            edits.push(Edit::of_text(case, "function dropped", variant, text));
        }
    };
    drop("itself", case.function.last_name(), case.shown_with(""));
    if let Some(neighbour) = &case.neighbour {
        let place = neighbour.start..neighbour.end(&case.shown);
        let text = replaced(
            &case.shown,
            0..case.shown.len(),
            vec![(place, String::new())],
        );
        drop("its neighbour", neighbour.last_name(), text);
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
            ShownCode::Either
        } else {
            ShownCode::FunctionAlone
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
