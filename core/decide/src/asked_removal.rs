//! What a prompt asks to take out of code, and what to make smaller. A request opens the gates for its object and for nothing
//! else: the words that name it have to be in the code that goes, or name a part of code of its kind.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::asked_change::{Vocabulary, bare_word};
use tslp_core::damage::Part;
use tslp_core::entity::EntityId;

/// What the words of a request mean, as data.
const WORDS: &str = include_str!("removal_words.txt");

/// Most words of a clause that can be a removal's object.
const OBJECT_WORDS_MAX: usize = 8;

/// Words before and after a verb among which a negation turns it round.
const NEGATED_BEFORE: usize = 4;
const NEGATED_AFTER: usize = 2;

/// The removals that a prompt asks for.
pub(super) struct AskedRemovals {
    vocabulary: Vocabulary,
    /// The words of each removal's object, in lower case.
    objects: Vec<Vec<String>>,
    /// All words of each clause that asks for less code, as they were written.
    shrinking: Vec<Vec<String>>,
}

impl AskedRemovals {
    pub(super) fn of(prompt: &str) -> Self {
        let vocabulary = Vocabulary::read(WORDS);
        let (mut objects, mut shrinking) = (Vec::new(), Vec::new());
        for clause in clauses(prompt) {
            if let Some(verb) = asking_verb(&vocabulary, "remove", &clause) {
                objects.push(object_of(&vocabulary, &clause, verb));
            }
            if asking_verb(&vocabulary, "shrink", &clause).is_some() {
                shrinking.push(clause.iter().map(ToString::to_string).collect());
            }
        }
        Self {
            vocabulary,
            objects,
            shrinking,
        }
    }

    /// Whether a removal's object is this line of the entity's, or a part of code like it.
    pub(super) fn names_line(&self, entity: &EntityId, line: &str) -> bool {
        if self.objects.is_empty() {
            return false;
        }
        let own = entity
            .symbol
            .as_ref()
            .map(|symbol| parts_of_name(symbol.as_str()));
        let own = own.unwrap_or_default();
        let of_line = parts_of_name(line);
        let kinds = kinds_of(line);
        self.objects.iter().flatten().any(|word| {
            let is_kind = kinds.iter().any(|kind| says(&self.vocabulary, kind, word));
            let is_named = || !own.contains(word) && of_line.iter().any(|it| is_form_of(it, word));
            is_kind || is_named()
        })
    }

    /// Whether the prompt asks to make this entity smaller, or anything without a name.
    pub(super) fn may_shrink(&self, entity: &EntityId) -> bool {
        let mut clauses = self.shrinking.iter();
        clauses.any(|clause| {
            let is_code = |word: &&String| word.contains(['`', '(', '_', '/', ':']);
            let names_other = clause.iter().any(|word| is_code(&word));
            let names = |word: &String| super::asked_change::is_name_of(word, entity);
            !names_other || clause.iter().any(names)
        })
    }
}

/// The words of each clause: up to a mark, or a line's end.
fn clauses(prompt: &str) -> Vec<Vec<&str>> {
    let mut clauses = Vec::new();
    for line in prompt
        .lines()
        .filter(|line| !line.trim_start().starts_with('>'))
    {
        for piece in line.split(['，', '。', '；', '！', '？', '、']) {
            let mut words = Vec::new();
            for word in piece.split_whitespace() {
                words.push(word);
                if word.ends_with(['.', ',', ';', ':', '!', '?']) {
                    clauses.push(core::mem::take(&mut words));
                }
            }
            clauses.push(words);
        }
    }
    clauses
}

/// The position of a verb of this kind that asks for something: not negated, and not part of a condition.
fn asking_verb(vocabulary: &Vocabulary, kind: &str, clause: &[&str]) -> Option<usize> {
    let words: Vec<String> = clause.iter().map(|word| bare_word(word)).collect();
    let is_code = |word: &str| word.contains(['`', '(', '_', '/']);
    (0..words.len()).find(|at| {
        let before = &words[at.saturating_sub(NEGATED_BEFORE)..*at];
        let after = words.iter().skip(at + 1).take(NEGATED_AFTER);
        let negates = |word: &String| {
            says(vocabulary, "not", word) || word.ends_with("n't") || word.ends_with("n’t")
        };
        !is_code(clause[*at])
            && says(vocabulary, kind, &words[*at])
            && !vocabulary.is_held("not_in", &words[*at])
            && !vocabulary.is_held("when_in", &words[*at])
            && !before.iter().chain(after).any(negates)
            && !words[..*at]
                .iter()
                .any(|word| says(vocabulary, "when", word))
    })
}

/// Whether a word is one of these, or holds one in a language without spaces.
fn says(vocabulary: &Vocabulary, kind: &str, word: &str) -> bool {
    vocabulary.has_word(kind, word) || vocabulary.is_held(&format!("{kind}_in"), word)
}

/// The words of a removal's object: after the verb up to where the clause says where, or before a verb that ends its clause.
fn object_of(vocabulary: &Vocabulary, clause: &[&str], verb: usize) -> Vec<String> {
    let words_of = |words: &[&str]| -> Vec<String> {
        let words = words.iter().take(OBJECT_WORDS_MAX);
        words
            .take_while(|word| word.contains('`') || !says(vocabulary, "where", &bare_word(word)))
            .flat_map(|word| {
                let plain = !word.contains('`') && says(vocabulary, "plain", &bare_word(word));
                let named = if plain {
                    Vec::new()
                } else {
                    parts_of_name(word)
                };
                named.into_iter().chain((!plain).then(|| bare_word(word)))
            })
            .collect()
    };
    let is_rid = bare_word(clause[verb]) == "rid";
    let after = words_of(&clause[(verb + 1 + usize::from(is_rid)).min(clause.len())..]);
    if after.is_empty() || !clause[verb].is_ascii() {
        return words_of(&clause[..=verb])
            .into_iter()
            .chain(after)
            .collect();
    }
    after
}

/// The names of kinds of parts that a line is one of.
fn kinds_of(line: &str) -> Vec<&'static str> {
    let part = Part::of_line(line).map(|part| match part {
        Part::Decorator => "decorator",
        Part::Condition => "condition",
        Part::Loop => "loop",
        Part::Handler => "handler",
        Part::Failure => "failure",
        Part::Branch => "branch",
    });
    let first = line.trim_start();
    let binds = ["import", "from", "#include", "use ", "using "];
    let is_import = binds.iter().any(|word| first.starts_with(word)) || line.contains("require(");
    part.into_iter()
        .chain(is_import.then_some("import"))
        .collect()
}

/// The identifiers of a text and the words in them, in lower case: `loadPrice` is `loadprice`, `load` and `price`.
fn parts_of_name(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    for name in text.split(|c: char| !c.is_alphanumeric() && c != '_') {
        let mut part = String::new();
        let mut was_lower = false;
        for c in name.chars() {
            if c == '_' || c.is_uppercase() && was_lower {
                parts.push(core::mem::take(&mut part));
            }
            was_lower = c.is_lowercase() || c.is_ascii_digit();
            if c != '_' {
                part.extend(c.to_lowercase());
            }
        }
        parts.push(part);
        parts.push(name.to_lowercase());
    }
    parts.retain(|part| part.chars().count() > 2);
    parts
}

/// Whether a name of code is the word or a form of it: `log` for `logging`.
fn is_form_of(name: &str, word: &str) -> bool {
    name == word
        || name.len() > 2 && word.len() > 2 && (word.starts_with(name) || name.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tslp_core::entity::Symbol;
    use tslp_core::path::RelPath;

    fn entity() -> EntityId {
        EntityId::symbol(
            RelPath::from_normalised("src/a.py"),
            Symbol::new("Stock.total"),
        )
    }

    #[track_caller]
    fn check(prompt: &str, line: &str, expected: bool) {
        let asked = AskedRemovals::of(prompt);
        assert_eq!(
            asked.names_line(&entity(), line),
            expected,
            "{prompt}: {line}"
        );
    }

    #[test]
    fn a_removal_opens_the_gates_for_its_object() {
        let guard = "    if price is None:";
        for prompt in [
            "Remove the check from total().",
            "Please remove the price check from `Stock.total`.",
            "Entferne die Prüfung aus total.",
            "Bitte die Prüfung in total entfernen.",
            "Supprime la vérification dans total.",
            "Quita la comprobación de total.",
            "Rimuovi il controllo da total.",
            "Remova a verificação de total.",
            "Убери проверку из total.",
            "请删除 total 里的检查",
            "Get rid of the guard in total",
        ] {
            check(prompt, guard, true);
            check(prompt, "    for item in items:", false);
            check(prompt, "    @cached", false);
        }
        check(
            "Remove the logging from total.",
            "    log.info(total)",
            true,
        );
        check(
            "Remove the logging from total.",
            "    total += item.price",
            false,
        );
        check(
            "Remove the call of notify_all().",
            "    self.notify_all(x)",
            true,
        );
        check("Delete the unused import of math.", "import math", true);
        check("Delete the unused import of math.", guard, false);
        check("Remove the TODO comment from total", guard, false);
        check("Drop the loop", "    for item in items:", true);
    }

    #[test]
    fn what_asks_for_nothing_opens_nothing() {
        for prompt in [
            "Don't remove any check from total.",
            "Do not drop the check.",
            "Make it faster without removing the check.",
            "Bitte die Prüfung nicht entfernen.",
            "Entferne nichts, vor allem keine Prüfung.",
            "Ne supprime pas la vérification.",
            "No quites la comprobación.",
            "Не удали проверку.",
            "不要删除检查",
            "When an account is deleted, the check has to be made.",
            "If you remove a check, tell me.",
            "Fix the dropdown's check.",
            "The reducer checks deleted items.",
            "Add a check to total.",
            "Use `remove_check()` here.",
        ] {
            check(prompt, "    if price is None:", false);
        }
    }

    #[test]
    fn making_smaller_is_asked_of_what_is_named() {
        let check = |prompt: &str, expected: bool| {
            let asked = AskedRemovals::of(prompt);
            assert_eq!(asked.may_shrink(&entity()), expected, "{prompt}");
            assert!(
                !asked.names_line(&entity(), "    if price is None:"),
                "{prompt}"
            );
        };
        check("Simplify `total`.", true);
        check("Refactor it.", true);
        check("Vereinfache total.", true);
        check("Simplify `other_one()`.", false);
        check("Don't simplify total.", false);
        check("Add a parameter to total.", false);
    }
}
