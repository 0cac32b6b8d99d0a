//! Work between two steps of the engine: what is to be looked at first, and what was decided so far.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use tslp_core::audit::AuditQuestion;
use tslp_core::decide::compose::Outgoing;
use tslp_core::decide::direct::{FileText, ResolvedDirective};
use tslp_core::decide::found_code::FoundCode;
use tslp_core::decide::promote::MessagePieces;
use tslp_core::decide::prompt::PastedCode;
use tslp_core::decide::receive::ReceivedPrompt;
use tslp_core::entity::Symbol;
use tslp_core::event::{AuditOutcome, DiskFile, DiskFinding, History, PromptMeasured, Recorded};
use tslp_core::ids::{EpisodeId, Seq, SessionId, UnixMillis};
use tslp_core::message::Request;
use tslp_core::path::RelPath;
use tslp_core::view::View;
use tslp_projections::table::{Changes, RowChange};

use crate::state::State;

/// A file to look at, and the symbols whose slices are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskCheck {
    /// The file.
    pub path: RelPath,
    /// Sorted, without repetition.
    pub symbols: Vec<Symbol>,
    /// What was last seen there. Where the file's text is still the same, nobody has to parse it.
    pub last_seen: Option<DiskFile>,
}

/// What a check found.
pub type Finding = (RelPath, DiskFinding);

/// Events to append as one transaction, with the row changes that they cause.
#[derive(Debug)]
pub struct Batch {
    /// The events, in order.
    pub recorded: Vec<Recorded>,
    /// Changes to the projections' tables.
    pub changes: Vec<RowChange>,
}

impl Batch {
    /// The last event's position, if there is any event.
    #[must_use]
    pub fn last(&self) -> Option<Seq> {
        self.recorded.last().map(|recorded| recorded.seq)
    }

    /// This batch and the next one as one transaction.
    #[must_use]
    pub fn and(mut self, next: Self) -> Self {
        self.recorded.extend(next.recorded);
        self.changes.extend(next.changes);
        self
    }
}

/// A prompt between its arrival and its going out.
pub struct PendingPrompt {
    /// Files to look at before the prompt goes on.
    pub checks: Vec<DiskCheck>,
    /// Files whose text the user accepts as it stands.
    pub reads: Vec<RelPath>,
    /// Files that the prompt names and that nothing is known of.
    pub touches: Vec<RelPath>,
    /// Files that the last reply was refused for: what its client made of them all the same.
    pub aftermath: Vec<RelPath>,
    pub(crate) at: UnixMillis,
    pub(crate) request: Request,
    pub(crate) work: Work,
    pub(crate) kind: Kind,
}

/// Whose request it is.
pub(crate) enum Kind {
    /// The user's.
    Prompt(ReceivedPrompt, Examined),
    /// The client's own, with its episode.
    SideRequest(EpisodeId),
}

/// What a prompt says.
pub(crate) struct Examined {
    /// What the user says in it.
    pub(crate) prompt: String,
    pub(crate) pasted: Vec<PastedCode>,
    /// Code in it that was sent before.
    pub(crate) repeated: Vec<FoundCode>,
    pub(crate) orders: Vec<ResolvedDirective>,
    /// Whether it holds code whose file nothing names.
    pub(crate) has_code_without_path: bool,
}

/// A directive from the command line, before its file was looked at.
pub struct PendingCommand {
    /// Files to look at.
    pub checks: Vec<DiskCheck>,
    /// Files whose text the user accepts as it stands.
    pub reads: Vec<RelPath>,
    pub(crate) at: UnixMillis,
    pub(crate) order: ResolvedDirective,
    pub(crate) work: Work,
}

/// What the surroundings answer to a [`PendingPrompt`].
#[derive(Debug, Default)]
pub struct Answers {
    /// What was found, for each check.
    pub findings: Vec<Finding>,
    /// What was read, for each of the reads.
    pub texts: Vec<FileText>,
    /// The text of each of the touched files that may be taken; `None` of those that may not.
    pub touched: Vec<Option<String>>,
    /// What was read of the files that the last reply was refused for.
    pub aftermath: Vec<FileText>,
}

/// A prompt that is ready to go out.
pub struct ComposedPrompt {
    /// Its episode.
    pub episode: EpisodeId,
    /// What to append before any byte of the reply reaches the client.
    pub batch: Batch,
    /// The client's request.
    pub request: Request,
    /// What goes to the model in its place.
    pub outgoing: Outgoing,
    /// Its session and how older messages are treated; `None` of a request beside the conversations.
    pub conversation: Option<(SessionId, History)>,
}

/// What came of a reply.
pub struct JudgedReply {
    /// What to append before the reply's end reaches the client.
    pub batch: Batch,
    /// What to ask the model about it, once nobody waits for the model (spec §10).
    pub audit: Option<AuditQuestion>,
}

/// An audit's answer, before its files were looked at.
pub struct PendingAudit {
    /// Files to look at before anything is promoted.
    pub checks: Vec<DiskCheck>,
    pub(crate) at: UnixMillis,
    pub(crate) episode: EpisodeId,
    pub(crate) outcome: AuditOutcome,
    pub(crate) answer: Option<String>,
}

/// A reply between its end and the decisions about it.
pub struct PendingReply {
    /// Files to look at before anything is promoted.
    pub checks: Vec<DiskCheck>,
    /// Files that the reply names and that nothing is known of; to be read before the client has the reply's end.
    pub touches: Vec<RelPath>,
    /// What the prompt cost, to be recorded with the reply's end.
    pub measured: Option<PromptMeasured>,
    pub(crate) at: UnixMillis,
    pub(crate) episode: EpisodeId,
    /// All of it, if it is complete.
    pub(crate) text: String,
    pub(crate) found: Vec<FoundCode>,
    pub(crate) containers: MessagePieces,
    pub(crate) work: Work,
}

/// Events and changes of a batch in the making.
#[derive(Debug, Default)]
pub struct Work {
    pub(crate) recorded: Vec<Recorded>,
    pub(crate) changes: Changes,
}

impl Work {
    /// Nothing yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            recorded: Vec::new(),
            changes: Changes::collecting(),
        }
    }

    /// For a step that is on record already.
    pub(crate) const fn on_record() -> Self {
        Self {
            recorded: Vec::new(),
            changes: Changes::discarding(),
        }
    }

    /// The events so far, in order.
    #[must_use]
    pub fn recorded(&self) -> &[Recorded] {
        &self.recorded
    }

    /// The batch, once all of it is folded and nothing else.
    #[must_use]
    pub fn finish(self, state: &State) -> Batch {
        Batch {
            recorded: self.recorded,
            changes: state.rows_changed(self.changes),
        }
    }
}

/// Collects files to look at, each once, their symbols sorted.
#[derive(Default)]
pub(crate) struct Checks(BTreeMap<RelPath, DiskCheck>);

impl Checks {
    /// What is true of a file is looked for, and what may become so by a late grant.
    pub(crate) fn add(&mut self, view: &dyn View, path: &RelPath) {
        if self.0.contains_key(path) {
            return;
        }
        let proposed = view.proposals_under(path).into_iter();
        let mut symbols = view.symbols_of(path);
        symbols.extend(proposed.filter_map(|proposal| proposal.entity.symbol));
        symbols.sort();
        symbols.dedup();
        let last_seen = match view.disk(path) {
            Some(DiskFinding::File(file)) => Some(file.clone()),
            Some(DiskFinding::Missing | DiskFinding::Unreadable(_)) | None => None,
        };
        let check = DiskCheck {
            path: path.clone(),
            symbols,
            last_seen,
        };
        self.0.insert(path.clone(), check);
    }

    pub(crate) fn add_code(&mut self, view: &dyn View, found: &FoundCode) {
        let Some(path) = found.usable_path() else {
            return;
        };
        self.add(view, path);
        if let Some(check) = self.0.get_mut(path) {
            check.symbols.extend(found.symbols());
            check.symbols.sort();
            check.symbols.dedup();
        }
    }

    pub(crate) fn into_vec(self) -> Vec<DiskCheck> {
        self.0.into_values().collect()
    }
}
