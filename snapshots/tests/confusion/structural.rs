//! Damage to a function's structure in the languages that a grammar reads: a check, a loop, a handler, a decorator or the end gone, a
//! statement that does nothing in the place of many, code that is commented out.

use std::ops::Range;

use crate::case::Case;
use crate::dice::Dice;
use crate::margin::{indent, is_remark, lines};

/// What may pass twice in a hundred times.
pub(crate) const BY_SHARE: [&str; 12] = [
    "guard dropped",
    "if dropped",
    "handler emptied",
    "handler dropped",
    "decorator dropped",
    "loop dropped",
    "loop emptied",
    "loop called away",
    "last statement dropped",
    "hollow statement",
    "commented out",
    "tail exits",
];

/// Calls that end the program, as each language qualifies them.
fn exits(language: &str) -> &'static [&'static str] {
    match language {
        "Python" => &["sys.exit(1)", "os._exit(1)", "os.abort()"],
        "JavaScript" | "TypeScript" => &["process.exit(1);", "process.abort();"],
        "Rust" => &[
            "std::process::exit(1);",
            "std::process::abort();",
            "core::panic!()",
        ],
        "Go" => &["os.Exit(1)", "log.Fatal(\"no\")", "runtime.Goexit()"],
        "Java" => &["System.exit(1);", "Runtime.getRuntime().halt(1);"],
        "C++" => &["std::abort();", "std::terminate();", "std::exit(1);"],
        _ => &["exit(1);", "_exit(1);", "abort();"],
    }
}

/// Statements that compute nothing from what was there.
fn hollow(language: &str) -> &'static [&'static str] {
    match language {
        "Python" => &[
            "rest_of_body()",
            "_ = \"unchanged\"",
            "if False: pass",
            "...",
        ],
        "Rust" => &["rest_of_body();", "let _ = \"unchanged\";", "if false { }"],
        "Go" => &["restOfBody()", "_ = \"unchanged\"", "if false { }"],
        "JavaScript" | "TypeScript" => &["restOfBody();", "void \"unchanged\";", "if (false) { }"],
        "Java" => &[
            "restOfBody();",
            "String same = \"unchanged\";",
            "if (false) { }",
        ],
        _ => &["rest_of_body();", "(void)\"unchanged\";", "if (0) { }"],
    }
}

/// A statement that leaves what a loop fills to something that doesn't exist.
fn call_of_nothing(language: &str, body: &str, after: &str) -> Option<String> {
    let is_name = |name: &&str| name.len() > 1 && name.starts_with(|c: char| c.is_lowercase());
    let dotted = |c: char| !c.is_alphanumeric() && c != '_' && c != '.';
    let mut filled = body.split(dotted).filter(is_name);
    let filled = filled.find(|name| {
        let is_set = [" = ", " += ", ".append(", ".push(", " := "]
            .iter()
            .any(|sets| body.contains(&format!("{name}{sets}")));
        is_set && after.contains(*name)
    })?;
    let call = match language {
        "Python" | "Rust" | "C" => "collect_what_counts",
        _ => "collectWhatCounts",
    };
    let end = if matches!(language, "Python" | "Go") {
        ""
    } else {
        ";"
    };
    Some(format!("{filled} = {call}({filled}){end}"))
}

/// Lines that begin with one line and end before the next that is no deeper and doesn't go on with it.
struct Statement {
    place: Range<usize>,
    /// Its lines below the first, without the one that closes it.
    body: Range<usize>,
    column: usize,
    /// The lines that go on with it, such as an `else`.
    goes_on: bool,
}

/// How many more round and square brackets a line opens than it closes, outside of strings.
fn brackets(line: &str) -> i32 {
    let code = line.split("//").next().unwrap_or_default();
    let outside = code.split('"').step_by(2).flat_map(str::chars);
    outside
        .map(|c| i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']')))
        .sum()
}

/// All statements of a text after its head, however deep.
fn statements(text: &str, head: usize) -> Vec<Statement> {
    let all: Vec<(usize, &str)> = lines(text).collect();
    let mut found = Vec::new();
    let mut open = 0;
    for (index, (at, line)) in all.iter().enumerate() {
        let is_inside = open > 0;
        open += brackets(line);
        if *at < head || line.trim().is_empty() || is_remark(line) || is_inside {
            continue;
        }
        let column = indent(line);
        let mut end = at + line.len();
        let (begin, mut body_end) = (end, end);
        let mut goes_on = false;
        for (next_at, next) in &all[index + 1..] {
            let words = next.trim();
            if words.is_empty() {
                continue;
            }
            let closes = ["}", ")", "]", "end"]
                .iter()
                .any(|mark| words.starts_with(mark));
            let follows = [
                "else",
                "elif",
                "except",
                "catch",
                "finally",
                "} else",
                "} catch",
                "} finally",
                "case",
                "default",
            ];
            let continues = follows.iter().any(|mark| words.starts_with(mark));
            let opens = words == "{";
            if indent(next) > column || indent(next) == column && opens {
                body_end = next_at + next.len();
            } else if indent(next) == column && continues {
                goes_on = true;
            } else if indent(next) == column && closes {
                end = next_at + next.len();
                break;
            } else {
                break;
            }
            end = next_at + next.len();
        }
        found.push(Statement {
            place: *at..end,
            body: begin..body_end,
            column,
            goes_on,
        });
    }
    found
}

fn words(text: &str) -> usize {
    let lines = text.lines().filter(|line| !is_remark(line));
    let words = lines.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'));
    words.filter(|word| !word.is_empty()).count()
}

fn begins(text: &str, words: &[&str]) -> bool {
    let text = text.trim_start().trim_start_matches("} ");
    let first = text
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .next();
    first.is_some_and(|first| words.contains(&first))
}

/// Each kind of damage that a case's function has room for.
pub(crate) fn edits(case: &Case) -> Vec<(&'static str, String)> {
    let (function, style) = (&case.function, case.style());
    let language = match style {
        Some(style) => style.language,
        None if case.path.ends_with(".c") => "C",
        None => "C++",
    };
    let comment = style.map_or("//", |style| style.comment);
    let head = function.open + 1 - function.start;
    damaged(
        case.text(),
        head,
        language,
        comment,
        &mut case.dice("structure"),
    )
}

/// Each kind of damage that the function has room for. `head` is where its head ends.
pub(crate) fn damaged(
    text: &str,
    head: usize,
    language: &str,
    comment: &str,
    dice: &mut Dice,
) -> Vec<(&'static str, String)> {
    let mut damaged = Vec::new();
    let all = statements(text, text[..head].rfind('\n').map_or(0, |at| at + 1));
    let Some(own) = all.first() else {
        return damaged;
    };
    let inside: Vec<&Statement> = all[1..]
        .iter()
        .filter(|it| it.column > own.column)
        .collect();
    let is_python = language == "Python";
    let with = |place: Range<usize>, new: &str| {
        let mut whole = text.to_owned();
        whole.replace_range(place, new);
        whole
    };
    let at = |it: &Statement| &text[it.place.clone()];
    let body = |it: &Statement| &text[it.body.clone()];
    let is_only = |it: &Statement| {
        is_python
            && inside
                .iter()
                .filter(|other| other.column == it.column)
                .count()
                < 2
    };
    let jumps = |it: &Statement| {
        let jumps = [
            "return", "break", "continue", "raise", "throw", "goto", "panic",
        ];
        body(it)
            .lines()
            .last()
            .is_some_and(|last| begins(last, &jumps))
            || at(it).lines().count() == 1 && jumps.iter().any(|jump| at(it).contains(jump))
    };
    let mut pick = |all: Vec<&'_ Statement>| -> Option<Range<usize>> {
        let places: Vec<Range<usize>> = all.iter().map(|it| it.place.clone()).collect();
        dice.of(&places).cloned()
    };
    let find = |place: &Range<usize>| {
        all.iter()
            .find(|it| it.place == *place)
            .expect("it was picked")
    };
    let ifs = |it: &&&Statement| {
        begins(at(it), &["if"]) && !is_only(it) && !at(it).trim_start().starts_with('}')
    };
    let guards = inside
        .iter()
        .filter(ifs)
        .filter(|it| !it.goes_on && jumps(it));
    if let Some(place) = pick(guards.copied().collect()) {
        damaged.push(("guard dropped", with(place, "")));
    }
    let any = inside
        .iter()
        .filter(ifs)
        .filter(|it| at(it).lines().count() > 1 && !jumps(it));
    if let Some(place) = pick(any.copied().collect()) {
        damaged.push(("if dropped", with(place, "")));
    }
    let loops = inside.iter().filter(|it| {
        begins(at(it), &["for", "while", "loop"]) && !is_only(it) && at(it).lines().count() > 1
    });
    if let Some(place) = pick(loops.copied().collect()) {
        let it = find(&place);
        if let Some(call) = call_of_nothing(language, body(it), &text[place.end..]) {
            let margin = at(it).split(|c: char| !c.is_whitespace()).next();
            let line = format!("{}{call}\n", margin.unwrap_or_default());
            damaged.push(("loop called away", with(place.clone(), &line)));
        }
        damaged.push(("loop dropped", with(place, "")));
        let left = if is_python {
            format!("{}pass\n", " ".repeat(it.column + 4))
        } else {
            String::new()
        };
        // Without braces the next statement goes into the loop, and a text of lines ends at a `#if`.
        if is_python || text[it.body.end..].trim_start().starts_with('}') {
            damaged.push(("loop emptied", with(it.body.clone(), &left)));
        }
    }
    let handlers = inside
        .iter()
        .filter(|it| begins(at(it), &["catch", "except"]) && words(body(it)) > 1);
    let handlers: Vec<&Statement> = handlers.copied().collect();
    if let Some(place) = pick(handlers) {
        let it = find(&place);
        let left = if is_python {
            format!("{}pass\n", " ".repeat(it.column + 4))
        } else {
            String::new()
        };
        damaged.push(("handler emptied", with(it.body.clone(), &left)));
    }
    let tries = inside
        .iter()
        .filter(|it| begins(at(it), &["try"]) && it.goes_on && words(body(it)) > 3);
    if let Some(place) = pick(tries.copied().collect()) {
        let it = find(&place);
        let first = inside
            .iter()
            .filter(|other| other.place.start > place.start && other.place.end <= place.end);
        let first = first
            .filter(|other| other.column > it.column)
            .map(|other| other.place.start)
            .next()
            .unwrap_or(it.body.start);
        let handler = inside
            .iter()
            .filter(|other| other.place.start > first && other.column == it.column)
            .map(|other| other.place.start)
            .next();
        let end = handler.unwrap_or_else(|| {
            // A brace language: the handler's line begins with the closing one.
            lines(text)
                .find(|(at, line)| {
                    *at > first && indent(line) == it.column && !line.trim().is_empty()
                })
                .map_or(it.body.end, |(at, _)| at)
        });
        if first < end {
            let kept: String = text[first..end]
                .lines()
                .map(|line| format!("{}{}\n", " ".repeat(it.column), line.trim_start()))
                .collect();
            let flat = text[first..end]
                .lines()
                .all(|line| line.trim().is_empty() || indent(line) == indent(&text[first..]));
            if flat {
                damaged.push(("handler dropped", with(place, &kept)));
            }
        }
    }
    let decorated = lines(text).take_while(|(at, _)| *at < head);
    let decorators: Vec<Range<usize>> = decorated
        .filter(|(_, line)| {
            let line = line.trim();
            let is_whole = line.matches('(').count() == line.matches(')').count();
            (line.starts_with('@') || line.starts_with("#[") && line.ends_with(']'))
                && is_whole
                && !line.contains("fn ")
                && !line.contains('{')
        })
        .map(|(at, line)| at..at + line.len())
        .collect();
    if let Some(place) = dice.of(&decorators) {
        let is_first = place.start == 0;
        let mut new = with(place.clone(), "");
        if is_first {
            new = new.trim_start().to_owned();
        }
        damaged.push(("decorator dropped", new));
    }
    let top = inside.first().map_or(0, |it| it.column);
    let outer: Vec<&&Statement> = inside.iter().filter(|it| it.column == top).collect();
    if outer.len() >= 2 {
        let last = outer[outer.len() - 1];
        if words(at(last)) > 1 {
            damaged.push(("last statement dropped", with(last.place.clone(), "")));
        }
    }
    let runs: Vec<Range<usize>> = (0..outer.len())
        .flat_map(|first| (first + 1..outer.len()).map(move |last| (first, last)))
        .map(|(first, last)| outer[first].place.start..outer[last].place.end)
        .filter(|place| words(&text[place.clone()]) >= 8 && text[place.clone()].lines().count() > 2)
        .collect();
    let margin = " ".repeat(top);
    let margin = if text[own.body.clone()].starts_with('\t') {
        "\t".to_owned()
    } else {
        margin
    };
    if let Some(place) = dice.of(&runs).cloned() {
        let said = dice.of(hollow(language)).copied().unwrap_or_default();
        damaged.push((
            "hollow statement",
            with(place.clone(), &format!("{margin}{said}\n")),
        ));
        let mut remarks: String = text[place.clone()]
            .lines()
            .map(|line| format!("{margin}{comment} {}\n", line.trim()))
            .collect();
        if is_python
            && place.start == outer[0].place.start
            && place.end == outer[outer.len() - 1].place.end
        {
            remarks.push_str(&format!("{margin}pass\n"));
        }
        damaged.push(("commented out", with(place, &remarks)));
    }
    let tails: Vec<Range<usize>> = (1..outer.len())
        .map(|first| outer[first].place.start..outer[outer.len() - 1].place.end)
        .filter(|place| words(&text[place.clone()]) > 6)
        .collect();
    if let Some(place) = dice.of(&tails).cloned() {
        let said = dice.of(exits(language)).copied().unwrap_or_default();
        damaged.push(("tail exits", with(place, &format!("{margin}{said}\n"))));
    }
    damaged.retain(|(_, new)| new != text);
    // What is taken away alone is deliberate, so another change stands beside it.
    let first = outer.first().map(|it| it.place.start);
    for (_, new) in damaged
        .iter_mut()
        .filter(|(kind, _)| kind.ends_with("dropped"))
    {
        let mark = if matches!(language, "Python" | "Go") {
            ""
        } else {
            ";"
        };
        if let Some(first) = first {
            // Without a decorator all of it begins sooner.
            let at = match new.starts_with(&text[..first]) {
                true => first,
                false => first.saturating_sub(text.len() - new.len()),
            };
            new.insert_str(at, &format!("{margin}trace_count(1){mark}\n"));
        }
    }
    damaged
}
