//! Drives decide and fold over one state: the same code live, in tests and in deep verification.
//!
//! The engine never waits: where it needs to know what disk holds it returns the checks, and goes on when the findings
//! are handed in.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cell::RefCell;

use tslp_core::artifact::Origin;
use tslp_core::directive::Directive;
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event::{
    AuditOutcome, ContentKind, DirectiveGiven, DiskFile, DiskFinding, Event, History, NoticeIssued,
    PlaceObserved, RecordChanged, ReplyImported, ReplyOutcome, Verb,
};
use tslp_core::extract::Grammars;
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, Seq, SessionId, UnixMillis};
use tslp_core::message::{self, Role};
use tslp_core::outgoing::{Outgoing, SentPrompt};
use tslp_core::path::RelPath;
use tslp_core::policy::{OnStale, Policy};
use tslp_core::reason::Reason;
use tslp_core::recent_map::RecentMap;
use tslp_core::redact;
use tslp_core::request::Request;
use tslp_decide::Recorder;
use tslp_decide::code_reader::CodeReader;
use tslp_decide::judge::audit;
use tslp_decide::judge::found_code::{self, FoundCode};
use tslp_decide::judge::meant;
use tslp_decide::judge::promote::MessagePieces;
use tslp_decide::judge::propose::{self, GainedCode, JudgingContext, WriteState};
use tslp_decide::judge::reply::{self, Reply, SegmentExtent};
use tslp_decide::judge::verify;
use tslp_decide::observe;
use tslp_decide::prompt::clear::{self, Messages};
use tslp_decide::prompt::compose::{self, Composed};
use tslp_decide::prompt::facts::Prompt;
use tslp_decide::prompt::goal;
use tslp_decide::prompt::reader;
use tslp_decide::prompt::receive::{self, PromptRepetition};
use tslp_decide::prompt::records;
use tslp_decide::prompt::sent::{self};
use tslp_decide::prompt::shown::{self, ShownLines, TakenFromDisk};
use tslp_decide::prompt::side_request;
use tslp_decide::prompt::text_index::TextIndex;
use tslp_decide::scope::off::{self, OffKnowledge};
use tslp_decide::scope::place::{self, PlaceFinding, Standpoint};
use tslp_decide::scope::rules;
use tslp_decide::scope::tools;
use tslp_decide::scope::touch;
use tslp_decide::scope::work::{self as agents_work, RequestToBill, WithheldPrompt};
use tslp_decide::user::direct::{self, FileText, ResolvedDirective};
use tslp_decide::user::write_head::{self, CodeSource};
use tslp_projections::changes::RowsUpTo;
use tslp_projections::stale::Divergence;

use crate::pending::{
    Batch, BatchBuilder, CalledFiles, ComposedPrompt, DiskAnswers, DiskChecks, ExaminedPrompt,
    FileFinding, JudgedReply, OffFile, PendingAudit, PendingCommand, PendingPrompt, PendingReply,
    PlaceLook, RequestKind, TouchedText,
};
use crate::trace::RecordedStep;
use seen::SentPrompts;
use tslp_projections::disk::LastFinding;
use tslp_projections::state::{State, StateView};
use tslp_projections::state_map::StoredFiles;
use tslp_projections::store::Store;

pub mod call;
mod draft;
mod examine;
mod fold;
pub(crate) mod retrace;
mod seen;
mod standing;

/// The code of files by their paths and texts.
type ReadFiles = RecentMap<(RelPath, ArtifactHash), FoundCode>;

/// Bytes of a generation of them.
const READ_FILES_BYTES: usize = 1 << 20;

/// What a definition takes there, about.
const FOUND_DEFINITION_BYTES: usize = 512;

/// The state, the parsers and the policy, with the bytes that aren't on disk yet.
pub struct Engine<G, S> {
    state: State,
    grammars: G,
    policy: Policy,
    store: UncommittedOverlay<S>,
    /// A cache of facts about messages' texts; affects only speed.
    index: RefCell<TextIndex>,
    /// Files as they were read last; affects only speed.
    files: RefCell<ReadFiles>,
    /// What is known of the files that are off; nothing of it is on record, but what it leads to.
    off: OffKnowledge,
    /// The texts sent to the model, for each reply under way.
    sent: SentPrompts,
    /// The version of tslp to record with its rules; `None`: rules aren't recorded.
    program: Option<String>,
    /// Whether the rules may differ from those on record.
    undeclared: bool,
    /// While a ledger is retraced: the recorded events of the current step, which are folded in place of today's decisions.
    trace: Option<RecordedStep>,
}

impl<G: Grammars, S: Store> Engine<G, S> {
    /// Goes on from a state; `store` gives what the state doesn't hold.
    pub fn new(mut state: State, grammars: G, policy: Policy, store: S) -> Self {
        state.follow_changes(true);
        Self {
            state,
            grammars,
            index: RefCell::new(TextIndex::new(&policy.workspace_root)),
            policy,
            store: UncommittedOverlay {
                stored: store,
                fresh: BTreeMap::new(),
                fresh_records: BTreeMap::new(),
            },
            files: RefCell::new(ReadFiles::of_bytes(READ_FILES_BYTES)),
            off: OffKnowledge::default(),
            sent: SentPrompts::new(),
            program: None,
            undeclared: false,
            trace: None,
        }
    }

    /// Records the rules in force with the next decision, if they differ from those on record. `program` is the version of
    /// tslp. A changed token budget alone is no difference, since each prompt records its own.
    pub fn declare_rules(&mut self, program: &str) {
        self.program = Some(program.into());
        self.undeclared = true;
    }

    /// The state as decided so far, durable or not.
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// The rows that have changed since the last call, or since the store's own. To be called between two batches.
    pub fn take_rows(&mut self) -> RowsUpTo {
        RowsUpTo {
            seq: self.state.head(),
            changes: self.state.take_changes(),
        }
    }

    /// Notes no longer which rows change: no store is told.
    pub(crate) fn forgo_rows(&mut self) {
        self.state.follow_changes(false);
    }

    /// Sets the token budget of hydration, once the model's context size is known.
    pub const fn set_budget_tokens(&mut self, tokens: u32) {
        self.policy.budget_tokens = tokens;
    }

    /// Frees what the store can supply from now on: everything up to `durable` is committed and visible to the store, apart from
    /// rows that are still to be written.
    pub fn rows_made_durable(&mut self, durable: Seq) {
        self.forget_contents(durable);
        self.state
            .rows_made_durable(durable.min(self.store.archived()));
    }

    /// Frees the bytes of content events up to `until`, even those that aren't stored: nothing will read them.
    pub fn forget_contents(&mut self, until: Seq) {
        let UncommittedOverlay {
            fresh,
            fresh_records,
            ..
        } = &mut self.store;
        *fresh = fresh.split_off(&until.next());
        *fresh_records = fresh_records.split_off(&until.next());
    }

    /// Empties the caches of facts about messages' texts and about files. The next prompt takes longer; no decision changes.
    pub fn forget_texts(&mut self) {
        self.index = RefCell::new(TextIndex::new(&self.policy.workspace_root));
        self.files = RefCell::new(ReadFiles::of_bytes(READ_FILES_BYTES));
    }

    /// Replaces the store by another one, which supplies at least all that was freed so far ([`Self::rows_made_durable`]).
    pub fn set_store(&mut self, store: S) {
        self.store.stored = store;
    }

    /// Has code that isn't asked for stay in this store ([`State::set_stored_files`]).
    pub fn set_stored_files(&mut self, stored: Box<dyn StoredFiles + Send>, bytes_kept: usize) {
        self.state.set_stored_files(stored, bytes_kept);
    }

    /// Handles a prompt's arrival: records it, and returns the files to look at before it can be composed. `look` finds where the paths in
    /// it lead.
    pub fn receive(
        &mut self,
        at: UnixMillis,
        request: Request,
        look: PlaceLook<'_>,
    ) -> PendingPrompt {
        if side_request::is_side_request(&request) {
            let view = self.view();
            let repeated = receive::repeated_conversation(&view, &request);
            let session = repeated.map_or(SessionId(0), |(session, _)| session);
            let mut checks = DiskChecks::default();
            for path in view.state.scope().locked(session) {
                checks.add_file(&view, &path);
            }
            let (episode, events) = receive::receive_side_request(&view, &request);
            let mut work = BatchBuilder::of(at, episode, SessionId(0));
            self.fold(events, &mut work);
            return PendingPrompt {
                checks: checks.into_vec(),
                reads: Vec::new(),
                touches: Vec::new(),
                aftermath: Vec::new(),
                withheld: None,
                tokens: 0,
                off_rules: self.state.scope().off().clone(),
                request,
                work,
                kind: RequestKind::SideRequest(episode, session),
            };
        }
        let mut received = receive::receive(&self.view(), &request);
        let mut work = BatchBuilder::of(at, received.episode, received.session);
        if let Some(folder) = received.folder.take() {
            let stated = place::stated_folder(&self.view(), self.standpoint(&work), &folder);
            self.fold(stated.into_iter().collect(), &mut work);
            self.look_for(&[folder], look, &mut work);
        }
        self.look_for(&touch::paths_in_prompt(&request), look, &mut work);
        self.fold(core::mem::take(&mut received.events), &mut work);
        self.examine(request, received, work)
    }

    fn standpoint(&self, work: &BatchBuilder) -> Standpoint<'_> {
        Standpoint::of(&self.policy, work.session)
    }

    /// Has those of the paths looked for that are in no known place; returns files that the others may be.
    fn look_for(
        &mut self,
        written: &[String],
        look: PlaceLook<'_>,
        work: &mut BatchBuilder,
    ) -> Vec<RelPath> {
        let written = written.iter().map(String::as_str);
        let paths = place::to_look_for(&self.view(), self.standpoint(work), written);
        let found = match paths.is_empty() {
            true => Vec::new(),
            false => look(paths),
        };
        let mut candidates = Vec::new();
        for PlaceFinding {
            asked,
            seen,
            candidates: more,
        } in found
        {
            self.observe_place(&asked, seen, work);
            candidates.extend(more);
        }
        candidates
    }

    /// Has the paths looked for that a call names while its reply is still coming; returns the files to look at before it is carried out.
    pub fn look_for_called(
        &mut self,
        at: UnixMillis,
        episode: EpisodeId,
        written: &[String],
        look: PlaceLook<'_>,
    ) -> (Batch, CalledFiles) {
        let mut work = self.step_of(at, episode);
        let candidates = self.look_for(written, look, &mut work);
        let view = self.view();
        let code = self.code_reader(&view, work.session);
        let mut checks = DiskChecks::default();
        touch::known_files(code, written).for_each(|path| checks.add_file(&view, &path));
        let files = CalledFiles {
            checks: checks.into_vec(),
            touches: touch::by_reply(code, written, &[], &candidates),
        };
        (work.finish(), files)
    }

    /// Takes what the files hold that a call names, before it is carried out.
    pub fn look_at_called(
        &mut self,
        at: UnixMillis,
        episode: EpisodeId,
        touches: Vec<RelPath>,
        answers: DiskAnswers,
    ) -> Batch {
        let mut work = self.step_of(at, episode);
        self.observe(answers.findings, &mut work);
        self.take_touched(touches, answers.touched, &mut work);
        work.finish()
    }

    fn observe_place(&mut self, asked: &str, seen: PlaceObserved, work: &mut BatchBuilder) {
        let news = place::news(&self.view(), self.standpoint(work), asked, seen);
        if let Some(news) = news {
            self.fold(Vec::from([news]), work);
        }
    }

    fn observe_aliases(&mut self, aliases: Vec<PlaceObserved>, work: &mut BatchBuilder) {
        for seen in aliases {
            let asked = seen.written.clone();
            self.observe_place(&asked, seen, work);
        }
    }

    /// Adds to the files that are read those in which the look found something new: it may be what the conversation shows, or a
    /// formatter's work, and then it is no divergence.
    pub fn read_changed(&self, pending: &mut PendingPrompt, findings: &[FileFinding]) {
        let RequestKind::Prompt(_, examined) = &pending.kind else {
            return;
        };
        if !self.policy.reading_acknowledges() && self.policy.on_stale != OnStale::Follow {
            return;
        }
        let view = self.view();
        for (path, finding) in findings {
            let mut pasted = examined.pasted.iter();
            let is_left = pending.aftermath.contains(path)
                || pending.reads.contains(path)
                || pasted.any(|it| it.found.usable_path() == Some(path));
            if !is_left && self.tracks(path) && observe::is_news(&view, path, finding) {
                pending.aftermath.push(path.clone());
            }
        }
    }

    /// Composes a prompt, once its files have been looked at. The user's code becomes true first.
    pub fn compose(&mut self, pending: PendingPrompt, answers: DiskAnswers) -> ComposedPrompt {
        let PendingPrompt {
            touches,
            aftermath,
            withheld,
            tokens,
            request,
            mut work,
            kind,
            ..
        } = pending;
        let (received, examined) = match kind {
            RequestKind::Prompt(received, examined) => (received, examined),
            RequestKind::SideRequest(episode, session) => {
                self.observe_aliases(answers.aliases, &mut work);
                self.learn_off_files(answers.off_files);
                let bill = RequestToBill {
                    model: &request.model,
                    tokens,
                };
                let (view, policy) = (self.view(), &self.policy);
                let by_work =
                    || agents_work::withheld(&view, policy, work.at, SessionId(0), 0, bill);
                let withheld = rules::lock_miss(&view, session, &answers.findings);
                let withheld = withheld.or_else(by_work);
                return ComposedPrompt {
                    episode,
                    withheld,
                    batch: work.finish(),
                    outgoing: compose::compose_side_request(
                        &self.view(),
                        &self.policy,
                        &request,
                        &self.off,
                    ),
                    request,
                    conversation: None,
                };
            }
        };
        let ExaminedPrompt {
            prompt,
            mentions: (mentioned_at, mentions),
            authors,
            refused_directives,
            pasted,
            repeated,
            directives,
            about,
            has_pathless_code,
        } = examined;
        self.observe_aliases(answers.aliases, &mut work);
        self.observe(answers.findings, &mut work);
        self.take_touched(touches, answers.touched, &mut work);
        let session = received.session;
        self.decide(&mut work, |engine, policy| {
            shown::resolve_shown(&engine.view(), Standpoint::of(policy, session))
        });
        self.decide(&mut work, |engine, _| {
            let view = engine.view();
            let reader = engine.prompt_reader(&view, &request, &received, &authors);
            let found = reader.authors_found().into_iter();
            found.map(Event::AuthorFound).collect()
        });
        // What disk holds has come first: it may have made void what the prompt would confirm.
        let ids = (received.episode, received.session);
        let history = receive::history_mode(&self.policy);
        let files: Vec<(RelPath, FileText)> =
            aftermath.into_iter().zip(answers.aftermath).collect();
        self.judge_on_disk(&files, &mut work);
        self.take_shown(files, (&request, history), &mut work);
        // What was just taken may be what the prompt names.
        let mentions = match self.state.head() == mentioned_at {
            true => mentions,
            false => self.mentions(&request, &received, &prompt, (&pasted, &repeated)),
        };
        for pasted in &pasted {
            let found = {
                let view = self.view();
                self.code_reader(&view, session).reapplied(&pasted.found)
            };
            let is_models = propose::is_listing_of_model(&self.view(), &found);
            if pasted.source == CodeSource::PassedOn {
                let written = (received.episode, WriteState::NotYet);
                self.judge_models(&found, &pasted.pieces, written, &mut work);
                continue;
            }
            if is_models && !propose::would_be_refused_again(&self.view(), &found) {
                let written = (received.episode, WriteState::OnDisk(Origin::Model));
                self.judge_models(&found, &pasted.pieces, written, &mut work);
            }
            let source = match is_models {
                true => &CodeSource::Context,
                false => &pasted.source,
            };
            self.decide(&mut work, |engine, policy| {
                write_head::write_head(
                    &engine.view(),
                    policy.thresholds,
                    ids,
                    &found,
                    &pasted.pieces,
                    source,
                )
            });
        }
        let is_over = |(reason, _): &(Reason, _)| *reason == Reason::TooManyDirectives;
        let (over, refused): (Vec<_>, Vec<_>) = refused_directives.into_iter().partition(is_over);
        self.decide(&mut work, |_, _| direct::refuse_directives(ids, &refused));
        let mut texts = answers.texts.into_iter();
        for directive in &directives {
            // `reads` lists the files that directives accept, in the order of the directives.
            let text = directive.accepts().and_then(|_| {
                let text = texts.next();
                text.expect("every file that is accepted was read")
            });
            let at = work.at;
            self.decide(&mut work, |engine, policy| {
                engine.carry_out(policy, at, ids, directive, text.clone())
            });
        }
        // After the answers to those that were carried out: of many notices the newest are shown.
        self.decide(&mut work, |_, _| direct::refuse_directives(ids, &over));
        debug_assert!(
            texts.next().is_none(),
            "every text that was read belongs to a file that is accepted"
        );
        let at = work.at;
        self.decide(&mut work, |engine, _| records::expire(&engine.view(), at));
        let changed = agents_work::changed_meanwhile(&self.view(), &request, &work.recorded);
        self.decide(&mut work, |engine, policy| {
            agents_work::warn(&engine.view(), policy, at, ids, changed)
        });
        self.decide(&mut work, |engine, policy| {
            meant::unmatched_edits(&engine.view(), policy, &request, ids)
        });
        self.learn_off_files(answers.off_files);
        // `None` while the proxy serves: then the request itself shows it.
        let seen = self.seen_on_record();
        let is_for_another = work.recorded.iter().any(goal::leaves_nothing_to_tell);
        if !is_for_another {
            self.decide(&mut work, |engine, _| {
                goal::tell(&engine.view(), at, ids, &request, &mentions, seen.as_ref())
            });
        }
        let messages = Messages {
            request: &request,
            keys: &received.keys,
            omitted_prefix: received.omitted_prefix,
        };
        self.decide(&mut work, |engine, _| {
            clear::clear(&engine.view(), ids, messages, seen.as_ref())
        });
        let kept = messages
            .first_kept(&self.view(), ids.1)
            .map(|first| messages.kept_from(first));
        let outgoing = self.decide_with(&mut work, |engine, policy| {
            let view = engine.view();
            let kept_back = |withheld: WithheldPrompt| {
                let notice = NoticeIssued::new(ids, withheld.reason, None);
                (Vec::from([Event::NoticeIssued(notice)]), Err(withheld))
            };
            let recorded = || WithheldPrompt::on_record(&seen.as_ref()?.noticed);
            let withheld = withheld.clone().or_else(recorded);
            let tokens = seen.as_ref().map_or(tokens, |seen| {
                RequestToBill::tokens_on_record(&seen.noticed)
            });
            let bill = RequestToBill {
                model: &request.model,
                tokens,
            };
            let for_work = || agents_work::withheld(&view, policy, at, ids.1, changed, bill);
            if let Some(withheld) = withheld.or_else(for_work) {
                return kept_back(withheld);
            }
            let prompt = Prompt {
                request: kept.as_ref().map_or(&request, |kept| &kept.request),
                episode: received.episode,
                session: received.session,
                history,
                mentions: &mentions,
                has_pathless_code,
                keys: kept.as_ref().map_or(&received.keys, |kept| &kept.keys),
                policy,
                omitted_prefix: kept
                    .as_ref()
                    .map_or(received.omitted_prefix, |kept| kept.omitted_prefix),
                known_length: received.known_length,
                on_record: seen.as_ref(),
                off: &engine.off,
                grammars: &engine.grammars,
                index: &engine.index,
            };
            match compose::compose(&view, policy, &prompt, &about) {
                Ok(Composed { events, outgoing }) => {
                    let mut outgoing = match &kept {
                        Some(kept) => kept.in_request(outgoing),
                        None => outgoing,
                    };
                    goal::say_once(&mut outgoing);
                    (events, Ok(outgoing))
                }
                Err(withheld) => kept_back(withheld),
            }
        });
        let (outgoing, withheld) = match outgoing {
            Ok(outgoing) => (outgoing, None),
            Err(withheld) => (Outgoing::unchanged(&request), Some(withheld)),
        };
        ComposedPrompt {
            episode: received.episode,
            batch: work.finish(),
            request,
            outgoing,
            conversation: Some((received.session, history)),
            withheld,
        }
    }

    /// Records that replies, tool calls and audits under way in the previous process were interrupted.
    pub fn resume_after_restart(&mut self, at: UnixMillis) -> Batch {
        let mut work = BatchBuilder::outside(at);
        for call in self.state.guardian().under_way() {
            self.begin_step_of(call.episode, &mut work);
            self.fold(tools::record_interrupted(call), &mut work);
        }
        for episode in self.state.episodes().in_flight() {
            self.begin_step_of(episode, &mut work);
            let events = Reply::default().end(&self.view(), ReplyOutcome::Interrupted);
            self.fold(events, &mut work);
        }
        for episode in self.state.audits_awaited() {
            self.begin_step_of(episode, &mut work);
            let events =
                audit::audit_answered(&self.view(), episode, AuditOutcome::Cancelled, None);
            self.fold(events, &mut work);
        }
        work.finish()
    }

    /// Records a directive given on the command line, and returns the file to look at before it is carried out. What it says
    /// about tools concerns this session; 0 is all of them.
    pub fn receive_command(
        &mut self,
        at: UnixMillis,
        session: SessionId,
        directive: Directive,
    ) -> PendingCommand {
        self.record_command(directive, BatchBuilder::of(at, EpisodeId::OUTSIDE, session))
    }

    fn record_command(&mut self, directive: Directive, mut work: BatchBuilder) -> PendingCommand {
        let directive = self.record_directive(directive, PromptRepetition::First, &mut work);
        let reads: Vec<RelPath> = directive.accepts().cloned().into_iter().collect();
        let mut checks = DiskChecks::default();
        if let Ok(entity) = &directive.entity {
            checks.add_file(&self.view(), &entity.path);
        }
        if let Some(path) = self.file_of_record(&directive) {
            checks.add_file(&self.view(), &path);
        }
        PendingCommand {
            checks: checks.into_vec(),
            reads,
            directive,
            work,
        }
    }

    /// Carries out a command, once its file has been looked at.
    pub fn carry_out_command(&mut self, pending: PendingCommand, answers: DiskAnswers) -> Batch {
        let PendingCommand {
            directive,
            mut work,
            ..
        } = pending;
        self.observe(answers.findings, &mut work);
        let text = answers.texts.into_iter().next().flatten();
        let (at, ids) = (work.at, work.ids());
        self.decide(&mut work, |engine, policy| {
            engine.carry_out(policy, at, ids, &directive, text.clone())
        });
        work.finish()
    }

    /// Whether a command with these words may be a call's of an agent ([`direct::is_said_by_call`]).
    pub fn is_said_by_call(&self, at: UnixMillis, verb: &str, target: &str) -> bool {
        direct::is_said_by_call(&self.view(), at, verb, target)
    }

    /// Records another model's answer that the user brings, and returns the files to look at before it is [judged](Self::judge).
    pub fn receive_import(
        &mut self,
        at: UnixMillis,
        session: SessionId,
        (source, text): (&str, &str),
    ) -> PendingReply {
        let mut work = BatchBuilder::of(at, EpisodeId::OUTSIDE, session);
        let text = message::recordable(Role::Assistant, text);
        let (events, content) = {
            let view = self.view();
            let mut recorder = Recorder::new(&view);
            let content = recorder.store(ContentKind::Reply, text.as_bytes());
            recorder.push(Event::ReplyImported(ReplyImported {
                source: source.into(),
                content,
            }));
            (recorder.into_events(), content)
        };
        self.fold(events, &mut work);
        self.read_import(content, (source, &text), work)
    }

    fn carry_out(
        &self,
        policy: &Policy,
        at: UnixMillis,
        ids: (EpisodeId, SessionId),
        directive: &ResolvedDirective,
        file: FileText,
    ) -> Vec<Event> {
        let view = self.view();
        // Commands come in no turn.
        let is_agents = || direct::is_agents_act(&view, at, directive.verb, &directive.target);
        if ids.0 == EpisodeId::OUTSIDE && is_agents() {
            let about = directive.entity.clone().ok();
            let refused = NoticeIssued::new(ids, Reason::DirectiveNotTyped, about);
            return Vec::from([Event::NoticeIssued(refused)]);
        }
        let said = (directive.verb, directive.target.as_str());
        let change = directive.verb.scope_change();
        let is_of_record = directive.verb.concerns_record(said.1);
        let is_of_work = matches!(directive.verb, Verb::Goal | Verb::Clear | Verb::Signal);
        if !is_of_record && !is_of_work && change.is_none() && !directive.verb.is_about_tools() {
            return direct::carry_out_directive(&view, &self.grammars, ids, directive, file);
        }
        let is_repeated = matches!(
            directive.repetition,
            PromptRepetition::Regenerated | PromptRepetition::Answered
        );
        if is_repeated {
            // It took effect when the prompt was first sent.
            return Vec::new();
        }
        if let Some(change) = change {
            return rules::change_scope(&view, &self.grammars, ids, change, directive, file);
        }
        match directive.verb {
            Verb::Goal => goal::change_goal(&view, ids, said.1),
            Verb::Clear => clear::ask_clear(&view, policy, ids, said.1),
            Verb::Signal => Vec::new(),
            _ if is_of_record => records::change_record(&view, policy, at, ids, said),
            _ => tools::carry_out_for_tools(&view, policy, at, ids, said),
        }
    }

    /// The file that a directive about a record cites.
    fn file_of_record(&self, directive: &ResolvedDirective) -> Option<RelPath> {
        let said = (directive.verb, directive.target.as_str());
        let is_meant = directive.verb.concerns_record(said.1);
        let at = Standpoint::of(&self.policy, SessionId(0));
        let cited = || records::cited_file(&self.view(), at, said);
        is_meant.then(cited).flatten()
    }

    /// Why no prompt of the session goes out by the lock of this file, if so.
    pub fn lock_miss(&self, session: SessionId, path: &RelPath) -> Option<&'static str> {
        let missed = rules::locks_missed(&self.view(), session, &[]);
        let mut missed = missed.into_iter();
        missed.find_map(|(other, cause)| (other == *path).then_some(cause))
    }

    /// Why no conversation is cleared, if decisions lack evidence.
    pub fn clear_refusal(&self) -> String {
        clear::DecisionEvidence::of(&self.view()).refusal()
    }

    /// What a tool of tslp's own has printed, without what it shows of files that are off; `None` if it shows nothing of them.
    pub fn output_without_off(
        &self,
        session: SessionId,
        command: &str,
        output: &str,
    ) -> Option<String> {
        let known = (Standpoint::of(&self.policy, session), &self.off);
        off::output_without_off(&self.view(), known, command, output)
    }

    /// Takes in what disk holds of files that are off, and where the rules are other ones what the ledger does.
    pub fn learn_off_files(&mut self, files: Vec<OffFile>) {
        let rules = self.state.scope().off();
        if rules != self.off.rules() {
            let mut off = OffKnowledge::by_rules(rules.clone());
            let view = self.view();
            let paths = self.state.state_map().paths();
            let mut known: Vec<(RelPath, String, bool)> = Vec::new();
            for path in paths.filter(|path| off.rules().is_off(path.as_str())) {
                let is_code = self.grammars.language_of_path(path).is_some();
                for entity in self.entities_of(path) {
                    let current = view.current_version(&entity);
                    let current = current.map(|it| (it.artifact, it.spans));
                    let former = view.former_versions(&entity).into_iter();
                    let versions = former.map(|it| (it.artifact, it.spans)).chain(current);
                    let codes = versions.filter_map(|(it, spans)| view.artifact_slices(it, &spans));
                    let texts = codes.map(|code| String::from_utf8_lossy(&code).into_owned());
                    known.extend(texts.map(|text| (path.clone(), text, is_code)));
                }
            }
            off.learn(known);
            self.off = off;
        }
        let files = files.into_iter();
        self.off
            .learn(files.map(|file| (file.path, file.text, file.is_code)));
    }

    fn last_own_words(&self, session: SessionId) -> String {
        reader::last_own_words(&self.view(), &mut self.index.borrow_mut(), session)
    }

    /// The number of STALE symbols in the file, as it was last seen; 1 where none is, and the file is all the same.
    pub fn stale_in(&self, path: &RelPath) -> usize {
        let view = self.view();
        let is_stale = |entity: &EntityId| {
            let divergence = view.divergence(entity);
            divergence.is_some_and(|it| !matches!(it, Divergence::Unreadable | Divergence::Gone))
        };
        let mut entities = self.entities_of(path);
        entities.retain(is_stale);
        // The file differs wherever a symbol of it does.
        let symbols = entities.iter().filter(|it| it.symbol.is_some()).count();
        symbols.max(entities.len().min(1))
    }

    /// A file and its true symbols.
    fn entities_of(&self, path: &RelPath) -> Vec<EntityId> {
        let mut entities = self.state.state_map().entities_in(path);
        entities.push(EntityId::file(path.clone()));
        entities
    }

    /// The workspace's absolute path.
    pub fn root(&self) -> &str {
        &self.policy.workspace_root
    }

    /// What the state tells.
    pub fn told<T>(&self, tell: impl FnOnce(&StateView<'_>, &dyn Grammars) -> T) -> T {
        tell(&self.view(), &self.grammars)
    }

    /// Whether any entity of the file is true.
    pub fn tracks(&self, path: &RelPath) -> bool {
        self.state.state_map().tracks(path)
    }

    /// The symbols of a file that are true, sorted.
    pub fn symbols_of(&self, path: &RelPath) -> Vec<Symbol> {
        let mut symbols = self.state.state_map().symbols_of(path);
        symbols.sort();
        symbols
    }

    /// The user takes a file as it is on disk: `finding` is what disk holds, with slices for the symbols that are true and
    /// those that `found` defines, its code where it could be read. No event is added where nothing changes. Files are
    /// independent of each other, so one `work` may collect many of them.
    pub fn adopt_file(
        &mut self,
        at: UnixMillis,
        path: RelPath,
        finding: DiskFinding,
        found: Option<&FoundCode>,
        work: &mut BatchBuilder,
    ) {
        work.at = at;
        self.observe(Vec::from([(path.clone(), finding)]), work);
        // A directive begins a step, so the look before it is one of its own.
        work.end_step();
        if let Some(found) = found {
            self.record_adoption(&path, found, work);
            work.end_step();
        }
    }

    /// Takes files that a prompt or a reply touches as they are on disk, where nothing was known of them.
    fn take_touched(
        &mut self,
        paths: Vec<RelPath>,
        texts: Vec<Option<TouchedText>>,
        work: &mut BatchBuilder,
    ) {
        let mut taken: Vec<FoundCode> = Vec::new();
        for (path, text) in paths.into_iter().zip(texts) {
            let Some((text, changed_at)) = text else {
                continue;
            };
            let found = self.code_of_file(&path, &text);
            let is_adoptable =
                touch::was_not_proposed(self.code_reader(&self.view(), work.session), &found);
            if let Some(file) = found.as_disk_file().filter(|_| is_adoptable) {
                let file = DiskFile { changed_at, ..file };
                let finding = (path, DiskFinding::File(file));
                self.observe(Vec::from([finding]), work);
                taken.push(found);
            }
        }
        // In a loop of its own: all looks of a step come before anything is decided, and deep verification relies on it.
        for found in &taken {
            let author = found.usable_path().map(|it| self.view().disk_author(it));
            if let Some(author) = author.filter(|it| it.origin != Origin::User) {
                let written = (author.reply, WriteState::OnDisk(author.origin));
                self.judge_models(found, &MessagePieces::default(), written, work);
                continue;
            }
            let episode = work.episode;
            self.decide(work, |engine, _| {
                write_head::adopt_file(&engine.view(), episode, found)
            });
        }
    }

    /// Takes what the newest messages show of files as disk holds them, or, by the user's standing word, all that disk holds.
    fn take_shown(
        &mut self,
        files: Vec<(RelPath, FileText)>,
        (request, history): (&Request, History),
        work: &mut BatchBuilder,
    ) {
        let mut shown = None;
        for (path, text) in files {
            let Some(Ok(text)) = text else { continue };
            let found = self.code_of_file(&path, &text);
            let is_observed =
                |finding| matches!(finding, LastFinding::File(file) if file.whole == found.whole);
            let view = self.view();
            let taken = match self.taken_on_record(&path) {
                Some(taken) => taken,
                // A file that was written since the look is the next prompt's.
                None if !view.disk_finding(&path).is_some_and(is_observed) => None,
                // What a model left out of a file isn't taken by being read.
                None if propose::is_listing_of_model(&view, &found) => None,
                None => {
                    let shown =
                        shown.get_or_insert_with(|| ShownLines::of_request(request, history));
                    let is_shown = |code: &str| shown.show(code);
                    let is_shown: Option<&dyn Fn(&str) -> bool> = match self.policy.on_stale {
                        OnStale::Follow => None,
                        OnStale::Ask => Some(&is_shown),
                    };
                    let session = work.session;
                    let reader = self.code_reader(&view, session);
                    TakenFromDisk::of(reader, session, &found, request.tools, is_shown)
                }
            };
            let (Some(taken), ids) = (taken, work.ids()) else {
                continue;
            };
            let fitted = self
                .code_reader(&view, work.session)
                .parts_in_their_file(&found, &taken.entities);
            let found = fitted.unwrap_or(found);
            self.decide(work, |engine, _| {
                write_head::take_from_disk(&engine.view(), ids, &found, &taken)
            });
        }
    }

    /// The code of a file that was read. One that stays as it is, and isn't true, is read at each step of an agent that has named it.
    fn code_of_file(&self, path: &RelPath, text: &str) -> FoundCode {
        let read = || found_code::code_of_file(&self.grammars, path.clone(), text);
        if text.len() > READ_FILES_BYTES / 4 {
            return read();
        }
        let key = (path.clone(), ArtifactHash::of(text.as_bytes()));
        let mut files = self.files.borrow_mut();
        let found = files.get_or_insert_with(&key, || {
            let found = read();
            let definitions = found.extraction.as_ref();
            let definitions = definitions.map_or(0, |it| it.definitions.len());
            let weight = text.len() + definitions * FOUND_DEFINITION_BYTES;
            (found, weight)
        });
        found.clone()
    }

    /// Judges what calls have made of files by other ways than judged edits: a client's write of a refused edit, a command, a hook.
    fn judge_on_disk(&mut self, files: &[(RelPath, FileText)], work: &mut BatchBuilder) {
        for (path, text) in files {
            let Some(Ok(text)) = text else { continue };
            let (view, author) = (self.view(), self.view().disk_author(path));
            let mut found = self.code_of_file(path, text);
            // A file that was written since the look is the next prompt's.
            let is_observed = matches!(view.disk_finding(path), Some(LastFinding::File(file)) if file.whole == found.whole);
            // A change that its client didn't apply is no change of the file.
            let is_undone = self.entities_of(path).into_iter().any(|entity| {
                let current = view.current_version(&entity);
                view.state.stale().is_unsaved(&entity)
                    && current.is_some_and(|it| it.episode < author.reply)
            });
            if author.origin == Origin::User
                || !is_observed
                || self.stale_in(path) == 0 && !is_undone
                || propose::would_be_refused_again(&view, &found)
            {
                continue;
            }
            // A placeholder in a file counts here: no user wrote it.
            found.completeness = found.completeness_of_reply();
            let written = (author.reply, WriteState::OnDisk(author.origin));
            self.judge_models(&found, &MessagePieces::default(), written, work);
        }
    }

    /// Judges code of a model's that came in no reply: what a client has written to disk, by the words that `reply` answers, or another
    /// model's answer.
    fn judge_models(
        &mut self,
        found: &FoundCode,
        pieces: &MessagePieces,
        (reply, written): (EpisodeId, WriteState),
        work: &mut BatchBuilder,
    ) {
        let (episode, own) = work.ids();
        let session = self.session_of(reply).unwrap_or(own);
        let asked = self.text_around_code(&self.last_own_words(session));
        self.decide(work, |engine, policy| {
            let judging = JudgingContext {
                view: &engine.view(),
                policy,
                episode,
                session,
                asked: &asked,
                gained: &GainedCode::default(),
                grammars: &engine.grammars,
                written,
                // Disk holds it, whoever has seen what was there before.
                seen: &|entities| match written {
                    WriteState::OnDisk(_) => BTreeSet::new(),
                    WriteState::NotYet => engine.entities_seen(&engine.model_sight(None), entities),
                },
            };
            propose::propose(judging, found, pieces)
        });
    }

    fn record_adoption(&mut self, path: &RelPath, found: &FoundCode, work: &mut BatchBuilder) {
        let events = write_head::adopt_file(&self.view(), EpisodeId::OUTSIDE, found);
        if !events.is_empty() {
            let given = DirectiveGiven {
                verb: Verb::Accept,
                target: path.as_str().into(),
            };
            self.fold(Vec::from([Event::DirectiveGiven(given)]), work);
            self.fold(events, work);
        }
    }

    /// Records the request that went to the model.
    pub fn record_sent(&mut self, at: UnixMillis, prompt: SentPrompt) -> Batch {
        let mut work = self.step_of(at, prompt.episode);
        let events = sent::record_sent(&self.view(), prompt);
        self.fold(events, &mut work);
        work.finish()
    }

    /// The session of an episode that is among the recent ones; side requests have none.
    pub fn session_of(&self, episode: EpisodeId) -> Option<SessionId> {
        self.state.sessions().of(episode)
    }

    /// Whether the Vault holds these bytes.
    pub fn holds(&self, artifact: ArtifactHash) -> bool {
        self.view().vault_holds(artifact)
    }

    /// A text from the Vault; `None` if it isn't there or isn't UTF-8.
    pub fn text(&self, artifact: ArtifactHash) -> Option<String> {
        self.view().text(artifact)
    }

    /// Records text of a reply while the rest is still coming, or because a part of it has ended.
    pub fn record_segment(
        &mut self,
        at: UnixMillis,
        episode: EpisodeId,
        reply: &mut Reply,
        extent: SegmentExtent,
    ) -> Batch {
        let mut work = self.step_of(at, episode);
        let events = reply.segment(&self.view(), extent);
        self.fold(events, &mut work);
        work.finish()
    }

    /// Records the arguments of calls while their reply is still coming, each in a step of its own.
    pub fn record_calls(
        &mut self,
        at: UnixMillis,
        episode: EpisodeId,
        arguments: &[String],
    ) -> Batch {
        let mut work = self.step_of(at, episode);
        self.fold_arguments(arguments.iter(), &mut work);
        work.finish()
    }

    /// Records calls' arguments, each in a step of its own.
    fn fold_arguments<'c>(
        &mut self,
        arguments: impl Iterator<Item = &'c String>,
        work: &mut BatchBuilder,
    ) {
        for arguments in arguments {
            let events = reply::record_arguments(&self.view(), arguments);
            self.fold(events, work);
            work.end_step();
        }
    }

    /// Records a reply's end, and returns the files to look at before its code is judged.
    pub fn end_reply(
        &mut self,
        at: UnixMillis,
        episode: EpisodeId,
        mut reply: Reply,
        outcome: ReplyOutcome,
        look: PlaceLook<'_>,
    ) -> PendingReply {
        let mut work = self.step_of(at, episode);
        let candidates = match outcome {
            ReplyOutcome::Completed => {
                let text = [&*reply.text, &*reply.tail].concat();
                let named = touch::paths_in_reply(&text, &reply.tool_calls);
                self.look_for(&named, look, &mut work)
            }
            _ => Vec::new(),
        };
        let events = reply.end(&self.view(), outcome);
        self.fold(events, &mut work);
        self.read_reply(reply, outcome, &candidates, work)
    }

    /// Judges a reply's code, once its files have been looked at.
    pub fn judge(&mut self, pending: PendingReply, answers: DiskAnswers) -> JudgedReply {
        let PendingReply {
            touches,
            text,
            calls,
            notes,
            mut found,
            containers,
            measured,
            exceeded,
            end,
            mut work,
            ..
        } = pending;
        self.observe(answers.findings, &mut work);
        let head = self.state.head();
        self.take_touched(touches, answers.touched, &mut work);
        let (episode, session) = work.ids();
        // What was just taken may be the file that a path means.
        let is_known = |it: &FoundCode| it.usable_path().is_some_and(|path| self.tracks(path));
        let mut named = found.iter().filter(|it| it.written.is_some());
        if self.state.head() != head && !named.all(is_known) {
            let view = self.view();
            found = self.code_of_reply(self.reply_reader(&view, session), &text, &calls, end);
        }
        self.decide(&mut work, |engine, policy| {
            let paths = found.iter().filter_map(FoundCode::written_path).collect();
            place::resolve_paths(&engine.view(), Standpoint::of(policy, session), paths)
        });
        let asked = if found.is_empty() {
            String::new()
        } else {
            self.last_own_words(session)
        };
        let words = self.text_around_code(&asked);
        let before = work.recorded.len();
        self.decide(&mut work, |engine, _| {
            verify::verify(&engine.view(), session, &words, &found)
        });
        let gained = GainedCode::of(&self.view(), self.policy.thresholds, &found);
        // Kept no longer than until now: these texts are as long as the conversation.
        let sent = self.sent.remove(&episode);
        let seen = self.model_sight(sent);
        for found in gained.in_order(&found) {
            let found = {
                let view = self.view();
                self.code_reader(&view, session).reapplied(found)
            };
            self.decide(&mut work, |engine, policy| {
                let judging = JudgingContext {
                    view: &engine.view(),
                    policy,
                    episode,
                    session,
                    asked: &words,
                    gained: &gained,
                    grammars: &engine.grammars,
                    written: WriteState::NotYet,
                    seen: &|entities| engine.entities_seen(&seen, entities),
                };
                let in_file = || {
                    engine
                        .code_reader(judging.view, session)
                        .in_its_file(&found)
                };
                propose::propose_in_file(judging, &found, &containers, in_file)
            });
        }
        let ids = work.ids();
        for (place, note) in notes.iter().enumerate() {
            let at = work.at;
            self.decide(&mut work, |engine, policy| {
                records::propose_record(&engine.view(), policy, at, ids, (place, note))
            });
        }
        let judged: Vec<Event> = work.recorded[before..]
            .iter()
            .map(|recorded| recorded.event.clone())
            .collect();
        let audit = self.decide_with(&mut work, |engine, policy| {
            let audit = audit::ask_for_audit(&engine.view(), policy, &asked, &judged);
            audit.map_or_else(
                || (Vec::new(), None),
                |(event, question)| (Vec::from([event]), Some(question)),
            )
        });
        self.decide(&mut work, |engine, _| {
            tools::unanswered_tools(&engine.view(), episode, &text)
        });
        self.decide(&mut work, |engine, policy| {
            agents_work::count_work(&engine.view(), policy, &found, &calls)
        });
        work.end_step();
        // The costs are a step of their own, because nothing is decided by them.
        let measured = measured.into_iter().map(Event::PromptMeasured);
        let measured = measured.chain(exceeded.map(Event::WindowExceeded));
        self.fold(measured.collect(), &mut work);
        JudgedReply {
            batch: work.finish(),
            audit,
        }
    }

    /// Returns the files to look at before a shadow audit's result counts. `answer` is the model's text, if it gave one.
    pub fn receive_audit_answer(
        &mut self,
        at: UnixMillis,
        episode: EpisodeId,
        outcome: AuditOutcome,
        answer: Option<&str>,
    ) -> PendingAudit {
        let mut checks = DiskChecks::default();
        for path in audit::audited_files(&self.view(), episode) {
            checks.add_file(&self.view(), &path);
        }
        PendingAudit {
            checks: checks.into_vec(),
            work: self.step_of(at, episode),
            outcome,
            answer: answer.map(|answer| message::recordable(Role::Assistant, answer).into_owned()),
        }
    }

    /// Applies an audit's result, once its files have been looked at.
    pub fn settle_audit(&mut self, pending: PendingAudit, findings: Vec<FileFinding>) -> Batch {
        let PendingAudit {
            outcome,
            answer,
            mut work,
            ..
        } = pending;
        self.observe(findings, &mut work);
        let episode = work.episode;
        self.decide(&mut work, |engine, _| {
            audit::audit_answered(&engine.view(), episode, outcome, answer.as_deref())
        });
        work.finish()
    }

    fn code_reader<'r>(&'r self, view: &'r StateView<'r>, session: SessionId) -> CodeReader<'r> {
        CodeReader {
            view,
            grammars: &self.grammars,
            at: Standpoint::of(&self.policy, session),
            session: None,
        }
    }

    /// Reads a reply of a conversation.
    fn reply_reader<'r>(&'r self, view: &'r StateView<'r>, session: SessionId) -> CodeReader<'r> {
        CodeReader {
            session: Some(session),
            ..self.code_reader(view, session)
        }
    }

    fn view(&self) -> StateView<'_> {
        StateView {
            state: &self.state,
            store: &self.store,
            is_of_draft: false,
        }
    }

    /// Nothing yet of a step of an episode. An episode that is more than a thousand others old belongs to no session any more.
    fn step_of(&self, at: UnixMillis, episode: EpisodeId) -> BatchBuilder {
        let session = self.state.sessions().of(episode).unwrap_or_default();
        BatchBuilder::of(at, episode, session)
    }

    /// Ends a step, and begins one of an episode.
    fn begin_step_of(&self, episode: EpisodeId, work: &mut BatchBuilder) {
        work.end_step();
        work.episode = episode;
        work.session = self.state.sessions().of(episode).unwrap_or_default();
    }

    fn record_directive(
        &mut self,
        directive: Directive,
        said: PromptRepetition,
        work: &mut BatchBuilder,
    ) -> ResolvedDirective {
        let resolved =
            direct::resolve_directive(&self.view(), self.standpoint(work), &directive, said);
        let given = DirectiveGiven {
            verb: directive.verb,
            target: redact::without_credentials(&directive.target).into_owned(),
        };
        self.fold(Vec::from([Event::DirectiveGiven(given)]), work);
        resolved
    }

    fn observe(&mut self, findings: Vec<FileFinding>, work: &mut BatchBuilder) {
        for (path, finding) in findings {
            // Nothing is recorded where disk is as it was last seen: agents have the same files looked at with each step.
            let Some(event) = observe::observe(&self.view(), work.at, path.clone(), finding) else {
                continue;
            };
            let held = observe::refused_in_file(&self.view(), &path);
            self.fold(Vec::from([event]), work);
            self.decide(work, |engine, _| {
                observe::discard_contradicted(&engine.view(), &path, &held)
            });
        }
    }
}

/// The store, overlaid with the content of events that aren't committed yet.
struct UncommittedOverlay<S> {
    stored: S,
    fresh: BTreeMap<Seq, Arc<[u8]>>,
    fresh_records: BTreeMap<Seq, Arc<RecordChanged>>,
}

impl<S: Store> Store for UncommittedOverlay<S> {
    fn inner(&self) -> Option<&dyn Store> {
        Some(&self.stored)
    }

    fn content(&self, seq: Seq) -> Option<Arc<[u8]>> {
        self.fresh
            .get(&seq)
            .cloned()
            .or_else(|| self.stored.content(seq))
    }

    fn record(&self, seq: Seq) -> Option<Arc<RecordChanged>> {
        let fresh = self.fresh_records.get(&seq).cloned();
        fresh.or_else(|| self.stored.record(seq))
    }
}
