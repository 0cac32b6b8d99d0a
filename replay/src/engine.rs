//! Drives decide and fold over one state: the same code live, in tests and in deep verification.
//!
//! The engine never waits: where it needs to know what disk holds it returns the checks, and goes on when the findings
//! are handed in.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use tslp_core::capture;
use tslp_core::decide::audit;
use tslp_core::decide::compose::{self, Composed, Prompt};
use tslp_core::decide::direct::{self, Order};
use tslp_core::decide::found_code::{self, FoundCode, MessageEnd, Reading};
use tslp_core::decide::observe;
use tslp_core::decide::promote::Containers;
use tslp_core::decide::propose::{self, Judging};
use tslp_core::decide::receive::{self, Received};
use tslp_core::decide::reply::Reply;
use tslp_core::decide::verify;
use tslp_core::decide::write_head::{self, Place};
use tslp_core::directive::{self, Directive, Verb};
use tslp_core::entity::Symbol;
use tslp_core::event::{AuditOutcome, DirectiveGiven, DiskFinding, Event, Recorded, ReplyOutcome};
use tslp_core::extract::Grammars;
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, Seq, SessionId, UnixMillis};
use tslp_core::mention::{self, Mentions};
use tslp_core::message::{self, Message, Request, Role, ToolCall};
use tslp_core::path::RelPath;
use tslp_core::policy::Policy;
use tslp_core::view::View;

use crate::pending::{
    Answers, Batch, Checks, ComposedPrompt, DiskCheck, Finding, JudgedReply, Paste, PendingAudit,
    PendingCommand, PendingPrompt, PendingReply, Work,
};
use crate::state::{Contents, State, StateView};

/// The state, the parsers and the policy, with the bytes that aren't on disk yet.
pub struct Engine<G, C> {
    state: State,
    grammars: G,
    policy: Policy,
    contents: Overlay<C>,
}

impl<G: Grammars, C: Contents> Engine<G, C> {
    /// Goes on from a state; `contents` gives the bytes of its content events.
    pub const fn new(state: State, grammars: G, policy: Policy, contents: C) -> Self {
        Self {
            state,
            grammars,
            policy,
            contents: Overlay {
                stored: contents,
                fresh: BTreeMap::new(),
            },
        }
    }

    /// The state as decided so far, durable or not.
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// Sets the token budget of hydration, once the model's context size is known.
    pub const fn set_budget_tokens(&mut self, tokens: u32) {
        self.policy.budget_tokens = tokens;
    }

    /// Lets go of the bytes that the store can give from now on.
    pub fn settled(&mut self, durable: Seq) {
        self.contents.fresh = self.contents.fresh.split_off(&durable.next());
    }

    /// A prompt has come in.
    pub fn receive(&mut self, at: UnixMillis, request: Request) -> PendingPrompt {
        let mut work = Work::new();
        let texts: Vec<Cow<'_, str>> = request.messages.iter().map(Message::recordable).collect();
        let mut received = receive::receive(&self.view(), &self.policy, &request, &texts);
        self.fold(at, core::mem::take(&mut received.events), &mut work);
        let pastes = self.pastes(&request, &texts, &received);
        let orders = self.orders(at, &request, &texts, &received, &mut work);
        let prompt = prompt_text(&request, &texts);
        let mentions = self.mentions(&prompt, &pastes);
        drop(texts);
        let mut checks = Checks::default();
        for paste in &pastes {
            checks.add_code(&self.view(), &paste.found);
        }
        for (entity, _) in compose::candidates(&self.view(), received.session, &mentions) {
            checks.add(&self.view(), &entity.path);
        }
        let reads: Vec<RelPath> = accepted(&orders).cloned().collect();
        for path in &reads {
            checks.add(&self.view(), path);
        }
        // What disk holds when the user decides is what they decide over.
        for entity in orders.iter().filter_map(|order| order.entity.as_ref()) {
            checks.add(&self.view(), &entity.path);
        }
        PendingPrompt {
            checks: checks.into_vec(),
            reads,
            at,
            request,
            received,
            prompt,
            pastes,
            mentions,
            orders,
            work,
        }
    }

    /// The files have been looked at: the user's code becomes true, and the prompt is composed.
    pub fn compose(&mut self, pending: PendingPrompt, answers: Answers) -> ComposedPrompt {
        let PendingPrompt {
            at,
            request,
            received,
            prompt,
            pastes,
            mentions,
            orders,
            mut work,
            ..
        } = pending;
        self.observe(at, received.episode, answers.findings, &mut work);
        let ids = (received.episode, received.session);
        let supplied: Vec<&FoundCode> = pastes.iter().map(|paste| &paste.found).collect();
        let events = verify::verify(&self.view(), ids, &prompt, &mentions, &supplied);
        self.fold(at, events, &mut work);
        for paste in &pastes {
            let view = self.view();
            let found = self.reading(&view).refreshed(&paste.found);
            let events = write_head::write_head(
                &view,
                self.policy.thresholds,
                ids,
                &found,
                &paste.containers,
                &paste.place,
            );
            self.fold(at, events, &mut work);
        }
        let mut texts = answers.texts.into_iter();
        for order in &orders {
            let text = if order.accepts().is_some() {
                texts.next().flatten()
            } else {
                None
            };
            let events = direct::carry_out(&self.view(), &self.grammars, ids, order, text);
            self.fold(at, events, &mut work);
        }
        let prompt = Prompt {
            request: &request,
            episode: received.episode,
            session: received.session,
            history: received.history,
            mentions: &mentions,
        };
        let Composed { events, outgoing } = compose::compose(&self.view(), &self.policy, &prompt);
        self.fold(at, events, &mut work);
        ComposedPrompt {
            episode: received.episode,
            batch: work.finish(),
            request,
            outgoing,
        }
    }

    /// A new process goes on: replies that the old one left under way were broken off.
    pub fn resume(&mut self, at: UnixMillis) -> Batch {
        let mut work = Work::new();
        for episode in self.view().in_flight() {
            let events = Reply::default().end(&self.view(), episode, ReplyOutcome::Interrupted);
            self.fold(at, events, &mut work);
        }
        for episode in self.state.audits_awaited() {
            let events = audit::answered(&self.view(), episode, AuditOutcome::Cancelled, None);
            self.fold(at, events, &mut work);
        }
        work.finish()
    }

    /// The user gives a directive on the command line.
    pub fn command(&mut self, at: UnixMillis, directive: Directive) -> PendingCommand {
        let mut work = Work::new();
        let order = self.order(at, EpisodeId::OUTSIDE, directive, &mut work);
        let reads: Vec<RelPath> = order.accepts().cloned().into_iter().collect();
        let mut checks = Checks::default();
        if let Some(entity) = &order.entity {
            checks.add(&self.view(), &entity.path);
        }
        PendingCommand {
            checks: checks.into_vec(),
            reads,
            at,
            order,
            work,
        }
    }

    /// The file has been looked at: the command is carried out.
    pub fn obey(&mut self, pending: PendingCommand, answers: Answers) -> Batch {
        let PendingCommand {
            at,
            order,
            mut work,
            ..
        } = pending;
        self.observe(at, EpisodeId::OUTSIDE, answers.findings, &mut work);
        let text = answers.texts.into_iter().next().flatten();
        let ids = (EpisodeId::OUTSIDE, SessionId::default());
        let events = direct::carry_out(&self.view(), &self.grammars, ids, &order, text);
        self.fold(at, events, &mut work);
        work.finish()
    }

    /// Whether anything of the file is true.
    pub fn tracks(&self, path: &RelPath) -> bool {
        self.view().tracks(path)
    }

    /// Symbols whose slices are wanted when this file's code is adopted: those that are true, and those that it defines.
    pub fn wanted(&self, path: &RelPath, found: Option<&FoundCode>) -> Vec<Symbol> {
        let mut symbols = self.view().symbols_of(path);
        symbols.extend(found.map(FoundCode::symbols).unwrap_or_default());
        symbols.sort();
        symbols.dedup();
        symbols
    }

    /// The user takes a file as it stands on disk: `finding` is what disk holds, told for the symbols [`Self::wanted`],
    /// and `found` its code where it could be read. An empty batch says that nothing changes.
    pub fn adopt(
        &mut self,
        at: UnixMillis,
        path: RelPath,
        finding: DiskFinding,
        found: Option<&FoundCode>,
    ) -> Batch {
        let mut work = Work::new();
        self.observe(
            at,
            EpisodeId::OUTSIDE,
            Vec::from([(path.clone(), finding)]),
            &mut work,
        );
        let events = found.map_or_else(Vec::new, |found| {
            write_head::adopt(&self.view(), EpisodeId::OUTSIDE, found)
        });
        if !events.is_empty() {
            let given = DirectiveGiven {
                episode: EpisodeId::OUTSIDE,
                verb: Verb::Accept,
                target: path.as_str().into(),
            };
            self.fold(at, Vec::from([Event::DirectiveGiven(given)]), &mut work);
            self.fold(at, events, &mut work);
        }
        work.finish()
    }

    /// The files among these that anything true stands in, to be looked at between prompts.
    pub fn tracked(&self, paths: impl IntoIterator<Item = RelPath>) -> Vec<DiskCheck> {
        let mut checks = Checks::default();
        for path in paths {
            if self.view().tracks(&path) {
                checks.add(&self.view(), &path);
            }
        }
        checks.into_vec()
    }

    /// Files have been looked at between prompts.
    pub fn notice(&mut self, at: UnixMillis, findings: Vec<Finding>) -> Batch {
        let mut work = Work::new();
        self.observe(at, EpisodeId::OUTSIDE, findings, &mut work);
        work.finish()
    }

    /// Some of a reply's text is to be recorded while the rest is still coming.
    pub fn segment(&mut self, at: UnixMillis, episode: EpisodeId, reply: &mut Reply) -> Batch {
        let mut work = Work::new();
        let events = reply.segment(&self.view(), episode);
        self.fold(at, events, &mut work);
        work.finish()
    }

    /// A reply has ended.
    pub fn end(
        &mut self,
        at: UnixMillis,
        episode: EpisodeId,
        mut reply: Reply,
        outcome: ReplyOutcome,
    ) -> PendingReply {
        let mut work = Work::new();
        let events = reply.end(&self.view(), episode, outcome);
        self.fold(at, events, &mut work);
        let cut = if reply.finish_reason.as_deref() == Some("length") {
            MessageEnd::CutShort
        } else {
            MessageEnd::Whole
        };
        let found = match outcome {
            ReplyOutcome::Completed => self.find(&reply.text, &reply.tool_calls, cut),
            _ => Vec::new(),
        };
        let mut checks = Checks::default();
        for found in &found {
            checks.add_code(&self.view(), found);
        }
        PendingReply {
            checks: checks.into_vec(),
            at,
            episode,
            found,
            containers: Containers::new(reply.segments),
            work,
        }
    }

    /// The files have been looked at: the reply's code is judged.
    pub fn judge(&mut self, pending: PendingReply, findings: Vec<Finding>) -> JudgedReply {
        let PendingReply {
            at,
            episode,
            found,
            containers,
            mut work,
            ..
        } = pending;
        self.observe(at, episode, findings, &mut work);
        let session = self.view().session_of(episode).unwrap_or_default();
        let asked = match found.is_empty() {
            true => String::new(),
            false => self.asked(session),
        };
        let before = work.recorded.len();
        for found in &found {
            let view = self.view();
            let found = self.reading(&view).refreshed(found);
            let judging = Judging {
                view: &view,
                policy: &self.policy,
                episode,
                session,
                asked: &asked,
            };
            let events = propose::propose(judging, &found, &containers);
            self.fold(at, events, &mut work);
        }
        let judged = work.recorded[before..]
            .iter()
            .map(|recorded| &recorded.event);
        let audit = audit::ask(&self.view(), &self.policy, episode, &asked, judged);
        let audit = audit.map(|(event, question)| {
            self.fold(at, Vec::from([event]), &mut work);
            question
        });
        JudgedReply {
            batch: work.finish(),
            audit,
        }
    }

    /// A shadow audit has ended; `answer` is the model's text, if there is any.
    pub fn audited(
        &mut self,
        at: UnixMillis,
        episode: EpisodeId,
        outcome: AuditOutcome,
        answer: Option<&str>,
    ) -> PendingAudit {
        let mut checks = Checks::default();
        for path in audit::files(&self.view(), episode) {
            checks.add(&self.view(), &path);
        }
        PendingAudit {
            checks: checks.into_vec(),
            at,
            episode,
            outcome,
            answer: answer.map(|answer| message::recordable(answer).into_owned()),
        }
    }

    /// The files have been looked at: the audit's answer counts.
    pub fn settle(&mut self, pending: PendingAudit, findings: Vec<Finding>) -> Batch {
        let mut work = Work::new();
        self.observe(pending.at, pending.episode, findings, &mut work);
        let answer = pending.answer.as_deref();
        let events = audit::answered(&self.view(), pending.episode, pending.outcome, answer);
        self.fold(pending.at, events, &mut work);
        work.finish()
    }

    /// What the user said in the session's last complete turn.
    fn asked(&self, session: SessionId) -> String {
        let view = self.view();
        let exchange = view.recent(session).pop().unwrap_or_default();
        let texts: Vec<String> = exchange
            .user
            .iter()
            .filter_map(|content| String::from_utf8(view.content(*content)?).ok())
            .collect();
        directive::stripped(&texts.join("\n")).into_owned()
    }

    fn reading<'r>(&'r self, view: &'r StateView<'r>) -> Reading<'r> {
        Reading {
            view,
            grammars: &self.grammars,
            root: &self.policy.workspace_root,
        }
    }

    fn view(&self) -> StateView<'_> {
        StateView {
            state: &self.state,
            contents: &self.contents,
        }
    }

    fn find(&self, text: &str, tool_calls: &[ToolCall], end: MessageEnd) -> Vec<FoundCode> {
        let view = self.view();
        found_code::find(self.reading(&view), text, tool_calls, end)
    }

    fn pastes(&self, request: &Request, texts: &[Cow<'_, str>], received: &Received) -> Vec<Paste> {
        let examples = capture::examples(&request.messages);
        let current_from = request.current_from();
        let mut pastes = Vec::new();
        for index in received
            .new_user_messages
            .iter()
            .copied()
            .filter(|index| *index >= examples)
        {
            let text = &texts[index];
            if capture::quotes_a_conversation(text) {
                continue;
            }
            let containers = Containers::new([(ArtifactHash::of(text.as_bytes()), text.len())]);
            let place = if index >= current_from {
                Place::CurrentPrompt
            } else {
                Place::Context
            };
            pastes.extend(
                self.find(text, &[], MessageEnd::Whole)
                    .into_iter()
                    .map(|found| Paste {
                        found,
                        containers: containers.clone(),
                        place: place.clone(),
                    }),
            );
        }
        pastes
    }

    /// What the current prompt names. A path that only says where pasted code belongs doesn't ask for the rest of the
    /// file.
    fn mentions(&self, prompt: &str, pastes: &[Paste]) -> Mentions {
        let mut mentions = mention::scan(prompt, &self.policy.workspace_root, &self.view());
        mentions.files.retain(|path| {
            pastes
                .iter()
                .all(|paste| paste.found.usable_path() != Some(path))
        });
        mentions
    }

    /// Records the current prompt's directives and says what they are about.
    fn orders(
        &mut self,
        at: UnixMillis,
        request: &Request,
        texts: &[Cow<'_, str>],
        received: &Received,
        work: &mut Work,
    ) -> Vec<Order> {
        let current_from = request.current_from();
        let mut orders = Vec::new();
        for index in received
            .new_user_messages
            .iter()
            .filter(|index| **index >= current_from)
        {
            for directive in directive::directives(&texts[*index]) {
                orders.push(self.order(at, received.episode, directive, work));
            }
        }
        orders
    }

    fn order(
        &mut self,
        at: UnixMillis,
        episode: EpisodeId,
        directive: Directive,
        work: &mut Work,
    ) -> Order {
        let order = direct::order(&self.view(), &self.policy, &directive);
        let given = DirectiveGiven {
            episode,
            verb: directive.verb,
            target: directive.target,
        };
        self.fold(at, Vec::from([Event::DirectiveGiven(given)]), work);
        order
    }

    fn observe(
        &mut self,
        at: UnixMillis,
        episode: EpisodeId,
        findings: Vec<Finding>,
        work: &mut Work,
    ) {
        for (path, finding) in findings {
            let Some(event) = observe::observe(&self.view(), path.clone(), finding) else {
                continue;
            };
            self.fold(at, Vec::from([event]), work);
            let void = observe::invalidated(&self.view(), episode, &path);
            self.fold(at, void, work);
        }
    }

    fn fold(&mut self, at: UnixMillis, events: Vec<Event>, work: &mut Work) {
        for event in events {
            let recorded = Recorded {
                seq: self.state.head().next(),
                at,
                event,
            };
            if let Event::Content(content) = &recorded.event {
                self.contents
                    .fresh
                    .insert(recorded.seq, content.bytes.as_slice().into());
            }
            self.state.apply(&recorded, &mut work.changes);
            work.recorded.push(recorded);
        }
    }
}

/// What the user says in the current prompt, without directives.
fn prompt_text(request: &Request, texts: &[Cow<'_, str>]) -> String {
    let current_from = request.current_from();
    let said: Vec<&str> = request
        .messages
        .iter()
        .zip(texts)
        .skip(current_from)
        .filter(|(message, _)| message.role == Role::User)
        .map(|(_, text)| &**text)
        .collect();
    directive::stripped(&said.join("\n")).into_owned()
}

/// The files that the user accepts, in order.
fn accepted(orders: &[Order]) -> impl Iterator<Item = &RelPath> {
    orders.iter().filter_map(Order::accepts)
}

/// Stored bytes, and those of events that aren't stored yet.
struct Overlay<C> {
    stored: C,
    fresh: BTreeMap<Seq, Arc<[u8]>>,
}

impl<C: Contents> Contents for Overlay<C> {
    fn content(&self, seq: Seq) -> Option<Arc<[u8]>> {
        self.fresh
            .get(&seq)
            .cloned()
            .or_else(|| self.stored.content(seq))
    }
}
