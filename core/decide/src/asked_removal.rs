//! What a prompt asks to take out of code, and what to make smaller. A request opens the gates for its object and for nothing
//! else: the words that name it have to be in the code that goes, or name a part of code of its kind.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::sentence::{self, bare_word, holds_word, is_code, is_name_of, says, unmarked};
use tslp_core::damage::{self, Part};
use tslp_core::entity::{EntityId, Symbol, last_component};
use tslp_core::path::RelPath;
use tslp_core::word_list::Vocabulary;

/// Most words of a clause that can be a removal's object.
const OBJECT_WORDS_MAX: usize = 8;

/// Words before and after a verb among which a negation turns it round.
const NEGATED_BEFORE: usize = 4;
const NEGATED_AFTER: usize = 2;

/// Least characters after a verb of a language without spaces, but for particles, that are an object.
const OBJECT_CHARS_MIN: usize = 2;

/// Longest word of such a language, in bytes, that may be a verb with its particles.
const VERB_BYTES_MAX: usize = 96;

/// Most words between "into" and the name of what is to be made.
const WAY_WORDS_MAX: usize = 4;

/// The words that may name definitions that go, get another name or another file.
struct Leaving {
    /// As they were written.
    words: Vec<String>,
    /// All words of the clause that asks.
    clause: Vec<String>,
    /// Whether what goes is to be the same under another name or in another place.
    lives_on: bool,
    /// Whether something is to come of it elsewhere.
    arrives: bool,
}

/// What is to be taken out.
struct Object {
    /// Its words, as they were written.
    words: Vec<String>,
    /// All words that say which of its kind it is.
    about: Vec<String>,
    /// The words that may name the definitions that it is taken out of.
    place_words: Vec<String>,
    /// Those of them that are known; any definition, if there are none.
    places: Vec<EntityId>,
    /// Whether something is to come of it elsewhere.
    arrives: bool,
}

/// The removals that a prompt asks for.
pub(super) struct AskedRemovals {
    vocabulary: Vocabulary,
    objects: Vec<Object>,
    leaving: Vec<Leaving>,
    /// All words of each clause that asks for less code, as they were written.
    shrinking: Vec<Vec<String>>,
    /// All words of the clauses that neither deny nor ask, nor say what is to be added or used, as they were written.
    said: Vec<String>,
    /// Whether the prompt says when something is to happen.
    pub(super) has_condition: bool,
    /// Whether the reply adds nothing anywhere: what was to arrive elsewhere doesn't.
    pub(super) nothing_arrives: bool,
    /// Whether the reply brings no definition that wasn't there: nothing lives on under another name or in another place.
    pub(super) nothing_new: bool,
}

impl AskedRemovals {
    pub(super) fn of(prompt: &str) -> Self {
        let vocabulary = Vocabulary::read(sentence::WORDS);
        let (mut objects, mut leaving, mut shrinking) = (Vec::new(), Vec::new(), Vec::new());
        let mut said = Vec::new();
        let owned =
            |words: &[&str]| -> Vec<String> { words.iter().copied().map(String::from).collect() };
        let mut before: Vec<&str> = Vec::new();
        let mut clause_before: Vec<&str> = Vec::new();
        // What was spoken of last.
        let mut topic: Vec<&str> = Vec::new();
        // Whether what is named next lives on.
        let mut announced: Option<(bool, bool)> = None;
        let sentences = sentence::sentences(prompt, &vocabulary).into_iter();
        let clauses = sentences.flat_map(|it| {
            let clauses = it.clauses.into_iter().filter(|clause| !clause.is_empty());
            clauses.map(move |clause| (clause, it.is_question))
        });
        for (clause, is_question) in clauses {
            let is_topic = is_topic(&vocabulary, &clause, topic.is_empty());
            if is_question {
                before.extend(&clause);
                if is_topic {
                    topic.clone_from(&clause);
                }
                clause_before = clause;
                continue;
            }
            let leave = |leaving: &mut Vec<Leaving>, words: &[&str], (lives_on, arrives)| {
                leaving.push(Leaving {
                    words: owned(words),
                    clause: owned(&clause),
                    lives_on,
                    arrives,
                });
            };
            // "Remove dead code: `total`"
            if let Some(fate) = announced.take() {
                leave(&mut leaving, &clause, fate);
            }
            // "but keep it"
            if keeps_it(&vocabulary, &clause) {
                leaving.clear();
                objects.clear();
            }
            let removes = asking_verb(&vocabulary, "remove", &clause);
            let renames = asking_verb(&vocabulary, "rename", &clause);
            if let Some(verb) = removes.or(renames) {
                let object = object_of(&vocabulary, &clause, verb);
                let next = clause.get(verb + 1).map(|word| bare_word(word));
                let is_pronoun = next.is_some_and(|next| vocabulary.has_word("pronoun", &next));
                // A pronoun stands for what was named before: "rename it `sum`". "The guard in `total` is old, drop it" means the guard.
                let only_says_where = object.iter().all(|word| word.contains('/'));
                let is_said_before =
                    object.is_empty() || is_pronoun && (removes.is_none() || only_says_where);
                let names_part = |word: &&str| {
                    is_part(&vocabulary, word) || is_of_kind(&vocabulary, "log", word)
                };
                let is_verb = |kind| is_verb(&vocabulary, kind, &without_pronoun(clause[verb]));
                let lives_on = is_verb("same");
                let arrives = lives_on || is_verb("elsewhere");
                let fate = (lives_on, arrives);
                if is_said_before && (removes.is_none() || !clause_before.iter().any(names_part)) {
                    // "`total` is unused, so delete it", and not "make `total` delete it"
                    let own = &clause[..verb];
                    let joins = |word: &&str| {
                        let word = bare_word(word);
                        ["lead", "filler", "polite"]
                            .iter()
                            .any(|kind| vocabulary.has_word(kind, &word))
                    };
                    let is_joined = own.last().is_some_and(joins);
                    let named = match is_joined && own.iter().any(|word| is_code(word)) {
                        true => own,
                        false if topic.is_empty() => &before,
                        false => &topic,
                    };
                    leave(&mut leaving, named, fate);
                }
                leave(&mut leaving, whole_of(&vocabulary, &object), fate);
                let is_announced = clause.last().is_some_and(|word| word.ends_with(':'));
                announced = is_announced.then_some(fate);
                if removes.is_some() {
                    let words = if is_said_before {
                        &clause_before
                    } else {
                        &object
                    };
                    // "The check of `total`", but "the call of `total`" is no part of it.
                    let is_around =
                        |word: &&str| words.iter().any(names_part) || !words.contains(word);
                    let of_clause = if is_said_before {
                        &clause_before
                    } else {
                        &clause
                    };
                    let mut place_words: Vec<&str> = places_in(&vocabulary, of_clause)
                        .filter(is_around)
                        .collect();
                    let is_everywhere =
                        |word: &&str| vocabulary.has_word("every", &bare_word(word));
                    if place_words.is_empty() && !clause.iter().any(is_everywhere) {
                        place_words.extend(topic.iter().filter(|word| is_code(word)));
                    }
                    objects.push(Object {
                        words: owned(words),
                        about: owned(of_clause),
                        place_words: owned(&place_words),
                        places: Vec::new(),
                        arrives,
                    });
                }
            }
            if is_topic {
                topic.clone_from(&clause);
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
            before.extend(&clause);
            clause_before = clause;
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
            nothing_arrives: false,
            nothing_new: false,
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

    /// Whether a prompt says a name only of what is to be made: "into a helper called `sum_up`", and not "a call to `sum_up`".
    pub(super) fn is_to_come(&self, prompt: &str, name: &str) -> bool {
        let words: Vec<&str> = prompt.split_whitespace().collect();
        let is = |at: usize, kind: &str| self.vocabulary.has_word(kind, &bare_word(words[at]));
        let is_way = |at: usize| {
            let is_call = |at: usize| is(at, "adds") || is(at, "of");
            let is_named = is(at, "to") || is(at, "named");
            is_named && !is_call(at) && !at.checked_sub(1).is_some_and(is_call)
        };
        let mut said = (0..words.len()).filter(|at| holds_word(words[*at], name));
        said.all(|at| (at.saturating_sub(WAY_WORDS_MAX)..at).any(is_way))
    }

    /// Looks up by `known` of which definitions the prompt speaks: a part of one is no part of another.
    pub(super) fn look_up(&mut self, known: impl Fn(&str) -> Vec<EntityId>) {
        for object in &mut self.objects {
            let named = object.place_words.iter().flat_map(|word| {
                let named = known(last_component(unmarked(word))).into_iter();
                named.filter(|entity| is_name_of(word, entity))
            });
            object.places = named.collect();
        }
    }

    /// Whether a removal's object is this line.
    pub(super) fn names_line(&self, entity: &EntityId, line: &str) -> bool {
        !self.claims_on(entity, line, &String::new).is_empty()
    }

    /// The removals whose object is this line: a part of code of its kind, or a name in it. What is no name of code opens plain
    /// statements alone, because it may be what the code is about. Each with how many of its words the line and what it holds have:
    /// "the check for a negative rate" is no check of something else.
    pub(super) fn claims_on(
        &self,
        entity: &EntityId,
        line: &str,
        held: &dyn Fn() -> String,
    ) -> Vec<(usize, u32)> {
        if self.objects.is_empty() {
            return Vec::new();
        }
        let own = entity.symbol_str().map(parts_of_name).unwrap_or_default();
        let kinds = kinds_of(line);
        let is_plain = kinds.is_empty() && !damage::line_jumps(line);
        let parts = parts_of_name(line);
        let logs = parts
            .iter()
            .any(|part| self.vocabulary.has_word("log", part));
        // Its own name says where, never what.
        let is_named = |word: &str| {
            let said = bare_word(word);
            !own.contains(&said)
                && if is_code(word) {
                    let in_line =
                        |said: &str| identifiers(line).any(|name| name.to_lowercase() == said);
                    identifiers(&said).all(in_line)
                } else {
                    is_plain
                        && (parts.iter().any(|it| is_form_of(it, &said))
                            || logs && is_of_kind(&self.vocabulary, "log", word))
                }
        };
        let is_kind = |word: &String| {
            kinds
                .iter()
                .any(|kind| is_of_kind(&self.vocabulary, kind, word))
        };
        let identifiers_in =
            |text: &str| -> Vec<String> { identifiers(text).map(str::to_lowercase).collect() };
        let is_line = |fragment: &String| {
            let (held, wanted) = (identifiers_in(line), identifiers_in(fragment));
            let is_within =
                |inner: &[String], outer: &[String]| inner.iter().all(|name| outer.contains(name));
            is_within(&wanted, &held) || is_within(&held, &wanted)
        };
        let is_about = |word: &&str| {
            let is_of = |kind: &&str| self.vocabulary.has_word(kind, word);
            (word.len() > 2 || word.bytes().all(|it| it.is_ascii_digit()))
                && !own.iter().any(|part| part == word)
                && !["plain", "filler", "where", "within", "every"]
                    .iter()
                    .any(is_of)
        };
        let fit_of = |about: &[String]| {
            let words = about.iter().filter(|word| !is_part(&self.vocabulary, word));
            let words: Vec<String> = words.map(|word| word.to_lowercase()).collect();
            let words: BTreeSet<&str> = words.iter().flat_map(|it| identifiers(it)).collect();
            let inside = parts_of_name(&held());
            let fits = |word: &&str| {
                let is_in = |parts: &[String]| parts.iter().any(|part| is_form_of(part, word));
                2 * u32::from(is_in(&parts)) + u32::from(is_in(&inside))
            };
            words.iter().filter(|it| is_about(it)).map(fits).sum()
        };
        let objects = self.objects.iter().enumerate();
        let objects = objects.filter(|(_, it)| !(it.arrives && self.nothing_arrives));
        let claims = objects.filter_map(
            |(
                at,
                Object {
                    words: object,
                    about,
                    places,
                    ..
                },
            )| {
                let is_elsewhere = |place: &EntityId| !is_within(place, entity);
                if entity.symbol.is_some() && !places.is_empty() && places.iter().all(is_elsewhere)
                {
                    return None;
                }
                let names_part = |at: usize| {
                    object
                        .get(at)
                        .is_some_and(|word| is_part(&self.vocabulary, word))
                };
                // "The error handling" is a handler, and no failure.
                let parts = (0..object.len()).filter(|at| names_part(*at) && !names_part(at + 1));
                let mut parts = parts.map(|at| &object[at]).peekable();
                if parts.peek().is_some() {
                    // "The check `if rate < 0`" is no other check.
                    let fragments = object.iter().filter(|word| is_fragment(word));
                    let mut fragments = fragments.peekable();
                    let is_meant = parts.any(is_kind)
                        && (fragments.peek().is_none() || fragments.any(is_line));
                    is_meant.then(|| (at, fit_of(about)))
                } else {
                    let is_meant = object.iter().any(|word| is_named(word));
                    is_meant.then_some((at, 0))
                }
            },
        );
        claims.collect()
    }

    /// Whether the prompt asks for code to leave its place.
    pub(super) fn asks(&self) -> bool {
        !self.leaving.is_empty() || !self.objects.is_empty() || !self.shrinking.is_empty()
    }

    /// Whether the prompt asks to remove, rename or move this entity.
    pub(super) fn names(&self, entity: &EntityId) -> bool {
        self.leaving.iter().any(|it| self.is_named_in(it, entity))
    }

    /// Whether the prompt asks for this entity to be the same under another name or in another place, and not to go.
    pub(super) fn lets_live_on(&self, entity: &EntityId) -> bool {
        let mut living = self.leaving.iter().filter(|it| it.lives_on);
        living.any(|it| self.is_named_in(it, entity) || self.names_holder(it, entity))
    }

    /// Whether the clause that lets this entity live on says the name of another one.
    pub(super) fn says_successor(&self, entity: &EntityId, other: &EntityId) -> bool {
        let mut living = self.leaving.iter().filter(|it| it.lives_on);
        living.any(|it| {
            self.is_named_in(it, entity) && it.clause.iter().any(|word| is_name_of(word, other))
        })
    }

    /// Whether words that tell what leaves its place name a definition that holds this one.
    fn names_holder(&self, leaving: &Leaving, entity: &EntityId) -> bool {
        let mut holders = entity.holders();
        holders.any(|holder| self.is_named_in(leaving, &holder))
    }

    /// Whether words that tell what leaves its place name the entity. A path in front of which "in" stands, or that has a definition's
    /// name beside it, says where: it is no name of all that the file holds.
    fn is_named_in(&self, leaving: &Leaving, entity: &EntityId) -> bool {
        let words = &leaving.words;
        let file = EntityId::file(entity.path.clone());
        let is_path = |word: &str| is_name_of(word, &file);
        let is_place = |at: usize| {
            let is = |kind: &str, at: Option<usize>| {
                let word = at.and_then(|at| words.get(at)).map(|word| bare_word(word));
                word.is_some_and(|word| says(&self.vocabulary, kind, &word))
            };
            let before = at.checked_sub(1);
            let is_beside =
                |other: &String| is_code(other) && !is_path(other) && !is_file_name(other);
            is("within", before) || words.iter().any(is_beside)
        };
        (0..words.len())
            .any(|at| is_name_of(&words[at], entity) && !(is_path(&words[at]) && is_place(at)))
    }

    /// The same of a definition, or of one that holds it.
    pub(super) fn names_definition(&self, path: &RelPath, symbol: &Symbol) -> bool {
        let entity = EntityId::symbol(path.clone(), symbol.clone());
        let leaving = self.leaving.iter();
        let mut leaving = leaving
            .filter(|it| !(it.arrives && self.nothing_arrives || it.lives_on && self.nothing_new));
        leaving.any(|it| self.is_named_in(it, &entity) || self.names_holder(it, &entity))
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

/// The words of a clause that may name where something is: those behind "in" or "of".
fn places_in<'w>(vocabulary: &Vocabulary, clause: &[&'w str]) -> impl Iterator<Item = &'w str> {
    let is_place = move |at: usize| {
        let before = at.checked_sub(1).map(|before| bare_word(clause[before]));
        // "`total`（src/a.py）里的检查"
        let mut next = clause[at + 1..]
            .iter()
            .take(2)
            .filter_map(|word| word.get(..3));
        before.is_some_and(|before| vocabulary.has_word("within", &before))
            || next.any(|next| vocabulary.has_word("inside", next))
    };
    (0..clause.len())
        .filter(move |at| is_place(*at))
        .map(|at| clause[at])
}

/// Whether a clause tells what the next ones are about: it names code, not only where or with what. "`sum` replaces it" is about the same
/// as before.
fn is_topic(vocabulary: &Vocabulary, clause: &[&str], is_first: bool) -> bool {
    let is_named = |at: usize| {
        let front = at.checked_sub(1).map(|front| bare_word(clause[front]));
        let is_where = |front: String| front != "at" && says(vocabulary, "where", &front);
        is_code(clause[at]) && !front.is_some_and(is_where)
    };
    let is_it = |word: &&str| vocabulary.has_word("pronoun", &bare_word(word));
    (0..clause.len()).any(is_named) && (is_first || !clause.iter().any(is_it))
}

/// Whether a word is a path, or a file's name by its ending.
fn is_file_name(word: &str) -> bool {
    let name = unmarked(word);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    name.contains('/') || ending.is_some_and(|it| FILE_ENDINGS.split(' ').any(|known| known == it))
}

/// Endings of names of files, as prompts have them.
const FILE_ENDINGS: &str = "c cc cpp cs css cxx go h hpp html java js json jsx kt lua md mjs php py pyi rb rs sh sql swift toml ts tsx txt yaml yml zig";

/// A verb without the pronoun behind it: "supprime-la".
fn without_pronoun(word: &str) -> String {
    let word = bare_word(word);
    let verb = word.split_once('-').map(|(verb, _)| verb.into());
    verb.unwrap_or(word)
}

/// Whether one of two definitions is the other, or is inside of it.
fn is_within(one: &EntityId, other: &EntityId) -> bool {
    let names = one.symbol_str().zip(other.symbol_str());
    let holds = |outer: &str, inner: &str| {
        let rest = inner.strip_prefix(outer);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '.', '#']))
    };
    one.path == other.path
        && names.is_some_and(|(one, other)| holds(one, other) || holds(other, one))
}

/// Whether a word is a piece of code and no name.
fn is_fragment(word: &str) -> bool {
    word.starts_with('`') && word.contains([' ', '<', '>', '=', '!', '[', '{', '+', '*'])
}

/// Whether a clause asks for what was spoken of to stay: "keep it", "garde-la".
fn keeps_it(vocabulary: &Vocabulary, clause: &[&str]) -> bool {
    let words: Vec<String> = clause.iter().map(|word| bare_word(word)).collect();
    let is_lead = |word: &String| {
        ["lead", "yet"]
            .iter()
            .any(|kind| vocabulary.has_word(kind, word))
    };
    let first = words.iter().position(|word| !is_lead(word));
    let is_it = |word: &str| vocabulary.has_word("it", word);
    // The pronoun ends the clause: "keep it simple" is another thing.
    let keeps = first.is_some_and(|at| {
        let (verb, with_it) = words[at].split_once('-').unwrap_or((&words[at], ""));
        let is_it_next = match &words[at + 1..] {
            _ if !with_it.is_empty() => is_it(with_it),
            [] => true,
            [it] => is_it(it),
            _ => false,
        };
        vocabulary.has_word("keep", verb) && is_it_next
    });
    // "但保留它"
    let keeps_in = |word: &String| {
        vocabulary.is_held("keep_in", word) && vocabulary.is_held("pronoun_in", word)
    };
    keeps || words.iter().any(keeps_in)
}

/// Whether a word, or a part of a compound such as `try/except` or `Log-Zeile`, is of this kind.
fn is_of_kind(vocabulary: &Vocabulary, kind: &str, word: &str) -> bool {
    let word = bare_word(word);
    let mut parts = word.split(['/', '-']);
    says(vocabulary, kind, &word) || parts.any(|part| vocabulary.has_word(kind, part))
}

/// Whether a word names a kind of parts of code.
fn is_part(vocabulary: &Vocabulary, word: &str) -> bool {
    KINDS
        .iter()
        .any(|(kind, _)| is_of_kind(vocabulary, kind, word))
}

/// The words of a removal's object that name what goes as a whole: "the comment above `total`" is no `total`.
fn whole_of<'o, 'w>(vocabulary: &Vocabulary, object: &'o [&'w str]) -> &'o [&'w str] {
    let is_of = |word: &&str| !is_code(word) && vocabulary.has_word("of", &bare_word(word));
    // A language without spaces names the whole first: "`total` 里的检查".
    let is_inside = |at: &usize| {
        let is_path = at
            .checked_sub(1)
            .is_some_and(|before| object[before].contains('/'));
        let begin = object[*at].get(..3).unwrap_or_default();
        !is_path && vocabulary.has_word("inside", begin)
    };
    if let Some(at) = (0..object.len()).find(is_inside) {
        return &object[at..];
    }
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
    let words: Vec<String> = clause.iter().map(|word| without_pronoun(word)).collect();
    // "`total` efface le cache" and "让 `total` 去掉空格" say what code does.
    let goes_on = |rest: &[&str]| {
        let is_next = |word: &&str| vocabulary.has_word("lead", &bare_word(word));
        !rest.first().is_some_and(is_next) && has_object(vocabulary, rest)
    };
    let is_of_code = |at: usize| {
        let mut subject = clause[..at]
            .iter()
            .filter(|word| !says(vocabulary, "plain", &bare_word(word)))
            .peekable();
        subject.peek().is_some()
            && subject.all(|word| is_code(word))
            && (goes_on(&clause[at + 1..]) || holds_object(vocabulary, &words[at]))
            || clause[..at]
                .iter()
                .any(|word| vocabulary.is_held("lets_in", word))
            || clause[at].starts_with('が')
    };
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
            ("by", "by", last),
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
    let is_at = |kind: &str, at: Option<usize>| {
        let word = at.and_then(|at| words.get(at));
        word.is_some_and(|word| vocabulary.has_word(kind, word))
    };
    // "The user can delete entries", "users who remove one", "my boss wants to drop it", "we might remove it".
    let is_by_other = |at: usize| {
        let (last, second) = (at.checked_sub(1), at.checked_sub(2));
        let is_users = words[..at]
            .iter()
            .any(|word| vocabulary.has_word("asker", word));
        let is_codes = second.is_some_and(|second| is_code(clause[second]));
        !is_users && is_at("able", last) && second.is_some()
            || !is_users && is_at("to", last) && is_at("others", second)
            || is_at("may", last) && !words[..at].iter().any(|word| word == "you")
            || is_at("ought", last) && is_codes
            || is_at("who", last)
    };
    // "Drop me a note", "throw out of `total` early"
    let is_idiom = |at: usize| {
        is_at("person", Some(at + 1)) || is_at("out", Some(at + 1)) && is_at("of", Some(at + 2))
    };
    (0..words.len()).find(|at| {
        let before = &words[at.saturating_sub(NEGATED_BEFORE)..*at];
        let after = clause[at + 1..].iter().filter(|word| !is_code(word));
        let after: Vec<String> = after
            .take(NEGATED_AFTER)
            .map(|word| without_pronoun(word))
            .collect();
        let negates = |word: &String| says(vocabulary, "not", word);
        // "Rather than delete it", "stop removing it", "put it back"
        let (last, second) = (at.checked_sub(1), at.checked_sub(2));
        let is_undone = is_at("stop", last)
            || is_at("than", last) && is_at("instead", second)
            || words[*at] == "put" && after.iter().any(|word| word == "back");
        // A word in quotation marks or after an article is a name.
        let is_noun = clause[*at].starts_with(['"', '\'', '“', '«'])
            || before
                .last()
                .is_some_and(|word| says(vocabulary, "plain", word));
        !is_code(clause[*at])
            && !is_noun
            && (is_verb(vocabulary, kind, &words[*at]) && !is_by_other(*at)
                || asks_with_another(*at)
                || gives_name(*at))
            && !vocabulary.is_held("not_in", &words[*at])
            && !vocabulary.is_held("when_in", &words[*at])
            && !is_of_code(*at)
            && !is_idiom(*at)
            && !is_undone
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
                let bare = bare_word(word);
                !said(word, "plain")
                    && !said(word, "filler")
                    && !vocabulary.has_word("polite", &bare)
                    && !bare.is_empty()
            })
            .collect()
    };
    let is_rid = bare_word(clause[verb]) == "rid";
    let rest = &clause[(verb + 1 + usize::from(is_rid)).min(clause.len())..];
    // "that check", and not "that it checks"
    let is_that = |word: &str| {
        ["plain", "where"]
            .iter()
            .all(|kind| says(vocabulary, kind, word))
    };
    let rest = &rest[usize::from(rest.first().is_some_and(|word| is_that(&bare_word(word))))..];
    let after = words_of(rest);
    let word = bare_word(clause[verb]);
    // A language without spaces has its verb within a word.
    if ["remove_in", "rename_in"]
        .iter()
        .any(|kind| vocabulary.is_held(kind, &word))
    {
        // "删掉它"
        if vocabulary.is_held("pronoun_in", &word) {
            return Vec::new();
        }
        // "删掉吧"
        let is_alone = verb == 0 && is_bare_verb(vocabulary, &word);
        let own = if is_alone { &[][..] } else { &clause[..=verb] };
        return words_of(own).into_iter().chain(after).collect();
    }
    if !has_object(vocabulary, rest) {
        // "so it can go"; "`total` soll die Preise entfernen"
        let said = &clause[..verb];
        let is = |kind: &str, word: &&str| vocabulary.has_word(kind, &bare_word(word));
        let modal = said.iter().rposition(|word| is("modal", word));
        let after_modal = modal.map(|at| words_of(&said[at + 1..]));
        // "In `total` die Ausgabe löschen"
        let leads = said.iter().take_while(|word| is("where", word)).count();
        let leads =
            leads + usize::from(leads > 0 && said.get(leads).is_some_and(|word| is_code(word)));
        return after_modal
            .filter(|object| !object.iter().all(|word| is("be", word)))
            .unwrap_or_else(|| words_of(&said[leads..]));
    }
    after
}

/// Whether a word of a language without spaces is a verb and nothing that says what goes: "删掉吧", "削除してください".
fn is_bare_verb(vocabulary: &Vocabulary, word: &str) -> bool {
    if word.len() > VERB_BYTES_MAX {
        return false;
    }
    let is_verb = |piece: &&str| {
        let kinds = ["remove_in", "rename_in"];
        kinds.iter().any(|kind| vocabulary.has_word(kind, piece))
    };
    let begins = word.char_indices().map(|(begin, _)| begin);
    let mut verbs = begins.filter_map(|begin| {
        let rest = &word[begin..];
        let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8());
        let mut pieces = ends.map(|end| &rest[..end]);
        Some((begin, pieces.find(is_verb)?))
    });
    let says_nothing =
        |c: char| ('ぁ'..='ん').contains(&c) || vocabulary.has_word("particle", &String::from(c));
    verbs.next().is_some_and(|(begin, verb)| {
        let rest = word[..begin]
            .chars()
            .chain(word[begin + verb.len()..].chars());
        rest.into_iter().all(says_nothing)
    })
}

/// Whether a word of a language without spaces holds a verb and what goes: "删除重复项".
fn holds_object(vocabulary: &Vocabulary, word: &str) -> bool {
    if word.len() > VERB_BYTES_MAX {
        return true;
    }
    let ends = word.char_indices().map(|(at, c)| at + c.len_utf8());
    let mut ends = ends.filter(|end| vocabulary.is_held("remove_in", &word[..*end]));
    let object = ends.next().map_or("", |end| &word[end..]);
    let says_what =
        |c: &char| ('一'..='鿿').contains(c) && !vocabulary.has_word("particle", &String::from(*c));
    object.chars().filter(says_what).count() >= OBJECT_CHARS_MIN
}

/// Whether words after a verb say what goes, up to where they say where.
fn has_object(vocabulary: &Vocabulary, rest: &[&str]) -> bool {
    let words = rest.iter().map(|word| bare_word(word));
    let is_where = |word: &String| {
        ["where", "when"]
            .iter()
            .any(|kind| says(vocabulary, kind, word))
    };
    let mut words = words.take_while(|word| !word.is_empty() && !is_where(word));
    words.any(|word| !says(vocabulary, "filler", &word))
}

/// Whether a word is a verb of this kind, or one with its pronoun: "bórrala".
fn is_verb(vocabulary: &Vocabulary, kind: &str, word: &str) -> bool {
    let plain = |c: char| "aeiou".chars().nth("áéíóú".chars().position(|it| it == c)?);
    let verbs = ["la", "lo", "las", "los"]
        .iter()
        .filter_map(|pronoun| word.strip_suffix(pronoun));
    let mut verbs = verbs.map(|verb| {
        verb.chars()
            .map(|c| plain(c).unwrap_or(c))
            .collect::<String>()
    });
    says(vocabulary, kind, word) || verbs.any(|verb| vocabulary.has_word(kind, &verb))
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
    let begin = first.trim_start_matches(['}', ' ']);
    let mut branches = ["elif", "elsif", "elseif", "else if"].iter();
    let is_checked = branches.any(|word| begin.starts_with(word));
    let kinds = KINDS.iter().filter(|(kind, of)| match of {
        Some(Part::Condition) if is_checked => true,
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

    /// A request to remove something opens the gates for that thing only.
    #[test]
    fn removal_of_object() {
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
            "The guard in `total` is old, drop it.",
            "Get rid of the early return in total",
            "The null-check in `total` is pointless, kill it.",
            "删除 `total` 里的检查",
            "`total` のチェックを削除してください",
        ] {
            check(prompt, guard, true);
            check(prompt, "    for item in items:", false);
            check(prompt, "    @cached", false);
            assert!(!AskedRemovals::of(prompt).names(&entity()), "{prompt}");
        }
        for prompt in [
            "Quita el registro de total.",
            "Remove the `log.info` call.",
            "Убери логирование из total",
            "把 `total` 里的日志去掉",
        ] {
            check(prompt, "    log.info(total)", true);
            check(prompt, guard, false);
        }
        check(
            "Remove the try/except in total.",
            "    except KeyError:",
            true,
        );
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
        let fragment = "Remove the check `if price < 0` from `total`.";
        check(fragment, "    if price < 0:", true);
        check(fragment, guard, false);
        let both =
            "Remove the checks `if price < 0` and `if price is None: return 0` from `total`.";
        check(both, "    if price < 0:", true);
        check(both, guard, true);
        check("Bitte die Prüfung aus der Methode entfernen.", guard, true);
        check(
            "They told me to remove the check in `total`, but keep it.",
            guard,
            false,
        );
    }

    /// A part is removed from the definition that is named with it.
    #[test]
    fn part_of_named() {
        let other = EntityId::symbol(RelPath::from_normalised("src/net.py"), Symbol::new("net"));
        let known = [entity(), other.clone()];
        for prompt in [
            "Remove the first check in `total`.",
            "Remove the check from total.",
            "The guard in `total` is old, drop it.",
            "Look at `total`. Then remove the check.",
            "删除 `total`（src/a.py）里的检查。",
            "删除 `total` 里的检查",
        ] {
            let mut asked = AskedRemovals::of(prompt);
            asked.look_up(|name| {
                let named = known.iter().filter(|it| {
                    let symbol = it.symbol.as_ref();
                    symbol.is_some_and(|it| it.last_component() == name)
                });
                named.cloned().collect()
            });
            let guard = "    if price is None:";
            assert!(asked.names_line(&entity(), guard), "{prompt}");
            assert!(!asked.names_line(&other, guard), "{prompt}");
        }
    }

    /// A path says where something is, unless it stands alone: then the file itself is meant.
    #[test]
    fn path_as_place() {
        let other = EntityId::symbol(entity().path, Symbol::new("receipt"));
        let file = EntityId::file(entity().path);
        for prompt in [
            "`receipt` in src/a.py is dead code. Please delete it.",
            "`receipt` (src/a.py) isn't used any more, so delete it.",
            "`receipt` in `src/a.py` is old. Can you remove it?",
            "`receipt` in src/a.py wird nicht gebraucht. Entferne sie.",
            "`receipt` de src/a.py ne sert plus, supprime-la.",
            "把 src/a.py 里的 `receipt` 删掉",
            "`receipt` を src/a.py から削除して",
            "请从 src/a.py 删除 `receipt`",
        ] {
            let asked = AskedRemovals::of(prompt);
            assert!(asked.names(&other), "{prompt}");
            assert!(!asked.names(&entity()), "{prompt}");
            assert!(!asked.names(&file), "{prompt}");
        }
        for prompt in [
            "Delete src/a.py.",
            "Please get rid of `src/a.py`",
            "Move a.py to lib/.",
        ] {
            let asked = AskedRemovals::of(prompt);
            assert!(asked.names(&entity()) && asked.names(&file), "{prompt}");
        }
    }

    /// What is renamed or moved must live on.
    #[test]
    fn renamed_or_moved() {
        let check = |prompt: &str, expected: bool| {
            let asked = AskedRemovals::of(prompt);
            let (path, symbol) = (entity().path, entity().symbol.unwrap());
            assert!(asked.names_definition(&path, &symbol), "{prompt}");
            assert_eq!(asked.lets_live_on(&entity()), expected, "{prompt}");
        };
        check("Rename `total` to `sum`.", true);
        check("Move `total` to b.py.", true);
        check("Put `total` into b.py.", true);
        check("Rename these: `total` to `sum`", true);
        check(
            "Rename `total` to `sum`. Also remove it from the docs.",
            true,
        );
        check("Rename the class `Stock` to `Shelf`.", true);
        check("Benenne `total` in `sum` um.", true);
        check("Déplace `total` dans b.py.", true);
        check("把 `total` 重命名为 `sum`", true);
        check("Delete `total`.", false);
        check("Inline `total` into `report`.", false);
        check("Replace `total` by a class `Totals`.", false);
    }

    /// Code that should arrive elsewhere stays where it is if nothing arrives.
    #[test]
    fn moved_elsewhere() {
        for (prompt, arrives) in [
            ("Inline `total` into `report`.", true),
            ("Merge `total` into `report`.", true),
            ("Extract `total` into b.py.", true),
            ("Move `total` to b.py.", true),
            ("Ersetze `total` durch `sum`.", true),
            ("把 `total` 替换为 `sum`", true),
            ("Combine `subtotal` and `total` into `sums`.", true),
            ("Integriere `total` in `report`.", true),
            ("Fusionne `total` avec `report`.", true),
            ("把 `total` 合并到 `report`", true),
            ("Delete `total`.", false),
            ("Replace `subtotal` by `sum`. Delete `total`.", false),
        ] {
            let mut asked = AskedRemovals::of(prompt);
            let (path, symbol) = (entity().path, entity().symbol.unwrap());
            assert!(asked.names_definition(&path, &symbol), "{prompt}");
            asked.nothing_arrives = true;
            assert_eq!(asked.names_definition(&path, &symbol), !arrives, "{prompt}");
        }
        for (prompt, lives_on) in [
            ("Move `total` to b.py.", true),
            ("Rename `total` to `sum`.", true),
            ("Inline `total` into `report`.", false),
        ] {
            let mut asked = AskedRemovals::of(prompt);
            let (path, symbol) = (entity().path, entity().symbol.unwrap());
            asked.nothing_new = true;
            let is_open = asked.names_definition(&path, &symbol);
            assert_eq!(is_open, !lives_on, "{prompt}");
        }
        let mut asked = AskedRemovals::of("Extract the check of `total` into a helper.");
        let check = "        if price is None:";
        assert!(asked.names_line(&entity(), check));
        asked.nothing_arrives = true;
        assert!(!asked.names_line(&entity(), check));
    }

    #[test]
    fn nothing_asked() {
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

    /// A definition may be removed only if the prompt names it.
    #[test]
    fn named_definitions() {
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
            "`total` is obsolete; get rid of it.",
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
            "Nessuno usa più `total`: eliminala.",
            "`total` больше не нужна, удали её.",
            "`total` 已经没用了，删掉它。",
            "Die Funktion `total` kann gelöscht werden.",
            "total is old, throw it away.",
            "You can delete `total` now.",
            "I want to drop total.",
            "`total` is old; remove it instead.",
            "`total` を削除してくれますか？",
            "Try removing `total`.",
            "Nobody uses total() any more, kill it (src/a.py).",
            "We no longer need `total` (src/a.py); drop the whole function.",
            "`total` wird nicht mehr gebraucht, lösch die Funktion.",
            "Kannst du total() aus src/a.py entfernen?",
            "src/a.py 里的 `total` 没人用了，删掉吧。",
            "请把 `total` 从 src/a.py 中移除",
            "I fixed `report`. `total` is unused now so delete it.",
            "`total` isn't used any more; `sum` replaces it. Please delete it.",
            "`total` is dead code. I checked with `grep`, please delete it.",
            "Use `sum` instead of `total` and delete `total`.",
            "Stop calling `total` and delete it.",
            "I'd rather delete `total`.",
            "To prevent confusion rename `total` to `sum`.",
            "En primer lugar elimina `total`.",
            "Invece rimuovi `total`.",
            "Move `total` back to b.py.",
            "Delete `total`. Keep it simple.",
            "Delete `total`. Leave it to me to test.",
            "Supprime `total`, mais garde la fonction `receipt`.",
            "删除 `total`，保留其他函数。",
            "`total` を削除していただけますか？",
            "能把 `total` 删掉吗？",
            "`total` 删掉就行",
            "Consider removing `total`.",
            "You are supposed to delete `total`.",
            "We now can delete `total`.",
            "看看 `total`。把它删掉。",
            "Tira o `total`.",
            "Delete, please, `total`.",
            "Удалите, пожалуйста, `total`.",
            "Elimina, por favor, `total`.",
            "Supprime, s'il te plaît, `total`.",
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
            "Delete `subtotal`, please, and keep `total`.",
            "Delete `subtotal`, please, and then update `total`.",
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
            "In `total` fehlt die Meldung beim Löschen.",
            "In `total` bitte die Ausgabe löschen.",
            "`total` efface trop tôt le fichier.",
            "让 `total` 去掉空格。",
            "`total` 删除文件两次，请修复。",
            "`total` がファイルを削除してしまう。",
            "`total` のチェックは削除せずに残す。",
            "Drop me a note about `total`.",
            "Please stop removing `total`. Put it back.",
            "The user can delete `total` entries; handle that.",
            "The admin may delete `total` records.",
            "Users who remove `total` get an error.",
            "Could deleting `total` cause problems?",
            "I'm thinking about removing `total`. Trace it first.",
            "We might drop `total` next year; deprecate it.",
            "Instead of removing `total`, log a warning in it.",
            "Rather than delete `total`, deprecate it.",
            "Removing `total` would be a mistake.",
            "My boss wants to drop `total`.",
            "Prevent users from deleting `total`.",
            "Throw out of `total` early on bad input.",
            "On m'a dit de supprimer `total`, mais garde-la et documente-la.",
            "为什么 `total` 被删除了？",
            "`total` 应该去掉空格。",
            "`total` 能删除吗？先分析一下",
            "なぜ `total` は削除されたの？",
            "`total` は消してもいい？",
            "`total` を削除すべきですか？",
            "看看 `total`。把检查去掉。",
            "`total` を見て。チェックを削除してください。",
            "看看 `total`。删除锁",
            "看看 `total`。删除cache",
            "They told me to delete `total`, but keep it.",
            "你为什么删除了 `total`？",
            "なぜ `total` を削除してくれたの？",
            "请问可以删除 `total` 吗？",
            "`total` should delete it when it is empty.",
            "Make `total` delete it after use.",
            "`total` must remove it.",
            "`total` calls `report`. I moved `sum`, so delete `report`.",
        ] {
            check(prompt, false);
        }
    }

    #[test]
    fn shrinking_named() {
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
