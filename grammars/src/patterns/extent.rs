//! How far a definition goes: where its head ends, what is its body, and whether its end is beyond doubt.

use super::compiled::Rule;
use super::data::{Ends, Kind as RuleKind, StatementEnd};
use super::lex::{Kind, NONE, Token, offset};
use super::outline::Outline;

/// How far a definition goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// One past the last byte of its head.
    pub(super) head_end: u32,
    pub(super) body: BodyPlace,
    /// One past its last token.
    pub(super) past: usize,
    /// One past its last byte.
    pub(super) end: u32,
    /// Whether head and end are beyond doubt.
    pub(super) certain: bool,
    /// What may hold more definitions: tokens, or lines where indentation counts.
    pub(super) inside: Option<(usize, usize)>,
}

/// Where a body is.
#[derive(Clone, Copy, Debug)]
pub(super) enum BodyPlace {
    /// There is none.
    Nowhere,
    /// From one byte to another, brackets left out.
    Between(u32, u32),
    /// An expression, which is no stub.
    Code,
}

impl Outline<'_> {
    /// The extent of what a rule's pattern matches at `item`, whose name ends before `after`; nothing if the rule
    /// doesn't apply after all.
    pub(super) fn extent(
        &self,
        rule: &Rule,
        item: usize,
        after: usize,
        to: usize,
    ) -> Option<Extent> {
        let mut extent = match rule.ends {
            Ends::Braces => self.braces(rule, after, to),
            Ends::Group => self.group(after, after, to),
            Ends::Keyword => self.keyword(rule, item, after, to),
            Ends::Statement => self.statement(rule, after, to),
            Ends::Indentation => self.indentation(item, after),
            Ends::Recipe => self.recipe(item, to),
        }?;
        // Where brackets are astray, a head may seem to reach further than its definition.
        let first = self.token(item)?.end;
        extent.past = extent.past.max(item + 1);
        extent.end = extent.end.max(first);
        extent.certain &= (first..=extent.end).contains(&extent.head_end);
        extent.head_end = extent.head_end.clamp(first, extent.end);
        Some(extent)
    }

    /// Whether a token opens a bracket of this language.
    pub(super) fn is_opener(&self, token: Token) -> bool {
        match token.kind {
            Kind::Mark(mark) => self.language.brackets.iter().any(|(open, _)| *open == mark),
            _ => false,
        }
    }

    fn is_closer(&self, token: Token) -> bool {
        match token.kind {
            Kind::Mark(mark) => self
                .language
                .brackets
                .iter()
                .any(|(_, close)| *close == mark),
            _ => false,
        }
    }

    /// The token after the group that opens at `at`.
    pub(super) fn past(&self, at: usize) -> Option<usize> {
        let mate = self.token(at)?.mate;
        (mate != NONE && mate as usize > at).then_some(mate as usize + 1)
    }

    /// One past the last byte of the token before `at`.
    fn end_before(&self, at: usize) -> u32 {
        at.checked_sub(1)
            .and_then(|last| self.token(last))
            .map_or(0, |token| token.end)
    }

    /// Whether a statement that reaches the token at `at`, which begins a line, ends before it.
    pub(super) fn ends_before(&self, at: usize) -> bool {
        let (Some(last), Some(next)) = (
            at.checked_sub(1).and_then(|last| self.token(last)),
            self.token(at),
        ) else {
            return true;
        };
        match self.language.statements_end {
            StatementEnd::Semicolon => false,
            StatementEnd::Line => !last.is(b'\\'),
            StatementEnd::Newline => {
                let two_before = at.checked_sub(2).and_then(|before| self.token(before));
                let before_last = two_before.filter(|before| before.end == last.start);
                let doubled = before_last.is_some_and(|before| before.kind == last.kind);
                let arrow = last.is(b'>')
                    && before_last.is_some_and(|before| before.is(b'=') || before.is(b'-'));
                let left_open = match last.kind {
                    Kind::Mark(b'+' | b'-') => !doubled,
                    Kind::Mark(mark) => b"=*/|&<(:[{.,%^~\\".contains(&mark) || arrow,
                    Kind::Word => self
                        .language
                        .among(last.text(self.source), &self.language.continues),
                    _ => false,
                };
                let goes_on = match next.kind {
                    Kind::Mark(mark) => b".?:+-*/|&=%^,)]".contains(&mark),
                    Kind::Word => self
                        .language
                        .among(next.text(self.source), &self.language.continues),
                    _ => false,
                };
                !left_open && !goes_on
            }
        }
    }

    /// Whether a brace belongs to a type, such as that of `interface {}`.
    fn is_type_brace(&self, at: usize) -> bool {
        let Some(last) = at.checked_sub(1).and_then(|last| self.token(last)) else {
            return false;
        };
        match last.kind {
            Kind::Mark(mark) => self.language.type_marks.contains(&mark),
            Kind::Word => self
                .language
                .among(last.text(self.source), &self.language.type_words),
            _ => false,
        }
    }

    /// Up to the brace that closes the first one after the name.
    fn braces(&self, rule: &Rule, after: usize, to: usize) -> Option<Extent> {
        let mut at = after;
        while at < to {
            let token = self.lexed.tokens[at];
            if token.is(b'{') && !self.is_type_brace(at) {
                let mut extent = self.group(at, at, to)?;
                extent.certain &= self.tail_fits(rule, after, at);
                return Some(extent);
            }
            if token.is(b';') {
                return self.without_body(rule, after, at, at + 1);
            }
            if self.begins_expression(rule, at) {
                let past = self.statement_past(at, to)?;
                return Some(Extent {
                    head_end: self.end_before(at),
                    body: self.expression(rule, at, past),
                    past,
                    end: self.end_before(past),
                    certain: self.tail_fits(rule, after, at),
                    inside: None,
                });
            }
            let ends = at > after && token.begins_line && self.ends_before(at);
            if ends || self.is_closer(token) && token.mate < NONE {
                return self.without_body(rule, after, at, at);
            }
            if self.is_opener(token) {
                let Some(past) = self.past(at) else {
                    return self.left_open(at, to);
                };
                at = past;
            } else {
                at += 1;
            }
        }
        self.without_body(rule, after, to, to)
    }

    /// The head alone, for what is a definition without a body, too.
    fn without_body(&self, rule: &Rule, after: usize, head: usize, past: usize) -> Option<Extent> {
        rule.data.bodiless.then(|| Extent {
            head_end: self.end_before(head),
            body: BodyPlace::Nowhere,
            past,
            end: self.end_before(past),
            certain: self.tail_fits(rule, after, head),
            inside: None,
        })
    }

    /// A group that opens at `open` and is the body of what has its head before it.
    fn group(&self, open: usize, head: usize, to: usize) -> Option<Extent> {
        let Some(mut past) = self.past(open).filter(|past| *past <= to) else {
            return self.left_open(open, to);
        };
        let inside = (open + 1, past - 1);
        let body = BodyPlace::Between(
            self.lexed.tokens[open].end,
            self.lexed.tokens[past - 1].start,
        );
        if past < to && self.lexed.tokens[past].is(b';') && !self.lexed.tokens[past].begins_line {
            past += 1;
        }
        Some(Extent {
            head_end: self.end_before(head),
            body,
            past,
            end: self.end_before(past),
            certain: true,
            inside: Some(inside),
        })
    }

    /// All that follows a bracket which nothing closes.
    fn left_open(&self, open: usize, to: usize) -> Option<Extent> {
        let token = self.token(open)?;
        let end = self.end_before(to);
        Some(Extent {
            head_end: self.end_before(open),
            body: BodyPlace::Between(token.end.min(end), end),
            past: to,
            end,
            certain: false,
            inside: Some((open + 1, to)),
        })
    }

    /// Whether what stands between name and body is what the rule foresees. Contents of brackets aren't looked at.
    fn tail_fits(&self, rule: &Rule, after: usize, body: usize) -> bool {
        let Some(tail) = &rule.tail else {
            return true;
        };
        let mut text = Vec::new();
        let mut at = after;
        while at < body {
            let token = self.lexed.tokens[at];
            if at > after && self.end_before(at) < token.start {
                text.push(b' ');
            }
            text.extend_from_slice(token.text(&self.lexed.masked));
            match self.past(at) {
                Some(past) => {
                    let close = self.lexed.tokens[past - 1];
                    text.extend_from_slice(close.text(&self.lexed.masked));
                    at = past;
                }
                None => at += 1,
            }
        }
        tail.is_match(&text)
    }

    /// The expression after the sign at `at`.
    fn expression(&self, rule: &Rule, at: usize, past: usize) -> BodyPlace {
        let sign = rule.data.expression.as_ref().map_or(0, String::len);
        let start = self.lexed.tokens[at].start + offset(sign);
        BodyPlace::Between(start, self.end_before(past).max(start))
    }

    fn begins_expression(&self, rule: &Rule, at: usize) -> bool {
        let Some(sign) = &rule.data.expression else {
            return false;
        };
        let start = self.lexed.tokens[at].start as usize;
        let rest = &self.lexed.masked[start..];
        rest.starts_with(sign.as_bytes()) && (sign.len() > 1 || rest.get(1) != Some(&b'='))
    }

    /// The token after the statement that goes on at `from`. Nothing if a bracket in it is left open.
    fn statement_past(&self, from: usize, to: usize) -> Option<usize> {
        let mut at = from;
        while at < to {
            let token = self.lexed.tokens[at];
            if token.is(b';') && self.language.statements_end != StatementEnd::Line {
                return Some(at + 1);
            }
            if at > from && token.begins_line && self.ends_before(at) || self.is_closer(token) {
                return Some(at);
            }
            at = match self.past(at) {
                Some(past) => past,
                None if self.is_opener(token) => return None,
                None => at + 1,
            };
        }
        Some(to)
    }

    /// Up to the end of the statement.
    fn statement(&self, rule: &Rule, after: usize, to: usize) -> Option<Extent> {
        let Some(past) = self.statement_past(after, to) else {
            return self.left_open(after, to);
        };
        let end = self.end_before(past);
        let ends_well = self.language.statements_end != StatementEnd::Semicolon
            || self.lexed.tokens[past - 1].is(b';');
        let (head_end, body) = match (&rule.data.expression, rule.kind) {
            (Some(_), _) => self.function_value(after, past)?,
            (None, RuleKind::Function) => self.block_among(after, past),
            (None, RuleKind::Type) => self.members(after),
            (None, _) => (self.before_value(after, past), BodyPlace::Nowhere),
        };
        Some(Extent {
            head_end,
            body,
            past,
            end,
            certain: ends_well,
            inside: None,
        })
    }

    /// Where the value of a variable begins, or its statement ends.
    fn before_value(&self, after: usize, past: usize) -> u32 {
        let mut at = after;
        while at < past {
            let token = self.lexed.tokens[at];
            if token.is(b'=') || token.is(b';') {
                // `:=` and `+=` are one sign.
                let sign = at.checked_sub(1).and_then(|before| self.token(before));
                let joins = sign.is_some_and(|before| {
                    before.end == token.start
                        && matches!(before.kind, Kind::Mark(b':' | b'+' | b'?'))
                });
                return self.end_before(if joins { at - 1 } else { at });
            }
            at = self.past(at).unwrap_or(at + 1);
        }
        self.end_before(past)
    }

    /// Head and body of a variable that holds a function: `= (a) => {…}`, `= function (a) {…}`.
    fn function_value(&self, after: usize, past: usize) -> Option<(u32, BodyPlace)> {
        let mut at = after;
        let mut is_function = false;
        while at < past {
            let token = self.lexed.tokens[at];
            let next = self.token(at + 1).filter(|_| at + 1 < past);
            if token.is(b'=') && next.is_some_and(|next| next.is(b'>') && next.start == token.end) {
                let has_braces = self.token(at + 2).is_some_and(|body| body.is(b'{'));
                return Some(match self.past(at + 2).filter(|_| has_braces) {
                    Some(close) => (token.end + 1, self.between(at + 2, close)),
                    None => (token.end + 1, BodyPlace::Code),
                });
            }
            is_function |= matches!(self.text(at), b"function" | b"func");
            match self.past(at) {
                Some(close) if is_function && (token.is(b'{') || token.kind == Kind::Word) => {
                    let head_end = match token.is(b'{') {
                        true => self.end_before(at),
                        false => self.parameters_end(at + 1),
                    };
                    return Some((head_end, self.between(at, close)));
                }
                Some(close) => at = close,
                None => at += 1,
            }
        }
        None
    }

    /// Head and body of a statement that holds a brace or a block of words.
    fn block_among(&self, after: usize, past: usize) -> (u32, BodyPlace) {
        let mut at = after;
        while at < past {
            let token = self.lexed.tokens[at];
            let next = self.past(at);
            if let Some(close) = next
                && (token.kind == Kind::Word || token.is(b'{'))
            {
                return (self.end_before(at), self.between(at, close));
            }
            at = next.unwrap_or(at + 1);
        }
        (self.parameters_end(after), BodyPlace::Code)
    }

    /// Head and body of a statement whose name a list in brackets may follow.
    fn members(&self, after: usize) -> (u32, BodyPlace) {
        match self.past(after) {
            Some(close) => (self.end_before(after), self.between(after, close)),
            None => (self.end_before(after), BodyPlace::Code),
        }
    }

    fn between(&self, open: usize, past: usize) -> BodyPlace {
        BodyPlace::Between(
            self.lexed.tokens[open].end,
            self.lexed.tokens[past - 1].start,
        )
    }

    /// Where parameters that begin at `at` end: with their bracket, else with their line.
    fn parameters_end(&self, at: usize) -> u32 {
        if self.text(at) == b"("
            && let Some(past) = self.past(at)
        {
            return self.end_before(past);
        }
        let mut at = at;
        while self
            .token(at)
            .is_some_and(|token| !token.begins_line && !token.is(b';'))
        {
            at = self.past(at).unwrap_or(at + 1);
        }
        self.end_before(at)
    }

    /// Up to the word that closes the block which the definition's keyword opens.
    fn keyword(&self, rule: &Rule, item: usize, after: usize, to: usize) -> Option<Extent> {
        let line_end = (after..to)
            .find(|at| self.lexed.tokens[*at].begins_line && *at > item)
            .unwrap_or(to);
        let opener = (item..line_end)
            .find(|at| self.lexed.tokens[*at].kind == Kind::Word && self.past(*at).is_some());
        if let Some(sign) = (after..line_end).find(|at| self.begins_expression(rule, *at))
            && opener.is_none_or(|opener| opener > sign)
        {
            let past = self.statement_past(sign, to)?;
            return Some(Extent {
                head_end: self.end_before(sign),
                body: self.expression(rule, sign, past),
                past,
                end: self.end_before(past),
                certain: true,
                inside: None,
            });
        }
        let Some((open, past)) = opener.and_then(|open| Some((open, self.past(open)?))) else {
            return self.left_open(after.min(to - 1), to);
        };
        let parameters = if open >= after { open + 1 } else { after };
        let close = self.lexed.tokens[past - 1];
        let head_end = self.parameters_end(parameters).min(close.start);
        Some(Extent {
            head_end,
            body: BodyPlace::Between(head_end, close.start),
            past,
            end: close.end,
            certain: past <= to && self.is_aligned(item, past - 1),
            inside: Some((self.token_from(head_end as usize), past - 1)),
        })
    }

    /// Whether the closing word stands where it belongs: below the definition's beginning, or on the same line.
    fn is_aligned(&self, item: usize, close: usize) -> bool {
        let same_line = (item + 1..=close).all(|at| !self.lexed.tokens[at].begins_line);
        let close = self.lexed.tokens[close];
        same_line
            || close.begins_line
                && self.indentation_of(close) == self.indentation_of(self.lexed.tokens[item])
    }

    /// The blanks before a token on its line.
    fn indentation_of(&self, token: Token) -> usize {
        let start = token.start as usize;
        self.source[..start]
            .iter()
            .rev()
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .count()
    }

    /// A line and the lines below that begin with a tab.
    fn recipe(&self, item: usize, to: usize) -> Option<Extent> {
        let ends_at = |from: usize, is_end: &dyn Fn(usize) -> bool| {
            (from..to)
                .find(|at| self.lexed.tokens[*at].begins_line && is_end(*at))
                .unwrap_or(to)
        };
        let continued = |at: usize| self.lexed.tokens[at - 1].is(b'\\');
        let head = ends_at(item + 1, &|at| !continued(at));
        let past = ends_at(item + 1, &|at| {
            let start = self.lexed.tokens[at].start as usize;
            !continued(at) && !begins_with_tab(self.source, start)
        });
        let (head_end, end) = (self.end_before(head), self.end_before(past));
        Some(Extent {
            head_end,
            body: match past > head {
                true => BodyPlace::Between(head_end, end),
                false => BodyPlace::Nowhere,
            },
            past,
            end,
            certain: true,
            inside: None,
        })
    }
}

/// Whether the line that holds `at`, with only blanks before it, begins with a tab.
pub(super) fn begins_with_tab(source: &[u8], at: usize) -> bool {
    let blanks = source[..at]
        .iter()
        .rev()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count();
    blanks > 0 && source[at - blanks] == b'\t'
}
