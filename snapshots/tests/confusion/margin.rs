//! Functions of languages other than C and C++, found by where their lines begin: a head at the margin, and a body that goes on
//! up to the bracket in the head's own column, or in Python as long as lines are indented.

use std::ops::Range;

use crate::function::Function;

/// How a language writes functions, by lines alone.
pub(crate) struct Style {
    /// Its name.
    pub(crate) language: &'static str,
    /// The name in info strings of fences.
    pub(crate) tag: &'static str,
    /// How a comment of one line begins.
    pub(crate) comment: &'static str,
    /// What a parameter is that nobody uses.
    pub(crate) parameter: &'static str,
    /// A statement that calls something.
    pub(crate) call: &'static str,
    /// A statement that says there is nothing yet.
    pub(crate) stub: &'static str,
    /// A whole function that returns its parameter.
    pub(crate) helper: &'static str,
    /// The column of heads.
    margin: usize,
    /// What ends before a name, unless names come last before the parameters.
    keyword: Option<&'static str>,
    pub(crate) has_braces: bool,
}

const STYLES: [(&[&str], Style); 6] = [
    (
        &["py"],
        Style {
            language: "Python",
            tag: "python",
            comment: "#",
            parameter: "traced",
            call: "trace_count(1)",
            stub: "raise NotImplementedError",
            helper: "def NAME(value):\n    return value if value > 0 else 0\n\n\n",
            margin: 0,
            keyword: Some("def "),
            has_braces: false,
        },
    ),
    (
        &["js", "cjs", "mjs"],
        Style {
            language: "JavaScript",
            tag: "javascript",
            comment: "//",
            parameter: "traced",
            call: "traceCount(1);",
            stub: "throw new Error(\"not implemented\");",
            helper: "function NAME(value) {\n  return value > 0 ? value : 0;\n}\n\n",
            margin: 0,
            keyword: Some("function "),
            has_braces: true,
        },
    ),
    (
        &["ts", "tsx"],
        Style {
            language: "TypeScript",
            tag: "typescript",
            comment: "//",
            parameter: "traced: number",
            call: "traceCount(1);",
            stub: "throw new Error(\"not implemented\");",
            helper: "function NAME(value: number): number {\n  return value > 0 ? value : 0;\n}\n\n",
            margin: 0,
            keyword: Some("function "),
            has_braces: true,
        },
    ),
    (
        &["rs"],
        Style {
            language: "Rust",
            tag: "rust",
            comment: "//",
            parameter: "traced: u32",
            call: "trace_count(1);",
            stub: "todo!()",
            helper: "fn NAME(value: i32) -> i32 {\n    value.max(0)\n}\n\n",
            margin: 0,
            keyword: Some("fn "),
            has_braces: true,
        },
    ),
    (
        &["go"],
        Style {
            language: "Go",
            tag: "go",
            comment: "//",
            parameter: "traced int",
            call: "traceCount(1)",
            stub: "panic(\"not implemented\")",
            helper: "func NAME(value int) int {\n\tif value > 0 {\n\t\treturn value\n\t}\n\treturn 0\n}\n\n",
            margin: 0,
            keyword: Some("func "),
            has_braces: true,
        },
    ),
    (
        &["java"],
        Style {
            language: "Java",
            tag: "java",
            comment: "//",
            parameter: "int traced",
            call: "traceCount(1);",
            stub: "throw new UnsupportedOperationException();",
            helper: "    static int NAME(int value) {\n        return value > 0 ? value : 0;\n    }\n\n",
            margin: 4,
            keyword: None,
            has_braces: true,
        },
    ),
];

/// The style of a file's language; none for C and C++.
pub(crate) fn style(path: &str) -> Option<&'static Style> {
    let (_, extension) = path.rsplit_once('.')?;
    let found = STYLES.iter().find(|(known, _)| known.contains(&extension));
    found.map(|(_, style)| style)
}

/// Every function whose head and end are plain to see.
pub(crate) fn functions(text: &str, style: &Style) -> Vec<Function> {
    let mut found = Vec::new();
    let mut past = 0;
    for (head, line) in lines(text) {
        if head >= past
            && let Some(function) = function_at(text, style, head, line)
        {
            past = function.end(text);
            found.push(function);
        }
    }
    found
}

/// Each line with its place.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        at += line.len();
        (at - line.len(), line)
    })
}

pub(crate) fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Whether a line is empty or nothing but a remark.
pub(crate) fn is_remark(line: &str) -> bool {
    let line = line.trim();
    let marks = ["//", "#", "/*", "*", "\""];
    line.is_empty() || marks.iter().any(|mark| line.starts_with(mark))
}

/// The statements among the lines of a body, with the lines that belong to them: each begins in the column of the first, and
/// what closes one or goes on with it does too.
pub(crate) fn statements(text: &str, body: Range<usize>) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut column = None;
    for (at, line) in lines(text).filter(|(at, _)| body.contains(at)) {
        let words = line.trim();
        let begins = !words.is_empty()
            && indent(line) <= *column.get_or_insert(indent(line))
            && !GOES_ON.iter().any(|mark| words.starts_with(mark));
        match found.last_mut() {
            Some(last) if !begins => last.end = at + line.len(),
            None if !begins => {}
            _ => found.push(at..at + line.len()),
        }
    }
    found
}

/// How a line begins that isn't a statement's first.
const GOES_ON: [&str; 19] = [
    "}", ")", "]", "else", "elif", "except", "catch", "finally", "case", "default", "#", "|", ".",
    "&", "?", ":", "*", "{", "\"\"\"",
];

fn function_at(text: &str, style: &Style, line_at: usize, line: &str) -> Option<Function> {
    let head = line_at + style.margin;
    let is_head = indent(line) == style.margin && !is_lead(line) && line.contains('(');
    let before_name = match style.keyword {
        Some(keyword) => line.find(keyword)? + keyword.len(),
        None => line[..line.find('(')?].rfind(' ')? + 1,
    };
    // A receiver of Go's.
    let receiver = if line[before_name..].starts_with('(') {
        line[before_name..].find(") ")? + 2
    } else {
        0
    };
    let name_at = line_at + before_name + receiver;
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let length = text[name_at..].find(|c| !is_word(c))?;
    let plain = &text[line_at..name_at];
    if !is_head || length == 0 || plain.contains(['=', '"']) || plain.contains(" class ") {
        return None;
    }
    let open_parameters = name_at + text[name_at..].find('(')?;
    let close_parameters = closing(text, open_parameters)?;
    let mark = if style.has_braces { '{' } else { ':' };
    let open = close_parameters + text[close_parameters..].find(&format!("{mark}\n"))?;
    let mut close = open;
    for (at, line) in lines(text).filter(|(at, _)| *at > open) {
        let is_outside = !line.trim().is_empty() && indent(line) <= style.margin;
        if style.has_braces && is_outside {
            close = at + style.margin;
            break;
        }
        if is_outside {
            break;
        }
        if !line.trim().is_empty() {
            close = at + line.trim_end().len() - 1;
        }
    }
    // A text over several lines may hold anything, and the tokens of C know no lifetimes.
    let inside = &text[head..=close];
    let is_open = |line: &str| {
        ['"', '`']
            .iter()
            .any(|quote| line.matches(*quote).count() % 2 == 1)
    };
    if inside.lines().any(is_open) || ["<'", "&'"].iter().any(|it| inside.contains(it)) {
        return None;
    }
    let is_closed = !style.has_braces || text[close..].starts_with("}\n");
    (is_closed && close > open).then(|| Function {
        name: text[name_at..name_at + length].to_owned(),
        namespaces: Vec::new(),
        class: (style.margin > 0).then(|| style.tag.to_owned()),
        is_template: false,
        has_directives: false,
        start: lead(text, line_at, style),
        head,
        parameters: (open_parameters, close_parameters),
        open,
        close,
        lines: text[head..close].matches('\n').count() + 1,
    })
}

/// The bracket that closes the one at `open`.
fn closing(text: &str, open: usize) -> Option<usize> {
    let mut depth = 0;
    text[open..].char_indices().find_map(|(at, c)| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        (depth == 0).then_some(open + at)
    })
}

/// Whether a line is a comment or an attribute.
fn is_lead(line: &str) -> bool {
    let begins = ["//", "/*", "*", "#", "@"];
    begins
        .iter()
        .any(|begin| line.trim_start().starts_with(begin))
}

/// Where the comments and attributes directly above a line begin.
fn lead(text: &str, line_at: usize, style: &Style) -> usize {
    let mut start = line_at;
    while let Some(before) = text[..start].strip_suffix('\n') {
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = &before[line_start..];
        if !is_lead(line) || indent(line) < style.margin {
            break;
        }
        start = line_start;
    }
    start
}
