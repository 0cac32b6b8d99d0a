//! The engine's steps taken again on what is on record: each decision is made anew, compared, and the record folded.
//!
//! So no decision of today depends on another one of today, and one difference brings no others with it.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use tslp_core::artifact::Origin;
use tslp_core::directive::Directive;
use tslp_core::entity::EntityId;
use tslp_core::event::{
    AuditAnswered, AuditOutcome, DirectiveGiven, Dropped, Event, Format, PlaceObserved,
    PromptReceived, ReadFailure, Recorded, ReplyEnded, ReplyImported, RulesInForce, ToolCallRef,
};
use tslp_core::extract::{GrammarTag, Grammars};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::UnixMillis;
use tslp_core::message::{Attempt, ToolCall};
use tslp_core::path::RelPath;
use tslp_core::policy::Policy;
use tslp_core::read_message::ReadMessage;
use tslp_core::reason::Reason;
use tslp_core::request::Request;
use tslp_decide::judge::reply::Reply;
use tslp_decide::prompt::facts::RecordedSight;
use tslp_decide::prompt::receive::ReceivedPrompt;
use tslp_decide::prompt::shown::TakenFromDisk;
use tslp_decide::user::direct::FileText;

use super::Engine;
use super::standing::PromptStanding;
use crate::pending::{BatchBuilder, DiskAnswers, FileFinding, PendingAudit, TouchedText};
use crate::trace::{Difference, DifferenceCause, RecordedStep};
use tslp_projections::store::Store;

impl<G: Grammars, S: Store> Engine<G, S> {
    /// Makes a step's decisions again and returns the differences from `queue`, its recorded events. The recorded events are
    /// folded, not today's, so that a difference doesn't cause others in later steps.
    pub(crate) fn retrace_step(
        &mut self,
        queue: Vec<Recorded>,
        step: impl FnOnce(&mut Self),
    ) -> Vec<Difference> {
        assert!(
            self.trace.is_none(),
            "steps are retraced one after the other"
        );
        self.trace = Some(RecordedStep::new(queue, self.state.head()));
        step(self);
        let mut trace = self
            .trace
            .take()
            .expect("each decision puts the trace back");
        let known = trace.differences.len();
        let rest = trace.take_unexpected();
        self.blame_versions(&mut trace.differences[known..]);
        // No decision of today accounts for these; folded all the same, so that the state stays that of the record.
        for recorded in rest {
            let mut work = BatchBuilder::on_record(&recorded);
            self.fold_recorded(recorded, &mut work);
        }
        trace.differences
    }

    /// Folds an observation as it is on record.
    pub(crate) fn fold_observed(&mut self, recorded: Recorded) {
        if let Event::RulesInForce(rules) = &recorded.event {
            self.policy
                .workspace_root
                .clone_from(&rules.policy.workspace_root);
            // The user's file is an input as the workspace is: code is judged by what it said then.
            self.policy.code_spec.clone_from(&rules.policy.code_spec);
            self.forget_texts();
        }
        let mut work = BatchBuilder::on_record(&recorded);
        self.fold_recorded(recorded, &mut work);
    }

    /// A prompt, from the examination of its messages to its composition.
    pub(crate) fn retrace_prompt(
        &mut self,
        work: BatchBuilder,
        prompt: &PromptReceived,
        attempt: Attempt,
        standing: PromptStanding,
    ) {
        // It followed from the model's context size at the time, which isn't on record.
        let budget = self.trace.iter().flat_map(|trace| &trace.queue);
        let budget = budget
            .into_iter()
            .find_map(|recorded| match &recorded.event {
                Event::PromptComposed(composed) => Some(composed.budget_tokens),
                _ => None,
            });
        self.policy.budget_tokens = budget.unwrap_or(self.policy.budget_tokens);
        let messages = prompt.messages.iter().map(|message| {
            let text = self.text_on_record(message.content);
            Arc::new(ReadMessage::on_record(message.role, &text))
        });
        let messages = messages.collect();
        let received = ReceivedPrompt {
            events: Vec::new(),
            episode: work.episode,
            session: work.session,
            repetition: standing.repetition,
            new_user_messages: standing.new_user_messages,
            keys: prompt
                .messages
                .iter()
                .map(|message| Some(message.key))
                .collect(),
            known_length: 0,
            folder: None,
            omitted_prefix: {
                let held = u32::try_from(prompt.messages.len()).unwrap_or(u32::MAX);
                prompt.length.saturating_sub(held)
            },
        };
        let request = Request {
            model: prompt.model.clone(),
            messages,
            session_name: prompt.session_name.clone(),
            continues: None,
            attempt,
            tools: prompt.tools,
        };
        let mut pending = self.examine(request, received, work);
        pending.touches = self.touched_on_record(&pending.reads);
        // On record, those that somebody touched and that were known already were taken as they were shown.
        let is_known = |path: &RelPath| self.tracks(path);
        let (shown, touches) = pending.touches.into_iter().partition(is_known);
        pending.touches = touches;
        pending.aftermath.retain(|path| !shown.contains(path));
        pending.aftermath.extend::<Vec<RelPath>>(shown);
        let answers = DiskAnswers {
            findings: self.findings_on_record(),
            aliases: self.aliases_on_record(),
            texts: self.files_on_record(&pending.reads),
            touched: self.texts_of_touched(&pending.touches),
            aftermath: self.aftermath_on_record(&pending.aftermath),
            ..DiskAnswers::default()
        };
        self.compose(pending, answers);
    }

    /// A reply that has ended, from the search for its code on.
    pub(crate) fn retrace_reply(&mut self, work: BatchBuilder, ended: &ReplyEnded) {
        let mut reply = Reply {
            finish_reason: ended.finish_reason.clone(),
            ..Reply::default()
        };
        for segment in &ended.segments {
            let text = self.text_on_record(*segment);
            reply.segments.push((*segment, text.len()));
            reply.text.push_str(&text);
        }
        reply.tool_calls = self.calls_on_record(&ended.tool_calls);
        let mut pending = self.read_reply(reply, ended.outcome, &[], work);
        pending.touches = self.touched_on_record(&[]);
        let answers = DiskAnswers {
            findings: self.findings_on_record(),
            touched: self.texts_of_touched(&pending.touches),
            ..DiskAnswers::default()
        };
        self.judge(pending, answers);
    }

    /// Calls of a reply as they are on record.
    pub(super) fn calls_on_record(&self, calls: &[ToolCallRef]) -> Vec<ToolCall> {
        let calls = calls.iter().map(|call| ToolCall {
            id: String::new(),
            name: call.name.clone(),
            arguments: self.text_on_record(call.arguments),
        });
        calls.collect()
    }

    /// Another model's answer, from the search for its code on.
    pub(crate) fn retrace_import(&mut self, work: BatchBuilder, reply: &ReplyImported) {
        let text = self.text_on_record(reply.content);
        let pending = self.read_import(reply.content, (&reply.source, &text), work);
        let answers = DiskAnswers {
            findings: self.findings_on_record(),
            ..DiskAnswers::default()
        };
        self.judge(pending, answers);
    }

    /// An audit's end.
    pub(crate) fn retrace_audit(&mut self, work: BatchBuilder, answered: &AuditAnswered) {
        let answer = answered.answer.map(|answer| self.text_on_record(answer));
        let pending = PendingAudit {
            checks: Vec::new(),
            work,
            // Only reading an answer shows whether it says anything.
            outcome: match (answered.outcome, &answer) {
                (AuditOutcome::NoAnswer, Some(_)) => AuditOutcome::Answered,
                (outcome, _) => outcome,
            },
            answer,
        };
        let findings = self.findings_on_record();
        self.settle_audit(pending, findings);
    }

    /// A directive from the command line.
    pub(crate) fn retrace_command(&mut self, work: BatchBuilder, given: &DirectiveGiven) {
        let directive = Directive {
            verb: given.verb,
            target: given.target.clone(),
        };
        let pending = self.record_command(directive, work);
        let answers = DiskAnswers {
            findings: self.findings_on_record(),
            texts: self.files_on_record(&pending.reads),
            ..DiskAnswers::default()
        };
        self.carry_out_command(pending, answers);
    }

    /// A file that was adopted.
    pub(crate) fn retrace_adopted(&mut self, mut work: BatchBuilder, given: &DirectiveGiven) {
        let path = RelPath::from_normalised(&given.target);
        let file = self.files_on_record(core::slice::from_ref(&path)).pop();
        if let Some(Some(Ok(text))) = file {
            let found = self.code_of_file(&path, &text);
            self.record_adoption(&path, &found, &mut work);
        }
    }

    /// Looks at files between other steps.
    pub(crate) fn retrace_looks(&mut self, mut work: BatchBuilder) {
        let (aliases, findings) = (self.aliases_on_record(), self.findings_on_record());
        self.observe_aliases(aliases, &mut work);
        self.observe(findings, &mut work);
        // Those that a call names are taken while its reply is still coming.
        let touches = self.touched_on_record(&[]);
        let texts = self.texts_of_touched(&touches);
        self.take_touched(touches, texts, &mut work);
    }

    /// The other names of files that come next on record, as a look finds them.
    fn aliases_on_record(&self) -> Vec<PlaceObserved> {
        let looks = self.trace.iter().flat_map(RecordedStep::leading_looks);
        looks
            .filter_map(|recorded| match &recorded.event {
                Event::PlaceObserved(seen) => Some(PlaceObserved {
                    written: match seen.written.starts_with('/') {
                        true => seen.written.clone(),
                        false => [&self.policy.workspace_root, "/", &seen.written].concat(),
                    },
                    ..seen.clone()
                }),
                _ => None,
            })
            .collect()
    }

    /// What the next files on record held when they were looked at.
    fn findings_on_record(&self) -> Vec<FileFinding> {
        let looks = self.trace.iter().flat_map(RecordedStep::leading_looks);
        looks
            .filter_map(|recorded| match &recorded.event {
                Event::DiskObserved(look) => Some((look.path.clone(), look.finding.clone())),
                _ => None,
            })
            .collect()
    }

    /// What was read of the files that the user accepted: the text is on record where it was taken.
    fn files_on_record(&self, paths: &[RelPath]) -> Vec<FileText> {
        let queue = || self.trace.iter().flat_map(|trace| &trace.queue);
        let mut captures: Vec<_> = queue()
            .filter_map(|recorded| match &recorded.event {
                Event::ArtifactCaptured(captured) if captured.format == Format::Disk => {
                    Some(captured)
                }
                _ => None,
            })
            .collect();
        // Which failure it was follows from its notice; older rules said the first of these.
        let told = |reason| match reason {
            Reason::DiskUnreadable | Reason::NotText => Some(ReadFailure::Failed),
            Reason::FileUnreadable => Some(ReadFailure::Denied),
            _ => None,
        };
        let said_of = |path: &RelPath| {
            let of_path = queue().filter_map(|recorded| match &recorded.event {
                Event::NoticeIssued(notice) => notice.entity.as_ref().map(|it| (it, notice.reason)),
                _ => None,
            });
            let path = path.clone();
            of_path.filter_map(move |(entity, reason)| (entity.path == path).then_some(reason))
        };
        let untaken = |path: &RelPath| {
            let failure = said_of(path).find_map(told).map(Err);
            // Nothing was taken of a text that was never true; the empty one never was either.
            let unknown = || said_of(path).find(|reason| *reason == Reason::NothingToDo);
            failure.or_else(|| unknown().map(|_| Ok(String::new())))
        };
        let read = |path: &RelPath| {
            let taken = captures
                .iter()
                .position(|captured| captured.path.as_ref() == Some(path));
            match taken.map(|at| captures.remove(at)) {
                Some(captured) => Some(Ok(self.text_on_record(captured.artifact))),
                None => untaken(path),
            }
        };
        paths.iter().map(read).collect()
    }

    /// A text in the Vault, or on its way there.
    pub(super) fn text_on_record(&self, hash: ArtifactHash) -> String {
        let queue = self.trace.iter().flat_map(|trace| &trace.queue);
        let coming = queue
            .into_iter()
            .find_map(|recorded| match &recorded.event {
                Event::Content(content) if content.hash == hash => Some(content.bytes.to_vec()),
                _ => None,
            });
        let bytes = coming.or_else(|| self.view().artifact_content(hash));
        String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
    }

    /// The files that were taken because somebody touched them: all that were taken from disk but the accepted ones.
    fn touched_on_record(&self, accepted: &[RelPath]) -> Vec<RelPath> {
        let queue = self.trace.iter().flat_map(|trace| &trace.queue);
        let taken = queue.filter_map(|recorded| match &recorded.event {
            Event::ArtifactCaptured(captured) if captured.format == Format::Disk => {
                captured.path.clone()
            }
            _ => None,
        });
        taken.filter(|path| !accepted.contains(path)).collect()
    }

    /// What was taken of a known file because a conversation was shown it; `None` while nothing is retraced.
    pub(super) fn taken_on_record(&self, path: &RelPath) -> Option<Option<TakenFromDisk>> {
        let queue = &self.trace.as_ref()?.queue;
        let capture = queue.iter().find_map(|recorded| match &recorded.event {
            Event::ArtifactCaptured(captured)
                if (captured.format, captured.origin) == (Format::Disk, Origin::User)
                    && captured.path.as_ref() == Some(path) =>
            {
                Some(captured)
            }
            _ => None,
        });
        let is_fitted = capture.is_some_and(|captured| captured.edit.is_some());
        let capture = capture.map(|captured| captured.capture);
        let versions = queue.iter().find_map(|recorded| match &recorded.event {
            Event::ArtifactResolved(resolved) if Some(resolved.capture) == capture => {
                Some(&resolved.versions)
            }
            _ => None,
        });
        let entities = versions.map(|versions| versions.iter().map(|it| it.entity.clone()));
        let entities = entities.map(|entities| entities.collect::<BTreeSet<EntityId>>());
        Some(entities.map(|mut entities| {
            // What is around those that were put into their file went along.
            let around = entities.iter().filter(|_| is_fitted);
            let around: Vec<EntityId> = around.flat_map(EntityId::holders).collect();
            entities.retain(|entity| !around.contains(entity));
            TakenFromDisk { entities }
        }))
    }

    /// What was read again of these files: it is on record where something was made of it.
    fn aftermath_on_record(&self, paths: &[RelPath]) -> Vec<FileText> {
        let queue = || self.trace.iter().flat_map(|trace| &trace.queue);
        let judged = |path: &RelPath| {
            let mut captures = queue().filter_map(|recorded| match &recorded.event {
                Event::ArtifactCaptured(captured) => Some(captured),
                _ => None,
            });
            let captured = captures.find(|captured| {
                captured.format == Format::Disk && captured.path.as_ref() == Some(path)
            })?;
            Some(Ok(self.text_on_record(captured.artifact)))
        };
        paths.iter().map(judged).collect()
    }

    /// Their looks are on record, with the times.
    fn texts_of_touched(&self, touched: &[RelPath]) -> Vec<Option<TouchedText>> {
        let files = self.files_on_record(touched).into_iter();
        let texts = files.map(|file| file.and_then(Result::ok));
        texts.map(|text| Some((text?, UnixMillis(0)))).collect()
    }

    /// What the record says of the whole request: older messages aren't recorded again.
    pub(super) fn seen_on_record(&self) -> Option<RecordedSight> {
        let mut seen = RecordedSight {
            nothing_new: true,
            ..RecordedSight::default()
        };
        for recorded in &self.trace.as_ref()?.queue {
            match &recorded.event {
                Event::PromptAmended(amended) => {
                    seen.withheld.clone_from(&amended.withheld);
                    seen.nothing_new &= amended.injected.is_none();
                }
                Event::ContextCleared(cleared) => seen.cut = cleared.cut.or(seen.cut),
                Event::NoticeIssued(notice) => {
                    seen.noticed.push((notice.reason, notice.entity.clone()));
                }
                Event::PromptComposed(composed) => {
                    let is_off = |it: &&Dropped| it.reason == Reason::OffInMessage;
                    let off = composed.dropped.iter().filter(is_off);
                    seen.off = off.map(|it| it.entity.path.clone()).collect();
                    seen.nothing_new &=
                        composed.hydrated.is_empty() && composed.dropped.len() == seen.off.len();
                    let shown = composed.hydrated.iter();
                    let shown = shown.map(|hydrated| (&hydrated.entity, hydrated.reason));
                    let dropped = composed.dropped.iter();
                    let dropped = dropped.map(|dropped| (&dropped.entity, dropped.reason));
                    let is_in_sight = |reason| reason == Reason::InSight;
                    let in_sight = shown.chain(dropped).filter(|(_, it)| is_in_sight(*it));
                    seen.in_sight = in_sight.map(|(entity, _)| entity.clone()).collect();
                }
                _ => {}
            }
        }
        Some(seen)
    }

    /// Compares what was decided with the record, and folds the record.
    pub(super) fn retrace(
        &mut self,
        mut trace: RecordedStep,
        today: &[Event],
        work: &mut BatchBuilder,
        decision: impl Fn(&Self, &Policy) -> Vec<Event>,
    ) {
        let (taken, differences) = self
            .by_settings(&trace, today, decision)
            .unwrap_or_else(|| {
                let mut comparison = trace.compare(today);
                self.blame_versions(&mut comparison.differences);
                (comparison.taken, comparison.differences)
            });
        trace.differences.extend(differences);
        for recorded in trace.queue.drain(..taken) {
            trace.reached = recorded.seq;
            self.fold_recorded(recorded, work);
        }
        self.trace = Some(trace);
    }

    /// If the record is what the settings on record give, and today's settings give something else: how much of the
    /// record that is, and the differences with the settings that make them.
    fn by_settings(
        &self,
        trace: &RecordedStep,
        today: &[Event],
        decision: impl Fn(&Self, &Policy) -> Vec<Event>,
    ) -> Option<(usize, Vec<Difference>)> {
        let then = Policy {
            workspace_root: self.policy.workspace_root.clone(),
            budget_tokens: self.policy.budget_tokens,
            ..self.state.rules().in_force()?.policy.clone()
        };
        if then == self.policy {
            return None;
        }
        let before = decision(self, &then);
        let comparison = trace.compare(&before);
        if before == today || !comparison.differences.is_empty() {
            return None;
        }
        let differing = then.settings().into_iter().zip(self.policy.settings());
        let differing: Vec<_> = differing.filter(|(then, now)| then != now).collect();
        let matters =
            |name: &str| decision(self, &then.with_setting_of(&self.policy, name)) != before;
        let mut causes: Vec<DifferenceCause> = Vec::new();
        // One that makes a difference by itself is named; where only several together do, all of them.
        let is_one_alone = differing.iter().any(|((name, _), _)| matters(name));
        for ((name, then), (_, now)) in differing {
            if !is_one_alone || matters(name) {
                causes.push(DifferenceCause::Setting { name, then, now });
            }
        }
        let mut differences = trace.compare_with(comparison.taken, today);
        for difference in &mut differences {
            difference.causes.clone_from(&causes);
        }
        Some((comparison.taken, differences))
    }

    /// Names the versions of grammars, pattern data and rules that may have made the differences of one decision.
    fn blame_versions(&self, differences: &mut [Difference]) {
        if differences.is_empty() {
            return;
        }
        let today = self.rules(String::new());
        let mut causes: BTreeSet<DifferenceCause> = BTreeSet::new();
        for difference in &*differences {
            causes.extend(read_otherwise(difference));
        }
        if let Some(then) = self.state.rules().in_force() {
            causes.extend(other_versions(then, &today));
        }
        for difference in differences {
            difference.causes = causes.iter().cloned().collect();
        }
    }
}

/// Whether a block was read by another grammar, or by other patterns.
fn read_otherwise(difference: &Difference) -> Vec<DifferenceCause> {
    let (Some(Event::ArtifactResolved(then)), Some(Event::ArtifactResolved(now))) =
        (&difference.recorded, &difference.today)
    else {
        return Vec::new();
    };
    let grammars = then.grammar.iter().zip(&now.grammar);
    let mut causes: Vec<DifferenceCause> = grammars
        .filter(|(then, now)| then.language == now.language && then.version != now.version)
        .map(|(then, now)| other_grammar(&then.language, &then.version, &now.version))
        .collect();
    if then.patterns != now.patterns {
        causes.push(other_patterns(then.patterns, now.patterns));
    }
    causes
}

/// What differs between two sets of rules, settings left out.
fn other_versions(then: &RulesInForce, now: &RulesInForce) -> Vec<DifferenceCause> {
    let version = |tags: &[GrammarTag], language: &str| {
        let mut tags = tags.iter();
        tags.find(|tag| tag.language == language)
            .map_or_else(|| String::from("none"), |tag| tag.version.clone())
    };
    let languages = then.grammars.iter().chain(&now.grammars);
    let languages: BTreeSet<&str> = languages.map(|tag| tag.language.as_str()).collect();
    let mut causes: Vec<DifferenceCause> = languages
        .into_iter()
        .map(|language| {
            let (then, now) = (
                version(&then.grammars, language),
                version(&now.grammars, language),
            );
            (language, then, now)
        })
        .filter(|(_, then, now)| then != now)
        .map(|(language, then, now)| other_grammar(language, &then, &now))
        .collect();
    if then.patterns != now.patterns {
        causes.push(other_patterns(then.patterns, now.patterns));
    }
    if then.rules != now.rules {
        causes.push(DifferenceCause::Rules {
            then: then.rules,
            now: now.rules,
        });
    }
    causes
}

fn other_grammar(language: &str, then: &str, now: &str) -> DifferenceCause {
    DifferenceCause::Grammar {
        language: language.into(),
        then: then.into(),
        now: now.into(),
    }
}

fn other_patterns(then: ArtifactHash, now: ArtifactHash) -> DifferenceCause {
    other_grammar(
        "symbols.json",
        &alloc::format!("{then:.12}"),
        &alloc::format!("{now:.12}"),
    )
}
