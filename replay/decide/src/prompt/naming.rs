//! What a text names: definitions and files, outside of code blocks. No verb, question or negation is read.

use tslp_core::entity::{EntityId, last_component};
use tslp_core::opening_fence::lines_outside;

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

/// Whether the text holds the word.
pub(crate) fn holds_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|part| part == word)
}

/// A word without the marks of a sentence, of quotes and of a call.
pub(crate) fn unmarked(word: &str) -> &str {
    let word = word.trim_matches(|c: char| matches!(c, '`' | '"' | '\'' | ',' | '*'));
    let word = word.trim_end_matches(['.', '!', '?', ':', ';', ',', '`']);
    word.strip_suffix("()").unwrap_or(word)
}

/// Whether a text names a definition, or a file.
pub(crate) fn names(text: &str, entity: &EntityId) -> bool {
    let file = EntityId::file(entity.path.clone());
    let is_own = |word: &str| {
        is_name_of(word, entity) && (entity.symbol.is_none() || !is_name_of(word, &file))
    };
    lines_outside(text).flat_map(words_in).any(is_own)
}

/// Whether a word is the name of an entity, or of its file.
pub(crate) fn is_name_of(word: &str, entity: &EntityId) -> bool {
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
