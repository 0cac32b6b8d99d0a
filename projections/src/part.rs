//! The whole state as plain data, piece by piece: what a checkpoint is made of.
//!
//! Two states with the same parts behave alike for ever after, once all that they were folded from is durable: the archives'
//! rows, which the store gives, are in no part. Parts come in a fixed order, each list in the order of its
//! keys, so states can be compared by them.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::ControlFlow;

use tslp_core::entity::EntityId;
use tslp_core::event::{DiskFinding, RulesInForce};
use tslp_core::hash::{ArtifactHash, MessageKey, SliceHash, TranscriptHash};
use tslp_core::ids::{CaptureId, EpisodeId, Seq, SessionId, VersionId};
use tslp_core::path::RelPath;
use tslp_core::view::{Divergence, FormerVersion};

use crate::audits::Audit;
use crate::episodes::Episode;
use crate::proposals::Proposed;
use crate::sessions::Session;
use crate::state_map::FileTruths;

/// A bounded piece of the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Of the State Map: what is true was promoted out of, and how many versions were.
    Sources(Vec<(ArtifactHash, u32)>),
    /// Of the State Map: what is true, file by file.
    Truths(Vec<FileTruths>),
    /// Of the State Map: earlier versions.
    Superseded(Vec<(EntityId, Vec<FormerVersion>)>),
    /// Open proposals.
    Proposals(Vec<Proposed>),
    /// Open proposals of each entity, oldest first.
    ProposalOrder(Vec<(EntityId, Vec<VersionId>)>),
    /// The last capture and the last version.
    ProposalIds(CaptureId, VersionId),
    /// Tombstones.
    Tombstones(Vec<(EntityId, VersionId, EpisodeId)>),
    /// The last look at each path.
    Disk(Vec<(RelPath, DiskFinding, Seq)>),
    /// Of the STALE set; `None` where the user knew.
    Differing(Vec<(EntityId, Option<Divergence>)>),
    /// Of the STALE set: what disk held when the user decided.
    Acknowledged(Vec<(EntityId, Option<SliceHash>)>),
    /// Conversations.
    Sessions(Vec<(SessionId, Session)>),
    /// Conversations by their names.
    SessionNames(Vec<(String, SessionId)>),
    /// Where conversations were after a reply.
    SessionPoints(Vec<(TranscriptHash, SessionId, u32)>),
    /// Conversations by their last exchange.
    SessionTails(Vec<(TranscriptHash, SessionId)>),
    /// Conversations by their last reply.
    SessionReplies(Vec<(MessageKey, SessionId)>),
    /// Conversations by their last prompt.
    SessionPrompts(Vec<(TranscriptHash, SessionId)>),
    /// The conversation of each episode.
    SessionEpisodes(Vec<(EpisodeId, SessionId)>),
    /// Prompts whose reply is under way, with how many attempts.
    UnderWay(Vec<(EpisodeId, u32)>),
    /// The last session and the last episode.
    SessionIds(SessionId, EpisodeId),
    /// The last episodes.
    Episodes(Vec<(EpisodeId, Episode)>),
    /// Shadow audits.
    Audits(Vec<(EpisodeId, VersionId, Audit)>),
    /// Events that contradict the state before them.
    Anomalies(Vec<(Seq, &'static str)>),
    /// The rules in force.
    Rules(Box<RulesInForce>),
}

impl Part {
    /// What it is of.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Sources(_) => "sources",
            Self::Truths(_) => "state map",
            Self::Superseded(_) => "superseded",
            Self::Proposals(_) => "proposals",
            Self::ProposalOrder(_) => "proposals by entity",
            Self::ProposalIds(..) => "last capture and version",
            Self::Tombstones(_) => "tombstones",
            Self::Disk(_) => "disk",
            Self::Differing(_) => "stale",
            Self::Acknowledged(_) => "acknowledged",
            Self::Sessions(_) => "sessions",
            Self::SessionNames(_) => "sessions by name",
            Self::SessionPoints(_) => "sessions by point",
            Self::SessionTails(_) => "sessions by tail",
            Self::SessionReplies(_) => "sessions by reply",
            Self::SessionPrompts(_) => "sessions by last prompt",
            Self::SessionEpisodes(_) => "sessions by episode",
            Self::UnderWay(_) => "replies under way",
            Self::SessionIds(..) => "last session and episode",
            Self::Episodes(_) => "episodes",
            Self::Audits(_) => "audits",
            Self::Anomalies(_) => "anomalies",
            Self::Rules(_) => "rules",
        }
    }
}

/// Takes parts until it breaks.
pub type Visit<'v> = &'v mut dyn FnMut(Part) -> ControlFlow<()>;

/// No parts can be had: a block was captured and not yet resolved. Never so between two batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsettled;

/// Parts that can't be of one state. The text says which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfit(pub &'static str);

/// Weight of one part: as many plain records, or fewer that hold lists.
const PART_WEIGHT_MAX: usize = 4096;

/// Hands items out in parts of bounded weight.
pub(crate) fn emit<T>(
    items: impl IntoIterator<Item = T>,
    weight: impl Fn(&T) -> usize,
    part: impl Fn(Vec<T>) -> Part,
    visit: Visit<'_>,
) -> ControlFlow<()> {
    let mut waiting = Vec::new();
    let mut total = 0;
    for item in items {
        total += 1 + weight(&item);
        waiting.push(item);
        if total >= PART_WEIGHT_MAX {
            total = 0;
            visit(part(core::mem::take(&mut waiting)))?;
        }
    }
    if waiting.is_empty() {
        ControlFlow::Continue(())
    } else {
        visit(part(waiting))
    }
}

/// The weight of what holds no list.
pub(crate) const fn plain<T>(_: &T) -> usize {
    0
}

/// Puts items into an empty place for each.
pub(crate) fn fill<K: Ord, V>(
    map: &mut alloc::collections::BTreeMap<K, V>,
    items: impl IntoIterator<Item = (K, V)>,
    what: &'static str,
) -> Result<(), Unfit> {
    for (key, value) in items {
        if map.insert(key, value).is_some() {
            return Err(Unfit(what));
        }
    }
    Ok(())
}
