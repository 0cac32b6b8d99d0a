//! The definitions of a text, found by the rules of its language where a definition may begin.

use std::collections::HashSet;

use regex::bytes::{Captures, Regex};
use tslp_core::extract::{Body, ExtractError};
use tslp_core::limits::DEFINITIONS_PER_BLOCK_MAX;
use tslp_core::slice::Span;

use super::compiled::{Language, Rule};
use super::data::{Ends, Kind};
use super::extent::{BodyPlace, Extent};
use super::indentation::Line;
use super::lex::{self, Lexed, Token, offset};

/// Longest beginning of a definition that a pattern gets to see.
const PATTERN_BYTES_MAX: usize = 1024;

/// How deep definitions nest; what is nested deeper isn't looked through.
const SCOPES_MAX: u32 = 48;

/// Places looked at in one text. Each may cost some twenty microseconds where all is made to look like a definition.
const ITEMS_MAX: usize = 60_000;

/// Annotations in front of one definition.
const ANNOTATIONS_MAX: usize = 1_000;

/// A definition, still without its figures.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) symbol: String,
    /// First token, annotations included.
    pub(super) first: usize,
    /// One past the last token.
    pub(super) past: usize,
    /// One past the last byte.
    pub(super) end: u32,
    pub(super) head: Span,
    pub(super) body: Body,
    /// Whether nothing about it is in doubt.
    pub(super) certain: bool,
    pub(super) top_level: bool,
}

/// What encloses the place at which definitions are looked for.
#[derive(Clone, Debug)]
pub(super) struct Frame<'a> {
    pub(super) place: &'a str,
    scope: String,
    name: String,
    in_definition: bool,
    /// Whether what is found may belong to something that the text doesn't show.
    is_fragment: bool,
    depth: u32,
}

impl<'a> Frame<'a> {
    /// The top of a file.
    pub(super) fn top() -> Self {
        Self {
            place: "top",
            scope: String::new(),
            name: String::new(),
            in_definition: false,
            is_fragment: false,
            depth: 0,
        }
    }

    /// The same, but for what is looked for.
    pub(super) fn at(&self, place: &'a str) -> Self {
        Self {
            place,
            ..self.clone()
        }
    }

    /// The same in a text that shows only a part.
    pub(super) fn of_fragment(&self) -> Self {
        Self {
            is_fragment: true,
            ..self.clone()
        }
    }
}

/// A rule that applies.
pub(super) struct Match<'a> {
    pub(super) rule: &'a Rule,
    pub(super) extent: Extent,
    names: Vec<String>,
    scope: Option<String>,
}

/// The search for definitions in one text.
pub(super) struct Outline<'a> {
    pub(super) language: &'a Language,
    pub(super) source: &'a [u8],
    pub(super) lexed: &'a Lexed,
    /// Logical lines, where indentation matters.
    pub(super) lines: &'a [Line],
    pub(super) found: Vec<Found>,
    /// Whether something was seen that only a whole file has.
    pub(super) preamble: bool,
    firsts: HashSet<String>,
    items: usize,
}

impl<'a> Outline<'a> {
    pub(super) fn new(
        language: &'a Language,
        source: &'a [u8],
        lexed: &'a Lexed,
        lines: &'a [Line],
    ) -> Self {
        Self {
            language,
            source,
            lexed,
            lines,
            found: Vec::new(),
            preamble: source.starts_with(b"#!/"),
            firsts: HashSet::new(),
            items: 0,
        }
    }

    pub(super) fn token(&self, index: usize) -> Option<Token> {
        self.lexed.tokens.get(index).copied()
    }

    pub(super) fn text(&self, index: usize) -> &'a [u8] {
        self.token(index)
            .map_or(b"", |token| token.text(self.source))
    }

    /// Looks for definitions among the tokens from `from` to `to`.
    ///
    /// # Errors
    /// When there are more places to look at than anybody writes.
    pub(super) fn region(
        &mut self,
        from: usize,
        to: usize,
        frame: &Frame<'a>,
    ) -> Result<(), ExtractError> {
        let mut at = from;
        while at < to {
            if matches!(
                self.lexed.tokens[at].kind,
                lex::Kind::Mark(b';' | b',' | b'}' | b')')
            ) {
                at += 1;
                continue;
            }
            let item = self.past_annotations(at, to);
            if item >= to {
                return Ok(());
            }
            at = match self.item(at, item, to, frame)? {
                Some(past) => past.max(item + 1),
                None => self.past_item(item, to),
            };
        }
        Ok(())
    }

    /// Takes the definition that begins at `item`, with what stands in front of it from `first` on; says where it ends.
    pub(super) fn item(
        &mut self,
        first: usize,
        item: usize,
        to: usize,
        frame: &Frame<'a>,
    ) -> Result<Option<usize>, ExtractError> {
        self.items += 1;
        if self.items > ITEMS_MAX {
            return Err(ExtractError::Unparsable);
        }
        let text = self.head_text(item, to);
        let matches =
            |pattern: &Option<Regex>| pattern.as_ref().is_some_and(|known| known.is_match(text));
        if !frame.in_definition && matches(&self.language.preamble) {
            self.preamble = true;
            return Ok(None);
        }
        if matches(&self.language.reject) {
            return Ok(None);
        }
        let Some(mut found) = self.matching(item, to, frame) else {
            return Ok(None);
        };
        let above = self.lexed.tokens[first].start as usize..self.lexed.tokens[item].start as usize;
        let above = &self.lexed.masked[above];
        let declares = self.language.declares_only.as_ref();
        if declares.is_some_and(|pattern| first < item && pattern.is_match(above)) {
            return Ok(Some(found.extent.past));
        }
        let accessor = self.language.accessor.as_ref();
        let accessor = accessor
            .filter(|_| first < item)
            .and_then(|pattern| pattern.captures(above))
            .and_then(|captures| captures.name("suffix"));
        if let Some(suffix) = accessor {
            let suffix = String::from_utf8_lossy(suffix.as_bytes());
            for name in &mut found.names {
                *name = joined(name, &self.language.separator, &suffix);
            }
        }
        self.take(first, item, &found, frame);
        self.inside(&found, frame)?;
        Ok(Some(found.extent.past))
    }

    /// The masked text that patterns see of what begins at a token.
    fn head_text(&self, item: usize, to: usize) -> &'a [u8] {
        let start = self.lexed.tokens[item].start as usize;
        let end = self.lexed.tokens[to - 1].end as usize;
        &self.lexed.masked[start..end.min(start + PATTERN_BYTES_MAX)]
    }

    /// The first token after what may stand in front of a definition.
    pub(super) fn past_annotations(&self, at: usize, to: usize) -> usize {
        let Some(annotation) = &self.language.annotation else {
            return at;
        };
        let mut at = at;
        for _ in 0..ANNOTATIONS_MAX {
            if at >= to {
                break;
            }
            let Some(found) = annotation.find(self.head_text(at, to)) else {
                break;
            };
            let end = self.lexed.tokens[at].start as usize + found.end();
            let mut next = self.token_from(end);
            if let Some(token) = self.token(next)
                && token.start as usize == end
                && self.is_opener(token)
            {
                next = self.past(next).unwrap_or(next + 1);
            } else if next > 0
                && self.lexed.tokens[next - 1].end as usize == end
                && self.is_opener(self.lexed.tokens[next - 1])
            {
                next = self.past(next - 1).unwrap_or(next);
            }
            if next <= at {
                break;
            }
            at = next;
        }
        at.min(to)
    }

    /// The first token that starts at or after a byte.
    pub(super) fn token_from(&self, byte: usize) -> usize {
        self.lexed
            .tokens
            .partition_point(|token| (token.start as usize) < byte)
    }

    fn matching(&self, item: usize, to: usize, frame: &Frame<'a>) -> Option<Match<'a>> {
        let language = self.language;
        let text = self.head_text(item, to);
        let mut without_angles = None;
        language
            .rules
            .iter()
            .filter(|rule| rule.data.within.iter().any(|place| place == frame.place))
            .find_map(|rule| {
                let text = match rule.data.blank_angles {
                    true => without_angles.get_or_insert_with(|| blank_angles(text)),
                    false => text,
                };
                let captures = rule.pattern.captures(text)?;
                self.applied(rule, &captures, item, to, frame)
            })
    }

    fn applied(
        &self,
        rule: &'a Rule,
        captures: &Captures<'_>,
        item: usize,
        to: usize,
        frame: &Frame<'a>,
    ) -> Option<Match<'a>> {
        let base = self.lexed.tokens[item].start as usize;
        let whole = captures.get(0)?;
        let names = match rule.kind {
            Kind::Block => Vec::new(),
            _ => self.names(rule, captures, base),
        };
        if rule.kind != Kind::Block && names.is_empty()
            || rule.data.named_like_scope && names.first() != Some(&frame.name)
        {
            return None;
        }
        let after = match (rule.ends, captures.name("name")) {
            (Ends::Group, _) | (_, None) => self.token_from(base + whole.end() - 1),
            (_, Some(name)) => self.token_from(base + name.end()),
        };
        let extent = self.extent(rule, item, after, to)?;
        let scope = rule.data.scope.as_deref();
        Some(Match {
            rule,
            extent,
            names,
            scope: scope.map(|template| self.filled(template, captures, base)),
        })
    }

    /// The names that a match gives.
    fn names(&self, rule: &Rule, captures: &Captures<'_>, base: usize) -> Vec<String> {
        let filled = self.filled(&rule.symbol, captures, base);
        let several = rule.kind == Kind::Value || rule.ends == Ends::Recipe;
        let names: Vec<&str> = match several {
            true => filled.split([',', ' ']).collect(),
            false => vec![&filled],
        };
        names
            .into_iter()
            .map(str::trim)
            .filter(|name| !name.is_empty() && (*name != "_" || rule.kind != Kind::Value))
            .map(str::to_owned)
            .collect()
    }

    /// A template with the source's text for the pattern's groups, quotes and needless blanks left out.
    fn filled(&self, template: &str, captures: &Captures<'_>, base: usize) -> String {
        let mut filled = template.to_owned();
        for part in template.split('{').skip(1) {
            let Some((group, _)) = part.split_once('}') else {
                continue;
            };
            let text = captures.name(group).map_or(&b""[..], |found| {
                &self.source[base + found.start()..base + found.end()]
            });
            let text = String::from_utf8_lossy(text);
            let text = match text.contains(['"', '`']) {
                true => text.replace(['"', '`'], ""),
                false => crate::language::tightened(&text),
            };
            filled = filled.replace(&format!("{{{group}}}"), &text);
        }
        filled
    }

    fn take(&mut self, first: usize, item: usize, found: &Match<'a>, frame: &Frame<'a>) {
        let head = Span {
            start: self.lexed.tokens[item].start,
            end: found.extent.head_end,
        };
        for name in &found.names {
            if self.found.len() >= DEFINITIONS_PER_BLOCK_MAX {
                return;
            }
            let separator = found.rule.data.separator.as_deref();
            let symbol = joined(
                &frame.scope,
                separator.unwrap_or(&self.language.separator),
                name,
            );
            if found.rule.data.first_only && !self.firsts.insert(symbol.clone()) {
                continue;
            }
            self.found.push(Found {
                symbol,
                first,
                past: found.extent.past,
                end: found.extent.end,
                head,
                body: self.body(found),
                certain: found.extent.certain && !frame.is_fragment,
                top_level: !frame.in_definition,
            });
        }
    }

    fn body(&self, found: &Match<'a>) -> Body {
        match found.extent.body {
            _ if found.rule.kind == Kind::Value => Body::None,
            BodyPlace::Nowhere => Body::None,
            BodyPlace::Code => Body::Code,
            BodyPlace::Between(start, end) => self.language.stubs.judge(
                self.source,
                &self.lexed.comments,
                (start as usize, end as usize),
            ),
        }
    }

    fn inside(&mut self, found: &Match<'a>, frame: &Frame<'a>) -> Result<(), ExtractError> {
        let is_block = found.rule.kind == Kind::Block;
        let place = match &found.rule.data.inside {
            Some(place) => place.as_str(),
            None if is_block => frame.place,
            None => return Ok(()),
        };
        let Some((from, to)) = found.extent.inside.filter(|_| frame.depth < SCOPES_MAX) else {
            return Ok(());
        };
        let mut inner = Frame {
            place,
            depth: frame.depth + 1,
            in_definition: frame.in_definition || !is_block,
            ..frame.clone()
        };
        if let Some(scope) = &found.scope {
            inner.scope = joined(&frame.scope, &self.language.separator, scope);
            inner.name.clone_from(scope);
        }
        if found.rule.ends == Ends::Indentation {
            return self.indented(from, to, &inner);
        }
        self.region(from, to, &inner)
    }

    /// The token after something that defines nothing.
    fn past_item(&self, item: usize, to: usize) -> usize {
        let mut at = item;
        while at < to {
            let token = self.lexed.tokens[at];
            if at > item && token.begins_line && self.ends_before(at) {
                return at;
            }
            if token.is(b';') {
                return at + 1;
            }
            match self.past(at) {
                Some(past) if token.is(b'{') => return past,
                Some(past) => at = past,
                None => at += 1,
            }
        }
        to
    }
}

fn joined(scope: &str, separator: &str, name: &str) -> String {
    if scope.is_empty() {
        name.to_owned()
    } else {
        format!("{scope}{separator}{name}")
    }
}

/// A text with blanks for all that stands between `<` and `>`, up to the first brace.
fn blank_angles(text: &[u8]) -> Vec<u8> {
    let mut blanked = text.to_vec();
    let mut depth = 0_u32;
    let mut before = 0;
    for byte in &mut blanked {
        let is_arrow = *byte == b'>' && matches!(before, b'-' | b'=');
        before = *byte;
        match *byte {
            b'{' => break,
            b'<' => depth += 1,
            b'>' if !is_arrow && depth > 0 => {
                depth -= 1;
                *byte = b' ';
            }
            _ => {}
        }
        if depth > 0 {
            *byte = b' ';
        }
    }
    blanked
}

impl Found {
    /// The bytes from its first token on.
    pub(super) fn start(&self, lexed: &Lexed) -> u32 {
        lexed
            .tokens
            .get(self.first)
            .map_or(offset(lexed.masked.len()), |token| token.start)
    }
}
