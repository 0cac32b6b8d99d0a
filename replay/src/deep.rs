//! Deep verification: every decision on record is made again, from what is on record of its observations, by today's
//! grammars and rules.
//!
//! What isn't on record is taken as it was; docs/storage.md lists it.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use tslp_core::event::{Content, ContentKind, Event, PromptReceived, Recorded, Verb};
use tslp_core::extract::Grammars;
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::EpisodeId;
use tslp_core::limits::SESSIONS_KEPT;
use tslp_core::message::Attempt;
use tslp_core::policy::Policy;

use crate::engine::Engine;
use crate::pending::BatchBuilder;
use crate::trace::{self, Difference, DifferenceCause};
use tslp_projections::state::State;
use tslp_projections::store::Store;

/// Verifies a ledger in one pass by making every decision again. Memory grows with the state and the longest step, not with
/// the ledger.
pub struct DeepVerifier<G, S> {
    engine: Engine<G, S>,
    step: Vec<Recorded>,
    /// The last prompts, which may be sent again.
    prompts: BTreeMap<EpisodeId, PromptReceived>,
    decisions: u64,
}

impl<G: Grammars, S: Store> DeepVerifier<G, S> {
    /// Starts before the first event. `store` must hold everything recorded before the event at hand.
    #[must_use]
    pub fn new(grammars: G, policy: Policy, store: S) -> Self {
        let mut engine = Engine::new(State::default(), grammars, policy, store);
        engine.forgo_rows();
        Self {
            engine,
            step: Vec::new(),
            prompts: BTreeMap::new(),
            decisions: 0,
        }
    }

    /// Takes the next event of the ledger, and returns the differences in the steps that it ends.
    pub fn next(&mut self, recorded: Recorded) -> Vec<Difference> {
        let of = |recorded: &Recorded| (recorded.at, recorded.episode, recorded.session);
        let is_anothers = |first: &Recorded| of(first) != of(&recorded);
        // Where a step's end was taken out, what it decided is still missing.
        let mut differences = if self.step.first().is_some_and(is_anothers) {
            self.retrace()
        } else {
            Vec::new()
        };
        debug_assert!(
            self.step.last().is_none_or(|last| last.seq < recorded.seq),
            "positions rise"
        );
        let is_whole = recorded.ends_step;
        self.step.push(recorded);
        if is_whole {
            differences.extend(self.retrace());
        }
        differences
    }

    /// The ledger has ended: returns the differences in its last step.
    pub fn finish(&mut self) -> Vec<Difference> {
        // Content that nothing names yet is what comes first of the events that are missing.
        let contents = self.step.iter().rev();
        let contents = contents.take_while(|recorded| matches!(recorded.event, Event::Content(_)));
        let first_missing = contents.last().map(|recorded| recorded.seq);
        let has = |wanted: fn(&Event) -> bool| self.step.iter().any(|it| wanted(&it.event));
        let is_uncomposed = has(|event| matches!(event, Event::PromptReceived(_)))
            && !has(|event| matches!(event, Event::PromptComposed(_)));
        let mut differences = self.retrace();
        let first_missing = first_missing.unwrap_or(self.engine.state().head().next());
        for difference in &mut differences {
            let is_one_sided = difference.recorded.is_none() || difference.today.is_none();
            let one = difference.recorded.as_ref().or(difference.today.as_ref());
            let is_missing = is_one_sided && difference.seq >= first_missing;
            let follows = is_uncomposed && one.is_some_and(follows_from_composition);
            if is_missing || follows {
                difference.causes.push(DifferenceCause::CutShort);
            }
        }
        differences
    }

    /// The number of decisions made again.
    #[must_use]
    pub const fn decisions(&self) -> u64 {
        self.decisions
    }

    /// The state on record.
    #[must_use]
    pub const fn state(&self) -> &State {
        self.engine.state()
    }

    fn retrace(&mut self) -> Vec<Difference> {
        let mut step = core::mem::take(&mut self.step);
        let decisions = step
            .iter()
            .filter(|recorded| recorded.event.kind().is_decision());
        self.decisions += decisions.count() as u64;
        let mut differences: Vec<Difference> = step.iter().filter_map(check_content_hash).collect();
        // Nothing is decided by these: they are folded before the step's decisions are compared.
        while matches!(
            step.first(),
            Some(Recorded {
                event: Event::RulesInForce(_) | Event::PromptMeasured(_) | Event::WindowExceeded(_),
                ..
            })
        ) {
            self.engine.fold_observed(step.remove(0));
        }
        let head = defining_event(&step).cloned();
        if let Some(head) = &head
            && !follows_decisions(&head.event)
        {
            // What comes before such an event is observed; a decision there has lost its own step.
            let observed = step.iter().take_while(|recorded| recorded.seq < head.seq);
            let decided = observed.filter(|recorded| recorded.event.kind().is_decision());
            differences.extend(decided.map(trace::unexpected));
        }
        differences.extend(match head {
            None => self.retrace_unclaimed(step),
            Some(head) => self.retrace_step(&head, step),
        });
        // The store holds all of it, so memory doesn't grow with the ledger.
        self.engine.rows_made_durable(self.engine.state().head());
        differences
    }

    fn retrace_step(&mut self, head: &Recorded, mut step: Vec<Recorded>) -> Vec<Difference> {
        let mut work = BatchBuilder::on_record(head);
        match &head.event {
            Event::PromptReceived(prompt) => {
                let standing =
                    self.engine
                        .prompt_standing(head.session, prompt, Attempt::First, &step);
                self.observe_until(head, &mut step);
                let differences = self.engine.retrace_step(step, |engine| {
                    engine.retrace_prompt(work, prompt, Attempt::First, standing);
                });
                self.remember_prompt(head.episode, prompt.clone());
                differences
            }
            Event::PromptComposed(_) => {
                let Some(prompt) = self.prompts.get(&head.episode) else {
                    return self.retrace_unclaimed(step);
                };
                let standing =
                    self.engine
                        .prompt_standing(head.session, prompt, Attempt::Retry, &[]);
                self.engine.retrace_step(step, |engine| {
                    engine.retrace_prompt(work, prompt, Attempt::Retry, standing);
                })
            }
            Event::ReplyEnded(ended) => {
                self.observe_until(head, &mut step);
                self.engine
                    .retrace_step(step, |engine| engine.retrace_reply(work, ended))
            }
            Event::AuditAnswered(answered) => self
                .engine
                .retrace_step(step, |engine| engine.retrace_audit(work, answered)),
            Event::DirectiveGiven(given) => {
                // A signal is answered by nothing.
                let is_answered = given.verb == Verb::Signal
                    || step
                        .iter()
                        .any(|recorded| matches!(recorded.event, Event::NoticeIssued(_)));
                self.engine.retrace_step(step, |engine| {
                    if is_answered {
                        engine.retrace_command(work, given)
                    } else {
                        engine.retrace_adopted(work, given)
                    }
                })
            }
            // Whether the decision itself is right is for whoever can read the profile.
            Event::ActionJudged(judged) => {
                self.observe_until(head, &mut step);
                self.engine.retrace_step(step, |engine| {
                    engine.halt_after_judgement(judged, &mut work);
                })
            }
            Event::ToolRan(ran) => {
                self.observe_until(head, &mut step);
                self.engine
                    .retrace_step(step, |engine| engine.halt_after_run(ran, &mut work))
            }
            Event::CheckRan(ran) => {
                self.observe_until(head, &mut step);
                self.engine
                    .retrace_step(step, |engine| engine.tell_check(ran, &mut work))
            }
            Event::LostCallFound(found) => {
                self.observe_until(head, &mut step);
                self.engine
                    .retrace_step(step, |engine| engine.tell_fitted(found.outcome, &mut work))
            }
            Event::ReplyImported(reply) => {
                self.observe_until(head, &mut step);
                self.engine
                    .retrace_step(step, |engine| engine.retrace_import(work, reply))
            }
            Event::DraftRefused(draft) => self
                .engine
                .retrace_step(step, |engine| engine.retrace_draft(work, draft)),
            // Nothing is decided about any other event that defines a step.
            _ => {
                self.observe_until(head, &mut step);
                self.retrace_unclaimed(step)
            }
        }
    }

    /// A step without a defining event: only looks at the disk are accounted for, anything else is unexpected.
    fn retrace_unclaimed(&mut self, step: Vec<Recorded>) -> Vec<Difference> {
        let Some(first) = step.first() else {
            return Vec::new();
        };
        let work = BatchBuilder::on_record(first);
        self.engine
            .retrace_step(step, |engine| engine.retrace_looks(work))
    }

    /// Folds everything up to the step's defining event: input from outside, about which nothing is decided.
    fn observe_until(&mut self, head: &Recorded, step: &mut Vec<Recorded>) {
        let observed = step
            .iter()
            .take_while(|recorded| recorded.seq <= head.seq)
            .count();
        for recorded in step.drain(..observed) {
            self.engine.fold_observed(recorded);
        }
    }

    fn remember_prompt(&mut self, episode: EpisodeId, prompt: PromptReceived) {
        self.prompts.insert(episode, prompt);
        if self.prompts.len() > SESSIONS_KEPT {
            self.prompts.pop_first();
        }
    }
}

/// The event that determines what kind of step it is.
fn defining_event(step: &[Recorded]) -> Option<&Recorded> {
    let ranked = step
        .iter()
        .filter_map(|recorded| Some((defining_rank(&recorded.event)?, recorded)));
    // Of several with the same rank it is the first.
    let first = ranked.min_by_key(|(rank, _)| *rank);
    first.map(|(_, recorded)| recorded)
}

/// Which of a step's events defines it: the one with the lowest rank. `None` for what is only ever a part of another's step, and
/// for looks at the disk.
const fn defining_rank(event: &Event) -> Option<u8> {
    match event {
        Event::PromptReceived(_) => Some(0),
        // A prompt that is sent again has no event of its own; it may hold directives, as a new one may.
        Event::PromptComposed(_) => Some(1),
        // The last parts of a reply are recorded with its end.
        Event::ReplyEnded(_) => Some(2),
        Event::SideRequestReceived(_)
        | Event::ReplySegment(_)
        | Event::ReplyPart(_)
        | Event::PromptSent(_)
        | Event::AuditAnswered(_)
        | Event::DirectiveGiven(_)
        | Event::PlaceObserved(_)
        | Event::ActionRequested(_)
        | Event::ActionJudged(_)
        | Event::ToolRan(_)
        | Event::PolicyApproved(_)
        | Event::CheckRan(_)
        | Event::LostCallFound(_)
        | Event::DraftRefused(_)
        | Event::ReplyImported(_) => Some(3),
        // A call of a reply that is still coming has nothing else.
        Event::Content(content) if matches!(content.kind, ContentKind::ToolArguments) => Some(4),
        Event::RulesInForce(_)
        | Event::Content(_)
        | Event::DiskObserved(_)
        | Event::PromptMeasured(_)
        | Event::WindowExceeded(_)
        | Event::ArtifactCaptured(_)
        | Event::ArtifactResolved(_)
        | Event::Transitioned(_)
        | Event::VersionsPromoted(_)
        | Event::PromotionRefused(_)
        | Event::AuditAsked(_)
        | Event::NoticeIssued(_)
        | Event::PathResolved(_)
        | Event::PromptAmended(_)
        | Event::CapabilityChanged(_)
        | Event::AuthorFound(_)
        | Event::WorkCounted(_)
        | Event::ScopeChanged(_)
        | Event::GoalChanged(_)
        | Event::RecordChanged(_)
        | Event::ContextCleared(_) => None,
    }
}

/// Whether a step's defining event comes after decisions of the step.
const fn follows_decisions(head: &Event) -> bool {
    matches!(head, Event::PromptComposed(_) | Event::AuditAnswered(_))
}

/// Whether an event is only made again by what the record of a prompt's composition says, which a ledger that ends early
/// may lack: what the conversation showed.
const fn follows_from_composition(event: &Event) -> bool {
    match event {
        Event::Content(content) => matches!(content.kind, ContentKind::Injection),
        Event::NoticeIssued(_) | Event::PromptAmended(_) | Event::PromptComposed(_) => true,
        _ => false,
    }
}

/// The difference if content is recorded under a hash that isn't its own.
fn check_content_hash(recorded: &Recorded) -> Option<Difference> {
    let Event::Content(content) = &recorded.event else {
        return None;
    };
    let hash = ArtifactHash::of(&content.bytes);
    (hash != content.hash).then(|| Difference {
        seq: recorded.seq,
        recorded: Some(recorded.event.clone()),
        today: Some(Event::Content(Content {
            hash,
            ..content.clone()
        })),
        causes: Vec::new(),
    })
}
