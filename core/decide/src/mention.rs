//! Finds the tracked entities that a prompt names. Its cost grows with the prompt, not with the State Map.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;
use tslp_projections::state::StateView;

use memchr::memmem;

use tslp_core::capture;
use tslp_core::entity::{EntityId, Symbol, last_component};
use tslp_core::limits::{HYDRATION_CANDIDATES_MAX, MENTION_CANDIDATES_MAX};
use tslp_core::path::RelPath;

/// The entities that a prompt names, in the order of first mention.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mentions {
    /// Symbols named by themselves.
    pub symbols: Vec<EntityId>,
    /// Files named by path or unique base name.
    pub files: Vec<RelPath>,
    /// For each name that fits too many entities, one of them.
    pub ambiguous: Vec<EntityId>,
}

/// Scans one text. `root` is the workspace's absolute path. A plain word can only mean one of the recently shown entities, `lately`.
#[must_use]
pub fn scan(text: &str, root: &str, view: &StateView<'_>, lately: &[EntityId]) -> Mentions {
    let mut scan = MentionScanner::new(root, view, lately);
    for word in path_words(text) {
        if scan.is_full() {
            break;
        }
        scan.add_path_word(word);
    }
    for name in names_in(text) {
        if scan.is_full() {
            break;
        }
        scan.add_name(name);
    }
    scan.found
}

/// A text without its code of named files: a writer doesn't talk about everything that the code calls.
#[must_use]
pub fn outside_of_code(text: &str) -> Cow<'_, str> {
    let blocks = capture::blocks(text).into_iter();
    let of_files = blocks.filter(|block| block.path.is_some());
    let (mut words, mut read) = (String::new(), 0);
    for block in of_files.filter(|block| block.edit.is_none()) {
        words.push_str(text.get(read..block.outer.start).unwrap_or_default());
        words.push('\n');
        read = block.outer.end.max(read);
    }
    if read == 0 {
        return Cow::Borrowed(text);
    }
    words.push_str(&text[read..]);
    Cow::Owned(words)
}

/// The path in a word that may name a definition in it, too: `src/a.c::add`.
pub(crate) fn path_in(word: &str) -> &str {
    word.split_once("::").map_or(word, |(path, _)| path)
}

struct MentionScanner<'v> {
    view: &'v StateView<'v>,
    root: &'v str,
    found: Mentions,
    /// Recently shown entities by the last component of their names; `None` if two have the same.
    lately: BTreeMap<&'v str, Option<&'v EntityId>>,
    /// Words already looked up as paths.
    words_seen: BTreeSet<&'v str>,
    /// Names already looked up.
    names_seen: BTreeSet<&'v str>,
}

impl<'v> MentionScanner<'v> {
    fn new(root: &'v str, view: &'v StateView<'v>, shown: &'v [EntityId]) -> Self {
        let mut lately = BTreeMap::new();
        for entity in shown {
            let name = entity.symbol.as_ref().map(Symbol::last_component);
            if let Some(name) = name.filter(|name| name.len() >= PLAIN_WORD_BYTES_MIN) {
                let only = lately.entry(name).or_insert(Some(entity));
                *only = only.filter(|only| *only == entity);
            }
        }
        Self {
            lately,
            view,
            root,
            found: Mentions::default(),
            words_seen: BTreeSet::new(),
            names_seen: BTreeSet::new(),
        }
    }

    fn is_full(&self) -> bool {
        let found = &self.found;
        found.symbols.len() + found.files.len() + found.ambiguous.len() >= HYDRATION_CANDIDATES_MAX
    }

    /// A word that may be a path or `path::symbol`.
    fn add_path_word(&mut self, word: &'v str) {
        if !self.words_seen.insert(word) {
            return;
        }
        let (path, symbol) = match word.find("::") {
            Some(at) => (&word[..at], Some(&word[at + 2..])),
            None => (word, None),
        };
        let Some(path) = self.tracked_file(path) else {
            return;
        };
        match symbol {
            Some(symbol) => self.add_symbol_of(path, symbol),
            None => push_new(&mut self.found.files, path),
        }
    }

    fn tracked_file(&self, written: &str) -> Option<RelPath> {
        let path = RelPath::parse(written, self.root).ok()?;
        if self.view.state.state_map().tracks(&path) {
            return Some(path);
        }
        if written.contains(['/', '\\']) {
            return None;
        }
        let mut files = self.view.state.state_map().files_named(path.basename(), 2);
        (files.len() == 1).then(|| files.remove(0))
    }

    fn add_symbol_of(&mut self, path: RelPath, symbol: &str) {
        let entity = EntityId::symbol(path, Symbol::new(symbol));
        if self.view.current_version(&entity).is_some() {
            push_new(&mut self.found.symbols, entity);
        }
    }

    fn add_name(&mut self, name: NameInText<'v>) {
        if !name.means_a_symbol() {
            if let Some(Some(entity)) = self.lately.get(name.text) {
                push_new(&mut self.found.symbols, (*entity).clone());
            }
            return;
        }
        if !self.names_seen.insert(name.text) {
            return;
        }
        let candidates = self
            .view
            .state
            .state_map()
            .entities_named(last_component(name.text), 4 * MENTION_CANDIDATES_MAX);
        let fitting: Vec<EntityId> = candidates
            .into_iter()
            .filter(|entity| {
                entity
                    .symbol_str()
                    .is_some_and(|symbol| ends_with_name(symbol, name.text))
            })
            .collect();
        let in_named_files: Vec<EntityId> = fitting
            .iter()
            .filter(|entity| self.found.files.contains(&entity.path))
            .cloned()
            .collect();
        let chosen = if in_named_files.is_empty() {
            fitting
        } else {
            in_named_files
        };
        if chosen.len() > MENTION_CANDIDATES_MAX {
            push_new(&mut self.found.ambiguous, chosen[0].clone());
            return;
        }
        for entity in chosen {
            push_new(&mut self.found.symbols, entity);
        }
    }
}

fn push_new<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// Whether the qualified `symbol` is `name` or ends with it at a component's boundary.
fn ends_with_name(symbol: &str, name: &str) -> bool {
    symbol
        .strip_suffix(name)
        .is_some_and(|front| front.is_empty() || front.ends_with("::") || front.ends_with('.'))
}

/// Words that may hold a path, that is, with a dot or a slash: split at whitespace, quotes and brackets, without the
/// punctuation of a sentence.
pub fn path_words(text: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    core::iter::from_fn(move || {
        loop {
            let mark = at + memchr::memchr2(b'.', b'/', &text.as_bytes()[at..])?;
            let start = text[at..mark]
                .rfind(ends_word)
                .map_or(at, |blank| after_char(text, at + blank));
            let end = text[mark..]
                .find(ends_word)
                .map_or(text.len(), |len| mark + len);
            at = end;
            let word = text[start..end]
                .trim_end_matches(['.', ':', '!', '?'])
                .trim_start_matches(['@', '#']);
            if word.contains(['.', '/']) {
                return Some(word);
            }
        }
    })
}

fn ends_word(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '`' | '"' | '\'' | '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | ',' | ';' | '*'
        )
}

fn after_char(text: &str, at: usize) -> usize {
    at + text[at..].chars().next().map_or(0, char::len_utf8)
}

/// An identifier, perhaps qualified, with what the text around it says about it.
#[derive(Clone, Copy)]
struct NameInText<'t> {
    text: &'t str,
    is_qualified: bool,
    in_backticks: bool,
    before_parenthesis: bool,
    /// Whether the words around it call it a definition: "the add function", "method push".
    is_called_code: bool,
}

impl NameInText<'_> {
    /// Whether the name can only mean a symbol: a plain word that happens to be a symbol's name doesn't.
    fn means_a_symbol(&self) -> bool {
        self.is_qualified
            || self.in_backticks
            || self.before_parenthesis
            || self.is_called_code
            || is_distinctive(self.text)
    }
}

/// Whether a name has an underscore, a digit, or a capital after the first letter.
fn is_distinctive(name: &str) -> bool {
    name.bytes().enumerate().any(|(at, byte)| {
        byte == b'_' || byte.is_ascii_digit() || (at > 0 && byte.is_ascii_uppercase())
    })
}

/// All maximal runs of identifiers joined by `::` or `.`.
fn names_in(text: &str) -> impl Iterator<Item = NameInText<'_>> {
    let bytes = text.as_bytes();
    let called = names_called_code(text);
    let mut at = 0;
    core::iter::from_fn(move || {
        while at < bytes.len() && !starts_identifier(bytes[at]) {
            at += if bytes[at].is_ascii_digit() {
                number_length(&bytes[at..])
            } else {
                1
            };
        }
        if at >= bytes.len() {
            return None;
        }
        let start = at;
        at += identifier_length(&bytes[at..]);
        let mut is_qualified = false;
        while let Some(joint) = joint_length(&bytes[at..]) {
            at += joint + identifier_length(&bytes[at + joint..]);
            is_qualified = true;
        }
        Some(NameInText {
            text: &text[start..at],
            is_qualified,
            in_backticks: start > 0 && bytes[start - 1] == b'`' && closes_backticks(&bytes[at..]),
            before_parenthesis: bytes.get(at) == Some(&b'('),
            is_called_code: !is_qualified && called.contains(&start),
        })
    })
}

/// Shortest plain word, in bytes, that can mean a recently shown entity: shorter ones are articles and pronouns.
const PLAIN_WORD_BYTES_MIN: usize = 3;

/// Nouns by which people call definitions, in the singular.
const KINDS: [&str; 12] = [
    "function",
    "method",
    "struct",
    "class",
    "enum",
    "interface",
    "trait",
    "macro",
    "type",
    "fn",
    "func",
    "def",
];

/// Words before a name that show that one certain thing is meant.
const DETERMINERS: [&str; 8] = [
    "the", "this", "that", "my", "our", "your", "its", "existing",
];

/// The starts of words that the text calls definitions: "the NAME function", "the NAME and OTHER functions", "function NAME".
/// It searches for the nouns, which are few, and not around each word.
fn names_called_code(text: &str) -> BTreeSet<usize> {
    let mut called = BTreeSet::new();
    for kind in KINDS {
        for at in memmem::find_iter(text.as_bytes(), kind) {
            let end = at + kind.len();
            let length = word_length(text[end..].bytes());
            if at > 0 && continues_identifier(text.as_bytes()[at - 1])
                || !matches!(&text[end..end + length], "" | "s" | "es")
            {
                continue;
            }
            if let Some(name) = word_after(text, end).filter(|_| length == 0) {
                called.insert(name.start);
            }
            let Some(name) = word_before(text, at) else {
                continue;
            };
            let mut before = word_before(text, name.start);
            let mut other = None;
            if before
                .as_ref()
                .is_some_and(|word| matches!(&text[word.clone()], "and" | "or"))
            {
                other = before.and_then(|joint| word_before(text, joint.start));
                before = other
                    .as_ref()
                    .and_then(|other| word_before(text, other.start));
            }
            if before.is_some_and(|word| is_determiner(&text[word])) {
                called.insert(name.start);
                called.extend(other.map(|other| other.start));
            }
        }
    }
    called
}

fn is_determiner(word: &str) -> bool {
    DETERMINERS
        .iter()
        .any(|determiner| word.eq_ignore_ascii_case(determiner))
}

/// The word before `at`, with only whitespace and backticks between.
fn word_before(text: &str, at: usize) -> Option<Range<usize>> {
    let end = text[..at].trim_end_matches([' ', '\t', '`']).len();
    let start = end - word_length(text[..end].bytes().rev());
    (start < end && end < at).then_some(start..end)
}

/// The word after `at`, with only whitespace and backticks between.
fn word_after(text: &str, at: usize) -> Option<Range<usize>> {
    let start = text.len() - text[at..].trim_start_matches([' ', '\t', '`']).len();
    let end = start + word_length(text[start..].bytes());
    (at < start && start < end).then_some(start..end)
}

/// The number of leading bytes that belong to one word.
fn word_length(bytes: impl Iterator<Item = u8>) -> usize {
    bytes
        .take_while(|byte| continues_identifier(*byte))
        .take(NAME_BYTES_MAX)
        .count()
}

/// Longest word that is read next to a name, so that a text without spaces isn't read again for each noun in it.
const NAME_BYTES_MAX: usize = 128;

fn closes_backticks(rest: &[u8]) -> bool {
    rest.first() == Some(&b'`') || rest.starts_with(b"()`")
}

fn starts_identifier(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'~'
}

fn continues_identifier(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn identifier_length(bytes: &[u8]) -> usize {
    1 + bytes[1..]
        .iter()
        .take_while(|byte| continues_identifier(**byte))
        .count()
}

fn number_length(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .take_while(|byte| continues_identifier(**byte))
        .count()
}

/// Length of a `::` or `.` that an identifier follows.
fn joint_length(bytes: &[u8]) -> Option<usize> {
    let len = if bytes.starts_with(b"::") {
        2
    } else if bytes.first() == Some(&b'.') {
        1
    } else {
        return None;
    };
    bytes
        .get(len)
        .filter(|byte| starts_identifier(**byte))
        .map(|_| len)
}
