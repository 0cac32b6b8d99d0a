//! The sentences of a prompt as requests are read from them, without code blocks and quotations.

use alloc::string::String;
use alloc::vec::Vec;

use tslp_core::entity::{EntityId, last_component};
use tslp_core::opening_fence::lines_outside;
use tslp_core::word_list::Vocabulary;

/// One sentence. A line ends one, too: people who write lists leave out the stops.
pub(super) struct Sentence<'p> {
    /// The words up to each mark.
    pub(super) clauses: Vec<Vec<&'p str>>,
    /// Whether it asks what to do, and is no polite request.
    pub(super) is_question: bool,
    /// The number of its paragraph.
    pub(super) paragraph: usize,
}

impl<'p> Sentence<'p> {
    pub(super) fn words(&self) -> impl Iterator<Item = &'p str> {
        self.clauses.iter().flatten().copied()
    }
}

/// The sentences of a prompt, by the words of a request.
pub(super) fn sentences<'p>(prompt: &'p str, vocabulary: &Vocabulary) -> Vec<Sentence<'p>> {
    let mut sentences: Vec<Sentence<'p>> = Vec::new();
    let mut paragraph = 0;
    for line in lines_outside(prompt).map(str::trim) {
        paragraph += usize::from(line.is_empty());
        if line.starts_with('>') {
            continue;
        }
        for piece in line.split_inclusive(['，', '。', '；', '！', '？', '、']) {
            let asks_in_cjk = piece.ends_with('？');
            let piece = piece.trim_end_matches(['，', '。', '；', '！', '？', '、']);
            let mut clauses = Vec::from([Vec::new()]);
            let mut end = |clauses: &mut Vec<Vec<&'p str>>, asks: bool| {
                let clauses = core::mem::replace(clauses, Vec::from([Vec::new()]));
                sentences.push(Sentence {
                    is_question: asks && is_question(vocabulary, &clauses),
                    clauses,
                    paragraph,
                });
            };
            let mut is_interrupted = false;
            for word in words_in(piece) {
                // "Delete `a`, please, and keep `b`": what was interrupted is over.
                if core::mem::take(&mut is_interrupted) && goes_on(vocabulary, word) {
                    clauses.push(Vec::new());
                }
                let last = clauses.last_mut().expect("there is one");
                last.push(word);
                if word.ends_with(['.', ';', '!', '?']) {
                    end(&mut clauses, word.ends_with('?'));
                } else if word.ends_with([',', ':']) {
                    let is_courtesy = is_courtesy(vocabulary, last);
                    is_interrupted = is_courtesy && clauses.len() > 1;
                    match is_interrupted {
                        true => drop(clauses.pop()),
                        false if is_courtesy => {}
                        false => clauses.push(Vec::new()),
                    }
                }
            }
            end(&mut clauses, asks_in_cjk);
        }
    }
    sentences
}

/// Whether a clause holds nothing but politeness, and interrupts what it is in: "Delete, please, `total`".
fn is_courtesy(vocabulary: &Vocabulary, clause: &[&str]) -> bool {
    let mut words = clause.iter();
    words.all(|word| vocabulary.has_word("courtesy", &bare_word(word)))
}

/// Whether a word begins another clause: "and", "but".
fn goes_on(vocabulary: &Vocabulary, word: &str) -> bool {
    let word = bare_word(word);
    ["lead", "yet"]
        .iter()
        .any(|kind| vocabulary.has_word(kind, &word))
}

/// Whether a sentence that ends with a question mark asks something.
fn is_question(vocabulary: &Vocabulary, clauses: &[Vec<&str>]) -> bool {
    let is_polite = |word: &&str| {
        let word = bare_word(word);
        let verb = word.split('-').next().unwrap_or_default();
        vocabulary.has_word("polite", verb) || vocabulary.is_held("polite_in", &word)
    };
    !clauses.iter().flatten().any(is_polite)
}

/// Words between whitespace. What is marked as code is one by itself, whatever is in it and around it.
fn words_in(text: &str) -> impl Iterator<Item = &str> {
    let is_space = |c: char| c.is_whitespace() || matches!(c, '（' | '）' | '「' | '」');
    let mut rest = text;
    let pieces = core::iter::from_fn(move || {
        let code = rest
            .find('`')
            .and_then(|begin| Some((begin, begin + 2 + rest[begin + 1..].find('`')?)));
        let at = match code {
            Some((0, end)) => end,
            Some((begin, _)) => begin,
            None => rest.len(),
        };
        let (piece, after) = rest.split_at(at);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    });
    let words = pieces.flat_map(move |piece| {
        let is_code = piece.len() > 1 && piece.starts_with('`') && piece.ends_with('`');
        piece.split(move |c| is_space(c) && !is_code)
    });
    words.filter(|word| !word.is_empty())
}

/// "don't"
pub(super) fn is_contracted(word: &str) -> bool {
    word.ends_with("n't") || word.ends_with("n’t")
}

/// A word without marks around it, lower-cased.
pub(super) fn bare_word(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric())
        .to_lowercase()
}

/// Whether the text holds the word.
pub(super) fn holds_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|part| part == word)
}

/// Whether a word is marked as code, or looks so.
pub(super) fn is_code(word: &str) -> bool {
    let inner = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
    let is_camel = || {
        inner
            .chars()
            .zip(inner.chars().skip(1))
            .any(|(one, next)| one.is_lowercase() && next.is_uppercase())
    };
    word.contains(['`', '(', '_', '/', ':']) && !inner.is_empty() && !word.ends_with(':')
        || inner.contains(['_', '(', ':', '.'])
        || is_camel()
}

/// A word without the marks of a sentence, of quotes and of a call.
pub(super) fn unmarked(word: &str) -> &str {
    let word = word.trim_matches(|c: char| matches!(c, '`' | '"' | '\'' | ',' | '*'));
    let word = word.trim_end_matches(['.', '!', '?', ':', ';', ',', '`']);
    word.strip_suffix("()").unwrap_or(word)
}

/// Whether a text names a definition, or a file: no verb, question or negation is read.
pub(super) fn names(text: &str, entity: &EntityId) -> bool {
    let file = EntityId::file(entity.path.clone());
    let is_own = |word: &str| {
        is_name_of(word, entity) && (entity.symbol.is_none() || !is_name_of(word, &file))
    };
    lines_outside(text).flat_map(words_in).any(is_own)
}

/// Whether a word is the name of an entity, or of its file.
pub(super) fn is_name_of(word: &str, entity: &EntityId) -> bool {
    let name = unmarked(word);
    let path = entity.path.as_str();
    let (file, symbol) = match name.split_once("::") {
        Some((file, symbol)) if file == path || file == entity.path.basename() => {
            (file, Some(symbol))
        }
        _ => (name, None),
    };
    let names_file = file == path || file == entity.path.basename();
    match (&entity.symbol, symbol) {
        (Some(own), Some(named)) => own.as_str() == named,
        (Some(own), None) => {
            names_file || !name.is_empty() && own.last_component() == last_component(name)
        }
        (None, named) => names_file && named.is_none(),
    }
}
