//! Code that names no file, or a method out of its class: what the model was shown says where it belongs (spec §4.1).
//!
//! Names decide here, exactly; that the code is like the one it replaces, and that the model has seen that, is judged later
//! ([`resolve`](crate::judge::resolve), [`propose`](crate::judge::propose)).

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::code_reader::CodeReader;
use crate::judge::namesakes;
use crate::judge::similarity;
use crate::prompt::last_turn;
use crate::prompt::mention;
use crate::prompt::naming::{is_name_of, unmarked};
use tslp_core::capture::{Authorship, CodeBlock};
use tslp_core::edit::{Edit, EditPosition, Hunk, MatchUnit};
use tslp_core::entity::{EntityId, Symbol, last_component};
use tslp_core::event::PathEvidence;
use tslp_core::extract::{Definition, Extraction, LanguageId};
use tslp_core::ids::SessionId;
use tslp_core::known_lines;
use tslp_core::limits::CORRELATION_NAMESAKES_MAX;
use tslp_core::path::RelPath;
use tslp_core::slice::Span;

use crate::judge::found_edit;

/// Fence tags that don't name a language.
pub(crate) const PLAIN_TAGS: [&str; 6] = ["text", "txt", "plain", "plaintext", "code", "source"];

/// Least share of a method's words, in percent, that code without a class must hold to be that method.
const ALIKE_PERCENT: u8 = 50;

/// Most methods that one block is tried in the place of.
const TRIED_MAX: usize = 8;

/// Lines of code at the start of a block in which the name of what it defines is looked for.
const HEAD_LINES: usize = 4;

/// Gives the reply's blocks that name no file the one file that their definitions belong to.
pub(crate) fn link_blocks(reader: CodeReader<'_>, blocks: &mut [CodeBlock<'_>]) {
    let mut conversation = None;
    for block in blocks {
        if block.path.is_some() || block.authorship != Authorship::Own {
            continue;
        }
        let conversation = conversation.get_or_insert_with(|| {
            let session = reader.session;
            session.map_or_else(BTreeSet::new, |it| files_of_conversation(reader, it))
        });
        let file = match &block.edit {
            None => file_of_code(reader, conversation, block),
            Some(Ok(edit)) => sole(conversation.iter().filter(|path| {
                matches!(edit, Edit::Change(_))
                    && found_edit::apply_to_truth(reader, path, edit).is_ok()
            }))
            .cloned(),
            Some(Err(_)) => None,
        };
        if let Some(file) = file {
            block.path = Some(file.as_str().into());
            block.evidence = PathEvidence::Shown;
        }
    }
}

/// Files that the prompts of a session showed code of, or that its last prompt names.
pub(crate) fn files_of_conversation(
    reader: CodeReader<'_>,
    session: SessionId,
) -> BTreeSet<RelPath> {
    let view = reader.view;
    let sessions = view.state.sessions();
    let shown = last_turn::shown_before(view, session).into_iter();
    let shown = shown.chain(sessions.hydration_order(session));
    let mut files: BTreeSet<RelPath> = shown.map(|entity| entity.path).collect();
    let asked = last_turn::last_asked(view, session);
    let named = mention::path_words(&asked).map(mention::path_in);
    files.extend(named.filter_map(|word| crate::scope::place::of(view, reader.at, word).ok()));
    files.retain(|path| view.state.state_map().tracks(path));
    files
}

pub(crate) fn sole<T>(mut found: impl Iterator<Item = T>) -> Option<T> {
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// The one file that defines everything known in the block; of several, the one that the conversation is about.
fn file_of_code(
    reader: CodeReader<'_>,
    conversation: &BTreeSet<RelPath>,
    block: &CodeBlock<'_>,
) -> Option<RelPath> {
    let grammars = reader.grammars;
    let tag = block.language.as_deref();
    let tag = tag.filter(|tag| !PLAIN_TAGS.contains(tag));
    let languages: BTreeSet<LanguageId> = match tag {
        Some(tag) => grammars.language_of_tag(tag).into_iter().collect(),
        None => conversation
            .iter()
            .filter_map(|path| grammars.language_of_path(path))
            .collect(),
    };
    let sessions = reader.view.state.sessions();
    let is_of_conversation = |entity: &EntityId| {
        let current = reader.view.current_version(entity);
        conversation.contains(&entity.path)
            || reader.session.is_some()
                && current.is_some_and(|it| sessions.of(it.episode) == reader.session)
    };
    let files = languages.into_iter().flat_map(|language| {
        let entities = entities_in(reader, language, &block.code);
        let all: BTreeSet<&RelPath> = entities.iter().map(|entity| &entity.path).collect();
        let near = entities.iter().filter(|entity| is_of_conversation(entity));
        let near: BTreeSet<&RelPath> = near.map(|entity| &entity.path).collect();
        let file = sole(all.into_iter()).or_else(|| sole(near.into_iter()));
        file.cloned()
    });
    sole(files)
}

/// The known entities that the code may define, all of files that hold everything known in it.
fn entities_in(reader: CodeReader<'_>, language: LanguageId, code: &str) -> Vec<EntityId> {
    let Ok(extraction) = reader.grammars.extract(language, code.as_bytes()) else {
        return Vec::new();
    };
    let members = |code: &str, extraction: Option<&Extraction>| -> Vec<EntityId> {
        let members = members_like(reader, language, None, (code, None), extraction);
        members.into_iter().map(|(entity, _)| entity).collect()
    };
    let named = namesakes::outermost(&extraction.definitions).map(|definition| {
        let mut entities = entities_named(reader, language, definition.symbol.last_component());
        entities.retain(|entity| entity.symbol.as_ref() == Some(&definition.symbol));
        entities
    });
    let mut known: Vec<Vec<EntityId>> = named.filter(|it| !it.is_empty()).collect();
    if known.is_empty() {
        known.push(members(code, Some(&extraction)));
    }
    if known[0].is_empty() {
        let mut apart = definitions_apart(reader, (language, None), code, Some(&extraction));
        if apart.len() > TRIED_MAX {
            apart.clear();
        }
        let apart = apart.into_iter();
        let apart = apart.map(|it| Some(members(it, None)).filter(|it| !it.is_empty()));
        known = apart.collect::<Option<_>>().unwrap_or_default();
    }
    let files_of = |entities: &Vec<EntityId>| -> BTreeSet<RelPath> {
        entities.iter().map(|it| it.path.clone()).collect()
    };
    let files = known
        .iter()
        .map(files_of)
        .reduce(|one, other| &one & &other);
    let files = files.unwrap_or_default();
    let mut known = known.concat();
    known.retain(|entity| files.contains(&entity.path));
    known
}

/// The methods in whose place the code fits, each with the edit that puts it there: those like it that the model was shown or, if it
/// is like none of them, those like it of its name; where that isn't one, those that were shown, however much of them has changed. Of
/// several the one whose head it repeats; of one file, if that is known. One that the block's heading, or the prompt, names with its class
/// is meant, and no other.
fn members_like(
    reader: CodeReader<'_>,
    language: LanguageId,
    path: Option<&RelPath>,
    (code, stated): (&str, Option<&str>),
    extraction: Option<&Extraction>,
) -> Vec<(EntityId, PlacedCode)> {
    let named = |name: &str| match path {
        None => entities_named(reader, language, name),
        Some(path) => {
            let symbols = reader.view.state.state_map().symbols_of(path).into_iter();
            let symbols = symbols.filter(|symbol| symbol.last_component() == name);
            let entities = symbols.map(|symbol| EntityId::symbol(path.clone(), symbol));
            entities.collect()
        }
    };
    let names = head_names(code, extraction);
    // What is new may stand in front.
    let namesakes = names.iter().copied().map(named);
    let namesakes: Vec<EntityId> = match extraction {
        Some(_) => namesakes
            .into_iter()
            .find(|it| !it.is_empty())
            .unwrap_or_default(),
        None => namesakes.flatten().collect(),
    };
    let asked = reader
        .session
        .map(|it| last_turn::last_asked(reader.view, it));
    let asked = asked.unwrap_or_default();
    let is_stated = |entity: &&EntityId| {
        let own = entity.symbol_str().unwrap_or_default();
        match stated.filter(|stated| last_component(stated) == last_component(own)) {
            Some(stated) => own == stated,
            None => asked
                .split_whitespace()
                .any(|word| names_member(word, entity)),
        }
    };
    let meant: Vec<EntityId> = namesakes.iter().filter(is_stated).cloned().collect();
    // What else the code defines may be named, too, as another class's.
    let is_elsewhere = |path: &RelPath, symbol: &Symbol| {
        let symbols = reader.view.state.state_map().symbols_of(path).into_iter();
        let namesakes = symbols.filter(|it| it.last_component() == symbol.last_component());
        let stated = namesakes.filter(|it| is_stated(&&EntityId::symbol(path.clone(), it.clone())));
        let stated: Vec<Symbol> = stated.collect();
        !stated.is_empty() && !stated.contains(symbol)
    };
    let fitting = |mut entities: Vec<EntityId>, least: u8, is_meant: bool| -> Vec<_> {
        entities.retain(|entity| {
            let symbol = entity.symbol.as_ref();
            symbol.is_some_and(|symbol| symbol.as_str() != symbol.last_component())
                && path.is_none_or(|path| *path == entity.path)
        });
        let tried = entities.into_iter().take(TRIED_MAX);
        let mut fit: Vec<(EntityId, PlacedCode)> = tried
            .filter_map(|it| {
                let placing = Placing {
                    least,
                    is_meant,
                    is_piece: extraction.is_none(),
                };
                in_place_of(reader, language, &it, code, placing).map(|placed| (it, placed))
            })
            .filter(|(it, placed)| {
                !placed
                    .others
                    .iter()
                    .any(|other| is_elsewhere(&it.path, other))
            })
            .collect();
        if fit.iter().filter(|(_, placed)| placed.keeps_head).count() == 1 {
            fit.retain(|(_, placed)| placed.keeps_head);
        }
        fit
    };
    // `src/a.py::Stock.total`, which isn't known.
    let said = asked.split_whitespace().map(unmarked);
    let said = said.filter_map(|word| word.split_once("::"));
    let said = said.filter(|(file, _)| path.is_some_and(|it| it.as_str() == *file));
    let mut said = said.map(|(_, symbol)| symbol).chain(stated);
    let is_unknown = said.any(|symbol| {
        let own = last_component(symbol);
        own.len() < symbol.len() && names.contains(&own)
    });
    if !meant.is_empty() || is_unknown {
        let alike = fitting(meant.clone(), ALIKE_PERCENT, true);
        return match alike.len() {
            1 => alike,
            _ => fitting(meant, 0, true),
        };
    }
    let shown = reader
        .session
        .map(|it| last_turn::shown_before(reader.view, it));
    let mut shown = of_kin_language(reader, language, shown.unwrap_or_default());
    // Not all of many are tried: those of its name first.
    shown.sort_by_key(|it| {
        let symbol = it.symbol.as_ref();
        !symbol.is_some_and(|symbol| names.contains(&symbol.last_component()))
    });
    let alike = fitting(shown.clone(), ALIKE_PERCENT, false);
    if !alike.is_empty() {
        return alike;
    }
    let alike = fitting(namesakes, ALIKE_PERCENT, false);
    if alike.len() == 1 {
        return alike;
    }
    let shown = fitting(shown, 0, false);
    if shown.is_empty() { alike } else { shown }
}

/// Whether a word names a method with its class: `Stock.total`, `src/a.py::Stock.total`.
fn names_member(word: &str, entity: &EntityId) -> bool {
    let own = entity.symbol_str().unwrap_or_default();
    let name = unmarked(word);
    let qualified = own.len() > last_component(own).len();
    qualified && (name.ends_with(own) && is_name_of(word, entity)) && {
        let before = &name[..name.len() - own.len()];
        before.is_empty() || before.ends_with("::")
    }
}

/// Known entities of a name in files whose language is kin to this one.
pub(crate) fn entities_named(
    reader: CodeReader<'_>,
    language: LanguageId,
    name: &str,
) -> Vec<EntityId> {
    let state_map = reader.view.state.state_map();
    let entities = state_map.entities_named(name, CORRELATION_NAMESAKES_MAX);
    of_kin_language(reader, language, entities)
}

fn of_kin_language(
    reader: CodeReader<'_>,
    language: LanguageId,
    mut entities: Vec<EntityId>,
) -> Vec<EntityId> {
    let grammars = reader.grammars;
    entities.retain(|entity| {
        let other = grammars.language_of_path(&entity.path);
        other.is_some_and(|other| grammars.are_kin(language, other))
    });
    entities
}

/// The names that a block may define: those of its definitions, or before the first brackets, if it defines nothing by itself.
fn head_names<'c>(code: &'c str, extraction: Option<&'c Extraction>) -> Vec<&'c str> {
    let defined = extraction.map_or(&[][..], |extraction| &extraction.definitions);
    if !defined.is_empty() {
        let defined = namesakes::outermost(defined);
        return defined.map(|it| it.symbol.last_component()).collect();
    }
    let remarks = extraction.map_or(&[][..], |extraction| &extraction.remarks);
    let is_code = |line: &&str| {
        let begin = line.trim_start();
        let at = begin.as_ptr().addr() - code.as_ptr().addr();
        !begin.is_empty() && !remarks.iter().any(|it| it.range().contains(&at))
    };
    let names = code
        .lines()
        .filter(is_code)
        .take(HEAD_LINES)
        .filter_map(|line| {
            let head = line[..line.find('(')?].trim_end();
            let last = known_lines::identifiers(head).last()?;
            (last.end == head.len()).then(|| &head[last])
        });
    names.collect()
}

/// The block as an edit, if it is a method of the file's out of its class, and defines exactly that in its place.
pub(crate) fn member_hunks(
    reader: CodeReader<'_>,
    language: LanguageId,
    path: &RelPath,
    (code, stated): (&str, Option<&str>),
    extraction: Option<&Extraction>,
) -> Option<Vec<Hunk>> {
    // A line that names the file isn't the method's.
    if let Some((line, rest)) = code.split_once('\n')
        && found_edit::names_file(line, path)
    {
        let found = reader.grammars.extract(language, rest.as_bytes()).ok();
        return member_hunks(reader, language, path, (rest, stated), found.as_ref());
    }
    let symbols = reader.view.state.state_map().symbols_of(path);
    let defined = extraction.map_or(&[][..], |it| &it.definitions);
    let mut known = namesakes::outermost(defined).filter(|it| symbols.contains(&it.symbol));
    let function = known.next();
    // Beside a function of its name, but not inside of it, as a constructor is in its class.
    let is_of_name = |symbol: &Symbol| {
        function.is_none_or(|it| {
            symbol.last_component() == it.symbol.as_str()
                && defined.iter().all(|it| it.symbol != *symbol)
        })
    };
    if known.next().is_some() || !symbols.iter().any(is_of_name) {
        return None;
    }
    let placed_as_one = |code: &str, extraction: Option<&Extraction>| {
        let members = members_like(reader, language, Some(path), (code, stated), extraction);
        let members = members
            .into_iter()
            .filter(|(it, _)| it.symbol.as_ref().is_some_and(is_of_name));
        sole(members).map(|(_, placed)| placed)
    };
    let Some(placed) = placed_as_one(code, extraction) else {
        // Methods of several classes: each for itself.
        let apart = definitions_apart(reader, (language, Some(path)), code, extraction).into_iter();
        let placed = apart.map(|it| placed_as_one(it, None));
        let placed = placed.collect::<Option<Vec<PlacedCode>>>()?.into_iter();
        let hunks: Vec<Hunk> = placed.flat_map(|it| it.hunks).collect();
        return (!hunks.is_empty()).then_some(hunks);
    };
    let is_method = function.is_none_or(|it| {
        let function = EntityId::symbol(path.clone(), it.symbol.clone());
        placed.likeness > likeness_of(reader, language, &function, (code, it))
    });
    is_method.then_some(placed.hunks)
}

/// The definitions that code consists of, if these are several and all of it, each as a text: as they stand there or, in a language in
/// which a method stands in no other place, as they would in a class.
fn definitions_apart<'c>(
    reader: CodeReader<'_>,
    (language, path): (LanguageId, Option<&RelPath>),
    code: &'c str,
    extraction: Option<&Extraction>,
) -> Vec<&'c str> {
    const CLASS: &str = "class C {\n";
    let is_no_code = |gap: &str| {
        gap.trim().is_empty() || path.is_some_and(|path| found_edit::names_file(gap, path))
    };
    let of = |definitions: &[Definition], shift: usize| -> Option<Vec<&'c str>> {
        let (mut apart, mut reached) = (Vec::new(), 0);
        for definition in namesakes::outermost(definitions) {
            let range = definition.span.range();
            let (start, end) = (range.start - shift, range.end - shift);
            let line = code.get(..start)?.rfind('\n').map_or(0, |at| at + 1);
            if !is_no_code(code.get(reached..line)?) {
                return None;
            }
            apart.push(code.get(line..end)?);
            reached = end;
        }
        let is_all = code.get(reached..)?.trim().is_empty();
        (is_all && apart.len() > 1).then_some(apart)
    };
    let outside = extraction.filter(|it| it.errors == 0);
    let outside = outside.and_then(|it| of(&it.definitions, 0));
    let inside = || {
        let text = format!("{CLASS}{code}\n}}");
        let found = reader.grammars.extract(language, text.as_bytes()).ok();
        let found = found.filter(|it| it.errors == 0)?;
        of(found.definitions.get(1..)?, CLASS.len())
    };
    outside.or_else(inside).unwrap_or_default()
}

/// How alike new code is to the one that it may replace: the shares of the words of the known head, and of all the known words, that it
/// holds, in percent.
type Likeness = (u8, u8);

/// The likeness of a definition in a block to a known function.
fn likeness_of(
    reader: CodeReader<'_>,
    language: LanguageId,
    function: &EntityId,
    (code, definition): (&str, &Definition),
) -> Likeness {
    let view = reader.view;
    let current = view.current_version(function);
    let Some(text) = current.and_then(|it| view.artifact_slices(it.artifact, &it.spans)) else {
        return Likeness::default();
    };
    let found = reader.grammars.extract(language, &text).ok();
    let known = found.as_ref().and_then(|it| it.definitions.first());
    let head = known.map_or(&[][..], |it| it.head.of(&text));
    let new_head = definition.head.of(code.as_bytes());
    (
        similarity::words_shared_percent(head, new_head),
        similarity::words_shared_percent(&text, code.as_bytes()),
    )
}

/// Code put in the place of a method.
struct PlacedCode {
    /// The edit that does it.
    hunks: Vec<Hunk>,
    /// Whether the method's head stays as it is.
    keeps_head: bool,
    /// How alike the code is to the method.
    likeness: Likeness,
    /// What it defines beside the method.
    others: Vec<Symbol>,
}

/// How code is put in the place of a method.
#[derive(Clone, Copy)]
struct Placing {
    /// The least share of the method's words, in percent, that the code must hold.
    least: u8,
    /// Whether the method is named with its class.
    is_meant: bool,
    /// Whether the code is one of several definitions in a block.
    is_piece: bool,
}

/// The edit that puts code that has this share of its words in the place of a method; of several of its name, of the one with the same head.
fn in_place_of(
    reader: CodeReader<'_>,
    language: LanguageId,
    entity: &EntityId,
    code: &str,
    placing: Placing,
) -> Option<PlacedCode> {
    let symbol = entity.symbol.as_ref()?;
    let current = reader.view.current_version(entity)?;
    let base = reader.view.text(current.artifact)?;
    let places = current.spans.iter();
    let placed = |span: &Span| placed_at(reader, language, (symbol, &base, *span), code, placing);
    sole(places.filter_map(placed))
}

/// The edit that puts code in a method's place, if the text around it then defines what it did before: the method, any others of its
/// class that the code holds, and new ones.
fn placed_at(
    reader: CodeReader<'_>,
    language: LanguageId,
    (symbol, base, span): (&Symbol, &str, Span),
    code: &str,
    placing: Placing,
) -> Option<PlacedCode> {
    let extract = |text: &str| reader.grammars.extract(language, text.as_bytes()).ok();
    let known = extract(base)?;
    // A model may leave out what is said above a method.
    let bare = found_edit::below_remarks(base, &known, span);
    let shared = [span, bare].map(|it| {
        let old = it.of(base.as_bytes());
        similarity::words_shared_percent(old, code.as_bytes())
    });
    let shared = shared[0].max(shared[1]);
    if shared < placing.least {
        return None;
    }
    // Its lines are as far in as those of what it begins with: the method, or the comment above it.
    let begins = code.trim_start().chars().next();
    let like = [span, bare]
        .into_iter()
        .find(|it| base[it.range()].chars().next() == begins);
    let new = indented_like(base, like.unwrap_or(bare), code);
    let (before, after) = (&base[..span.start as usize], &base[span.end as usize..]);
    let whole = format!("{before}{new}{after}");
    let found = extract(&whole)?;
    let end = before.len() + new.len();
    let mut inside: Vec<&Definition> = found
        .definitions
        .iter()
        .filter(|it| before.len() <= it.span.start as usize && it.span.end as usize <= end)
        .collect();
    let mut reached = 0;
    inside.retain(|it| {
        let is_outer = it.span.start >= reached;
        reached = reached.max(it.span.end);
        is_outer
    });
    let scope = symbol.as_str().strip_suffix(symbol.last_component())?;
    let keeps_all = known.definitions.iter().all(|it| {
        found
            .definitions
            .iter()
            .any(|other| other.symbol == it.symbol)
    });
    // A method of another class isn't a new one of this class.
    let is_others = |it: &&Definition| {
        let is = |other: &&Definition| other.symbol == it.symbol;
        let mut known = known.definitions.iter();
        !known.clone().any(|other| is(&other))
            && known.any(|other| {
                let symbol = &other.symbol;
                symbol.last_component() == it.symbol.last_component()
                    && symbol.as_str() != symbol.last_component()
            })
    };
    // Nor is one that is more like another class's of its name.
    let is_more_like_others = |it: &&Definition| {
        let new = it.span.of(whole.as_bytes());
        let like = |other: &Definition| {
            let old = other.span.of(base.as_bytes());
            similarity::words_shared_percent(old, new)
        };
        let name = it.symbol.last_component();
        let namesakes = known.definitions.iter();
        let namesakes = namesakes.filter(|other| other.symbol.last_component() == name);
        let (own, others): (Vec<_>, Vec<_>) =
            namesakes.partition(|other| other.symbol == it.symbol);
        let own = own.into_iter().map(like).max();
        own.is_some_and(|own| others.into_iter().any(|other| like(other) > own))
    };
    let at = inside.iter().position(|it| it.symbol == *symbol)?;
    let is_known = |it: &&Definition| known.definitions.iter().any(|old| old.symbol == it.symbol);
    // What is new may stand beside the class, where methods stand out of theirs.
    let is_of_class = |it: &&Definition| {
        let own = it.symbol.as_str().strip_suffix(it.symbol.last_component());
        own.is_some_and(|own| own == scope || !is_known(it) && scope.starts_with(own))
    };
    // One by itself may be written anew.
    let is_alone = inside.len() == 1 && !placing.is_piece;
    let skipped = at + usize::from(placing.is_meant || is_alone);
    if found.errors > known.errors
        || !keeps_all
        || inside.iter().any(is_others)
        || inside[..at].iter().any(is_known)
        || inside.iter().skip(skipped).any(is_more_like_others)
        || !inside.iter().all(is_of_class)
    {
        return None;
    }
    let inside = inside.split_off(at);
    let head = |text: &str, it: &Definition| -> Option<String> {
        Some(text.get(it.head.range())?.split_whitespace().collect())
    };
    // The known definitions that one may replace.
    let predecessors = |it: &Definition| -> Vec<&Definition> {
        let named = known
            .definitions
            .iter()
            .filter(|other| other.symbol == it.symbol);
        let named: Vec<&Definition> = named.collect();
        let is_sole = named.len() == 1;
        let alike = named
            .into_iter()
            .filter(|other| is_sole || head(base, other) == head(&whole, it));
        alike.collect()
    };
    let old = known.definitions.iter().find(|it| it.span == span);
    let new = inside.first()?;
    let keeps_head = old.is_some_and(|old| head(base, old) == head(&whole, new));
    let old_head = old.map_or(&[][..], |old| old.head.of(base.as_bytes()));
    let new_head = new.head.of(whole.as_bytes());
    let likeness = (similarity::words_shared_percent(old_head, new_head), shared);
    let mut hunks: Vec<(&str, String)> = Vec::new();
    let starts = inside.iter().map(|it| it.span.start as usize);
    let ends = starts.clone().skip(1).chain([end]);
    for ((it, start), end) in inside.iter().zip(starts).zip(ends) {
        let is_first = hunks.is_empty();
        let start = if is_first { before.len() } else { start };
        let text = whole.get(start..end)?;
        match (&predecessors(it)[..], hunks.last_mut()) {
            ([old], _) if !is_first || old.span == span => {
                let (front, text) = text.split_at(it.span.start as usize - start);
                let below = match found_edit::remark_at(&found, it.span.start) {
                    None => found_edit::place_to_replace(base, &known, old.span, text),
                    Some(_) => old.span,
                };
                let comment = base.get(old.span.start as usize..below.start as usize)?;
                let new = [front, comment, text.trim_end()].concat();
                hunks.push((base.get(old.span.range())?, new));
            }
            ([], Some((_, last))) => {
                let gap = &whole[..start];
                let gap = &gap[gap.trim_end().len()..];
                last.push_str(gap);
                last.push_str(text.trim_end());
            }
            _ => return None,
        }
    }
    // Of several that hold the same text it is the one in this class.
    let around = |it: &&Definition| it.span.start < span.start && span.end <= it.span.end;
    let class = known.definitions.iter().rfind(around);
    let class = class.and_then(|it| base.get(it.head.start as usize..)?.lines().next());
    let place_of = |old: &str| match class {
        Some(class) if base.matches(old).nth(1).is_some() => EditPosition::After(class.into()),
        _ => EditPosition::Once,
    };
    let hunks = hunks.into_iter().map(|(old, new)| Hunk::Replace {
        place: place_of(old),
        old: old.into(),
        new,
        unit: MatchUnit::Text,
    });
    Some(PlacedCode {
        hunks: hunks.collect(),
        keeps_head,
        likeness,
        others: inside.iter().skip(1).map(|it| it.symbol.clone()).collect(),
    })
}

/// Code with the indentation of the definition at `span`. Models repeat a method with its class's indentation, without it, or
/// with it on all lines but the first, as it stands in the class.
fn indented_like(base: &str, span: Span, code: &str) -> String {
    let indentation = found_edit::line_before(base, span);
    let indentation = &indentation[..indentation.len() - indentation.trim_start().len()];
    let code = code.trim_end();
    let code = code.trim_start_matches(['\n', '\r']);
    let own = code.lines().map(depth).next().unwrap_or_default();
    let below = |text: &str| {
        text.lines()
            .skip(1)
            .filter(|line| !line.trim().is_empty())
            .map(depth)
            .min()
    };
    let is_indented = own == 0 && below(code) >= below(&base[span.range()]);
    let mut lines = Vec::new();
    for (index, line) in code.lines().enumerate() {
        let rest = &line[depth(line).min(own)..];
        let is_bare = index == 0 || is_indented || rest.is_empty();
        lines.push(if is_bare {
            rest.into()
        } else {
            format!("{indentation}{rest}")
        });
    }
    lines.join("\n")
}

fn depth(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}
