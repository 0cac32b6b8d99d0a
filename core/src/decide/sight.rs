//! What a conversation shows of known code, and which of it would mislead (spec §15.6).
//!
//! Nobody parses an older message. Every text that is or was true is known, so it is looked for by its own lines
//! ([`crate::known_lines`]), in whatever shape a message shows it.

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::observe;
use crate::artifact::Origin;
use crate::capture::json_text;
use crate::entity::{EntityId, Symbol};
use crate::event::Withheld;
use crate::hash::{ArtifactHash, SliceHash};
use crate::ids::SessionId;
use crate::known_lines::{self, KnownLines, TextLines, WordSet};
use crate::limits::NAMESAKES_COMPARED_MAX;
use crate::message::Message;
use crate::slice::Span;
use crate::view::View;

/// A text that the model sees.
pub(super) struct ShownText<'t> {
    /// The index of its message in the request.
    pub(super) message: usize,
    /// Which of the message's texts.
    pub(super) slot: Slot,
    /// The text.
    pub(super) text: Cow<'t, str>,
}

/// A place for a text in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Slot {
    /// What the proxy put in front of it.
    Before,
    /// A text part.
    Part(usize),
    /// A tool call's arguments.
    Arguments(usize),
    /// A thought.
    Thought(usize),
    /// What the proxy put after it.
    After,
}

/// All texts of one message, in the order in which a model sees them.
pub(super) fn texts_of(index: usize, message: &Message) -> impl Iterator<Item = ShownText<'_>> {
    let shown = move |slot, text| ShownText {
        message: index,
        slot,
        text: Cow::Borrowed(text),
    };
    let thoughts = message.thoughts.iter().enumerate();
    let parts = message.parts.iter().enumerate();
    let calls = message.tool_calls.iter().enumerate();
    thoughts
        .map(move |(at, text)| shown(Slot::Thought(at), text.as_str()))
        .chain(parts.map(move |(at, text)| shown(Slot::Part(at), text.as_str())))
        .chain(calls.map(move |(at, call)| shown(Slot::Arguments(at), call.arguments.as_str())))
}

/// A version of a symbol that texts are searched for.
struct KnownVersion {
    entity: EntityId,
    slice: SliceHash,
    /// Its definitions' lines; several where the symbol has several definitions.
    definitions: Vec<KnownLines>,
}

/// One place where a text shows a definition.
struct Sighting {
    message: usize,
    slot: Slot,
    /// Which of the strings, where the text is JSON.
    string: usize,
    /// All versions that fit.
    fits: Vec<Fit>,
    /// The fit because of which it was withheld before, and so is for ever.
    withheld_as: Option<usize>,
}

/// A version that fits a place.
struct Fit {
    /// The version's index.
    version: usize,
    /// Which of its definitions.
    definition: usize,
    bytes: Range<usize>,
    line_count: usize,
}

impl Sighting {
    /// The versions that fit with the most lines: the same text may be true of several symbols, or have been.
    fn best(&self) -> impl Iterator<Item = &Fit> + Clone {
        let most = self.fits.iter().map(|fit| fit.line_count).max();
        self.fits
            .iter()
            .filter(move |fit| Some(fit.line_count) == most)
    }
}

/// What a list of texts shows.
pub(super) struct Sight<'v> {
    view: &'v dyn View,
    session: SessionId,
    versions: Vec<KnownVersion>,
    sightings: Vec<Sighting>,
}

/// A piece of a text that a marker takes the place of.
struct Cut {
    /// Which of the strings, where the text is JSON.
    string: usize,
    bytes: Range<usize>,
    entity: EntityId,
}

/// What holds of a symbol now: what disk has where it differs from what is true, else what is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reality {
    slice: Option<SliceHash>,
    /// Where it came about in the model's view, by an edit of its own in this conversation: the number of messages up to
    /// there.
    own_edit_at: Option<u32>,
}

/// What is withheld of older messages.
#[derive(Default)]
pub(super) struct Withholding {
    /// Versions that are withheld for the first time.
    pub(super) new: BTreeSet<Withheld>,
    /// The texts that change, with what they say instead.
    pub(super) rewritten: BTreeMap<(usize, Slot), String>,
}

impl<'v> Sight<'v> {
    /// Searches the texts for every symbol that may mislead and for those that are `wanted`. `was_withheld` tells which
    /// versions were withheld from a message before.
    pub(super) fn new(
        view: &'v dyn View,
        session: SessionId,
        wanted: impl IntoIterator<Item = EntityId>,
        texts: &[ShownText<'_>],
        was_withheld: &dyn Fn(&EntityId, SliceHash, usize) -> bool,
    ) -> Self {
        let mut symbols: BTreeSet<EntityId> = view.outdated_symbols().into_iter().collect();
        symbols.extend(wanted);
        let mut by_word: BTreeMap<String, Vec<EntityId>> = BTreeMap::new();
        for entity in symbols {
            let name = entity.symbol.as_ref().map(Symbol::last_component);
            if let Some(word) = name.and_then(known_lines::identifier_in) {
                by_word.entry(word.into()).or_default().push(entity);
            }
        }
        let mut named: BTreeMap<String, bool> = BTreeMap::new();
        let mut search = Search {
            view,
            names_file: &mut |basename| {
                let is_named = || texts.iter().any(|shown| shown.text.contains(basename));
                *named.entry(basename.into()).or_insert_with(is_named)
            },
            by_word: &by_word,
            words: WordSet::new(by_word.keys().map(String::as_str)),
            versions: Vec::new(),
            versions_of: BTreeMap::new(),
        };
        let mut sightings = Vec::new();
        for shown in texts {
            let mut string = 0;
            each_string(&shown.text, NESTED_MAX, &mut |text| {
                let found = search.found_in(text).into_iter();
                sightings.extend(found.map(|fits| Sighting {
                    message: shown.message,
                    slot: shown.slot,
                    string,
                    fits,
                    withheld_as: None,
                }));
                string += 1;
                None
            });
        }
        let versions = search.versions;
        for sighting in &mut sightings {
            sighting.withheld_as = sighting.fits.iter().position(|fit| {
                let KnownVersion { entity, slice, .. } = &versions[fit.version];
                was_withheld(entity, *slice, sighting.message)
            });
        }
        Self {
            view,
            session,
            versions,
            sightings,
        }
    }

    /// Whether the newest version of the symbol that the texts show is the true one.
    pub(super) fn shows_truth(&self, entity: &EntityId) -> bool {
        let truth = self.view.current(entity).map(|current| current.slice);
        truth.is_some() && self.newest(entity) == truth
    }

    /// Whether what is true of the symbol is the model's own edit in this conversation.
    pub(super) fn is_own_edit(&self, entity: &EntityId) -> bool {
        self.reality(entity).own_edit_at.is_some()
    }

    fn newest(&self, entity: &EntityId) -> Option<SliceHash> {
        let mut newest: Option<(usize, SliceHash)> = None;
        for (index, version) in self.versions.iter().enumerate() {
            if version.entity == *entity
                && let Some(last) = self.last_whole(index)
                && newest.is_none_or(|(known, _)| known <= last)
            {
                newest = Some((last, version.slice));
            }
        }
        newest.map(|(_, slice)| slice)
    }

    /// The last message that shows all definitions of a version.
    fn last_whole(&self, version: usize) -> Option<usize> {
        let definitions = 0..self.versions[version].definitions.len();
        let last_of = |definition: usize| {
            let fits = |sighting: &&Sighting| {
                let mut best = sighting.best();
                sighting.withheld_as.is_none()
                    && best.any(|fit| (fit.version, fit.definition) == (version, definition))
            };
            self.sightings
                .iter()
                .rfind(fits)
                .map(|sighting| sighting.message)
        };
        let last: Option<Vec<usize>> = definitions.map(last_of).collect();
        last?.into_iter().min()
    }

    fn reality(&self, entity: &EntityId) -> Reality {
        let view = self.view;
        let edited_at = |origin, episode| match origin {
            Origin::Model => view.reply_position(self.session, episode),
            Origin::User => None,
        };
        if view.divergence(entity).is_none() {
            let current = view.current(entity);
            return Reality {
                own_edit_at: current
                    .as_ref()
                    .and_then(|current| edited_at(current.origin, current.episode)),
                slice: current.map(|current| current.slice),
            };
        }
        let on_disk = observe::slice_on_disk(view, entity);
        // An edit that was refused, or one before the last, which the client didn't apply.
        let proposals = view.proposals_for(entity).into_iter();
        let proposed = proposals.map(|it| (it.slice, it.origin, it.episode));
        let former = view.former_versions(entity).into_iter();
        let versions = proposed.chain(former.map(|it| (it.slice, it.origin, it.episode)));
        let held = versions.filter(|(slice, ..)| Some(*slice) == on_disk);
        Reality {
            slice: on_disk,
            own_edit_at: held
                .filter_map(|(_, origin, episode)| edited_at(origin, episode))
                .max(),
        }
    }

    /// Decides which sightings mislead. A version misleads where something else holds and the conversation doesn't show
    /// that later: neither literally, nor by an edit of the model's own, nor in what is `added` to the prompt's end. What
    /// was withheld stays so. `may_change` says of which messages anything may be withheld that wasn't.
    pub(super) fn withhold(
        &self,
        texts: &[ShownText<'_>],
        position: &dyn Fn(usize) -> u32,
        may_change: &dyn Fn(usize) -> bool,
        added: &BTreeSet<EntityId>,
    ) -> Withholding {
        let mut withholding = Withholding::default();
        let mut cuts: BTreeMap<(usize, Slot), Vec<Cut>> = BTreeMap::new();
        for sighting in &self.sightings {
            let version_of = |fit: &Fit| &self.versions[fit.version];
            let was_withheld = sighting.withheld_as.map(|fit| &sighting.fits[fit]);
            let goes = was_withheld.or_else(|| {
                let is_right = |fit: &Fit| {
                    let version = version_of(fit);
                    self.reality(&version.entity).slice == Some(version.slice)
                };
                if !may_change(sighting.message) || sighting.best().any(is_right) {
                    return None;
                }
                let misleads = |fit: &&Fit| {
                    let version = version_of(fit);
                    !added.contains(&version.entity)
                        && self.misleads(version, sighting.message, position)
                };
                let found = sighting.best().find(misleads)?;
                withholding.new.insert(Withheld {
                    entity: version_of(found).entity.clone(),
                    slice: version_of(found).slice,
                    position: position(sighting.message),
                });
                Some(found)
            });
            if let Some(fit) = goes {
                let place = (sighting.message, sighting.slot);
                cuts.entry(place).or_default().push(Cut {
                    string: sighting.string,
                    bytes: fit.bytes.clone(),
                    entity: version_of(fit).entity.clone(),
                });
            }
        }
        for shown in texts {
            if let Some(cuts) = cuts.get(&(shown.message, shown.slot)) {
                let text = without(&shown.text, cuts);
                withholding
                    .rewritten
                    .insert((shown.message, shown.slot), text);
            }
        }
        withholding
    }

    fn misleads(
        &self,
        version: &KnownVersion,
        message: usize,
        position: &dyn Fn(usize) -> u32,
    ) -> bool {
        let reality = self.reality(&version.entity);
        let was_edited_since = reality
            .own_edit_at
            .is_some_and(|at| position(message) <= at);
        if reality.slice == Some(version.slice) || was_edited_since {
            return false;
        }
        let holds = |index: &usize| {
            let other = &self.versions[*index];
            other.entity == version.entity && Some(other.slice) == reality.slice
        };
        let mut real = (0..self.versions.len()).filter(holds);
        !real.any(|index| self.last_whole(index).is_some_and(|last| last > message))
    }

    /// The text without anything that isn't true now (`window` history, which is strict), whatever else shows it.
    pub(super) fn strictly(view: &dyn View, session: SessionId, text: &str) -> Option<String> {
        let shown = [ShownText {
            message: 0,
            slot: Slot::Part(0),
            text: Cow::Borrowed(text),
        }];
        let sight = Sight::new(view, session, [], &shown, &|_, _, _| false);
        let is_true = |version: &KnownVersion| {
            let current = view.current(&version.entity);
            current.is_some_and(|current| current.slice == version.slice)
                && view.divergence(&version.entity).is_none()
        };
        let mut cuts = Vec::new();
        for sighting in &sight.sightings {
            let mut fits = sighting.best();
            let is_true_here = |fit: &Fit| is_true(&sight.versions[fit.version]);
            if let Some(first) = fits.clone().next()
                && !fits.any(is_true_here)
            {
                cuts.push(Cut {
                    string: sighting.string,
                    bytes: first.bytes.clone(),
                    entity: sight.versions[first.version].entity.clone(),
                });
            }
        }
        (!cuts.is_empty()).then(|| without(text, &cuts))
    }
}

/// A search for known versions, which are read from the Vault once a text has their name.
struct Search<'s> {
    view: &'s dyn View,
    /// Whether any of the texts names a file.
    names_file: &'s mut dyn FnMut(&str) -> bool,
    by_word: &'s BTreeMap<String, Vec<EntityId>>,
    words: WordSet<'s>,
    versions: Vec<KnownVersion>,
    versions_of: BTreeMap<&'s str, Range<usize>>,
}

impl<'s> Search<'s> {
    /// Each place where a text shows a definition, with the versions that fit.
    fn found_in(&mut self, text: &str) -> Vec<Vec<Fit>> {
        let mut found = Vec::new();
        let lines = TextLines::new(text);
        let words = core::mem::take(&mut self.words);
        for (line, word) in lines.with_words(&words) {
            let mut fits = Vec::new();
            for version in self.versions_with(word) {
                let known = &self.versions[version];
                for (definition, known_lines) in known.definitions.iter().enumerate() {
                    let Some(shown) = known_lines.shown_at(&lines, line) else {
                        continue;
                    };
                    // A single line may be the same in many files.
                    let basename = known.entity.path.basename();
                    if known_lines.is_one_line() && !(self.names_file)(basename) {
                        continue;
                    }
                    fits.push(Fit {
                        version,
                        definition,
                        bytes: shown.bytes,
                        line_count: shown.line_count,
                    });
                }
            }
            if !fits.is_empty() {
                found.push(fits);
            }
        }
        self.words = words;
        found
    }

    /// The versions of all symbols that are looked for by this word, and what is true of their namesakes: what is true
    /// elsewhere is no former version.
    fn versions_with(&mut self, word: &'s str) -> Range<usize> {
        if let Some(known) = self.versions_of.get(word) {
            return known.clone();
        }
        let start = self.versions.len();
        let wanted = self.by_word.get(word).map_or(&[][..], Vec::as_slice);
        let mut read = BTreeSet::new();
        for entity in wanted {
            let Some(symbol) = &entity.symbol else {
                continue;
            };
            let name = symbol.last_component();
            let namesakes = self.view.entities_named(name, NAMESAKES_COMPARED_MAX);
            for other in namesakes.iter().chain([entity]) {
                if read.insert(other.clone()) {
                    self.read(other);
                }
            }
        }
        self.versions_of.insert(word, start..self.versions.len());
        start..self.versions.len()
    }

    fn read(&mut self, entity: &EntityId) {
        let current = self.view.current(entity);
        let current = current.map(|current| (current.slice, current.artifact, current.spans));
        let former = self.view.former_versions(entity).into_iter();
        let former = former.map(|former| (former.slice, former.artifact, former.spans));
        let truth = current.as_ref().map(|(slice, ..)| *slice);
        // What became true again is no former version.
        for (slice, artifact, spans) in former
            .filter(|(slice, ..)| Some(*slice) != truth)
            .chain(current)
        {
            let definitions = self.definitions(entity, artifact, &spans);
            if !definitions.is_empty() {
                self.versions.push(KnownVersion {
                    entity: entity.clone(),
                    slice,
                    definitions,
                });
            }
        }
    }

    fn definitions(
        &self,
        entity: &EntityId,
        artifact: ArtifactHash,
        spans: &[Span],
    ) -> Vec<KnownLines> {
        let Some(symbol) = &entity.symbol else {
            return Vec::new();
        };
        let known = spans.iter().map(|span| {
            let code = self.view.slices(artifact, core::slice::from_ref(span))?;
            KnownLines::new(core::str::from_utf8(&code).ok()?, symbol.last_component())
        });
        known.collect::<Option<Vec<_>>>().unwrap_or_default()
    }
}

/// JSON in JSON in JSON: what is nested deeper isn't looked into.
const NESTED_MAX: u32 = 3;

/// Hands out the text, or the strings in it if it is JSON, and takes other texts for them. `None` if nothing changes.
fn each_string(
    text: &str,
    nested_max: u32,
    change: &mut dyn FnMut(&str) -> Option<String>,
) -> Option<String> {
    if nested_max > 0 {
        let strings = json_text::with_others(text, &mut |string| {
            each_string(string, nested_max - 1, change)
        });
        if let Ok(changed) = strings {
            return changed;
        }
        if is_json_by_lines(text) {
            return each_line(text, &mut |line| each_string(line, nested_max, change));
        }
    }
    change(text)
}

/// Whether a text is several lines of JSON.
fn is_json_by_lines(text: &str) -> bool {
    let mut lines = text.lines();
    let is_json = |line: &str| json_text::with_others(line, &mut |_| None).is_ok();
    text.starts_with(['{', '[']) && lines.next().is_some_and(is_json) && lines.next().is_some()
}

fn each_line(text: &str, change: &mut dyn FnMut(&str) -> Option<String>) -> Option<String> {
    let mut changed = None;
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        let content = line.trim_end_matches('\n');
        match change(content) {
            Some(new) => {
                changed = Some(());
                out.push_str(&new);
                out.push_str(&line[content.len()..]);
            }
            None => out.push_str(line),
        }
    }
    changed.map(|()| out)
}

/// The text with a marker in the place of each cut. Of cuts that overlap the first and longest counts.
fn without(text: &str, cuts: &[Cut]) -> String {
    let mut cuts: Vec<_> = cuts.iter().collect();
    cuts.sort_by_key(|cut| {
        (
            cut.string,
            cut.bytes.start,
            core::cmp::Reverse(cut.bytes.end),
        )
    });
    let mut strings = 0;
    let changed = each_string(text, NESTED_MAX, &mut |string| {
        let index = strings;
        strings += 1;
        let own = cuts.iter().filter(|cut| cut.string == index);
        let (mut out, mut copied) = (String::new(), 0);
        for Cut { bytes, entity, .. } in own {
            if bytes.start < copied {
                continue;
            }
            out.push_str(&string[copied..bytes.start]);
            out.push_str(&marker(entity));
            copied = bytes.end;
        }
        (copied > 0).then(|| {
            out.push_str(&string[copied..]);
            out
        })
    });
    changed.unwrap_or_else(|| text.into())
}

/// What stands in the place of code that would mislead.
fn marker(entity: &EntityId) -> String {
    format!("(code of {entity} withheld: it is no longer current)")
}
