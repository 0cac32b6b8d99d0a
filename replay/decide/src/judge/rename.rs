//! A known definition under another name, or in another file: flagged, never taken for a new one without the user's word (spec §12).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use tslp_projections::state::StateView;

use crate::judge::found_code::FoundCode;
use crate::judge::resolve::{Candidate, Resolution};
use crate::judge::similarity;
use crate::observe;
use crate::prompt::mention;
use crate::prompt::naming;
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event::Extent;
use tslp_core::gate::Thresholds;
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::EpisodeId;
use tslp_core::limits::MENTION_CANDIDATES_MAX;
use tslp_core::slice::{self, Span};
use tslp_projections::file_code::TrueEntity;

/// A known entity that a new symbol may be another name of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenameSuspicion {
    /// The known entity.
    pub known: EntityId,
    /// The similarity of the two, in percent.
    pub percent: u8,
}

/// Smallest known definition, in tokens, that others are compared with: smaller ones are all alike.
const TOKENS_MIN: u32 = 12;

/// The similarity, in percent, from which code counts as a copy of code that the model wasn't shown.
const COPY_PERCENT: u8 = 95;

/// Most known definitions that one new symbol is compared with.
const COMPARED_MAX: usize = 256;

/// New symbols of a block that are suspected to be renames, each with the missing definition that it resembles most.
/// `asked` is the user's prompt: a name that the user asked for is no suspicion, unless it takes the place of a definition that
/// the prompt names, or that `is_moved`.
#[must_use]
pub fn suspected_renames(
    view: &StateView<'_>,
    thresholds: Thresholds,
    (episode, asked): (EpisodeId, &str),
    is_moved: &dyn Fn(&EntityId) -> bool,
    found: &FoundCode,
    resolution: &Resolution,
) -> BTreeMap<EntityId, RenameSuspicion> {
    let new: Vec<(&Candidate, &Symbol)> = resolution
        .candidates
        .iter()
        .filter(|candidate| is_new(view, candidate))
        .filter_map(|candidate| Some((candidate, candidate.entity.symbol.as_ref()?)))
        .collect();
    if new.is_empty() {
        return BTreeMap::new();
    }
    let mut missing = MissingDefinitions::of(view, episode, resolution);
    new.into_iter()
        .filter_map(|(candidate, symbol)| {
            let is_asked_for = naming::holds_word(asked, symbol.last_component());
            let is_leaving =
                |known: &EntityId| is_moved(known) || is_named_for_renaming(asked, known, symbol);
            let suspicion = missing
                .without_qualifier(symbol)
                .or_else(|| {
                    same_symbol_elsewhere(view, thresholds, (episode, asked), found, candidate)
                        .filter(|suspicion| !is_moved(&suspicion.known))
                })
                .or_else(|| {
                    missing
                        .most_alike((thresholds, &is_leaving), found, candidate, symbol)
                        .filter(|suspicion| !is_asked_for || is_leaving(&suspicion.known))
                })?;
            Some((candidate.entity.clone(), suspicion))
        })
        .collect()
}

/// Whether the user's text names a definition that is to bear another name. One that keeps its name, under another path or in
/// another class, is no rename of it.
pub(crate) fn is_named_for_renaming(asked: &str, known: &EntityId, new: &Symbol) -> bool {
    let name = known.symbol.as_ref().map(Symbol::last_component);
    name != Some(new.last_component()) && naming::names(asked, known)
}

/// The same symbol in another file, unless the user names this file: if the model was shown that file, it probably wrote the
/// wrong path; if not, nearly identical code is a copy.
fn same_symbol_elsewhere(
    view: &StateView<'_>,
    thresholds: Thresholds,
    (episode, asked): (EpisodeId, &str),
    found: &FoundCode,
    candidate: &Candidate,
) -> Option<RenameSuspicion> {
    let entity = &candidate.entity;
    let symbol = entity.symbol.as_ref()?;
    let path = &entity.path;
    let new = slice::joined(found.code.as_bytes(), &candidate.spans);
    let name = symbol.last_component();
    view.state
        .state_map()
        .entities_named(name, MENTION_CANDIDATES_MAX)
        .into_iter()
        .filter(|known| known.symbol.as_ref() == Some(symbol))
        .filter(|known| {
            let is_told_apart = known.path.basename() != path.basename();
            let mut said = mention::path_words(asked).map(mention::path_in);
            let is_said = said.any(|it| it.trim_start_matches("./") == path.as_str());
            !(is_said || is_told_apart && asked.contains(path.basename()))
        })
        .filter_map(|known| {
            let current = view.current_version(&known)?;
            let least = if was_shown(view, episode, &known) {
                thresholds.rename_percent
            } else if current.figures.tokens < TOKENS_MIN {
                return None;
            } else {
                thresholds.rename_percent.max(COPY_PERCENT)
            };
            let text = view.artifact_content(current.artifact)?;
            let percent = alike_percent(&text, &current.spans, &new, [name, name]);
            (percent >= least).then_some(RenameSuspicion { known, percent })
        })
        .max_by_key(|suspicion| suspicion.percent)
}

/// Whether the model was shown the entity, by itself or with its file.
fn was_shown(view: &StateView<'_>, episode: EpisodeId, entity: &EntityId) -> bool {
    let sessions = view.state.sessions();
    [entity, &EntityId::file(entity.path.clone())]
        .into_iter()
        .any(|it| sessions.version_shown(episode, it).is_some())
}

fn is_new(view: &StateView<'_>, candidate: &Candidate) -> bool {
    view.current_version(&candidate.entity).is_none()
        && observe::slice_on_disk(view, &candidate.entity).is_none()
}

/// Known definitions of the block's file that the block doesn't hold.
struct MissingDefinitions<'v> {
    view: &'v StateView<'v>,
    /// Each with whether the block may have been made from it: any if it is the whole file, else those that the model was shown.
    tracked: Vec<(EntityId, TrueEntity, bool)>,
    texts: BTreeMap<ArtifactHash, Option<Vec<u8>>>,
}

impl<'v> MissingDefinitions<'v> {
    fn of(view: &'v StateView<'v>, episode: EpisodeId, resolution: &Resolution) -> Self {
        let candidates = resolution.candidates.iter();
        let held: BTreeSet<&EntityId> = candidates.map(|candidate| &candidate.entity).collect();
        let known = resolution.path.iter();
        let known = known.flat_map(|path| view.state.state_map().entities_in(path));
        let tracked = known
            .filter(|entity| !held.contains(entity))
            .filter_map(|entity| {
                let current = view.current_version(&entity)?;
                let is_shown =
                    resolution.extent == Extent::WholeFile || was_shown(view, episode, &entity);
                Some((entity, current, is_shown))
            });
        Self {
            view,
            tracked: tracked.collect(),
            texts: BTreeMap::new(),
        }
    }

    /// The known symbol that this one becomes with its namespace or class in front, if there is one.
    fn without_qualifier(&self, symbol: &Symbol) -> Option<RenameSuspicion> {
        let known = self.tracked.iter().find(|(entity, ..)| {
            let rest = entity
                .symbol_str()
                .and_then(|known| known.strip_suffix(symbol.as_str()));
            rest.is_some_and(|rest| rest.ends_with([':', '.', '#']))
        });
        known.map(|(known, ..)| RenameSuspicion {
            known: known.clone(),
            percent: 100,
        })
    }

    fn most_alike(
        &mut self,
        (thresholds, is_leaving): (Thresholds, &dyn Fn(&EntityId) -> bool),
        found: &FoundCode,
        candidate: &Candidate,
        symbol: &Symbol,
    ) -> Option<RenameSuspicion> {
        let new = slice::joined(found.code.as_bytes(), &candidate.spans);
        let comparable: Vec<(EntityId, TrueEntity)> = self
            .tracked
            .iter()
            .filter(|(entity, current, is_shown)| {
                (*is_shown || is_leaving(entity))
                    && current.figures.tokens >= TOKENS_MIN
                    && could_be_alike(thresholds, current, candidate)
            })
            .take(COMPARED_MAX)
            .map(|(entity, current, _)| (entity.clone(), current.clone()))
            .collect();
        let best = comparable
            .into_iter()
            .filter_map(|(known, current)| {
                let names = [
                    symbol.last_component(),
                    known.symbol.as_ref()?.last_component(),
                ];
                let text = self.artifact_text(current.artifact)?;
                let percent = alike_percent(text, &current.spans, &new, names);
                Some(RenameSuspicion { known, percent })
            })
            .max_by_key(|suspicion| suspicion.percent)?;
        (best.percent >= thresholds.rename_percent).then_some(best)
    }

    fn artifact_text(&mut self, artifact: ArtifactHash) -> Option<&[u8]> {
        self.texts
            .entry(artifact)
            .or_insert_with(|| self.view.artifact_content(artifact))
            .as_deref()
    }
}

/// The similarity of `new` to the most similar of the definitions, in percent.
fn alike_percent(text: &[u8], spans: &[Span], new: &[u8], names: [&str; 2]) -> u8 {
    spans
        .iter()
        .map(|span| similarity::tokens_alike_percent(span.of(text), new, names))
        .max()
        .unwrap_or(0)
}

/// A cheap bound before the comparison: two definitions share no more tokens than the smaller one has. The figures count
/// literals and comments otherwise than the comparison does, so half of the threshold is enough here. With several
/// definitions any of them may be the similar one.
fn could_be_alike(thresholds: Thresholds, current: &TrueEntity, candidate: &Candidate) -> bool {
    if current.spans.len() > 1 {
        return true;
    }
    let (one, other) = (
        u64::from(current.figures.tokens),
        u64::from(candidate.figures.tokens),
    );
    2 * one.min(other) * 200 >= (one + other) * u64::from(thresholds.rename_percent)
}
