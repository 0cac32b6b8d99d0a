//! What the engine hands out between two of its calls: files to look at, and the batch so far.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use tslp_core::audit::AuditQuestion;
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event::{
    AuditOutcome, DiskFile, DiskFinding, Envelope, History, PlaceObserved, PromptMeasured,
    Recorded, WindowExceeded,
};
use tslp_core::ids::{EpisodeId, Seq, SessionId, UnixMillis};
use tslp_core::message::ToolCall;
use tslp_core::outgoing::Outgoing;
use tslp_core::path::RelPath;
use tslp_core::reason::Reason;
use tslp_core::request::Request;
use tslp_core::scope::OffRules;
use tslp_decide::judge::found_code::{FoundCode, MessageEnd};
use tslp_decide::judge::promote::MessagePieces;
use tslp_decide::prompt::authorship::MessageAuthors;
use tslp_decide::prompt::mention::Mentions;
use tslp_decide::prompt::reader::PastedCode;
use tslp_decide::prompt::receive::ReceivedPrompt;
use tslp_decide::prompt::records::About;
use tslp_decide::scope::place::PlaceFinding;
use tslp_decide::scope::work::WithheldPrompt;
use tslp_decide::user::direct::{FileText, ResolvedDirective};
use tslp_projections::state::StateView;

/// A file to look at, and the symbols whose slices are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskCheck {
    /// The file.
    pub path: RelPath,
    /// Sorted, without repetition.
    pub symbols: Vec<Symbol>,
    /// The file as it was last seen: if its text hasn't changed, it needn't be parsed again.
    pub last_seen: Option<DiskFile>,
}

/// A look at where absolute paths lead.
pub type PlaceLook<'l> = &'l mut dyn FnMut(Vec<String>) -> Vec<PlaceFinding>;

/// A file and what a look at it found.
pub type FileFinding = (RelPath, DiskFinding);

/// The text of a file that may be taken without being asked for, and when it was changed last.
pub type TouchedText = (String, UnixMillis);

/// Events to append as one transaction.
#[derive(Debug)]
pub struct Batch {
    /// The events, in order.
    pub recorded: Vec<Recorded>,
}

impl Batch {
    /// The last event's position, if there is any event.
    #[must_use]
    pub fn last(&self) -> Option<Seq> {
        self.recorded.last().map(|recorded| recorded.seq)
    }

    /// This batch and the next one as one transaction.
    #[must_use]
    pub fn merged_with(mut self, next: Self) -> Self {
        if let (Some(last), Some(first)) = (self.last(), next.recorded.first()) {
            assert_eq!(
                last.next(),
                first.seq,
                "batches are merged in the order of their events"
            );
        }
        self.recorded.extend(next.recorded);
        self
    }
}

/// A prompt between its arrival and its going out.
pub struct PendingPrompt {
    /// Files to look at before the prompt goes on.
    pub checks: Vec<DiskCheck>,
    /// Files whose text the user accepts as it is.
    pub reads: Vec<RelPath>,
    /// Files that the prompt names and that nothing is known of.
    pub touches: Vec<RelPath>,
    /// Files that the last reply was refused for, to see whether its client has written them all the same, and those that the newest
    /// messages may show as disk holds them.
    pub aftermath: Vec<RelPath>,
    /// Why it may not go to a model, if the serving program knows a reason.
    pub withheld: Option<WithheldPrompt>,
    /// Its tokens, estimated.
    pub tokens: u64,
    /// The rules by which files are off once its directives are carried out.
    pub off_rules: OffRules,
    pub(crate) request: Request,
    pub(crate) work: BatchBuilder,
    pub(crate) kind: RequestKind,
}

/// Who made a request: the user, or the client on its own account.
#[expect(
    clippy::large_enum_variant,
    reason = "one is made for each request, and nearly all are prompts"
)]
pub(crate) enum RequestKind {
    /// The user's.
    Prompt(ReceivedPrompt, ExaminedPrompt),
    /// The client's own, with its episode.
    /// With the conversation that it repeats, if any.
    SideRequest(EpisodeId, SessionId),
}

/// The contents of a prompt that matter to decisions.
pub(crate) struct ExaminedPrompt {
    /// The text of its user messages.
    pub(crate) prompt: String,
    /// What it names, and the last event when that was so.
    pub(crate) mentions: (Seq, Mentions),
    /// Who wrote its new user messages, by their index in the request.
    pub(crate) authors: BTreeMap<usize, MessageAuthors>,
    /// Lines that read as directives and did nothing: why, and the entity that they name.
    pub(crate) refused_directives: Vec<(Reason, Option<EntityId>)>,
    pub(crate) pasted: Vec<PastedCode>,
    /// Code in it that was sent before.
    pub(crate) repeated: Vec<FoundCode>,
    pub(crate) directives: Vec<ResolvedDirective>,
    /// The records that it may be about.
    pub(crate) about: About,
    /// Whether it holds code whose file nothing names.
    pub(crate) has_pathless_code: bool,
}

/// A directive from the command line, before its file was looked at.
pub struct PendingCommand {
    /// Files to look at.
    pub checks: Vec<DiskCheck>,
    /// Files whose text the user accepts as it is.
    pub reads: Vec<RelPath>,
    pub(crate) directive: ResolvedDirective,
    pub(crate) work: BatchBuilder,
}

/// A file that the user turned off, as disk holds it, or another one, for what it has in common with those.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OffFile {
    /// Its path.
    pub path: RelPath,
    /// Its text.
    pub text: String,
    /// Whether it is in a language that is read here.
    pub is_code: bool,
}

/// Files that a call names while its reply is still coming.
#[derive(Debug, Default)]
pub struct CalledFiles {
    /// Known ones, to be looked at.
    pub checks: Vec<DiskCheck>,
    /// Unknown ones, whose text may be taken.
    pub touches: Vec<RelPath>,
}

/// Disk's answers to the questions of a [`PendingPrompt`], [`PendingReply`] or [`PendingCommand`].
#[derive(Debug, Default)]
pub struct DiskAnswers {
    /// The findings, one for each check.
    pub findings: Vec<FileFinding>,
    /// The file's text for each of the reads, in order.
    pub texts: Vec<FileText>,
    /// The text of each of the touched files that may be taken; `None` of those that may not.
    pub touched: Vec<Option<TouchedText>>,
    /// The text of each file of the aftermath, in order.
    pub aftermath: Vec<FileText>,
    /// The files that are off, as far as their text is new, and after them others.
    pub off_files: Vec<OffFile>,
    /// Other names of those files, as far as they are new.
    pub aliases: Vec<PlaceObserved>,
}

/// A prompt that is ready to go out.
pub struct ComposedPrompt {
    /// Its episode.
    pub episode: EpisodeId,
    /// The events to make durable before any byte of the reply reaches the client.
    pub batch: Batch,
    /// The client's request.
    pub request: Request,
    /// The request that goes to the model in its place.
    pub outgoing: Outgoing,
    /// Its session and how older messages are treated; `None` for a request outside the conversations.
    pub conversation: Option<(SessionId, History)>,
    /// Why it may not go to a model, if so. Then it wasn't composed, and its episode is to be ended.
    pub withheld: Option<WithheldPrompt>,
}

/// The decisions about a reply.
pub struct JudgedReply {
    /// The events to append before the reply's end reaches the client.
    pub batch: Batch,
    /// The question for a shadow audit, to be asked once nobody waits for the model (spec §10).
    pub audit: Option<AuditQuestion>,
}

/// An audit's answer, before its files were looked at.
pub struct PendingAudit {
    /// Files to look at before anything is promoted.
    pub checks: Vec<DiskCheck>,
    pub(crate) outcome: AuditOutcome,
    pub(crate) answer: Option<String>,
    pub(crate) work: BatchBuilder,
}

/// A reply between its end and the decisions about it.
pub struct PendingReply {
    /// Files to look at before anything is promoted.
    pub checks: Vec<DiskCheck>,
    /// Files that the reply names and that nothing is known of; to be read before the client has the reply's end.
    pub touches: Vec<RelPath>,
    /// The costs of what the model server was asked for, the prompt's own last, to be recorded with the reply's end.
    pub measured: Vec<PromptMeasured>,
    /// Whether it was longer than what its model reads, to be recorded with the reply's end.
    pub exceeded: Option<WindowExceeded>,
    /// All of it, if it is complete.
    pub(crate) text: String,
    /// Whether it was cut short.
    pub(crate) end: MessageEnd,
    /// Its tool calls, if it is complete.
    pub(crate) calls: Vec<ToolCall>,
    /// The records that it proposes.
    pub(crate) notes: Vec<String>,
    pub(crate) found: Vec<FoundCode>,
    pub(crate) containers: MessagePieces,
    pub(crate) work: BatchBuilder,
}

/// Collects the events of one [`Batch`].
#[derive(Debug)]
pub struct BatchBuilder {
    /// The time of the step under way.
    pub(crate) at: UnixMillis,
    /// Its episode.
    pub(crate) episode: EpisodeId,
    /// Its session.
    pub(crate) session: SessionId,
    pub(crate) recorded: Vec<Recorded>,
}

impl Default for BatchBuilder {
    fn default() -> Self {
        Self::outside(UnixMillis(0))
    }
}

impl BatchBuilder {
    /// Nothing yet of a step outside of conversations.
    #[must_use]
    pub const fn outside(at: UnixMillis) -> Self {
        Self::of(at, EpisodeId::OUTSIDE, SessionId(0))
    }

    /// Nothing yet of a step of an episode.
    pub(crate) const fn of(at: UnixMillis, episode: EpisodeId, session: SessionId) -> Self {
        Self {
            at,
            episode,
            session,
            recorded: Vec::new(),
        }
    }

    /// For a step that is on record already.
    pub(crate) const fn on_record(envelope: &Envelope) -> Self {
        Self::of(envelope.at, envelope.episode, envelope.session)
    }

    /// The step's episode and session.
    pub(crate) const fn ids(&self) -> (EpisodeId, SessionId) {
        (self.episode, self.session)
    }

    /// The envelope of the step's next event.
    pub(crate) const fn envelope(&self, seq: Seq) -> Envelope {
        Envelope {
            seq,
            at: self.at,
            episode: self.episode,
            session: self.session,
            ends_step: false,
        }
    }

    /// The step is over; what comes next is another one's.
    pub(crate) fn end_step(&mut self) {
        if let Some(last) = self.recorded.last_mut() {
            last.envelope.ends_step = true;
        }
    }

    /// The events so far, in order.
    #[must_use]
    pub fn recorded(&self) -> &[Recorded] {
        &self.recorded
    }

    /// The batch.
    #[must_use]
    pub fn finish(mut self) -> Batch {
        self.end_step();
        Batch {
            recorded: self.recorded,
        }
    }
}

/// Collects files to look at, each once, their symbols sorted.
#[derive(Default)]
pub(crate) struct DiskChecks(BTreeMap<RelPath, DiskCheck>);

impl DiskChecks {
    /// Adds a file once, with the symbols that are true in it and those that a later grant may make true.
    pub(crate) fn add_file(&mut self, view: &StateView<'_>, path: &RelPath) {
        if self.0.contains_key(path) {
            return;
        }
        let proposed = view.proposals_under(path).into_iter();
        let mut symbols = view.state.state_map().symbols_of(path);
        symbols.extend(proposed.filter_map(|proposal| proposal.entity.symbol));
        symbols.sort();
        symbols.dedup();
        let last_seen = match view.state.state_map().disk_finding_in_full(path) {
            Some(DiskFinding::File(file)) => Some(file),
            Some(DiskFinding::Missing | DiskFinding::Unreadable(_)) | None => None,
        };
        let check = DiskCheck {
            path: path.clone(),
            symbols,
            last_seen,
        };
        self.0.insert(path.clone(), check);
    }

    pub(crate) fn add_code(&mut self, view: &StateView<'_>, found: &FoundCode) {
        let Some(path) = found.usable_path() else {
            return;
        };
        self.add_file(view, path);
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
