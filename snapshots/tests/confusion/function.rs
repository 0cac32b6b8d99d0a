//! Function definitions, found by their tokens and the columns of their braces.

use crate::lexer::{Token, TokenKind, tokens};

/// One function of a source.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    /// As it is written, such as `List::push`.
    pub(crate) name: String,
    /// Namespaces around it, outermost first.
    pub(crate) namespaces: Vec<String>,
    /// The class that holds its definition.
    pub(crate) class: Option<String>,
    pub(crate) is_template: bool,
    /// Whether it holds a preprocessor line.
    pub(crate) has_directives: bool,
    /// Where the comment directly above it begins, or itself.
    pub(crate) start: usize,
    /// Where its own first token begins.
    pub(crate) head: usize,
    /// Behind its name: where its parameters open and close.
    pub(crate) parameters: (usize, usize),
    /// Its body's opening brace.
    pub(crate) open: usize,
    /// Its body's closing brace.
    pub(crate) close: usize,
    pub(crate) lines: usize,
}

impl Function {
    /// Behind its last line.
    pub(crate) fn end(&self, text: &str) -> usize {
        text[self.close..]
            .find('\n')
            .map_or(text.len(), |at| self.close + at + 1)
    }

    /// The last component of its name.
    pub(crate) fn last_name(&self) -> &str {
        self.name.rsplit("::").next().unwrap_or(&self.name)
    }

    /// The kind of function that it is, for the report.
    pub(crate) fn class_of(&self) -> &'static str {
        match (self.is_template, &self.class, self.name.contains("::")) {
            (true, ..) => "template",
            (_, Some(_), _) => "method in its class",
            (_, _, true) => "method out of its class",
            _ if self.has_directives => "function with directives",
            _ => "function",
        }
    }
}

enum Scope {
    Namespace(String),
    Class(String),
    Other,
}

/// Words that come before a parenthesis and name no function.
const KEYWORDS: [&str; 12] = [
    "if", "for", "while", "switch", "catch", "return", "sizeof", "defined", "decltype", "noexcept",
    "alignas", "operator",
];

/// Every definition whose name, body and end are plain to see. Few are missed, and those that are found are certain.
pub(crate) fn functions(text: &str) -> Vec<Function> {
    let all = tokens(text);
    let code: Vec<Token> = all.iter().copied().filter(Token::is_code).collect();
    let directives: Vec<usize> = all
        .iter()
        .filter(|token| token.kind == TokenKind::Directive)
        .map(|token| token.end)
        .collect();
    let mut scopes: Vec<Scope> = Vec::new();
    let mut found = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let token = code[at];
        if token.is(b'}') {
            scopes.pop();
        } else if token.is(b'{') {
            let first = head_start(&code, at, text);
            if let Some(function) =
                function_at(text, (&all, &code, &directives), first, at, &scopes)
            {
                at = code.partition_point(|token| token.start <= function.close);
                found.push(function);
                continue;
            }
            scopes.push(scope(&code[first..at], text));
        }
        at += 1;
    }
    found
}

/// The first token of what the brace at `open` belongs to.
fn head_start(code: &[Token], open: usize, text: &str) -> usize {
    let mut first = open;
    while first > 0 {
        let before = code[first - 1];
        let ends_before = before.is(b';') || before.is(b'{') || before.is(b'}');
        let is_access = before.is(b':')
            && first > 1
            && matches!(code[first - 2].of(text), "public" | "private" | "protected");
        if ends_before || is_access {
            break;
        }
        first -= 1;
    }
    first
}

fn scope(head: &[Token], text: &str) -> Scope {
    let words: Vec<&str> = head.iter().map(|token| token.of(text)).collect();
    let after = |keyword: &str| {
        let at = words.iter().position(|word| *word == keyword)?;
        words[at + 1..]
            .iter()
            .take_while(|word| **word != ":")
            .filter(|word| **word != "final")
            .last()
            .map(|word| (*word).to_owned())
    };
    if words.contains(&"namespace") {
        Scope::Namespace(after("namespace").unwrap_or_default())
    } else if words.contains(&"=") || words.contains(&"enum") {
        Scope::Other
    } else {
        after("class")
            .or_else(|| after("struct"))
            .map_or(Scope::Other, Scope::Class)
    }
}

fn function_at(
    text: &str,
    (all, code, directives): (&[Token], &[Token], &[usize]),
    first: usize,
    open: usize,
    scopes: &[Scope],
) -> Option<Function> {
    if scopes.iter().any(|scope| matches!(scope, Scope::Other)) && !text.contains("extern \"C\"") {
        return None;
    }
    // A directive above ends what belongs to the head; one inside it is a head in two versions, of which none is plain.
    let before = directives.partition_point(|end| *end <= code[open].start);
    let directive = directives[..before].last().copied().unwrap_or(0);
    let first = (first..open).find(|at| code[*at].start >= directive)?;
    let signature = signature_of(text, &code[first..open])?;
    if !type_stands_before(text, &code[first..first + signature.name_at]) {
        return None;
    }
    let head = code[first].start;
    let line = text[..head].rfind('\n').map_or(0, |at| at + 1);
    let indent = &text[line..head];
    if !indent.bytes().all(|byte| byte == b' ' || byte == b'\t') {
        return None;
    }
    let open_at = code[open].start;
    let close = closing_brace(text, open_at, indent)?;
    let from = all.partition_point(|token| token.start < head);
    let to = all.partition_point(|token| token.start <= close);
    let inside = all[from..to].iter().filter(|token| open_at <= token.start);
    let has_directives = inside
        .clone()
        .any(|token| token.kind == TokenKind::Directive);
    let depth = inside.fold(0_i32, |depth, token| {
        depth + i32::from(token.is(b'{')) - i32::from(token.is(b'}'))
    });
    // A head in several versions, of which this is one.
    let conditions: i32 = all[from..to]
        .iter()
        .map(|token| condition(text, token).0)
        .sum();
    if depth != 0 && !has_directives || conditions != 0 {
        return None;
    }
    let start = lead(text, all, line, directive);
    Some(Function {
        name: signature.name,
        namespaces: scopes
            .iter()
            .filter_map(|scope| match scope {
                Scope::Namespace(name) => Some(name.clone()),
                _ => None,
            })
            .collect(),
        class: scopes.iter().rev().find_map(|scope| match scope {
            Scope::Class(name) => Some(name.clone()),
            _ => None,
        }),
        is_template: code[first].of(text) == "template",
        has_directives,
        start,
        head,
        parameters: signature.parameters,
        open: open_at,
        close,
        lines: text[head..close].matches('\n').count() + 1,
    })
}

/// By how much a token changes the number of open `#if`s, and whether it is another branch of one.
pub(crate) fn condition(text: &str, token: &Token) -> (i32, bool) {
    if token.kind != TokenKind::Directive {
        return (0, false);
    }
    let word = token.of(text).trim_start_matches(['#', ' ', '\t']);
    let depth = i32::from(word.starts_with("if")) - i32::from(word.starts_with("endif"));
    (depth, word.starts_with("el"))
}

/// The name before the parameters that end a head.
struct Signature {
    name: String,
    /// Tokens before the name.
    name_at: usize,
    parameters: (usize, usize),
}

fn signature_of(text: &str, head: &[Token]) -> Option<Signature> {
    let is_qualifier =
        |token: &Token| matches!(token.of(text), "const" | "override" | "final" | "noexcept");
    let mut at = head.len().checked_sub(1)?;
    while at > 0 && is_qualifier(&head[at]) {
        at -= 1;
    }
    if !head[at].is(b')') {
        return None;
    }
    let mut depth = 0;
    let open = (0..=at).rev().find(|at| {
        depth += i32::from(head[*at].is(b')')) - i32::from(head[*at].is(b'('));
        depth == 0
    })?;
    let last = open.checked_sub(1)?;
    let is_name =
        |token: &Token| token.kind == TokenKind::Word && !KEYWORDS.contains(&token.of(text));
    if !is_name(&head[last]) {
        return None;
    }
    let mut first = last;
    while first >= 2 && head[first - 1].of(text) == "::" && is_name(&head[first - 2]) {
        first -= 2;
    }
    let parts: Vec<&str> = head[first..=last]
        .iter()
        .map(|token| token.of(text))
        .collect();
    Some(Signature {
        name: parts.concat(),
        name_at: first,
        parameters: (head[open].start, head[at].start),
    })
}

/// A definition has a type before its name; a macro's call and a constructor don't.
fn type_stands_before(text: &str, before: &[Token]) -> bool {
    let word = |token: &Token| token.kind == TokenKind::Word && token.of(text) != "else";
    before
        .iter()
        .all(|token| !token.is(b'=') && token.of(text) != "__attribute__")
        && before
            .last()
            .is_some_and(|last| word(last) || last.is(b'*') || last.is(b'&') || last.is(b'>'))
        && before.iter().any(word)
}

/// The brace in the head's own column that ends the body; a body on the head's line ends there.
fn closing_brace(text: &str, open: usize, indent: &str) -> Option<usize> {
    let line_end = open + text[open..].find('\n')?;
    let on_line = text[open..line_end].trim_end();
    if on_line.ends_with('}') {
        return Some(open + on_line.len() - 1);
    }
    let mut at = line_end + 1;
    for line in text[at..].split_inclusive('\n') {
        if line
            .strip_prefix(indent)
            .is_some_and(|rest| rest.starts_with('}'))
        {
            return Some(at + indent.len());
        }
        at += line.len();
    }
    None
}

/// Where the comments directly above a line begin.
fn lead(text: &str, all: &[Token], line: usize, directive: usize) -> usize {
    let mut start = line;
    let before = all.partition_point(|token| token.end <= line);
    for token in all[..before].iter().rev() {
        let is_directly_above = text[token.end..start].matches('\n').count() <= 1
            && text[token.end..start].trim().is_empty();
        let own_line = text[..token.start].rfind('\n').map_or(0, |at| at + 1);
        let is_alone = text[own_line..token.start].trim().is_empty();
        if token.kind != TokenKind::Comment
            || token.start < directive
            || !is_directly_above
            || !is_alone
        {
            break;
        }
        start = own_line;
    }
    start
}
