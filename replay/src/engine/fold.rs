//! What is decided is folded at once, with the rules in force where they are new.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use tslp_core::RULES_VERSION;
use tslp_core::capture::vocabulary;
use tslp_core::event::{Event, Recorded, RulesInForce};
use tslp_core::extract::Grammars;
use tslp_core::policy::Policy;

use super::Engine;
use crate::pending::BatchBuilder;
use tslp_projections::store::Store;

impl<G: Grammars, S: Store> Engine<G, S> {
    /// Decides and folds.
    pub(super) fn decide(
        &mut self,
        work: &mut BatchBuilder,
        decision: impl Fn(&Self, &Policy) -> Vec<Event>,
    ) {
        self.decide_with(work, |engine, policy| (decision(engine, policy), ()));
    }

    /// Decides and folds, and gives what else came of it.
    pub(super) fn decide_with<T>(
        &mut self,
        work: &mut BatchBuilder,
        decision: impl Fn(&Self, &Policy) -> (Vec<Event>, T),
    ) -> T {
        let (events, other) = decision(self, &self.policy);
        // While a ledger is retraced, the record is folded in place of today's events.
        match self.trace.take() {
            None => self.fold(events, work),
            Some(trace) => self.retrace(trace, &events, work, |engine, policy| {
                decision(engine, policy).0
            }),
        }
        other
    }

    pub(super) fn fold(&mut self, events: Vec<Event>, work: &mut BatchBuilder) {
        if let Some(trace) = self.trace.take() {
            return self.retrace(trace, &events, work, |_, _| events.clone());
        }
        if self.undeclared && !events.is_empty() {
            // With the first decision, not at the start: a start that decides nothing appends nothing.
            self.undeclared = false;
            let rules = self.changed_rules();
            rules
                .into_iter()
                .for_each(|rules| self.fold_one(Event::RulesInForce(rules), work));
        }
        for event in events {
            self.fold_one(event, work);
        }
    }

    fn fold_one(&mut self, event: Event, work: &mut BatchBuilder) {
        let recorded = Recorded {
            envelope: work.envelope(self.state.head().next()),
            event,
        };
        self.fold_recorded(recorded, work);
    }

    pub(super) fn fold_recorded(&mut self, recorded: Recorded, work: &mut BatchBuilder) {
        // Before the state knows the content: a decision of the same step may ask for the bytes.
        match &recorded.event {
            Event::Content(content) => {
                let bytes = Arc::clone(&content.bytes);
                self.store.fresh.insert(recorded.seq, bytes);
            }
            Event::RecordChanged(record) => {
                let record = Arc::new(record.clone());
                self.store.fresh_records.insert(recorded.seq, record);
            }
            _ => {}
        }
        // Before the append: positions are dense, and the writer refuses anything else.
        debug_assert_eq!(
            recorded.seq,
            self.state.head().next(),
            "what is folded follows on what was folded before"
        );
        self.state.apply(&recorded);
        debug_assert_eq!(
            self.state.head(),
            recorded.seq,
            "an event is folded as a whole"
        );
        work.recorded.push(recorded);
    }

    /// The rules by which this engine decides.
    pub(super) fn rules(&self, program: String) -> RulesInForce {
        let mut grammars = self.grammars.tags();
        grammars.push(vocabulary::tag());
        grammars.sort();
        RulesInForce {
            program,
            rules: RULES_VERSION,
            grammars,
            patterns: self.grammars.patterns(),
            policy: self.policy.clone(),
        }
    }

    /// The rules in force, if they aren't those on record.
    fn changed_rules(&self) -> Option<RulesInForce> {
        let rules = self.rules(self.program.clone()?);
        let is_known = self.state.rules().in_force().is_some_and(|known| {
            let mut known = known.clone();
            // Each prompt records its own budget, which follows from the model's context size.
            known.policy.budget_tokens = rules.policy.budget_tokens;
            known == rules
        });
        (!is_known).then_some(rules)
    }
}
