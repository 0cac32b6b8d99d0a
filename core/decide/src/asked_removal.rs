//! What a prompt asks to take out of code, and what to make smaller. A request opens the gates for its object and for nothing
//! else: the words that name it have to be in the code that goes, or name a part of code of its kind.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::sentence::{self, bare_word, is_code, is_name_of, says};
use tslp_core::damage::{self, Part};
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::path::RelPath;
use tslp_core::word_list::Vocabulary;

/// Most words of a clause that can be a removal's object.
const OBJECT_WORDS_MAX: usize = 8;

/// Words before and after a verb among which a negation turns it round.
const NEGATED_BEFORE: usize = 4;
const NEGATED_AFTER: usize = 2;

/// The removals that a prompt asks for.
pub(super) struct AskedRemovals {
    vocabulary: Vocabulary,
    /// The words of each removal's object, as they were written.
    objects: Vec<Vec<String>>,
    /// The words that may name definitions that go, get another name or another file.
    leaving: Vec<String>,
    /// All words of each clause that asks for less code, as they were written.
    shrinking: Vec<Vec<String>>,
    /// All words of the clauses that neither deny nor ask, nor say what is to be added or used, as they were written.
    said: Vec<String>,
    /// Whether the prompt says when something is to happen.
    pub(super) has_condition: bool,
}

impl AskedRemovals {
    pub(super) fn of(prompt: &str) -> Self {
        let vocabulary = Vocabulary::read(sentence::WORDS);
        let (mut objects, mut leaving, mut shrinking) = (Vec::new(), Vec::new(), Vec::new());
        let mut said = Vec::new();
        let owned =
            |words: &[&str]| -> Vec<String> { words.iter().copied().map(String::from).collect() };
        let mut before: Vec<&str> = Vec::new();
        let mut announced = false;
        let sentences = sentence::sentences(prompt, &vocabulary).into_iter();
        let clauses = sentences.flat_map(|it| {
            it.clauses
                .into_iter()
                .map(move |clause| (clause, it.is_question))
        });
        for (clause, is_question) in clauses {
            if is_question {
                before.extend(clause);
                continue;
            }
            // "Remove dead code: `total`"
            if core::mem::take(&mut announced) {
                leaving.extend(owned(&clause));
            }
            let removes = asking_verb(&vocabulary, "remove", &clause);
            let renames = asking_verb(&vocabulary, "rename", &clause);
            if let Some(verb) = removes.or(renames) {
                let object = object_of(&vocabulary, &clause, verb);
                let next = clause.get(verb + 1).map(|word| bare_word(word));
                let is_pronoun = next.is_some_and(|next| vocabulary.has_word("pronoun", &next));
                // A pronoun stands for what was named before: "rename it `sum`".
                if object.is_empty() || is_pronoun && removes.is_none() {
                    leaving.extend(owned(&before));
                }
                leaving.extend(owned(whole_of(&vocabulary, &object)));
                announced = clause.last().is_some_and(|word| word.ends_with(':'));
                if removes.is_some() {
                    objects.push(owned(&object));
                }
            }
            if asking_verb(&vocabulary, "shrink", &clause).is_some() {
                shrinking.push(owned(&clause));
            }
            let words: Vec<String> = clause.iter().map(|word| bare_word(word)).collect();
            let has = |kind: &str| words.iter().any(|word| says(&vocabulary, kind, word));
            let is_denied = has("not") && (has("remove") || has("rename"));
            if !is_denied
                && (!has("adds") || renames.is_some())
                && !(0..words.len()).any(|at| is_when(&vocabulary, &words, at))
            {
                said.extend(owned(&clause));
            }
            before.extend(clause);
        }
        Self {
            has_condition: before
                .iter()
                .any(|word| says(&vocabulary, "when", &bare_word(word))),
            vocabulary,
            objects,
            leaving,
            shrinking,
            said,
        }
    }

    /// Whether the prompt says a definition's name, whatever it asks for.
    pub(super) fn says_name(&self, path: &RelPath, symbol: &Symbol) -> bool {
        let named = EntityId::symbol(path.clone(), symbol.clone());
        let file = EntityId::file(path.clone());
        let mut words = self.said.iter();
        words.any(|word| is_name_of(word, &named) && !is_name_of(word, &file))
    }

    /// Whether the prompt says a definition's name, and to which file something goes.
    pub(super) fn sends(&self, path: &RelPath, symbol: &Symbol, to: RelPath) -> bool {
        let file = EntityId::file(to);
        let is_way = |pair: &[String]| {
            self.vocabulary.has_word("to", &bare_word(&pair[0])) && is_name_of(&pair[1], &file)
        };
        self.says_name(path, symbol) && self.said.windows(2).any(is_way)
    }

    /// Whether a removal's object is this line: a part of code of its kind, or a name in it. What is no name of code opens plain
    /// statements alone, because it may be what the code is about.
    pub(super) fn names_line(&self, entity: &EntityId, line: &str) -> bool {
        if self.objects.is_empty() {
            return false;
        }
        let own = entity.symbol_str().map(parts_of_name).unwrap_or_default();
        let kinds = kinds_of(line);
        let is_plain = kinds.is_empty() && !damage::line_jumps(line);
        let parts = parts_of_name(line);
        // Its own name says where, never what.
        let is_named = |word: &str| {
            let said = bare_word(word);
            !own.contains(&said)
                && if is_code(word) {
                    identifiers(line).any(|name| name.to_lowercase() == said)
                } else {
                    is_plain && parts.iter().any(|it| is_form_of(it, &said))
                }
        };
        let is_kind = |word: &String, kinds: &[&str]| {
            let word = bare_word(word);
            kinds.iter().any(|kind| says(&self.vocabulary, kind, &word))
        };
        self.objects.iter().any(|object| {
            if object
                .iter()
                .any(|word| is_kind(word, &KINDS.map(|(kind, _)| kind)))
            {
                object.iter().any(|word| is_kind(word, &kinds))
            } else {
                object.iter().any(|word| is_named(word))
            }
        })
    }

    /// Whether the prompt asks for code to leave its place.
    pub(super) fn asks(&self) -> bool {
        !self.leaving.is_empty() || !self.objects.is_empty() || !self.shrinking.is_empty()
    }

    /// Whether the prompt asks to remove, rename or move this entity.
    pub(super) fn names(&self, entity: &EntityId) -> bool {
        let mut words = self.leaving.iter();
        words.any(|word| is_name_of(word, entity))
    }

    /// The same of a definition, or of one that holds it.
    pub(super) fn names_definition(&self, path: &RelPath, symbol: &Symbol) -> bool {
        let name = symbol.as_str();
        let holders = name
            .match_indices([':', '.', '#'])
            .map(|(at, _)| &name[..at]);
        let mut holders = holders.filter(|name| !name.is_empty());
        let names = |name: &str| self.names(&EntityId::symbol(path.clone(), Symbol::new(name)));
        !self.leaving.is_empty() && (names(name) || holders.any(names))
    }

    /// Whether the prompt asks to make this entity smaller, or anything without a name.
    pub(super) fn may_shrink(&self, entity: &EntityId) -> bool {
        let mut clauses = self.shrinking.iter();
        clauses.any(|clause| {
            let names_other = clause.iter().any(|word| is_code(word));
            let names = |word: &String| is_name_of(word, entity);
            !names_other || clause.iter().any(names)
        })
    }
}

/// The words of a removal's object that name what goes as a whole: "the comment above `total`" is no `total`.
fn whole_of<'o, 'w>(vocabulary: &Vocabulary, object: &'o [&'w str]) -> &'o [&'w str] {
    let is_of = |word: &&str| !is_code(word) && says(vocabulary, "of", &bare_word(word));
    match object.iter().position(is_of) {
        None => object,
        Some(0) => &object[1..],
        Some(at) => &object[..at],
    }
}

/// Whether a word says when something happens, or asks why; "which is why" gives a reason.
fn is_when(vocabulary: &Vocabulary, words: &[String], at: usize) -> bool {
    let gives_reason = || {
        let before = at.checked_sub(1).map(|before| words[before].as_str());
        words[at] == "why" && matches!(before, Some("is" | "that's" | "that’s"))
    };
    says(vocabulary, "when", &words[at]) && !gives_reason()
}

/// The position of a verb of this kind that asks for something: not negated, and not part of a condition.
fn asking_verb(vocabulary: &Vocabulary, kind: &str, clause: &[&str]) -> Option<usize> {
    // "supprime-la"
    let without_pronoun = |word: &&str| {
        let word = bare_word(word);
        let verb = word.split_once('-').map(|(verb, _)| verb.into());
        verb.unwrap_or(word)
    };
    let words: Vec<String> = clause.iter().map(without_pronoun).collect();
    // Verbs that ask with another word alone: "want it removed", "be removed", "take it out", "it has to go", "away with it".
    let asks_with_another = |at: usize| {
        let (before, after) = (&words[..at], &words[at + 1..]);
        let last = &before[before.len().saturating_sub(1)..];
        let next = &after[..after.len().min(1)];
        let companions = [
            ("passive", "want", before),
            ("passive", "be", last),
            ("out", "out", after),
            ("modal", "modal", last),
            ("away", "with", next),
        ];
        companions.iter().any(|(form, other, places)| {
            vocabulary.has_word(&format!("{kind}_{form}"), &words[at])
                && places.iter().any(|word| vocabulary.has_word(other, word))
        })
    };
    // "call it `sum`"
    let gives_name = |at: usize| {
        vocabulary.has_word(&format!("{kind}_it"), &words[at])
            && clause.get(at + 2).is_some_and(|name| is_code(name))
            && vocabulary.has_word("pronoun", &words[at + 1])
    };
    (0..words.len()).find(|at| {
        let before = &words[at.saturating_sub(NEGATED_BEFORE)..*at];
        let after = clause[at + 1..].iter().filter(|word| !is_code(word));
        let after: Vec<String> = after.take(NEGATED_AFTER).map(without_pronoun).collect();
        let negates = |word: &String| says(vocabulary, "not", word);
        // A word in quotation marks or after an article is a name.
        let is_noun = clause[*at].starts_with(['"', '\'', '“', '«'])
            || before
                .last()
                .is_some_and(|word| says(vocabulary, "plain", word));
        !is_code(clause[*at])
            && !is_noun
            && (says(vocabulary, kind, &words[*at]) || asks_with_another(*at) || gives_name(*at))
            && !vocabulary.is_held("not_in", &words[*at])
            && !vocabulary.is_held("when_in", &words[*at])
            && !before.iter().chain(&after).any(negates)
            && !(0..*at).any(|before| is_when(vocabulary, &words, before))
    })
}

/// The words of a removal's object that say something: after the verb up to where the clause says where, or before a verb that ends its
/// clause.
fn object_of<'w>(vocabulary: &Vocabulary, clause: &[&'w str], verb: usize) -> Vec<&'w str> {
    let words_of = |words: &[&'w str]| -> Vec<&'w str> {
        let words = words.iter().take(OBJECT_WORDS_MAX).copied();
        let said = |word: &str, kind: &str| {
            !word.contains('`') && says(vocabulary, kind, &bare_word(word))
        };
        // "take out the check", "take the check out of it"
        let is_out = |word: &&str| said(word, "out");
        words
            .skip_while(is_out)
            .take_while(|word| !["where", "when", "out"].iter().any(|kind| said(word, kind)))
            .filter(|word| {
                !said(word, "plain") && !said(word, "filler") && !bare_word(word).is_empty()
            })
            .collect()
    };
    let is_rid = bare_word(clause[verb]) == "rid";
    let rest = &clause[(verb + 1 + usize::from(is_rid)).min(clause.len())..];
    let after = words_of(rest);
    let is_object = |word: &&str| {
        let word = bare_word(word);
        !word.is_empty()
            && !["where", "when"]
                .iter()
                .any(|kind| says(vocabulary, kind, &word))
    };
    // A language without spaces has its verb within a word.
    if !clause[verb].is_ascii() && !vocabulary.has_word("remove", &bare_word(clause[verb])) {
        return words_of(&clause[..=verb])
            .into_iter()
            .chain(after)
            .collect();
    }
    let is_filler = |word: &&str| {
        let word = bare_word(word);
        word.is_empty() || says(vocabulary, "filler", &word)
    };
    if rest
        .iter()
        .take_while(|word| is_object(word))
        .all(is_filler)
    {
        // "so it can go"; "`total` soll die Preise entfernen"
        let said = &clause[..verb];
        let is = |kind: &str, word: &&str| vocabulary.has_word(kind, &bare_word(word));
        let modal = said.iter().rposition(|word| is("modal", word));
        let after_modal = modal.map(|at| words_of(&said[at + 1..]));
        let leads = said.iter().take_while(|word| is("where", word)).count();
        return after_modal
            .filter(|object| !object.iter().all(|word| is("be", word)))
            .unwrap_or_else(|| words_of(&said[leads..]));
    }
    after
}

/// The kinds of parts that a removal's object may be, by their names in the word list.
const KINDS: [(&str, Option<Part>); 8] = [
    ("decorator", Some(Part::Decorator)),
    ("condition", Some(Part::Condition)),
    ("loop", Some(Part::Loop)),
    ("handler", Some(Part::Handler)),
    ("failure", Some(Part::Failure)),
    ("branch", Some(Part::Branch)),
    ("import", None),
    ("comment", None),
];

/// The kinds of parts that a line is one of.
fn kinds_of(line: &str) -> Vec<&'static str> {
    let part = Part::of_line(line);
    let first = line.trim_start();
    let binds = ["import", "from", "#include", "use ", "using "];
    let is_import = binds.iter().any(|word| first.starts_with(word)) || line.contains("require(");
    let kinds = KINDS.iter().filter(|(kind, of)| match of {
        Some(_) => *of == part,
        None => *kind == "import" && is_import,
    });
    kinds.map(|(kind, _)| *kind).collect()
}

fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let names = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    names.filter(|name| !name.is_empty())
}

/// The identifiers of a text and the words in them, in lower case: `loadPrice` is `loadprice`, `load` and `price`.
fn parts_of_name(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    for name in identifiers(text) {
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
        check("Remove `price`.", guard, true);
        check("Drop `legacy_total`.", "    total += legacy", false);
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
            "Drop the lowest price before you add them up.",
            "Let it delete the price when the quantity is 0.",
            "Strip the price of blanks.",
            "The price is only removed.",
            "Why did you remove the check?",
            "Add a button that removes the check mark's price.",
        ] {
            check(prompt, "    if price is None:", false);
        }
        check("`total` soll Preise entfernen.", "def total(self):", false);
        check("让 `total` 删除重复项", "def total(self):", false);
    }

    #[test]
    fn definitions_leave_where_they_are_named() {
        let check = |prompt: &str, expected: bool| {
            let asked = AskedRemovals::of(prompt);
            assert_eq!(asked.names(&entity()), expected, "{prompt}");
        };
        for prompt in [
            "Delete the function total.",
            "Rename `total` to `sum`.",
            "Benenne `total` in `sum` um.",
            "Bitte `total` in `sum` umbenennen.",
            "Please move Stock.total() to b.py.",
            "`total` isn't used any more, please remove it.",
            "total should be removed.",
            "Renomme total en somme.",
            "let's rename total to sum, ok?",
            "Rename total to sum, alright?",
            "And now delete total, right?",
            "Benenne total in sum um, ja?",
            "Renomme total en somme, d'accord ?",
            "Inline `total` into `report`.",
            "把 `total` 重命名为 `sum`",
            "Merge `subtotal` and `total` into `sums`.",
            "I'd like total removed.",
            "Please take total out of the class.",
            "Wirf total bitte raus.",
            "`total` has to go.",
            "Remove dead code: total",
            "`total` est inutile, supprime-la.",
            "Shorten the class by removing total.",
            "`total` belongs in b.py, put it there.",
            "Nobody calls total, so total can go as well.",
            "Ya no necesitamos total, así que bórrala.",
            "`total` doesn't add, it collects. Let's rename it `collect`.",
            "It is wrong, which is why I'd like you to remove total completely.",
            "Could you please delete total?",
            "Delete the method total of Stock.",
            "total is old, throw it away.",
        ] {
            check(prompt, true);
        }
        for prompt in [
            "Don't remove total.",
            "Change total, and remove the check in it.",
            "Remove `subtotal`; total has to add up by itself.",
            "Rename `subtotal` to `total`.",
            "Let total remove what is sold out.",
            "`total` soll die Preise entfernen.",
            "What happens if I delete total?",
            "Remove the check from `total`.",
            "I like how total is removed.",
            "Take the discount out of total.",
            "Delete the comment above total.",
            "Remove the unused argument of total.",
            "Quita el comentario de total.",
            "Rename the parameter d of total to delta.",
            "Should we drop total? Give me your opinion first.",
            "Can we drop total, or is it used?",
            "We rename total, right?",
            "You deleted total, ok?",
            "Delete total, or keep it?",
            "Remove total, why?",
        ] {
            check(prompt, false);
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
