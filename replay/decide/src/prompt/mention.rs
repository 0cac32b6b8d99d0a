//! Finds the tracked entities that a prompt names. Its cost grows with the prompt, not with the State Map.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;
use tslp_projections::state::StateView;

use memchr::memmem;

use crate::scope::place::{self, Standpoint};

use tslp_core::capture;
use tslp_core::entity::{EntityId, Symbol, last_component};
use tslp_core::limits::{HYDRATION_CANDIDATES_MAX, MENTION_CANDIDATES_MAX};
use tslp_core::path::{self, RelPath};

/// The entities that a prompt names, in the order of first mention.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mentions {
    /// Symbols named by themselves.
    pub symbols: Vec<EntityId>,
    /// Files named by path or unique base name.
    pub files: Vec<RelPath>,
    /// What the last prompt showed, if this one names nothing: it goes on about that.
    pub followed_up: Vec<EntityId>,
    /// For each name that fits too many entities, one of them.
    pub ambiguous: Vec<EntityId>,
}

/// Scans one text. A plain word can only mean one of the recently shown entities, `lately`.
#[must_use]
pub fn scan(text: &str, at: Standpoint<'_>, view: &StateView<'_>, lately: &[EntityId]) -> Mentions {
    let mut scan = MentionScanner::new(at, view, lately);
    for word in path_words(text) {
        if scan.is_full() {
            break;
        }
        scan.add_path_word(text, word);
    }
    for marked in marked_spans(text) {
        if scan.is_full() {
            break;
        }
        scan.add_marked(marked);
    }
    for name in names_in(text) {
        if scan.is_full() {
            break;
        }
        if !scan
            .quoted
            .iter()
            .any(|line| line.contains(&name.range.start))
        {
            scan.add_name(text, name);
        }
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

/// The path in a word that may name a definition or a line in it, too: `src/a.c::add`, `src/a.c:12:5`, `src/a.c#L12`.
pub(crate) fn path_in(word: &str) -> &str {
    match word.split_once("::") {
        Some((path, _)) => path,
        None => split_place(word).0,
    }
}

/// A path with the line that follows it after a colon or `#L`, counted from 1.
fn split_place(word: &str) -> (&str, Option<u32>) {
    let is_place = |rest: &str| {
        let digits = rest.strip_prefix("line ").unwrap_or(rest);
        digits.starts_with(|c: char| c.is_ascii_digit())
    };
    let mut marks = word.match_indices(':').chain(word.match_indices("#L"));
    let mark = marks.find(|(at, mark)| is_place(&word[at + mark.len()..]));
    match mark {
        Some((at, mark)) => (&word[..at], leading_number(&word[at + mark.len()..])),
        None => (word, None),
    }
}

fn leading_number(text: &str) -> Option<u32> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    text[..length].parse().ok()
}

/// The line of source that a traceback quotes below a place, indented deeper than that.
fn quoted_below(text: &str, place: usize) -> Option<Range<usize>> {
    let start = text[..place].rfind('\n').map_or(0, |end| end + 1);
    let below = place + text[place..].find('\n')? + 1;
    let end = text[below..].find('\n').map_or(text.len(), |at| below + at);
    let indentation = |line: &str| line.len() - line.trim_start().len();
    (indentation(&text[below..end]) > indentation(&text[start..place])).then_some(below..end)
}

/// The line that a text names right after a path: `", line 12`, `(12,5)`, `:line 12`, `on line 12`, `, Zeile 12`, ` 12:5`.
fn line_after(text: &str) -> Option<u32> {
    let place = text.strip_prefix(' ').and_then(|text| text.split_once(':'));
    if let Some((line, column)) = place
        && column.starts_with(|c: char| c.is_ascii_digit())
        && let Ok(line) = line.parse()
    {
        return Some(line);
    }
    let rest = text.trim_start_matches(['"', '\'', '`', ')', ',', ':', ' ']);
    if let Some(inside) = rest.strip_prefix('(') {
        let end = inside.find(')')?;
        let is_place = inside[..end]
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b',');
        return leading_number(inside).filter(|_| is_place);
    }
    let rest = ["on ", "at ", "in ", "à la ", "en la "]
        .iter()
        .find_map(|lead| rest.strip_prefix(lead))
        .unwrap_or(rest);
    let words = ["line ", "Zeile ", "ligne ", "línea ", "lines ", "l."];
    let rest = words.iter().find_map(|word| rest.strip_prefix(word))?;
    leading_number(rest)
}

struct MentionScanner<'v> {
    view: &'v StateView<'v>,
    at: Standpoint<'v>,
    found: Mentions,
    /// Recently shown entities by the last component of their names; `None` if two have the same.
    lately: BTreeMap<&'v str, Option<&'v EntityId>>,
    /// Words already looked up as paths.
    words_seen: BTreeSet<&'v str>,
    /// Names already looked up.
    names_seen: BTreeSet<&'v str>,
    /// How often each plain word was looked at.
    looks: BTreeMap<&'v str, u32>,
    /// Places that were looked up.
    places: usize,
    /// Lines of source that the text quotes below places: what they call isn't named.
    quoted: Vec<Range<usize>>,
}

impl<'v> MentionScanner<'v> {
    fn new(at: Standpoint<'v>, view: &'v StateView<'v>, shown: &'v [EntityId]) -> Self {
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
            at,
            found: Mentions::default(),
            words_seen: BTreeSet::new(),
            names_seen: BTreeSet::new(),
            looks: BTreeMap::new(),
            places: 0,
            quoted: Vec::new(),
        }
    }

    fn is_full(&self) -> bool {
        let found = &self.found;
        found.symbols.len() + found.files.len() + found.ambiguous.len() >= HYDRATION_CANDIDATES_MAX
    }

    /// A word that may be a path, a place in a file or `path::symbol`.
    fn add_path_word(&mut self, text: &str, word: &'v str) {
        let (path, symbol) = match word.split_once("::") {
            Some((path, symbol)) => (path, Some(symbol)),
            None => (word, None),
        };
        let (written, line) = split_place(path);
        let end = word.as_ptr() as usize - text.as_ptr() as usize + word.len();
        let line = line.or_else(|| line_after(text.get(end..).unwrap_or_default()));
        if line.is_none() && !self.words_seen.insert(word) {
            return;
        }
        // A traceback and a linter name files from the root of the file system, or of the machine that ran them.
        let ends_in = |file: &RelPath| path::ends_in(written, file.as_str());
        let elsewhere =
            || line.and_then(|_| place::recognised(self.view, self.at, written, ends_in));
        let Some(path) = self.tracked_file(written).or_else(elsewhere) else {
            return;
        };
        match (symbol, line) {
            (Some(symbol), _) => self.add_symbol_of(path, symbol),
            (None, Some(_)) if self.places == PLACES_MAX => {}
            (None, Some(line)) => {
                self.places += 1;
                self.quoted.extend(quoted_below(text, end));
                match symbol_at(self.view, &path, line) {
                    Some(entity) => push_new(&mut self.found.symbols, entity),
                    None => push_new(&mut self.found.files, path),
                }
            }
            (None, None) => push_new(&mut self.found.files, path),
        }
    }

    fn tracked_file(&self, written: &str) -> Option<RelPath> {
        let path = place::of(self.view, self.at, written).ok()?;
        self.view.state.state_map().tracks(&path).then_some(path)
    }

    fn add_symbol_of(&mut self, path: RelPath, symbol: &str) {
        let entity = EntityId::symbol(path, Symbol::new(symbol));
        if self.view.current_version(&entity).is_some() {
            push_new(&mut self.found.symbols, entity);
        }
    }

    fn add_name(&mut self, text: &str, name: NameInText<'v>) {
        if !name.means_a_symbol() {
            let looks = self.looks.entry(name.text).or_default();
            *looks += 1;
            if *looks > LOOKS_MAX {
                return;
            }
        }
        if !name.means_a_symbol() && !self.is_called_code(text, &name) {
            if let Some(Some(entity)) = self.lately.get(name.text) {
                push_new(&mut self.found.symbols, (*entity).clone());
            } else if let Some(entity) = self.only_entity(name.text)
                && !is_prose(text, &name)
            {
                push_new(&mut self.found.symbols, entity);
            }
            return;
        }
        if !self.names_seen.insert(name.text) {
            return;
        }
        let state_map = self.view.state.state_map();
        let candidates =
            state_map.entities_named(last_component(name.text), 4 * MENTION_CANDIDATES_MAX);
        let fitting: Vec<EntityId> = candidates
            .into_iter()
            .filter(|entity| is_named(entity, name.text))
            .collect();
        // What a place or a path beside the name says already is meant.
        let is_found = |entity: &&EntityId| self.found.symbols.contains(entity);
        let is_in_named_file = |entity: &&EntityId| self.found.files.contains(&entity.path);
        let kept: [&dyn Fn(&&EntityId) -> bool; 2] = [&is_found, &is_in_named_file];
        let kept = kept.map(|is_meant| fitting.iter().filter(is_meant).cloned().collect());
        let kept = kept
            .into_iter()
            .find(|kept: &Vec<EntityId>| !kept.is_empty());
        let chosen = kept.unwrap_or(fitting);
        if chosen.len() > MENTION_CANDIDATES_MAX {
            push_new(&mut self.found.ambiguous, chosen[0].clone());
            return;
        }
        for entity in chosen {
            push_new(&mut self.found.symbols, entity);
        }
    }

    /// A span in backticks that is a symbol's whole name, with what no identifier holds, and perhaps its path in front:
    /// `<Ring as Display>::fmt`, `Cart.#total`, `src/ring.rs::operator==`; of a private method its last part is enough: `#total`.
    fn add_marked(&mut self, marked: &str) {
        let (path, symbol) = match marked.split_once("::") {
            Some((path, symbol)) if let Some(path) = self.tracked_file(path) => {
                (Some(path), symbol)
            }
            _ => (None, marked),
        };
        if let Some(path) = path {
            return self.add_symbol_of(path, symbol);
        }
        let state_map = self.view.state.state_map();
        let named = state_map.entities_named(last_component(symbol), 4 * MENTION_CANDIDATES_MAX);
        let is_meant = |it: &EntityId| {
            let last = it.symbol.as_ref().map(Symbol::last_component);
            it.symbol_str() == Some(symbol) || symbol.starts_with('#') && last == Some(symbol)
        };
        let mut fitting = named.into_iter().filter(is_meant);
        if let (Some(entity), None) = (fitting.next(), fitting.next()) {
            push_new(&mut self.found.symbols, entity);
        }
    }

    /// Whether the words around a plain name call it a definition: "the add function", "the add and sub functions", "Funktion add".
    fn is_called_code(&self, text: &str, name: &NameInText<'_>) -> bool {
        let state_map = self.view.state.state_map();
        if state_map.entities_named(name.text, 1).is_empty() {
            return false;
        }
        let (words_before, mut after) = (
            words_before(text, name.range.start),
            &text[name.range.end..],
        );
        let before = |back: usize| words_before.get(back).map_or("", String::as_str);
        let is_determined = DETERMINERS.contains(&before(0))
            || CONJUNCTIONS.contains(&before(0)) && DETERMINERS.contains(&before(2))
            || after.starts_with('-');
        let mut word = first_word(&mut after);
        if CONJUNCTIONS.contains(&&*word) {
            first_word(&mut after);
            word = first_word(&mut after);
        }
        KINDS.contains(&before(0)) || KINDS.contains(&&*word) && is_determined
    }

    /// The one entity with this name, among those of the named files if there are any.
    fn only_entity(&self, name: &str) -> Option<EntityId> {
        if name.len() < PLAIN_WORD_BYTES_MIN {
            return None;
        }
        let mut found = self
            .view
            .state
            .state_map()
            .entities_named(name, MENTION_CANDIDATES_MAX);
        if found.len() > 1 {
            found.retain(|entity| self.found.files.contains(&entity.path));
        }
        (found.len() == 1).then(|| found.remove(0))
    }
}

/// Words for kinds of definitions.
const KINDS: [&str; 38] = [
    "function",
    "functions",
    "method",
    "methods",
    "struct",
    "structs",
    "class",
    "classes",
    "enum",
    "enums",
    "interface",
    "trait",
    "macro",
    "macros",
    "fn",
    "func",
    "def",
    "funktion",
    "funktionen",
    "methode",
    "methoden",
    "klasse",
    "klassen",
    "schnittstelle",
    "fonction",
    "fonctions",
    "méthode",
    "méthodes",
    "classe",
    "función",
    "funciones",
    "método",
    "métodos",
    "clase",
    "clases",
    "type",
    "typ",
    "tipo",
];

/// Words before a name that show that one certain thing is meant.
const DETERMINERS: [&str; 27] = [
    "the", "this", "that", "my", "our", "your", "its", "existing", "der", "die", "das", "den",
    "dem", "unsere", "meine", "diese", "le", "la", "les", "cette", "ma", "notre", "el", "los",
    "las", "esta", "mi",
];

/// Words that join two names.
const CONJUNCTIONS: [&str; 8] = ["and", "or", "und", "oder", "et", "ou", "y", "o"];

/// English words so common that in prose they mean no definition, lower-cased, one a line.
const COMMON_WORDS: &str = include_str!("common_words.txt");

/// Whether a plain word is more likely prose than a name. A capital within a sentence is a name's.
fn is_prose(text: &str, name: &NameInText<'_>) -> bool {
    let before = text[..name.range.start].trim_end_matches([' ', '`', '"', '*']);
    let begins_sentence =
        before.is_empty() || before.ends_with(['.', '!', '?', '\n', ';', ':', '-']);
    let is_capital = name.text.starts_with(|c: char| c.is_ascii_uppercase());
    (!is_capital || begins_sentence) && is_common(&name.text.to_lowercase())
}

fn is_common(word: &str) -> bool {
    let line = format!("\n{word}\n");
    memmem::find(COMMON_WORDS.as_bytes(), line.as_bytes()).is_some()
}

/// How much of a text before a name is read, in bytes: each of many names in one long line is looked at by itself.
const SENTENCE_BYTES_MAX: usize = 256;

/// Places of one plain word that are looked at: what is said so often is meant early, or never.
const LOOKS_MAX: u32 = 16;

/// Places in files that are looked up in one text: a linter's report may name thousands.
const PLACES_MAX: usize = 64;

/// The last three words before a name in its clause, the nearest first, lower-cased.
fn words_before(text: &str, at: usize) -> Vec<String> {
    let mut near = at.saturating_sub(SENTENCE_BYTES_MAX);
    while !text.is_char_boundary(near) {
        near += 1;
    }
    let ends_clause = ['.', '!', '?', '\n', ';', ':', ',', '(', '–', '—'];
    let clause = text[near..at]
        .rsplit(ends_clause)
        .next()
        .unwrap_or_default();
    let words = clause
        .rsplit(is_outside_words)
        .filter(|word| !word.is_empty());
    words.take(3).map(str::to_lowercase).collect()
}

/// Takes the next word off a text, lower-cased. A hyphen before it is German: `add-Funktion`.
fn first_word(text: &mut &str) -> String {
    let compound = text.strip_prefix('-');
    let compound = compound.filter(|it| it.starts_with(|c: char| c.is_ascii_uppercase()));
    let said = compound.unwrap_or_else(|| text.trim_start_matches([' ', '`', '"', '*', '\'']));
    let (word, rest) = said.split_at(said.find(is_outside_words).unwrap_or(said.len()));
    *text = rest;
    word.to_lowercase()
}

fn is_outside_words(c: char) -> bool {
    !c.is_alphanumeric() && !matches!(c, '\'' | '_' | '’')
}

/// The innermost definition at a line of a file, counted from 1, where the file's text is known.
fn symbol_at(view: &StateView<'_>, path: &RelPath, line: u32) -> Option<EntityId> {
    let entities = view.state.state_map().entities_in(path).into_iter();
    let versions: Vec<_> = entities
        .filter_map(|entity| Some((view.current_version(&entity)?, entity)))
        .collect();
    let whole = view.current_version(&EntityId::file(path.clone()));
    let newest = || versions.iter().max_by_key(|(current, _)| current.version);
    let file = match whole {
        Some(whole) => whole.artifact,
        None => newest()?.0.artifact,
    };
    let text = view.artifact_content(file)?;
    let mut breaks = memchr::memchr_iter(b'\n', &text);
    let start = match line.checked_sub(2) {
        None => 0,
        Some(before) => breaks.nth(before as usize)? + 1,
    };
    let end = breaks.next().unwrap_or(text.len());
    let mut found: Option<(usize, EntityId)> = None;
    for (current, entity) in versions {
        let places: Vec<Range<usize>> = if current.artifact == file {
            let spans = current.spans.iter();
            spans
                .map(|span| span.start as usize..span.end as usize)
                .collect()
        } else {
            let code = view.artifact_slices(current.artifact, &current.spans);
            let at = code.and_then(|code| {
                let at = memmem::find(&text, &code)?;
                Some(at..at + code.len())
            });
            at.into_iter().collect()
        };
        for place in places {
            let is_there = place.start <= end && start < place.end;
            let is_inner = found
                .as_ref()
                .is_none_or(|(length, _)| place.len() < *length);
            if is_there && is_inner {
                found = Some((place.len(), entity.clone()));
            }
        }
    }
    found.map(|(_, entity)| entity)
}

fn push_new<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// Whether a name, perhaps qualified by classes, modules or folders, is this entity's: `Cart.total`, `shop.cart.total`, `cart::total`. A
/// variable is called as its class is: `cart.total`.
fn is_named(entity: &EntityId, name: &str) -> bool {
    let Some(symbol) = entity.symbol_str() else {
        return false;
    };
    // `a.c` is that file, and no `c` in it.
    if name == entity.path.basename() {
        return false;
    }
    let (symbol, name) = (components(symbol), components(name));
    let pairs = symbol.iter().rev().zip(name.iter().rev());
    let alike = pairs
        .clone()
        .take_while(|(one, other)| one == other)
        .count();
    if alike == name.len() {
        return true;
    }
    if alike == 0 {
        return false;
    }
    if alike < symbol.len() {
        let owner = symbol[symbol.len() - alike - 1];
        return name.len() == alike + 1 && implementor(owner).eq_ignore_ascii_case(name[0]);
    }
    // What is in front names the file, or the folders that it is in.
    let path = entity.path.as_str();
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let places: Vec<&str> = stem
        .split('/')
        .filter(|it| !NAMELESS_FILES.contains(it))
        .collect();
    let front = &name[..name.len() - alike];
    let front = match front {
        [first, rest @ ..] if ROOT_MODULES.contains(first) => rest,
        front => front,
    };
    places.ends_with(front) && (!front.is_empty() || front.len() < name.len())
}

/// The parts of a qualified name; what is in angle brackets is one.
fn components(qualified: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let is_joint = |c: char| {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && matches!(c, '.' | ':')
    };
    let parts = qualified.split(is_joint);
    parts.filter(|part| !part.is_empty()).collect()
}

/// The type that an implementation is for, as people call it: `Ring` of `<Ring<T> as Display>`.
fn implementor(scope: &str) -> &str {
    let inner = scope.strip_prefix('<').and_then(|it| it.split_once(" as "));
    inner.map_or(scope, |(kind, _)| kind.split('<').next().unwrap_or(kind))
}

/// Files that modules aren't called by.
const NAMELESS_FILES: [&str; 4] = ["__init__", "mod", "index", "lib"];

/// Names of a module that stand for the whole project.
const ROOT_MODULES: [&str; 4] = ["crate", "self", "super", "this"];

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

/// What stands in backticks within a line and isn't a name by itself, as [`names_in`] finds them.
fn marked_spans(text: &str) -> impl Iterator<Item = &str> {
    let is_odd = |c: char| c.is_ascii_punctuation() && !matches!(c, '_' | '.' | ':');
    text.lines().flat_map(move |line| {
        let spans = line.split('`').skip(1).step_by(2);
        spans.filter(move |span| span.len() <= SYMBOL_BYTES_MAX && span.contains(is_odd))
    })
}

/// Longest name that is looked up as a whole, in bytes.
const SYMBOL_BYTES_MAX: usize = 256;

/// An identifier, perhaps qualified, with what the text around it says about it.
#[derive(Clone)]
struct NameInText<'t> {
    text: &'t str,
    range: Range<usize>,
    is_qualified: bool,
    /// Whether backticks, quotes or asterisks are around it alone.
    is_marked: bool,
    before_parenthesis: bool,
}

impl NameInText<'_> {
    /// Whether the name can only mean a symbol: a plain word that happens to be a symbol's name doesn't.
    fn means_a_symbol(&self) -> bool {
        self.is_qualified || self.is_marked || self.before_parenthesis || is_distinctive(self.text)
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
            is_marked: is_marked(&text[..start], &text[at..]),
            range: start..at,
            before_parenthesis: bytes.get(at) == Some(&b'('),
        })
    })
}

/// Shortest plain word, in bytes, that can mean a recently shown entity: shorter ones are articles and pronouns.
const PLAIN_WORD_BYTES_MIN: usize = 3;

/// Whether marks that set a word apart are around it: backticks, quotes of any language, bold or italic.
fn is_marked(before: &str, after: &str) -> bool {
    let after = after.strip_prefix("()").unwrap_or(after);
    let pairs = [
        ("`", "`"),
        ("\"", "\""),
        ("'", "'"),
        ("**", "**"),
        ("*", "*"),
        ("__", "__"),
        ("“", "”"),
        ("„", "“"),
        ("‘", "’"),
        ("‚", "‘"),
        ("«", "»"),
        ("»", "«"),
        ("« ", " »"),
    ];
    pairs
        .iter()
        .any(|(open, close)| before.ends_with(open) && after.starts_with(close))
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
