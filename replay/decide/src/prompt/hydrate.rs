//! Hydration: the true code that a prompt brings along, and the reasons why other code stays out (spec §8.1, §15.6).

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use tslp_projections::disk::LastFinding;
use tslp_projections::state::StateView;

use crate::judge::holders;
use crate::prompt::facts::Prompt;
use crate::prompt::mention::Mentions;
use tslp_core::delimiter::{self, STATE_CLOSE, STATE_OPEN};
use tslp_core::entity::EntityId;
use tslp_core::event::{Dropped, Hydrated, NoticeIssued};
use tslp_core::extract::{Grammars, Proof};
use tslp_core::hash::SliceHash;
use tslp_core::ids::SessionId;
use tslp_core::limits::{BYTES_PER_TOKEN, HASH_DIGITS_SHOWN_MIN, HYDRATION_CANDIDATES_MAX};
use tslp_core::message::{Role, Tools};
use tslp_core::path::RelPath;
use tslp_core::policy::Policy;
use tslp_core::reason::{Reason, ReasonClass};
use tslp_core::redact;
use tslp_projections::file_code::TrueEntity;
use tslp_projections::stale::Divergence;

/// Entities that may be hydrated for this prompt, in the order of admission, each with its reason. Where the client can
/// read it, a file that is named, and a definition that is named with it, are left to them: the model reads the file with the line
/// numbers that its edits need, and a copy of ours would only be read twice. What was refused is shown anyway.
#[must_use]
pub fn hydration_candidates(
    view: &StateView<'_>,
    session: SessionId,
    mentions: &Mentions,
    tools: Tools,
) -> Vec<(EntityId, Reason)> {
    let mut list: Vec<(EntityId, Reason)> = Vec::new();
    let mut seen = BTreeSet::new();
    // What was only pasted is in no file that they could read.
    let can_read = |path: &RelPath| tools.read_files() && view.state.state_map().was_there(path);
    let is_true = |entity: &EntityId| {
        let files = view.state.state_map();
        view.current_version(entity).is_some()
            || entity.symbol.is_none() && files.tracks(&entity.path)
    };
    let mut add = |entity: EntityId, reason| {
        let is_fit = reason == Reason::LeftToTools || is_true(&entity);
        if is_fit && list.len() < HYDRATION_CANDIDATES_MAX && seen.insert(entity.clone()) {
            list.push((entity, reason));
        }
    };
    let locked = view.state.scope().locked(session);
    for path in &locked {
        add(EntityId::file(path.clone()), Reason::Locked);
    }
    let mut add = |entity, reason| match locked.is_empty() {
        true => add(entity, reason),
        false => add(entity, Reason::BypassedByLock),
    };
    for entity in &mentions.ambiguous {
        add(entity.clone(), Reason::AmbiguousName);
    }
    for entity in &mentions.symbols {
        let is_read = can_read(&entity.path)
            && mentions.files.contains(&entity.path)
            && view.proposals_for(entity).is_empty();
        let reason = match is_read {
            true => Reason::LeftToTools,
            false => Reason::Mentioned,
        };
        add(entity.clone(), reason);
    }
    // An edit that didn't apply is a proposal for the whole file, and the model needs the file to try again.
    let proposed = view.proposals_in(session).into_iter();
    let proposed = proposed.map(|it| (it.entity, Reason::UnderProposal));
    let followed_up = mentions.followed_up.iter().cloned();
    let followed_up = followed_up.map(|entity| (entity, Reason::Mentioned));
    let files = mentions.files.iter().cloned().map(EntityId::file);
    let files = files.map(|file| (file, Reason::FileMentioned));
    for (entity, reason) in proposed.chain(followed_up).chain(files) {
        match entity.symbol {
            None if can_read(&entity.path) => add(entity, Reason::LeftToTools),
            _ => add(entity, reason),
        }
    }
    list
}

/// The largest true definitions inside of a file or of a class.
pub(crate) fn parts_within(view: &StateView<'_>, entity: &EntityId) -> Vec<EntityId> {
    let mut parts = view.state.state_map().entities_in(&entity.path);
    parts.retain(|part| holders::covers(view, entity, part));
    let around: BTreeSet<EntityId> = parts.iter().flat_map(EntityId::holders).collect();
    let around: BTreeSet<&EntityId> = parts.iter().filter(|it| around.contains(it)).collect();
    let covers = |holder: &EntityId, part: &EntityId| {
        around.contains(holder) && holders::covers(view, holder, part)
    };
    let is_covered = |part: &EntityId| part.holders().any(|holder| covers(&holder, part));
    let largest = parts.iter().filter(|part| !is_covered(part));
    largest.cloned().collect()
}

/// Whether an entity that isn't shown, for this reason, may have parts that can be.
fn may_show_parts(view: &StateView<'_>, entity: &EntityId, refusal: Reason) -> bool {
    use Divergence::{Contradicted, Gone, Unreadable};
    match refusal {
        Reason::CredentialRedacted | Reason::QuotesDelimiters => true,
        // A file is left to the user, who knows which part of it is meant.
        Reason::OverBudget => entity.symbol.is_some(),
        // Then the same is said of all that is inside of it.
        _ if refusal.is(ReasonClass::Divergence) => {
            let own = view.divergence(entity);
            !matches!(own, Some(Contradicted | Gone | Unreadable))
        }
        _ => false,
    }
}

/// All that is true of a file: itself and its symbols.
pub(crate) fn true_entities_of(view: &StateView<'_>, path: &RelPath) -> Vec<EntityId> {
    let mut entities = view.state.state_map().entities_in(path);
    let file = EntityId::file(path.clone());
    entities.extend(view.current_version(&file).map(|_| file));
    entities
}

/// The symbols that an entity consists of: itself, or those of a file.
pub(crate) fn parts_of(view: &StateView<'_>, entity: &EntityId) -> Vec<EntityId> {
    match entity.symbol {
        Some(_) => Vec::from([entity.clone()]),
        None => view.state.state_map().entities_in(&entity.path),
    }
}

/// The outcome of hydration.
#[derive(Default)]
pub(crate) struct Hydration {
    /// The blocks, in the order in which they are shown.
    pub(crate) blocks: Vec<String>,
    /// The entities of those blocks, in that order, then those that are shown within them or that the conversation shows already.
    pub(crate) hydrated: Vec<Hydrated>,
    /// Candidates that aren't shown.
    pub(crate) dropped: Vec<Dropped>,
    /// Notices about them.
    pub(crate) notices: Vec<NoticeIssued>,
    /// The first locked file that isn't shown, and why.
    pub(crate) missed: Option<(RelPath, Reason)>,
}

/// Admits candidates within the token budget. `in_sight`: whether the conversation already shows an entity's true code.
pub(crate) fn hydrate(
    view: &StateView<'_>,
    policy: &Policy,
    prompt: &Prompt<'_>,
    candidates: Vec<(EntityId, Reason)>,
    in_sight: &dyn Fn(&EntityId) -> bool,
) -> Hydration {
    let mut hydration = Hydration::default();
    let mut admitted: Vec<(Hydrated, String)> = Vec::new();
    let mut tokens_left = policy.budget_tokens;
    let mut seen: BTreeSet<EntityId> = candidates.iter().map(|(it, _)| it.clone()).collect();
    // Each with why what holds it isn't shown, if it takes that one's place.
    let candidates = candidates.into_iter();
    let mut waiting: VecDeque<_> = candidates.map(|(it, why)| (it, why, None)).collect();
    while let Some((entity, reason, holder)) = waiting.pop_front() {
        let mut add_parts = |refusal| {
            let parts = parts_within(view, &entity).into_iter();
            let mut parts: Vec<EntityId> = parts.filter(|it| !seen.contains(it)).collect();
            parts.truncate(HYDRATION_CANDIDATES_MAX.saturating_sub(seen.len()));
            seen.extend(parts.iter().cloned());
            for part in parts.into_iter().rev() {
                waiting.push_front((part, reason, refusal));
            }
        };
        let Some(current) = view.current_version(&entity) else {
            // A file that is known by its parts.
            if !is_left(&entity, reason) {
                add_parts(None);
            }
            continue;
        };
        let hydrated = |reason, tokens| Hydrated {
            entity: entity.clone(),
            version: current.version,
            reason,
            tokens,
        };
        if (admitted.iter()).any(|(it, _)| holders::covers(view, &it.entity, &entity)) {
            (hydration.hydrated).push(hydrated(Reason::CoveredByFile, 0));
            continue;
        }
        // What holds admitted parts replaces them, so their tokens are available to it.
        let is_replaced = |(it, _): &(Hydrated, _)| holders::covers(view, &entity, &it.entity);
        let replaced = admitted.iter().filter(|it| is_replaced(it));
        let tokens_max = tokens_left + replaced.map(|(it, _)| it.tokens).sum::<u32>();
        let wanted = (&entity, reason);
        let admitted_now = admit_entity(
            view,
            prompt.grammars,
            wanted,
            &current,
            in_sight,
            tokens_max,
        );
        if let (Reason::Locked, Err(refusal)) = (reason, &admitted_now)
            && *refusal != Reason::InSight
        {
            hydration
                .missed
                .get_or_insert((entity.path.clone(), *refusal));
        }
        match admitted_now {
            Err(Reason::InSight) => hydration.hydrated.push(hydrated(Reason::InSight, 0)),
            Err(refusal) => {
                if may_show_parts(view, &entity, refusal) {
                    add_parts(Some(refusal));
                }
                match (holder, refusal) {
                    // That there was no room has been said of what holds it.
                    (Some(Reason::OverBudget), Reason::OverBudget) => {
                        hydration.dropped.push(Dropped {
                            entity,
                            reason: refusal,
                        });
                    }
                    _ => hydration.drop_candidate(prompt, entity, refusal),
                }
            }
            Ok((text, tokens)) => {
                debug_assert!(
                    tokens <= tokens_max,
                    "only what fits into the budget is admitted"
                );
                tokens_left = tokens_max - tokens;
                let replaced = admitted.extract_if(.., |it| is_replaced(it));
                let replaced = replaced.map(|(part, _)| Hydrated {
                    reason: Reason::CoveredByFile,
                    tokens: 0,
                    ..part
                });
                hydration.hydrated.extend(replaced);
                admitted.push((hydrated(reason, tokens), text));
            }
        }
    }
    warn_of_races(view, prompt, &admitted, &mut hydration);
    // In the order in which the session first saw them, so that a server's prompt cache holds from one prompt to the next.
    keep_order(
        &mut admitted,
        &view.state.sessions().hydration_order(prompt.session),
    );
    let (shown, blocks): (Vec<Hydrated>, Vec<String>) = admitted.into_iter().unzip();
    debug_assert_eq!(shown.len(), blocks.len(), "each shown entity has its block");
    hydration.hydrated.splice(0..0, shown);
    hydration.blocks = blocks;
    hydration
}

/// Issues a notice for each shown version that another conversation made and nobody has saved yet: whoever saves last would
/// undo the other's change.
fn warn_of_races(
    view: &StateView<'_>,
    prompt: &Prompt<'_>,
    admitted: &[(Hydrated, String)],
    hydration: &mut Hydration,
) {
    let sight = hydration.hydrated.iter();
    let sight = sight.filter(|it| it.reason != Reason::CoveredByFile);
    let shown = admitted.iter().map(|(hydrated, _)| hydrated).chain(sight);
    let is_of_another = |entity: &&EntityId| {
        let current = view.current_version(entity);
        let session = current.and_then(|current| view.state.sessions().of(current.episode));
        view.state.stale().is_unsaved(entity) && session.is_some_and(|it| it != prompt.session)
    };
    let raced = shown.map(|hydrated| &hydrated.entity).filter(is_of_another);
    for entity in raced.cloned().collect::<Vec<_>>() {
        hydration.add_notice(prompt, entity, Reason::UnsavedElsewhere);
    }
}

impl Hydration {
    /// Records why a candidate isn't shown, with a notice where the model would otherwise guess.
    fn drop_candidate(&mut self, prompt: &Prompt<'_>, entity: EntityId, reason: Reason) {
        let is_left_out = matches!(
            reason,
            Reason::OverBudget
                | Reason::QuotesDelimiters
                | Reason::CredentialRedacted
                | Reason::OffByUser
        );
        if is_left_out || reason.is(ReasonClass::Divergence) {
            self.add_notice(prompt, named_in_notice(&entity, reason), reason);
        }
        self.dropped.push(Dropped { entity, reason });
    }

    /// Adds the missing STALE notices for code that is withheld from older messages (spec §15.4).
    pub(crate) fn notify_stale(
        &mut self,
        view: &StateView<'_>,
        prompt: &Prompt<'_>,
        withheld: impl IntoIterator<Item = EntityId>,
    ) {
        for entity in withheld {
            if let Some((reason, entity)) = divergence_notice(view, &entity) {
                self.add_notice(prompt, entity, reason);
            }
        }
    }

    /// Records which files that are off messages showed, and says so to the model, once for each rule.
    pub(crate) fn note_off(
        &mut self,
        view: &StateView<'_>,
        prompt: &Prompt<'_>,
        files: impl IntoIterator<Item = RelPath>,
    ) {
        for path in files {
            let rule = view.state.scope().off().pattern_for(path.as_str());
            let pattern = rule.unwrap_or(path.as_str());
            let about = EntityId::file(RelPath::from_normalised(pattern));
            // The answer to the user's own word says the same.
            let pending = view.state.sessions().pending_notices(prompt.session);
            let is_answer = |it: &NoticeIssued| {
                it.reason == Reason::TurnedOff && it.entity.as_ref() == Some(&about)
            };
            if !pending.iter().any(|it| is_answer(&it.notice)) {
                self.add_notice(prompt, about, Reason::OffInMessage);
            }
            let (entity, reason) = (EntityId::file(path), Reason::OffInMessage);
            self.dropped.push(Dropped { entity, reason });
        }
    }

    /// Adds what there is to say about the prompt's messages: that pasted code has no path (spec §9.1), and that one of them, from
    /// `from` on, quotes our delimiters, which the model sees defused.
    pub(crate) fn notify_of_messages(&mut self, prompt: &Prompt<'_>, from: usize) {
        let quotes_delimiters = match prompt.on_record {
            Some(seen) => seen.noticed.contains(&(Reason::QuotesDelimiters, None)),
            None => prompt.request.messages[from..].iter().any(|message| {
                let is_others = !matches!(message.role, Role::System | Role::Assistant);
                let mut texts = message.texts();
                is_others && !message.is_safe() && texts.any(delimiter::forged_in)
            }),
        };
        let said = [
            (Reason::PasteWithoutPath, prompt.has_pathless_code),
            (Reason::QuotesDelimiters, quotes_delimiters),
        ];
        let said = said.into_iter().filter(|(_, is_so)| *is_so);
        self.notices.extend(
            said.map(|(reason, _)| {
                NoticeIssued::new((prompt.episode, prompt.session), reason, None)
            }),
        );
    }

    /// Makes the notices that say the same of several definitions of a file one, about the file. What each refused definition has lost
    /// is said of it, unless the whole file was refused.
    pub(crate) fn gather_by_file(&mut self, view: &StateView<'_>) {
        let mut said: BTreeMap<(Reason, EntityId), usize> = BTreeMap::new();
        let about = |notice: &NoticeIssued| {
            let entity = notice.entity.as_ref();
            let is_outside = notice.reason == Reason::NoLongerCurrent;
            let entity =
                entity.filter(|_| is_outside || notice.reason.is(ReasonClass::Divergence))?;
            let file = EntityId::file(entity.path.clone());
            let is_one =
                notice.reason != Reason::DiskHoldsRefused || !view.proposals_for(&file).is_empty();
            is_one.then_some((notice.reason, file))
        };
        for about in self.notices.iter().filter_map(about) {
            *said.entry(about).or_default() += 1;
        }
        let mut gathered = BTreeSet::new();
        self.notices.retain_mut(|notice| {
            let of_several = about(notice).filter(|about| said[about] > 1);
            let Some((reason, file)) = of_several else {
                return true;
            };
            notice.entity = Some(file.clone());
            gathered.insert((reason, file))
        });
    }

    /// Adds a notice about an entity.
    pub(crate) fn add_notice(&mut self, prompt: &Prompt<'_>, entity: EntityId, reason: Reason) {
        let mut noticed = self.notices.iter();
        if noticed.any(|notice| (notice.entity.as_ref(), notice.reason) == (Some(&entity), reason))
        {
            return;
        }
        self.notices.push(NoticeIssued::new(
            (prompt.episode, prompt.session),
            reason,
            entity,
        ));
    }
}

/// Whether an entity isn't shown whatever it holds, so that it needn't be read.
fn is_left(entity: &EntityId, why: Reason) -> bool {
    why == Reason::LeftToTools && entity.symbol.is_none()
        || matches!(why, Reason::AmbiguousName | Reason::BypassedByLock)
}

/// The block for one candidate and the tokens it takes, or the first of the rules that it fails: never, scope, truth, duplicate,
/// budget.
fn admit_entity(
    view: &StateView<'_>,
    grammars: &dyn Grammars,
    (entity, why): (&EntityId, Reason),
    current: &TrueEntity,
    in_sight: &dyn Fn(&EntityId) -> bool,
    tokens_left: u32,
) -> Result<(String, u32), Reason> {
    let is_left = is_left(entity, why);
    let divergence = divergence_within(view, entity);
    let is_shown = divergence.is_none() && in_sight(entity);
    let code = match is_left || is_shown {
        true => Vec::new(),
        false => readable_code(view, current)?,
    };
    let is_off = || view.state.scope().off().is_off(entity.path.as_str());
    if why != Reason::Locked && why != Reason::BypassedByLock && is_off() {
        return Err(Reason::OffByUser);
    }
    if is_left {
        return Err(why);
    }
    // Code that disk contradicts is withheld even if the conversation shows it, and the notice has to say why.
    if let Some(divergence) = divergence {
        return Err(divergence_reason(divergence));
    }
    if is_shown {
        return Err(Reason::InSight);
    }
    let code = core::str::from_utf8(&code).map_err(|_| Reason::ContentMissing)?;
    let code = fenced(code, grammars.tag_of_path(&entity.path));
    let text = state_block(view, entity, current, &code);
    let tokens = tokens_of(&text);
    if tokens > tokens_left {
        return Err(Reason::OverBudget);
    }
    match why {
        Reason::LeftToTools => Err(why),
        _ => Ok((text, tokens)),
    }
}

/// The code that may be shown at all, if anything of it may.
fn readable_code(view: &StateView<'_>, current: &TrueEntity) -> Result<Vec<u8>, Reason> {
    let code = view
        .artifact_slices(current.artifact, &current.spans)
        .ok_or(Reason::ContentMissing)?;
    let text = core::str::from_utf8(&code).map_err(|_| Reason::ContentMissing)?;
    // Code that holds our delimiters could close its own block and go on as state of the proxy's.
    if delimiter::quoted_in(text) {
        return Err(Reason::QuotesDelimiters);
    }
    // A model that is shown a part without its credential would write it down without one.
    if text.contains(redact::MARKER) {
        return Err(Reason::CredentialRedacted);
    }
    Ok(code)
}

/// What a notice says of an entity that disk contradicts, and of what.
pub(crate) fn divergence_notice(
    view: &StateView<'_>,
    entity: &EntityId,
) -> Option<(Reason, EntityId)> {
    let reason = divergence_reason(view.divergence(entity)?);
    Some((reason, named_in_notice(entity, reason)))
}

/// What a notice names: a deleted file, not each of its definitions.
fn named_in_notice(entity: &EntityId, reason: Reason) -> EntityId {
    match reason {
        Reason::FileGone => EntityId::file(entity.path.clone()),
        _ => entity.clone(),
    }
}

/// The reason by which a divergence keeps code out.
pub(crate) const fn divergence_reason(divergence: Divergence) -> Reason {
    match divergence {
        Divergence::Unknown => Reason::Stale,
        Divergence::Superseded => Reason::DiskHoldsSuperseded,
        Divergence::Unreadable => Reason::DiskUnreadable,
        Divergence::Refused => Reason::DiskHoldsRefused,
        Divergence::Gone => Reason::FileGone,
        Divergence::Contradicted => Reason::Contradicted,
    }
}

/// The divergence of disk from an entity or, for a whole file, from a definition in it: no prompt may show code that its
/// notices call withheld.
pub(crate) fn divergence_within(view: &StateView<'_>, entity: &EntityId) -> Option<Divergence> {
    let own = view.divergence(entity);
    if own.is_some() || entity.symbol.is_some() {
        return own;
    }
    let parts = view.state.state_map().entities_in(&entity.path);
    parts.iter().find_map(|part| view.divergence(part))
}

/// Code in a fence of its language that nothing in the code closes. Without a fence small models take the block for the form of an
/// answer, and repeat it.
fn fenced(code: &str, tag: Option<&str>) -> String {
    let longest = code.split(|c| c != '`').map(str::len).max();
    let fence = "`".repeat(longest.map_or(3, |longest| (longest + 1).max(3)));
    let code = code.trim_end_matches(['\n', '\r']);
    format!("{fence}{}\n{code}\n{fence}", tag.unwrap_or_default())
}

/// The template of spec §8.2, its content in a fence, except that code confirmed by a pattern (§4.1, step 2) says so.
fn state_block(
    view: &StateView<'_>,
    entity: &EntityId,
    current: &TrueEntity,
    code: &str,
) -> String {
    let source = match current.proof {
        Proof::Ast => "AST",
        Proof::Pattern | Proof::PartialPattern => "pattern",
        Proof::Exact => match view.disk_finding(&entity.path) {
            Some(LastFinding::File(_)) => "disk",
            _ => "paste",
        },
    };
    format!(
        "{STATE_OPEN}\n{}\nArtifact: {:.*}\nSource: Confirmed via {source}\n\n{}\n{STATE_CLOSE}",
        entity_line(entity),
        digits_needed(view, entity, current.slice),
        current.slice,
        code
    )
}

/// How many digits of a version's hash distinguish it from the entity's others, at least
/// [`HASH_DIGITS_SHOWN_MIN`]: to a small model the whole hash is as long as a function.
fn digits_needed(view: &StateView<'_>, entity: &EntityId, slice: SliceHash) -> usize {
    let former = view.former_versions(entity).into_iter().map(|it| it.slice);
    let proposed = view.proposals_for(entity).into_iter().map(|it| it.slice);
    let others = former.chain(proposed).filter(|other| *other != slice);
    let digits = format!("{slice}");
    let shared = others.map(|other| {
        let other = format!("{other}");
        let pairs = digits.bytes().zip(other.bytes());
        pairs.take_while(|(one, other)| one == other).count()
    });
    shared.max().map_or(HASH_DIGITS_SHOWN_MIN, |shared| {
        (shared + 1).max(HASH_DIGITS_SHOWN_MIN)
    })
}

/// The line of a state block that names its entity.
pub(crate) fn entity_line(entity: &EntityId) -> String {
    format!("Entity: {entity}")
}

/// An estimate of the tokens in a text, on the high side.
fn tokens_of(text: &str) -> u32 {
    u32::try_from(text.len().div_ceil(BYTES_PER_TOKEN)).unwrap_or(u32::MAX)
}

/// Sorts by the order of first hydration, so that a local model's prefix cache survives from turn to turn.
fn keep_order(admitted: &mut [(Hydrated, String)], order: &[EntityId]) {
    let rank = |entity: &EntityId| {
        order
            .iter()
            .position(|known| known == entity)
            .unwrap_or(order.len())
    };
    admitted.sort_by_key(|(hydrated, _)| rank(&hydrated.entity));
}
