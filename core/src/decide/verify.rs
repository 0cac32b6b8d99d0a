//! User verification: who saw a proposal and asks for the next change of it has taken it (spec §6, gate B).

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::Recorder;
use super::found_code::FoundCode;
use super::promote;
use super::propose::{base_since, disk_verdict};
use crate::artifact::Origin;
use crate::entity::EntityId;
use crate::event::Event;
use crate::gate::LateGrant;
use crate::ids::{EpisodeId, SessionId};
use crate::mention::Mentions;
use crate::reason::Reason;
use crate::view::{Proposal, View};

/// Words that ask for a change, as data.
const CHANGE_VERBS: &str = include_str!("change_verbs.txt");

/// Promotes the proposals that this prompt verifies. The state must hold what disk says of their files, by an
/// observation of this episode, and the prompt must not be composed yet.
#[must_use]
pub fn verify(
    view: &dyn View,
    (episode, session): (EpisodeId, SessionId),
    prompt: &str,
    mentions: &Mentions,
    supplied: &[&FoundCode],
) -> Vec<Event> {
    if !asks_for_a_change(prompt) {
        return Vec::new();
    }
    let Some(before) = view.turn_before(session) else {
        return Vec::new();
    };
    let mut taken: BTreeSet<EntityId> = BTreeSet::new();
    // The newest proposal of an entity is the one that the user has seen last.
    let mut verified: Vec<Proposal> = view
        .proposals_in(session)
        .into_iter()
        .rev()
        .filter(|proposal| {
            proposal.episode == before.episode
                && before.shown.contains(&proposal.entity)
                && is_mentioned(mentions, &proposal.entity)
                && !supplied
                    .iter()
                    .any(|found| is_replacement(found, &proposal.entity))
                && proposal.refused_for() == Some(Reason::GrantMissing)
        })
        .filter(|proposal| taken.insert(proposal.entity.clone()))
        .collect();
    verified.reverse();
    let mut recorder = Recorder::new(view);
    for of_block in verified
        .chunk_by(|one, next| one.artifact == next.artifact && one.entity.path == next.entity.path)
    {
        grant(&mut recorder, view, episode, of_block);
    }
    recorder.into_events()
}

/// Promotes the proposals of one block that only lacked a grant, as far as disk still agrees.
fn grant(recorder: &mut Recorder<'_>, view: &dyn View, episode: EpisodeId, of_block: &[Proposal]) {
    let mut promoted = Vec::new();
    for proposal in of_block {
        let disk = disk_verdict(view, &proposal.entity, proposal.slice);
        let report = proposal.report.clone().unwrap_or_default();
        let report = report.granted(LateGrant::UserVerified, base_since(view, proposal), disk);
        if report.passed {
            let version = (proposal.version, &proposal.entity);
            promote::promote(recorder, episode, Origin::Model, version, report);
            promoted.push(&proposal.entity);
        }
    }
    promote::supersede_older_whole(recorder, episode, Origin::Model, promoted);
}

/// Whether the text holds a word of the list.
fn asks_for_a_change(text: &str) -> bool {
    let verbs: BTreeSet<&str> = CHANGE_VERBS
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|word| verbs.contains(word.to_lowercase().as_str()))
}

fn is_mentioned(mentions: &Mentions, entity: &EntityId) -> bool {
    mentions.symbols.contains(entity) || mentions.files.contains(&entity.path)
}

/// Whether the user's own code defines the entity anew.
fn is_replacement(found: &FoundCode, entity: &EntityId) -> bool {
    let is_of_file = found.usable_path().is_none_or(|path| *path == entity.path);
    let defines = entity
        .symbol
        .as_ref()
        .is_none_or(|symbol| found.symbols().contains(symbol));
    is_of_file && defines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_asked_for_by_a_verb_of_the_list() {
        assert!(asks_for_a_change("Now make `f` faster."));
        assert!(asks_for_a_change("Rename it, please"));
        assert!(!asks_for_a_change("What does `f` return?"));
        assert!(!asks_for_a_change("the address of f"));
    }
}
