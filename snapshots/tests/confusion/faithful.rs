//! Edits that a person would want: small, whole, by many small hands.

use std::ops::Range;

use crate::by_lines;
use crate::case::Case;
use crate::edit::{Edit, Worth};
use crate::lexer::{Token, TokenKind, tokens};
use crate::statements::{core, indent, is_plain, pieces, replaced};

/// Comments that are none of the placeholders they look a little like.
const REMARKS: [&str; 10] = [
    "// Checked again by the caller.",
    "/* The rest of the list is sorted already. */",
    "// Everything before this point is unchanged by the loop below, see above.",
    "/* Same as the check in the caller, but for the lock. */",
    "// e.g. a, b, c, ...",
    "// TODO: measure this.",
    "/* Falls through to the code that handles what remains of the input... */",
    "// Copies the remaining bytes.",
    "/* Omits the terminator. */",
    "// Note: keep in step with the table above (see the other functions).",
];

/// Every faithful edit that the function has room for.
pub(crate) fn edits(case: &Case) -> Vec<Edit> {
    if let Some(style) = case.style() {
        return by_lines::faithful(case, style);
    }
    let work = Work::new(case);
    let all = [
        ("local renamed", work.local_renamed()),
        ("constant changed", work.constant_changed()),
        ("statement added", work.statement_added()),
        ("early return added", work.early_return()),
        ("comment added", work.comment_added()),
        ("statements swapped", work.swapped()),
        ("statement removed", work.removed()),
        ("indented anew", work.indented()),
        ("brace moved", work.brace_moved()),
        ("blanks at line ends", work.trailing_blanks()),
        ("condition extended", work.condition_extended()),
        ("parameter added", work.parameter_added()),
        ("helper added beside", work.helper_beside()),
        ("comment above rewritten", work.lead_rewritten()),
    ];
    all.into_iter()
        .filter_map(|(kind, function)| {
            let function = function?;
            (function != case.text())
                .then(|| Edit::of_function(case, Worth::Faithful, kind, "", function))
        })
        .collect()
}

/// Whether a statement checks something or leaves: what nobody removes without a word.
pub(crate) fn checks(statement: &str) -> bool {
    const CHECKS: [&str; 14] = [
        "assert", "return", "break", "continue", "goto", "abort", "exit", "throw", "panic",
        "raise", "if", "for", "while", "try",
    ];
    let mut words = statement.split(|c: char| !c.is_alphanumeric());
    let first = words.find(|word| !word.is_empty()).unwrap_or_default();
    CHECKS.contains(&first.to_lowercase().as_str())
}

struct Work<'c> {
    case: &'c Case,
    /// Of the whole shown text, but only the function's own.
    tokens: Vec<Token>,
    pieces: Vec<Range<usize>>,
}

impl<'c> Work<'c> {
    fn new(case: &'c Case) -> Self {
        let function = &case.function;
        let own = function.head..=function.close;
        Self {
            tokens: tokens(&case.shown)
                .into_iter()
                .filter(|token| own.contains(&token.start))
                .collect(),
            pieces: pieces(&case.shown, function.open, function.close),
            case,
        }
    }

    fn text(&self) -> &'c str {
        &self.case.shown
    }

    fn with(&self, places: Vec<(Range<usize>, String)>) -> String {
        let function = &self.case.function;
        replaced(
            self.text(),
            function.start..function.end(self.text()),
            places,
        )
    }

    fn in_body(&self) -> impl Iterator<Item = &Token> {
        let open = self.case.function.open;
        self.tokens
            .iter()
            .filter(move |token| token.start > open && token.is_code())
    }

    /// A variable declared with a value, renamed wherever it is named.
    fn local_renamed(&self) -> Option<String> {
        let text = self.text();
        let code: Vec<&Token> = self.in_body().collect();
        let declared: Vec<&str> = code
            .windows(4)
            .filter(|window| {
                let ends = matches!(window[0].of(text), ";" | "{" | "}");
                ends && window[1].kind == TokenKind::Word
                    && !matches!(
                        window[1].of(text),
                        "return" | "goto" | "else" | "case" | "delete" | "throw" | "using"
                    )
                    && window[2].kind == TokenKind::Word
                    && matches!(window[3].of(text), "=" | ";")
            })
            .map(|window| window[2].of(text))
            .collect();
        let name = *self.case.dice("local").of(&declared)?;
        let mut before = "";
        let mut places = Vec::new();
        for token in self.tokens.iter().filter(|token| token.is_code()) {
            let word = token.of(text);
            if word == name && !matches!(before, "." | "->" | "::") {
                places.push((token.start..token.end, format!("{name}Renamed")));
            }
            before = word;
        }
        Some(self.with(places))
    }

    fn constant_changed(&self) -> Option<String> {
        let numbers: Vec<&Token> = self
            .in_body()
            .filter(|token| token.kind == TokenKind::Number)
            .collect();
        let number = self.case.dice("number").of(&numbers).copied()?;
        let new = match number.of(self.text()).parse::<u32>() {
            Ok(value) => value.wrapping_add(1).to_string(),
            Err(_) => "7".to_owned(),
        };
        Some(self.with(vec![(number.start..number.end, new)]))
    }

    /// Puts a line after one of the body's statements, but not after the last.
    fn behind_a_statement(&self, about: &str, line: &str) -> Option<String> {
        let candidates = self.pieces.split_last().map_or(&[][..], |(_, all)| all);
        let piece = self.case.dice(about).of(candidates)?;
        let indent = indent(self.text(), core(self.text(), piece).start);
        let place = piece.end..piece.end;
        Some(self.with(vec![(place, format!("\n{indent}{line}"))]))
    }

    fn statement_added(&self) -> Option<String> {
        self.behind_a_statement("statement", "trace_count(1, \"seen\");")
    }

    /// The function's own last `return`, earlier.
    fn early_return(&self) -> Option<String> {
        let text = self.text();
        let last = core(text, self.pieces.last()?);
        let statement = &text[last];
        let head = &text[self.case.function.head..self.case.function.open];
        let leave = if statement.starts_with("return") {
            statement
        } else if head
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| word == "void")
        {
            "return;"
        } else {
            return None;
        };
        self.behind_a_statement("return", &format!("if (was_cancelled()) {leave}"))
    }

    fn comment_added(&self) -> Option<String> {
        let remark = *self.case.dice("remark").of(&REMARKS)?;
        self.behind_a_statement("comment", remark)
    }

    fn swapped(&self) -> Option<String> {
        let text = self.text();
        let pairs: Vec<&[Range<usize>]> = self
            .pieces
            .windows(2)
            .filter(|pair| pair.iter().all(|piece| is_plain(text, piece)))
            .collect();
        let pair = self.case.dice("swap").of(&pairs)?;
        let (first, second) = (core(text, &pair[0]), core(text, &pair[1]));
        let words = (
            text[first.clone()].to_owned(),
            text[second.clone()].to_owned(),
        );
        Some(self.with(vec![(first, words.1), (second, words.0)]))
    }

    fn removed(&self) -> Option<String> {
        if self.pieces.len() < 4 {
            return None;
        }
        let (_, others) = self.pieces.split_last()?;
        let is_removable = |piece: &&Range<usize>| {
            is_plain(self.text(), piece) && !checks(&self.text()[core(self.text(), piece)])
        };
        let plain: Vec<&Range<usize>> = others.iter().filter(is_removable).collect();
        let piece = *self.case.dice("remove").of(&plain)?;
        Some(self.with(vec![(core(self.text(), piece), String::new())]))
    }

    /// Each level of indentation twice as wide.
    fn indented(&self) -> Option<String> {
        let mut out = String::new();
        for line in self.case.text().split_inclusive('\n') {
            let rest = line.trim_start_matches(' ');
            if !rest.starts_with('#') {
                out.push_str(&line[..line.len() - rest.len()]);
            }
            out.push_str(line);
        }
        Some(out)
    }

    /// The body's brace on a line of its own, or back at the end of the head's line.
    fn brace_moved(&self) -> Option<String> {
        let (text, open) = (self.text(), self.case.function.open);
        let before = self.tokens.iter().rev().find(|token| token.end <= open)?;
        if before.kind != TokenKind::Mark(b')') {
            return None;
        }
        let new = if text[before.end..open].contains('\n') {
            " ".to_owned()
        } else {
            format!("\n{}", indent(text, self.case.function.head))
        };
        Some(self.with(vec![(before.end..open, new)]))
    }

    /// Blanks that nobody sees: the same code to everybody.
    fn trailing_blanks(&self) -> Option<String> {
        let text = self.case.text().replace(";\n", ";  \n");
        Some(text)
    }

    fn condition_extended(&self) -> Option<String> {
        let text = self.text();
        let code: Vec<&Token> = self.in_body().collect();
        let conditions: Vec<Range<usize>> = (1..code.len())
            .filter(|at| code[at - 1].of(text) == "if" && code[*at].is(b'('))
            .filter_map(|at| {
                let mut depth = 0;
                let close = code[at..].iter().find(|token| {
                    depth += i32::from(token.is(b'(')) - i32::from(token.is(b')'));
                    depth == 0
                })?;
                Some(code[at].end..close.start)
            })
            .filter(|range| !text[range.clone()].contains(['#', ';']))
            .filter(|range| !declares(&text[range.clone()]))
            .collect();
        let condition = self.case.dice("condition").of(&conditions)?.clone();
        let new = format!("({}) && !was_cancelled()", text[condition.clone()].trim());
        Some(self.with(vec![(condition, new)]))
    }

    fn parameter_added(&self) -> Option<String> {
        let (open, close) = self.case.function.parameters;
        let inside = self.text()[open + 1..close].trim();
        if inside.ends_with("...") || inside.contains('#') {
            return None;
        }
        let place = match inside {
            "" | "void" => (open + 1..close, "int traced".to_owned()),
            _ => (close..close, ", int traced".to_owned()),
        };
        Some(self.with(vec![place]))
    }

    fn helper_beside(&self) -> Option<String> {
        let function = &self.case.function;
        let indent = indent(self.text(), function.head);
        let name = format!("{}_limited", function.last_name());
        let helper = format!(
            "{indent}static int {name}(int value)\n{indent}{{\n{indent}    return value > 0 ? value : 0;\n{indent}}}\n\n"
        );
        Some(self.with(vec![(function.start..function.start, helper)]))
    }

    /// Another comment above the function, or one where there was none.
    fn lead_rewritten(&self) -> Option<String> {
        let function = &self.case.function;
        let indent = indent(self.text(), function.head);
        let line = function.head - indent.len();
        let lead = format!("{indent}/* Says what it does, and what it doesn't. */\n");
        Some(self.with(vec![(function.start..line, lead)]))
    }
}

/// Whether a condition declares a variable, so that nothing can be added to it.
fn declares(condition: &str) -> bool {
    let code = tokens(condition);
    code.windows(2).any(|pair| {
        let names = |token: &Token| token.kind == TokenKind::Word;
        let follows = names(&pair[0]) || pair[0].is(b'*') && code[0].kind == TokenKind::Word;
        follows && names(&pair[1])
    }) && condition.contains('=')
}
