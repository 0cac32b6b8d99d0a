//! Deep verification: every decision on record is made again, from what is on record of its observations, by today's
//! grammars and rules.
//!
//! What isn't on record is taken as it was: which conversation a prompt belongs to, which code the client's older
//! messages held, the token budget, the workspace's path, what a file held that wasn't taken.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use tslp_core::event::{Content, ContentKind, Event, PromptReceived, Recorded, ReplyEnded};
use tslp_core::extract::Grammars;
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::EpisodeId;
use tslp_core::limits::SESSIONS_KEPT;
use tslp_core::policy::Policy;

use crate::engine::Engine;
use crate::engine::retrace::Turn;
use crate::state::State;
use crate::step;
use crate::store::Store;
use crate::trace::{Cause, Difference};

/// Walks a ledger once. Memory grows with the state and the longest step, not with the ledger.
pub struct Deep<G, S> {
    engine: Engine<G, S>,
    step: Vec<Recorded>,
    /// The last prompts, which may be sent again.
    prompts: BTreeMap<EpisodeId, PromptReceived>,
    decisions: u64,
}

impl<G: Grammars, S: Store> Deep<G, S> {
    /// Starts before the first event. `store` holds at least all that is known before the one at hand.
    #[must_use]
    pub fn new(grammars: G, policy: Policy, store: S) -> Self {
        Self {
            engine: Engine::new(State::default(), grammars, policy, store),
            step: Vec::new(),
            prompts: BTreeMap::new(),
            decisions: 0,
        }
    }

    /// Takes the next event of the ledger, and tells what differs in the steps that ended with it.
    pub fn next(&mut self, recorded: Recorded) -> Vec<Difference> {
        let mut differences = Vec::new();
        if !step::goes_on(&self.step, &recorded) {
            differences.extend(self.retrace());
        }
        self.step.push(recorded);
        if step::is_whole(&self.step) {
            differences.extend(self.retrace());
        }
        differences
    }

    /// The ledger has ended: tells what differs in its last step.
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
                difference.causes.push(Cause::CutShort);
            }
        }
        differences
    }

    /// How many decisions were made again.
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
        let decisions = step.iter().filter(|recorded| is_decision(&recorded.event));
        self.decisions += decisions.count() as u64;
        let mut differences: Vec<Difference> = step.iter().filter_map(misnamed).collect();
        while matches!(
            step.first(),
            Some(Recorded {
                event: Event::RulesInForce(_) | Event::PromptMeasured(_),
                ..
            })
        ) {
            self.engine.observed(step.remove(0));
        }
        let head = step::head(&step).map(|at| step[at].clone());
        differences.extend(match head {
            None => self.rest(step),
            Some(head) => self.retrace_step(&head, step),
        });
        self.engine.settled(self.engine.state().head());
        differences
    }

    fn retrace_step(&mut self, head: &Recorded, mut step: Vec<Recorded>) -> Vec<Difference> {
        let at = head.at;
        match &head.event {
            Event::PromptReceived(prompt) => {
                let standing = self.engine.standing(prompt, Turn::First, &step);
                self.observe_until(head, &mut step);
                let differences = self.engine.retraced(step, |engine| {
                    engine.retrace_prompt(at, prompt, Turn::First, standing);
                });
                self.remember(prompt.clone());
                differences
            }
            Event::PromptComposed(composed) => {
                let Some(prompt) = self.prompts.get(&composed.episode) else {
                    return self.rest(step);
                };
                let mut differences = looks(&mut self.engine, &mut step, composed.episode);
                let standing = self.engine.standing(prompt, Turn::Retry, &[]);
                differences.extend(self.engine.retraced(step, |engine| {
                    engine.retrace_prompt(at, prompt, Turn::Retry, standing);
                }));
                differences
            }
            Event::SideRequestReceived(_) | Event::PromptSent(_) => {
                self.observe_until(head, &mut step);
                self.rest(step)
            }
            Event::ReplySegment(_) | Event::ReplyPart(_) => {
                let differences = looks(&mut self.engine, &mut step, EpisodeId::OUTSIDE);
                self.observe_until(head, &mut step);
                differences
            }
            Event::ReplyEnded(ended) => {
                let mut differences = looks(&mut self.engine, &mut step, EpisodeId::OUTSIDE);
                self.observe_until(head, &mut step);
                differences.extend(self.reply(head, ended, step));
                differences
            }
            Event::AuditAnswered(answered) => {
                let mut differences = looks(&mut self.engine, &mut step, answered.episode);
                differences.extend(
                    self.engine
                        .retraced(step, |engine| engine.retrace_audit(at, answered)),
                );
                differences
            }
            Event::DirectiveGiven(given) => {
                let mut differences = looks(&mut self.engine, &mut step, EpisodeId::OUTSIDE);
                let is_answered = step
                    .iter()
                    .any(|recorded| matches!(recorded.event, Event::NoticeIssued(_)));
                differences.extend(self.engine.retraced(step, |engine| match is_answered {
                    true => engine.retrace_command(at, given),
                    false => engine.retrace_adopted(at, given),
                }));
                differences
            }
            Event::ActionRequested(_) | Event::PolicyApproved(_) => {
                self.observe_until(head, &mut step);
                self.rest(step)
            }
            // Whether the decision itself is right is for whoever can read the profile.
            Event::ActionJudged(judged) => {
                self.observe_until(head, &mut step);
                self.engine
                    .retraced(step, |engine| engine.retrace_judgement(at, judged))
            }
            Event::ToolRan(ran) => {
                self.observe_until(head, &mut step);
                self.engine
                    .retraced(step, |engine| engine.retrace_run(at, ran))
            }
            _ => self.rest(step),
        }
    }

    fn reply(
        &mut self,
        head: &Recorded,
        ended: &ReplyEnded,
        step: Vec<Recorded>,
    ) -> Vec<Difference> {
        self.engine
            .retraced(step, |engine| engine.retrace_reply(head.at, ended))
    }

    /// Looks between steps; whatever else there is follows from nothing.
    fn rest(&mut self, mut step: Vec<Recorded>) -> Vec<Difference> {
        let mut differences = looks(&mut self.engine, &mut step, EpisodeId::OUTSIDE);
        differences.extend(self.engine.retraced(step, |_| ()));
        differences
    }

    /// Folds everything up to the step's head, which is what was observed.
    fn observe_until(&mut self, head: &Recorded, step: &mut Vec<Recorded>) {
        let observed = step
            .iter()
            .take_while(|recorded| recorded.seq <= head.seq)
            .count();
        for recorded in step.drain(..observed) {
            self.engine.observed(recorded);
        }
    }

    fn remember(&mut self, prompt: PromptReceived) {
        self.prompts.insert(prompt.episode, prompt);
        if self.prompts.len() > SESSIONS_KEPT {
            self.prompts.pop_first();
        }
    }
}

/// Takes the looks again that stand at the step's beginning. What they make void belongs to this episode, or to none.
fn looks<G: Grammars, S: Store>(
    engine: &mut Engine<G, S>,
    step: &mut Vec<Recorded>,
    episode: EpisodeId,
) -> Vec<Difference> {
    let mut differences = Vec::new();
    for look in step::leading_looks(step) {
        let belongs = look.iter().any(|recorded| {
            matches!(&recorded.event, Event::Transitioned(moved) if moved.episode == episode)
        });
        let episode = if belongs { episode } else { EpisodeId::OUTSIDE };
        let first = look.first().cloned();
        differences.extend(engine.retraced(look, |engine| {
            if let Some(Recorded {
                at,
                event: Event::DiskObserved(look),
                ..
            }) = &first
            {
                engine.retrace_look(*at, episode, look);
            }
        }));
    }
    differences
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

const fn is_decision(event: &Event) -> bool {
    matches!(
        event,
        Event::ArtifactCaptured(_)
            | Event::ArtifactResolved(_)
            | Event::Transitioned(_)
            | Event::PromotionRefused(_)
            | Event::AuditAsked(_)
            | Event::NoticeIssued(_)
            | Event::PromptAmended(_)
            | Event::PromptComposed(_)
            | Event::ActionJudged(_)
            | Event::CapabilityChanged(_)
    )
}

/// Content under an address that isn't its own.
fn misnamed(recorded: &Recorded) -> Option<Difference> {
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
