//! What a conversation shows of known code, and which of it would mislead (spec §15.6).
//!
//! Nobody parses an older message. Every text that is or was true is known, so it is looked for by its own lines
//! ([`tslp_core::known_lines`]), in whatever shape a message shows it.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use tslp_projections::state::StateView;

use crate::observe;
use crate::prompt::text_facts::TextFacts;
use crate::prompt::text_index::{
    Definition, KnownVersion, KnownWord, Shape, TextIndex, WantedWord,
};
use tslp_core::artifact::Origin;
use tslp_core::capture::{self, CodeBlock, json_text};
use tslp_core::entity::EntityId;
use tslp_core::event::Withheld;
use tslp_core::hash::{ArtifactHash, SliceHash};
use tslp_core::ids::SessionId;
use tslp_core::limits::NAMESAKES_COMPARED_MAX;
use tslp_core::message::Role;
use tslp_core::name_hash::{NameHash, basename_hash, search_word, search_word_hash};
use tslp_core::read_message::{ReadMessage, safe_text};
use tslp_core::slice::{self, Span};
use tslp_projections::file_code::TrueEntity;

/// A text that the model sees.
#[derive(Clone, Copy)]
pub(crate) struct ShownText<'t> {
    /// The index of its message in the request.
    pub(crate) message: usize,
    /// Which of the message's texts.
    pub(crate) slot: TextSlot,
    /// The text.
    pub(crate) text: &'t str,
    /// The text's hash.
    pub(crate) hash: ArtifactHash,
}

/// A place for a text in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TextSlot {
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
pub(crate) fn texts_of(index: usize, message: &ReadMessage) -> impl Iterator<Item = ShownText<'_>> {
    let thoughts = (0..message.thoughts.len()).map(TextSlot::Thought);
    let parts = (0..message.parts.len()).map(TextSlot::Part);
    let arguments = (0..message.tool_calls.len()).map(TextSlot::Arguments);
    let slots = thoughts.chain(parts).chain(arguments);
    let texts = message.texts().zip(message.text_hashes());
    slots.zip(texts).map(move |(slot, (text, hash))| ShownText {
        message: index,
        slot,
        text,
        hash: *hash,
    })
}

/// One place where a text shows a definition.
struct Sighting {
    message: usize,
    slot: TextSlot,
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
pub(crate) struct Sight<'v> {
    view: &'v StateView<'v>,
    session: SessionId,
    versions: Vec<KnownVersion>,
    /// The versions' indices, sorted by their entity.
    by_entity: Vec<usize>,
    sightings: Vec<Sighting>,
    /// For each version, the last message that shows all of its definitions.
    last_whole: Vec<Option<usize>>,
}

/// A definition that is to go out of a text.
struct Cut {
    /// Which of the strings, where the text is JSON.
    string: usize,
    bytes: Range<usize>,
    /// Whether the text is the proxy's own, in which nothing stays that misleads.
    is_own: bool,
    /// What is withheld for the first time by it.
    new: Option<Withheld>,
}

/// What goes out of texts: the ranges of each one's strings.
pub(crate) type GoingRanges = BTreeMap<(usize, TextSlot), Vec<(usize, Range<usize>)>>;

/// What is withheld of older messages.
#[derive(Default)]
pub(crate) struct Withholding {
    /// Versions that are withheld for the first time.
    pub(crate) new: BTreeSet<Withheld>,
    /// The texts that change, with what they say instead.
    pub(crate) rewritten: BTreeMap<(usize, TextSlot), String>,
}

impl<'v> Sight<'v> {
    /// Searches the texts for every symbol that may mislead and for those that are `wanted`. `was_withheld` tells which
    /// versions were withheld from a message before.
    pub(crate) fn new(
        view: &'v StateView<'v>,
        session: SessionId,
        index: &mut TextIndex,
        wanted: impl IntoIterator<Item = EntityId>,
        texts: &[ShownText<'_>],
        was_withheld: &dyn Fn(&EntityId, SliceHash, usize) -> bool,
    ) -> Self {
        let mut search = KnownCodeSearch::new(view, wanted);
        let named = texts.iter().map(|it| index.words(view, it.hash, it.text));
        let (facts, outdated): (Vec<Arc<TextFacts>>, Vec<Arc<[NameHash]>>) = named.unzip();
        let mut sightings = Vec::new();
        for (shown, (own_facts, outdated)) in texts.iter().zip(facts.iter().zip(&outdated)) {
            let words = search.words_in(index, own_facts, outdated);
            if words.is_empty() {
                continue;
            }
            let mut found: BTreeMap<(usize, usize, usize), Vec<Fit>> = BTreeMap::new();
            let wanted: Vec<&WantedWord> = words.iter().map(|(word, _)| &word.wanted).collect();
            let text = (shown.hash, shown.text);
            index.search(view, text, &wanted, &mut |at, shown| {
                let (word, first_version) = &words[at];
                let (version, definition) = word.places[shown.definition];
                let place = (shown.string, shown.line, at);
                found.entry(place).or_default().push(Fit {
                    version: first_version + version,
                    definition,
                    bytes: shown.bytes.clone(),
                    line_count: shown.line_count,
                });
            });
            for ((string, ..), mut fits) in found {
                fits.retain(|fit| search.may_fit(&facts, fit));
                if !fits.is_empty() {
                    sightings.push(Sighting {
                        message: shown.message,
                        slot: shown.slot,
                        string,
                        fits,
                        withheld_as: None,
                    });
                }
            }
        }
        let versions = search.versions;
        for sighting in &mut sightings {
            sighting.withheld_as = sighting.fits.iter().position(|fit| {
                let KnownVersion { entity, slice, .. } = &versions[fit.version];
                was_withheld(entity, *slice, sighting.message)
            });
        }
        let mut by_entity: Vec<usize> = (0..versions.len()).collect();
        by_entity.sort_by_key(|version| &versions[*version].entity);
        Self {
            view,
            session,
            last_whole: last_whole(&versions, &sightings),
            versions,
            by_entity,
            sightings,
        }
    }

    /// Whether the newest version of the symbol that the texts show is the true one.
    pub(crate) fn shows_truth(&self, entity: &EntityId) -> bool {
        let truth = self
            .view
            .current_version(entity)
            .map(|current| current.slice);
        truth.is_some() && self.newest(entity) == truth
    }

    /// Whether what is true of the symbol is the model's own edit in this conversation, or it was taken out in it.
    pub(crate) fn is_own_edit(&self, entity: &EntityId) -> bool {
        let state = self.view.state;
        let removed = state.tombstones().episode_of(entity);
        let was_here = |episode| {
            state
                .sessions()
                .reply_position(self.session, episode)
                .is_some()
        };
        self.own_edit_at(entity).is_some() || removed.is_some_and(was_here)
    }

    fn newest(&self, entity: &EntityId) -> Option<SliceHash> {
        Some(self.versions[self.newest_shown(entity)?.1].slice)
    }

    /// The last message that shows a known version of the symbol.
    pub(crate) fn last_shown(&self, entity: &EntityId) -> Option<usize> {
        self.newest_shown(entity).map(|(message, _)| message)
    }

    /// The last message that shows a known version of the symbol, and that version.
    fn newest_shown(&self, entity: &EntityId) -> Option<(usize, usize)> {
        let shown = self.versions_of(entity);
        let shown = shown.filter_map(|version| Some((self.last_whole[version]?, version)));
        shown.max_by_key(|(last, _)| *last)
    }

    fn versions_of<'s>(&'s self, entity: &'s EntityId) -> impl Iterator<Item = usize> + 's {
        let entity_of = |version: &usize| &self.versions[*version].entity;
        let first = self
            .by_entity
            .partition_point(|version| entity_of(version) < entity);
        let from_first = self.by_entity[first..].iter().copied();
        from_first.take_while(move |version| entity_of(version) == entity)
    }

    /// What holds of a symbol now: what disk has where it differs from what is true, else what is true.
    fn current_slice(&self, entity: &EntityId) -> Option<SliceHash> {
        match self.view.divergence(entity) {
            None => Some(self.view.current_version(entity)?.slice),
            Some(_) => observe::slice_on_disk(self.view, entity),
        }
    }

    /// Where that came about in the model's view, by an edit of its own in this conversation: the number of messages up to there.
    fn own_edit_at(&self, entity: &EntityId) -> Option<u32> {
        let view = self.view;
        let edited_at = |origin, episode| match origin {
            Origin::Model => view.state.sessions().reply_position(self.session, episode),
            Origin::Unattributed | Origin::User => None,
        };
        let slice = self.current_slice(entity);
        if view.divergence(entity).is_none() {
            let current = view.current_version(entity);
            // A formatter makes no edit of the model's another one.
            let reformatted = || {
                let former = view.state.state_map().former_versions(entity).last()?;
                let edited_at = edited_at(former.origin, former.episode)?;
                let is_same = self.differs_in_layout_alone(entity, former.slice, slice);
                is_same.then_some(edited_at)
            };
            let own = |current: TrueEntity| edited_at(current.origin, current.episode);
            // What was refused, and the user has taken as it is on disk.
            let accepted = || {
                let ended = view.ended_proposals(entity).into_iter();
                let same = ended.filter(|proposal| Some(proposal.slice) == slice);
                same.filter_map(|it| edited_at(it.origin, it.episode)).max()
            };
            return current.and_then(own).or_else(reformatted).or_else(accepted);
        }
        // An edit that was refused, or one before the last, which the client didn't apply.
        let proposals = view.proposals_for(entity).into_iter();
        let proposed = proposals.map(|it| (it.slice, it.origin, it.episode));
        let former = view.former_versions(entity).into_iter();
        let versions = proposed.chain(former.map(|it| (it.slice, it.origin, it.episode)));
        let held = versions.filter(|(held, ..)| Some(*held) == slice);
        held.filter_map(|(_, origin, episode)| edited_at(origin, episode))
            .max()
    }

    /// Decides which sightings mislead. A version misleads where something else holds and the conversation doesn't show
    /// that later: neither literally, nor by an edit of the model's own, nor in what is `added` to the prompt's end. What
    /// was withheld stays so. `may_change` says of which messages anything may be withheld that wasn't.
    pub(crate) fn withhold(
        &self,
        texts: &[ShownText<'_>],
        position: &dyn Fn(usize) -> u32,
        may_change: &dyn Fn(usize) -> bool,
        added: &BTreeSet<EntityId>,
    ) -> Withholding {
        let cuts = self.cuts(position, may_change, added);
        let mut withholding = Withholding::default();
        for shown in texts {
            let place = (shown.message, shown.slot);
            if let Some(cuts) = cuts.get(&place)
                && let Some(text) = text_without(shown.text, cuts, false, &mut withholding.new)
            {
                withholding.rewritten.insert(place, text);
            }
        }
        withholding
    }

    /// What would go out of the texts if nothing were added to the prompt's end.
    pub(crate) fn going(
        &self,
        texts: &[ShownText<'_>],
        position: &dyn Fn(usize) -> u32,
        may_change: &dyn Fn(usize) -> bool,
    ) -> GoingRanges {
        let cuts = self.cuts(position, may_change, &BTreeSet::new());
        let mut going = GoingRanges::new();
        for shown in texts {
            let place = (shown.message, shown.slot);
            let Some(cuts) = cuts.get(&place) else {
                continue;
            };
            let ranges = going.entry(place).or_default();
            let mut strings = 0;
            json_text::change_strings(shown.text, &mut |string| {
                let own: Vec<&Cut> = cuts.iter().filter(|it| it.string == strings).collect();
                let own = ranges_of(string, &own, false).into_iter();
                ranges.extend(own.map(|(range, _)| (strings, range)));
                strings += 1;
                None
            });
        }
        going
    }

    /// Whether what is true of a symbol stays anywhere where the texts show it: a class that goes takes its methods along.
    pub(crate) fn outlasts(&self, entity: &EntityId, going: &GoingRanges) -> bool {
        let truth = self.view.current_version(entity).map(|it| it.slice);
        let is_true = |fit: &Fit| {
            let version = &self.versions[fit.version];
            version.entity == *entity && Some(version.slice) == truth
        };
        self.sightings.iter().any(|sighting| {
            let gone = going.get(&(sighting.message, sighting.slot));
            let goes = |fit: &Fit| {
                let mut gone = gone.into_iter().flatten();
                gone.any(|(string, range)| {
                    *string == sighting.string && range.contains(&fit.bytes.start)
                })
            };
            let mut fits = sighting.fits.iter().filter(|fit| is_true(fit));
            fits.any(|fit| !goes(fit))
        })
    }

    /// What is to go out of each text.
    fn cuts(
        &self,
        position: &dyn Fn(usize) -> u32,
        may_change: &dyn Fn(usize) -> bool,
        added: &BTreeSet<EntityId>,
    ) -> BTreeMap<(usize, TextSlot), Vec<Cut>> {
        let mut cuts: BTreeMap<(usize, TextSlot), Vec<Cut>> = BTreeMap::new();
        for sighting in &self.sightings {
            let version_of = |fit: &Fit| &self.versions[fit.version];
            let was_withheld = sighting.withheld_as.map(|fit| &sighting.fits[fit]);
            let misleading = || {
                let may_change = may_change(sighting.message);
                may_change.then(|| self.misleading_fit(sighting, position, added))?
            };
            let Some(fit) = was_withheld.or_else(misleading) else {
                continue;
            };
            let entity = &version_of(fit).entity;
            let new = was_withheld.is_none().then(|| Withheld {
                entity: entity.clone(),
                slice: version_of(fit).slice,
                position: position(sighting.message),
            });
            let place = (sighting.message, sighting.slot);
            cuts.entry(place).or_default().push(Cut {
                string: sighting.string,
                bytes: fit.bytes.clone(),
                is_own: matches!(sighting.slot, TextSlot::Before | TextSlot::After),
                new,
            });
        }
        cuts
    }

    /// The symbols of which a message that `is_older` shows a version that misleads, and wasn't withheld before.
    pub(crate) fn misleading(
        &self,
        position: &dyn Fn(usize) -> u32,
        is_older: &dyn Fn(usize) -> bool,
        added: &BTreeSet<EntityId>,
    ) -> BTreeSet<EntityId> {
        let older = self.sightings.iter();
        let older = older.filter(|it| it.withheld_as.is_none() && is_older(it.message));
        let fits = older.filter_map(|it| self.misleading_fit(it, position, added));
        fits.map(|fit| self.versions[fit.version].entity.clone())
            .collect()
    }

    fn misleading_fit<'s>(
        &'s self,
        sighting: &'s Sighting,
        position: &dyn Fn(usize) -> u32,
        added: &BTreeSet<EntityId>,
    ) -> Option<&'s Fit> {
        let is_right = |fit: &Fit| {
            let version = &self.versions[fit.version];
            self.current_slice(&version.entity) == Some(version.slice)
        };
        if sighting.best().any(is_right) {
            return None;
        }
        sighting.best().find(|fit| {
            let version = &self.versions[fit.version];
            !added.contains(&version.entity) && self.misleads(version, sighting.message, position)
        })
    }

    /// Whether a former version is what holds now but for its layout.
    fn differs_in_layout_alone(
        &self,
        entity: &EntityId,
        former: SliceHash,
        current: Option<SliceHash>,
    ) -> bool {
        // Nearly all differ in more, and an agent's conversation shows thousands: texts are read where their hashes fit.
        let shapes = |slice| {
            let mut versions = self.versions_of(entity).map(|at| &self.versions[at]);
            let version = versions.find(|it| Some(it.slice) == slice)?;
            Some(version.definitions.iter().map(|shape| shape.visible))
        };
        if let Some((former, current)) = shapes(Some(former)).zip(shapes(current))
            && former.ne(current)
        {
            return false;
        }
        let truth = self.view.current_version(entity);
        let truth = truth.filter(|truth| current == Some(truth.slice));
        let known = self.view.state.state_map().former_versions(entity);
        let former = known.iter().rfind(|known| known.slice == former);
        let text = |artifact, spans: &[Span]| self.view.artifact_slices(artifact, spans);
        let texts = truth.zip(former).and_then(|(truth, former)| {
            let truth = text(truth.artifact, &truth.spans)?;
            Some((truth, text(former.artifact, &former.spans)?))
        });
        texts.is_some_and(|(truth, former)| slice::differ_in_layout_alone(&truth, &former))
    }

    fn misleads(
        &self,
        version: &KnownVersion,
        message: usize,
        position: &dyn Fn(usize) -> u32,
    ) -> bool {
        let current = self.current_slice(&version.entity);
        let mut real = self
            .versions_of(&version.entity)
            .filter(|other| Some(self.versions[*other].slice) == current);
        // The last question asks the database.
        current != Some(version.slice)
            && !real.any(|other| self.last_whole[other].is_some_and(|last| last > message))
            && !self.differs_in_layout_alone(&version.entity, version.slice, current)
            && self
                .own_edit_at(&version.entity)
                .is_none_or(|at| position(message) > at)
    }

    /// The text without anything that doesn't hold now (`window` history, which is strict), whatever else shows it. The entities
    /// whose code goes are added to `withheld`.
    pub(crate) fn withhold_strictly(
        view: &StateView<'_>,
        session: SessionId,
        index: &mut TextIndex,
        text: &str,
        withheld: &mut BTreeSet<EntityId>,
    ) -> Option<String> {
        let shown = [ShownText {
            message: 0,
            slot: TextSlot::Part(0),
            text,
            hash: ArtifactHash::of(text.as_bytes()),
        }];
        let sight = Sight::new(view, session, index, [], &shown, &|_, _, _| false);
        let (after_all_edits, nothing) = (|_| u32::MAX, BTreeSet::new());
        withheld.extend(sight.misleading(&after_all_edits, &|_| true, &nothing));
        let cuts = sight.cuts(&after_all_edits, &|_| true, &nothing);
        let cuts: Vec<Cut> = cuts.into_values().flatten().collect();
        text_without(text, &cuts, true, &mut BTreeSet::new())
    }
}

/// Which of the entities these texts show as they are true, whatever else they show.
#[must_use]
pub fn shown_as_true(
    view: &StateView<'_>,
    session: SessionId,
    index: &mut TextIndex,
    entities: &[EntityId],
    texts: &[(ArtifactHash, String)],
) -> BTreeSet<EntityId> {
    let texts = texts.iter().enumerate();
    let texts: Vec<ShownText<'_>> = texts
        .map(|(message, (hash, text))| ShownText {
            message,
            slot: TextSlot::Part(0),
            text,
            hash: *hash,
        })
        .collect();
    let wanted = entities.iter().cloned();
    let sight = Sight::new(view, session, index, wanted, &texts, &|_, _, _| false);
    let is_shown = |entity: &&EntityId| {
        let Some(current) = view.current_version(entity) else {
            return false;
        };
        if sight.versions_of(entity).next().is_some() {
            return sight.versions_of(entity).any(|version| {
                sight.versions[version].slice == current.slice
                    && sight.last_whole[version].is_some()
            });
        }
        // A file without definitions, or an operator: there is no name to look for.
        let code = view.artifact_slices(current.artifact, &current.spans);
        let code = code.and_then(|code| String::from_utf8(code).ok());
        code.is_some_and(|code| texts.iter().any(|shown| shown.text.contains(code.trim())))
    };
    entities.iter().filter(is_shown).cloned().collect()
}

/// For each version, the last message that shows all of its definitions.
fn last_whole(versions: &[KnownVersion], sightings: &[Sighting]) -> Vec<Option<usize>> {
    let mut last_of: Vec<Vec<Option<usize>>> = versions
        .iter()
        .map(|version| vec![None; version.definitions.len()])
        .collect();
    // Sightings are in the order of their messages.
    let visible = sightings
        .iter()
        .filter(|sighting| sighting.withheld_as.is_none());
    for sighting in visible {
        for fit in sighting.best() {
            last_of[fit.version][fit.definition] = Some(sighting.message);
        }
    }
    let of_all = |last: Vec<Option<usize>>| -> Option<usize> {
        let last: Option<Vec<usize>> = last.into_iter().collect();
        last?.into_iter().min()
    };
    last_of.into_iter().map(of_all).collect()
}

/// A search for known versions, which are looked up once a text has their name.
struct KnownCodeSearch<'s> {
    view: &'s StateView<'s>,
    /// Symbols that are searched for although nothing else may have been true of them, by the hash of their word.
    wanted: BTreeMap<NameHash, BTreeSet<EntityId>>,
    /// Their words that aren't known to be outdated code's.
    wanted_and_true: Vec<NameHash>,
    versions: Vec<KnownVersion>,
    /// What the words stand for that texts have, each with the index of its first version.
    known: BTreeMap<NameHash, (Arc<KnownWord>, usize)>,
    /// Whether any of the texts names a file.
    named: BTreeMap<NameHash, bool>,
}

impl<'s> KnownCodeSearch<'s> {
    fn new(view: &'s StateView<'s>, symbols: impl IntoIterator<Item = EntityId>) -> Self {
        let mut wanted: BTreeMap<NameHash, BTreeSet<EntityId>> = BTreeMap::new();
        for entity in symbols {
            if let Some(word) = search_word_hash(&entity) {
                wanted.entry(word).or_default().insert(entity);
            }
        }
        let words = wanted.keys().copied();
        Self {
            view,
            wanted_and_true: words.filter(|word| !view.may_be_outdated(*word)).collect(),
            wanted,
            versions: Vec::new(),
            known: BTreeMap::new(),
            named: BTreeMap::new(),
        }
    }

    /// What is searched for in a text, each with the index of its first version. `outdated` are the text's words that may be
    /// outdated code's.
    fn words_in(
        &mut self,
        index: &mut TextIndex,
        facts: &TextFacts,
        outdated: &[NameHash],
    ) -> Vec<(Arc<KnownWord>, usize)> {
        let true_ones = self.wanted_and_true.iter().copied();
        let true_ones = true_ones.filter(|word| facts.has_identifier(*word));
        let mut words: Vec<NameHash> = outdated.iter().copied().chain(true_ones).collect();
        words.sort_unstable();
        let known = words.into_iter().map(|word| self.known_word(index, word));
        known.filter(|(word, _)| !word.wanted.is_empty()).collect()
    }

    fn known_word(&mut self, index: &mut TextIndex, word: NameHash) -> (Arc<KnownWord>, usize) {
        if let Some((known, first_version)) = self.known.get(&word) {
            return (Arc::clone(known), *first_version);
        }
        let view = self.view;
        let symbols = self.wanted.entry(word).or_default();
        let known = index.known_word(view, word, symbols, |index| {
            known_word(view, index, word, symbols)
        });
        let first_version = self.versions.len();
        self.versions.extend_from_slice(&known.versions);
        self.known.insert(word, (Arc::clone(&known), first_version));
        (known, first_version)
    }

    /// Whether what fits isn't there by chance: a single line may be the same in many files.
    fn may_fit(&mut self, texts: &[Arc<TextFacts>], fit: &Fit) -> bool {
        let version = &self.versions[fit.version];
        if !version.definitions[fit.definition].is_one_line {
            return true;
        }
        let basename = basename_hash(&version.entity.path);
        let is_named = || texts.iter().any(|facts| facts.names_file(basename));
        *self.named.entry(basename).or_insert_with(is_named)
    }
}

/// The versions of all symbols that are searched for by a word, and what is true of their namesakes: what is true elsewhere
/// is no former version.
fn known_word(
    view: &StateView<'_>,
    index: &mut TextIndex,
    hash: NameHash,
    wanted: &BTreeSet<EntityId>,
) -> KnownWord {
    let mut symbols = wanted.clone();
    symbols.extend(view.outdated_symbols(hash));
    let word = symbols.first().and_then(search_word).unwrap_or_default();
    let word: Arc<str> = word.into();
    let mut versions = Vec::new();
    let mut read = BTreeSet::new();
    for entity in &symbols {
        let Some(symbol) = &entity.symbol else {
            continue;
        };
        let name = symbol.last_component();
        let namesakes = view
            .state
            .state_map()
            .entities_named(name, NAMESAKES_COMPARED_MAX);
        for other in namesakes.iter().chain([entity]) {
            if read.insert(other.clone()) {
                add_versions(view, index, other, &word, &mut versions);
            }
        }
    }
    KnownWord::new(wanted.clone(), word, versions)
}

fn add_versions(
    view: &StateView<'_>,
    index: &mut TextIndex,
    entity: &EntityId,
    word: &Arc<str>,
    versions: &mut Vec<(KnownVersion, Vec<Definition>)>,
) {
    let current = view.current_version(entity);
    let current = current.map(|current| (current.slice, current.artifact, current.spans));
    let former = view.former_versions(entity).into_iter();
    let former = former.map(|former| (former.slice, former.artifact, former.spans));
    let ended = view.ended_proposals(entity).into_iter();
    let ended = ended.map(|proposal| (proposal.slice, proposal.artifact, proposal.spans));
    let former = ended.chain(former);
    let truth = current.as_ref().map(|(slice, ..)| *slice);
    // What became true again is no former version.
    let former = former.filter(|(slice, ..)| Some(*slice) != truth);
    for (slice, artifact, spans) in former.chain(current) {
        let definitions = spans.iter().map(|span| Definition {
            artifact,
            span: *span,
            word: Arc::clone(word),
        });
        let definitions: Vec<Definition> = definitions.collect();
        let shapes = definitions.iter().map(|it| index.shape(view, it));
        let shapes: Option<Arc<[Shape]>> = shapes.collect();
        if let Some(shapes) = shapes.filter(|shapes| !shapes.is_empty()) {
            let version = KnownVersion {
                entity: entity.clone(),
                slice,
                definitions: shapes,
            };
            versions.push((version, definitions));
        }
    }
}

/// The text without the cuts, `None` if all stays; what goes for the first time is added to `withheld`. Nothing takes a cut's
/// place, since a small model writes what it sees in the place of code: where a block shows the definition alone the block goes,
/// elsewhere its lines. A listing of other code stays as it is, unless `is_strict`: cutting it has the model read all that follows anew.
fn text_without(
    text: &str,
    cuts: &[Cut],
    is_strict: bool,
    withheld: &mut BTreeSet<Withheld>,
) -> Option<String> {
    let mut strings = 0;
    json_text::change_strings(text, &mut |string| {
        let own = cuts.iter().filter(|cut| cut.string == strings);
        let own: Vec<&Cut> = own.collect();
        strings += 1;
        if own.is_empty() {
            return None;
        }
        let mut gone = ranges_of(string, &own, is_strict);
        withheld.extend(gone.iter().filter_map(|(_, cut)| cut.new.clone()));
        gone.sort_by_key(|(range, _)| range.start);
        let (mut out, mut copied) = (String::new(), 0);
        for (range, _) in &gone {
            out.push_str(string.get(copied..range.start).unwrap_or_default());
            copied = copied.max(range.end);
        }
        out.push_str(&string[copied..]);
        (!gone.is_empty()).then_some(out)
    })
}

/// What goes out of a string, with the cut that it goes by.
fn ranges_of<'c>(string: &str, cuts: &[&'c Cut], is_strict: bool) -> Vec<(Range<usize>, &'c Cut)> {
    let blocks = capture::blocks(string);
    let range = |cut: &Cut| {
        let around = |block: &&CodeBlock<'_>| block.outer.contains(&cut.bytes.start);
        match blocks.iter().find(around) {
            Some(block) if !shows_more(string, block, cuts) => Some(block.outer.clone()),
            Some(_) if !is_strict && !cut.is_own => None,
            _ => Some(whole_lines(string, &cut.bytes)),
        }
    };
    let gone = cuts.iter().filter_map(|cut| Some((range(cut)?, *cut)));
    gone.collect()
}

/// Whether a block has words outside of the cuts.
fn shows_more(text: &str, block: &CodeBlock<'_>, cuts: &[&Cut]) -> bool {
    let Some(code) = &block.verbatim else {
        return true;
    };
    let mut at = code.start;
    text[code.clone()].split_inclusive('\n').any(|line| {
        let bytes = at..at + line.len();
        at = bytes.end;
        let is_cut = |cut: &&Cut| cut.bytes.start < bytes.end && bytes.start < cut.bytes.end;
        line.contains(char::is_alphanumeric) && !cuts.iter().any(is_cut)
    })
}

/// The lines that a range lies in.
fn whole_lines(text: &str, range: &Range<usize>) -> Range<usize> {
    let start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[range.end..].find('\n');
    start..end.map_or(text.len(), |at| range.end + at + 1)
}

/// A text as a message may say it: without injected blocks, delimiters defused, and without code that would mislead, as in
/// `withheld`. `None` if nothing changes.
pub(crate) fn cleaned_text(speaker: Role, text: &str, withheld: Option<String>) -> Option<String> {
    // Servers refuse empty messages.
    let withheld = withheld.map(|rest| match rest.trim() {
        "" => String::from(ALL_WITHHELD),
        _ => rest,
    });
    let safe = safe_text(speaker, withheld.as_deref().unwrap_or(text));
    safe.or(withheld)
}

/// What is left of a message that consisted of code which isn't current: nothing that a model would write in the place of code.
const ALL_WITHHELD: &str = "Ok.";
