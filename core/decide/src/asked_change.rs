//! Which code a prompt asks to change: an imperative whose verb governs the name (spec §6, user verification).
//!
//! Whoever asks for the next change of a proposal has taken it. A question, a refusal or a word that is a function's name as
//! well asks for nothing; where that isn't plain, the user says `@tslp confirm`.

use alloc::string::String;
use alloc::vec::Vec;

use tslp_core::entity::{EntityId, last_component};
use tslp_core::word_list::Vocabulary;

/// What the words of a request mean, as data.
pub(crate) const WORDS: &str = include_str!("change_words.txt");

/// The sentences of a prompt, for telling which entities it asks to change.
pub(super) struct AskedChanges<'p> {
    vocabulary: Vocabulary,
    /// Up to the end of each paragraph, its sentences.
    paragraphs: Vec<Vec<PromptSentence<'p>>>,
}

/// One sentence, word by word.
struct PromptSentence<'p> {
    words: Vec<&'p str>,
    is_question: bool,
}

impl<'p> AskedChanges<'p> {
    pub(super) fn of(prompt: &'p str) -> Self {
        Self {
            vocabulary: Vocabulary::read(WORDS),
            paragraphs: paragraphs(prompt).iter().map(|it| sentences(it)).collect(),
        }
    }

    /// Whether the user asks for a change of this entity without having doubted anything up to that paragraph.
    pub(super) fn is_asked_of(&self, entity: &EntityId) -> bool {
        let mut is_asked = false;
        let mut is_doubted = false;
        for paragraph in &self.paragraphs {
            for sentence in paragraph {
                is_doubted |= self.is_doubtful(sentence);
            }
            let names = |sentence: &PromptSentence<'_>| {
                sentence.words.iter().any(|word| is_name_of(word, entity))
            };
            if paragraph.iter().any(names) {
                if is_doubted {
                    return false;
                }
                is_asked |= paragraph.iter().any(|it| self.asks_for(it, entity));
            }
        }
        is_asked
    }

    fn is_doubtful(&self, sentence: &PromptSentence<'_>) -> bool {
        sentence.words.iter().any(|word| {
            let word = bare_word(word);
            let is_negated = word.ends_with("n't") || word.ends_with("n’t");
            is_negated || self.vocabulary.has_word("doubt", &word)
        })
    }

    fn asks_for(&self, sentence: &PromptSentence<'_>, entity: &EntityId) -> bool {
        let mut words = sentence.words.iter();
        let is_opening = |word: &str| {
            let word = bare_word(word);
            word.chars().all(|c| c.is_ascii_digit()) || self.vocabulary.has_word("opening", &word)
        };
        let Some(verb) = words.find(|word| !is_opening(word)) else {
            return false;
        };
        let verb = bare_word(verb);
        let makes = self.vocabulary.has_word("make", &verb);
        if sentence.is_question || !(makes || self.vocabulary.has_word("change", &verb)) {
            return false;
        }
        let joins = if makes { "into" } else { "within" };
        // Whether the next name is the verb's object.
        let mut governs = true;
        for word in words {
            let name = bare_word(word);
            // An article may be a function's name as well.
            if governs && is_name_of(word, entity) && (is_code(word) || name.len() > 2) {
                return true;
            }
            governs = (governs && (is_code(word) || self.vocabulary.has_word("between", &name)))
                || self.vocabulary.has_word(joins, &name);
        }
        false
    }
}

/// A word without marks around it, lower-cased.
pub(super) fn bare_word(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric())
        .to_lowercase()
}

/// Whether a word is marked as code, or looks so.
fn is_code(word: &str) -> bool {
    let inner = unmarked(word);
    word.contains(['`', '(', '_', '/', ':']) || inner.contains('.')
}

/// A word without the marks of a sentence, of quotes and of a call.
fn unmarked(word: &str) -> &str {
    let word = word.trim_matches(|c: char| matches!(c, '`' | '"' | '\'' | ',' | '*'));
    let word = word.trim_end_matches(['.', '!', '?', ':', ';', ',', '`']);
    word.strip_suffix("()").unwrap_or(word)
}

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

/// The lines of the prompt's paragraphs, without code blocks and quotations.
fn paragraphs(prompt: &str) -> Vec<Vec<&str>> {
    let mut paragraphs: Vec<Vec<&str>> = Vec::from([Vec::new()]);
    let mut in_code = false;
    for line in prompt.lines() {
        let text = line.trim();
        if text.starts_with("```") || text.starts_with("~~~") {
            in_code = !in_code;
            continue;
        }
        if in_code || text.starts_with('>') {
            continue;
        }
        match paragraphs.last_mut() {
            Some(paragraph) if !text.is_empty() => paragraph.push(text),
            _ => paragraphs.push(Vec::new()),
        }
    }
    paragraphs
}

/// The sentences of a paragraph's lines. A line ends one, too: people who write lists leave out the stops.
fn sentences<'p>(lines: &[&'p str]) -> Vec<PromptSentence<'p>> {
    let mut sentences = Vec::new();
    for line in lines {
        let mut words = Vec::new();
        for word in line.split_whitespace() {
            words.push(word);
            if word.ends_with(['.', '!', '?', ';']) {
                sentences.push(PromptSentence {
                    is_question: word.ends_with('?'),
                    words: core::mem::take(&mut words),
                });
            }
        }
        let is_question = false;
        sentences.push(PromptSentence { words, is_question });
    }
    sentences
}

#[cfg(test)]
mod tests {
    use super::*;
    use tslp_core::entity::Symbol;
    use tslp_core::path::RelPath;

    #[track_caller]
    fn check(is_asked: bool, name: &str, prompts: &[&str]) {
        let path = RelPath::from_normalised("src/a.c");
        let entity = EntityId::symbol(path, Symbol::new(name));
        for prompt in prompts {
            let asked = AskedChanges::of(prompt);
            assert_eq!(asked.is_asked_of(&entity), is_asked, "{prompt}");
        }
    }

    #[test]
    fn a_verb_that_governs_the_name_asks_for_a_change() {
        check(
            true,
            "compute",
            &[
                "Now change `compute` to take a long.",
                "Please rename the function compute().",
                "Make compute() faster",
                "ok, thanks! Then simplify src/a.c::compute.",
                "Fix the overflow in `compute`, and keep the rest.",
                "Change `other` and `compute` to take a long.",
                "Add a parameter to compute().",
                "Extend a.c.",
                "1. Optimise compute()\n2. Write a poem",
                "Change `compute`.\n\nReply in the format of the rules. Don't write prose.",
                "What does it cost? Improve compute().",
            ],
        );
    }

    #[test]
    fn questions_and_refusals_ask_for_none() {
        check(
            false,
            "compute",
            &[
                "Don't change compute(), please.",
                "Please don’t change compute().",
                "Undo your change to compute()",
                "Change compute() back.",
                "Revert `compute`. Change `compute` again.",
                "How do I use compute()?",
                "Change compute()?",
                "What is compute()?",
                "Never change `compute`.",
                "I don't like it. Change `compute` to take a long.",
                "Write a test for compute().",
                "Make `other` like compute().",
                "The change of compute() is fine.",
                "Use compute() in main().",
                "> Change `compute`.",
                "```\nChange `compute`.\n```",
                "Reject the change. Make `compute` take a long.",
            ],
        );
    }

    #[test]
    fn changes_are_asked_for_and_doubted_in_four_languages() {
        check(
            true,
            "compute",
            &[
                "Now also round the result in `compute`",
                "Great. Next, make compute() total the discounts",
                "Runde jetzt auch das Ergebnis in `compute`.",
                "Danke. Ändere nun compute() so, dass es schneller ist.",
                "Füge `compute` bitte einen Parameter hinzu.",
                "Super, benenne compute() in berechne() um.",
                "Maintenant, arrondis aussi le résultat dans `compute`.",
                "Merci. Modifie compute() pour accepter une liste.",
                "Ajoute un paramètre à `compute`.",
                "Ahora también redondea el resultado en `compute`.",
                "Gracias. Cambia compute() para que acepte una lista.",
                "Añade un parámetro a `compute`.",
            ],
        );
        check(
            false,
            "compute",
            &[
                "Ändere compute() bitte nicht.",
                "Mach die Änderung an compute() rückgängig.",
                "Was macht compute()?",
                "Das ist falsch. Ändere `compute` noch einmal.",
                "Ne change pas compute().",
                "Annule la modification de compute().",
                "Que fait compute() ?",
                "No cambies compute().",
                "Deshaz el cambio de compute().",
                "¿Qué hace compute()?",
            ],
        );
    }

    #[test]
    fn a_name_is_no_verb() {
        check(
            false,
            "add",
            &["what is add()?", "add()", "`add` it", "add is fine"],
        );
        check(
            true,
            "add",
            &["Change the add function.", "Add a check to add()."],
        );
        check(true, "update", &["Update `update`."]);
    }
}
