//! Which code a prompt asks to change: an imperative whose verb governs the name (spec §6, user verification).
//!
//! Whoever asks for the next change of a proposal has taken it. A question, a refusal or a word that is a function's name as
//! well asks for nothing; where that isn't plain, the user says `@tslp confirm`.

use alloc::vec::Vec;

use super::sentence::{self, Sentence, bare_word, is_code, is_contracted, is_name_of};
use tslp_core::entity::EntityId;
use tslp_core::word_list::Vocabulary;

/// What the words of a request mean, as data.
pub(crate) const WORDS: &str = include_str!("change_words.txt");

/// The sentences of a prompt, for telling which entities it asks to change.
pub(super) struct AskedChanges<'p> {
    vocabulary: Vocabulary,
    sentences: Vec<Sentence<'p>>,
}

impl<'p> AskedChanges<'p> {
    pub(super) fn of(prompt: &'p str) -> Self {
        let vocabulary = Vocabulary::read(WORDS);
        Self {
            sentences: sentence::sentences(prompt, &vocabulary),
            vocabulary,
        }
    }

    /// Whether the user asks for a change of this entity without having doubted anything up to that paragraph.
    pub(super) fn is_asked_of(&self, entity: &EntityId) -> bool {
        let mut is_asked = false;
        let mut is_doubted = false;
        let is_same = |one: &Sentence<'_>, next: &Sentence<'_>| one.paragraph == next.paragraph;
        for paragraph in self.sentences.chunk_by(is_same) {
            is_doubted |= paragraph.iter().any(|it| self.is_doubtful(it));
            let mut words = paragraph.iter().flat_map(Sentence::words);
            if words.any(|word| is_name_of(word, entity)) {
                if is_doubted {
                    return false;
                }
                is_asked |= paragraph.iter().any(|it| self.asks_for(it, entity));
            }
        }
        is_asked
    }

    fn is_doubtful(&self, sentence: &Sentence<'_>) -> bool {
        sentence.words().any(|word| {
            let word = bare_word(word);
            is_contracted(&word) || self.vocabulary.has_word("doubt", &word)
        })
    }

    fn asks_for(&self, sentence: &Sentence<'_>, entity: &EntityId) -> bool {
        let mut words = sentence.words();
        let is_opening = |word: &str| {
            let word = bare_word(word);
            word.chars().all(|c| c.is_ascii_digit())
                || self.vocabulary.has_word("opening", &word)
                || self.vocabulary.has_word("polite", &word)
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

    /// A verb that governs the name asks for a change.
    #[test]
    fn verb_on_the_name() {
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
                "Could you please fix compute()?",
            ],
        );
    }

    #[test]
    fn questions_and_refusals() {
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
    fn four_languages() {
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
