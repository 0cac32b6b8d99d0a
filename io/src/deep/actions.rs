//! The Guardian's decisions made again: from the recorded request, the recorded profile, and what was granted and spent by
//! then.

use std::collections::BTreeMap;

use tslp_core::RULES_VERSION;
use tslp_core::event::{ActionRequested, Event, Recorded};
use tslp_core::guardian::{Jail, ToolProfile};
use tslp_core::hash::ArtifactHash;
use tslp_decide::scope::tools::{ToolJudging, evidence_text, judge_request};
use tslp_projections::guardian::GuardianState;
use tslp_replay::trace::{Difference, DifferenceCause};

use tslp_tools::guardian::profile_file;

/// The state before the current event that judging a call depends on.
#[derive(Default)]
pub(super) struct ActionReplay {
    guardian: GuardianState,
    /// Evidence since the last other event.
    fresh: BTreeMap<ArtifactHash, String>,
    jails: BTreeMap<ArtifactHash, Jail>,
    /// Approved profiles; `None` for one that can't be read.
    profiles: BTreeMap<ArtifactHash, Option<ToolProfile>>,
    /// The request that isn't decided yet.
    request: Option<ActionRequested>,
    rules: Option<u32>,
}

impl ActionReplay {
    /// Takes the next event of the ledger; returns how its decision differs from today's.
    pub(super) fn next_event(&mut self, recorded: &Recorded) -> Option<Difference> {
        let difference = match &recorded.event {
            Event::Content(content) => {
                let text = str::from_utf8(&content.bytes).ok();
                if let Some(text) = text.and_then(evidence_text) {
                    self.fresh.insert(content.hash, text.to_owned());
                }
                return None;
            }
            Event::RulesInForce(rules) => {
                self.rules = Some(rules.rules);
                None
            }
            Event::ActionRequested(request) => {
                let jail = self.fresh.get(&request.scope);
                if let Some(jail) = jail.and_then(|text| Jail::from_text(text)) {
                    self.jails.insert(request.scope, jail);
                }
                self.request = Some(request.clone());
                None
            }
            Event::PolicyApproved(approved) => {
                if let Some(text) = self.fresh.get(&approved.text) {
                    let profile = profile_file::parse_profile(text).ok();
                    self.profiles.insert(approved.text, profile);
                }
                None
            }
            Event::ActionJudged(_) => self.compare_judgement(recorded),
            _ => None,
        };
        // Evidence comes right before the event that names it, so it needn't be kept any longer. The event itself counts only
        // after it was judged again.
        self.fresh.clear();
        self.guardian.apply(recorded);
        difference
    }

    fn compare_judgement(&mut self, recorded: &Recorded) -> Option<Difference> {
        let today = self.judge_again(recorded);
        (today.as_ref() != Some(&recorded.event)).then(|| Difference {
            seq: recorded.seq,
            recorded: Some(recorded.event.clone()),
            today,
            causes: match self.rules {
                Some(then) if then != RULES_VERSION => vec![DifferenceCause::Rules {
                    then,
                    now: RULES_VERSION,
                }],
                _ => Vec::new(),
            },
        })
    }

    fn judge_again(&mut self, recorded: &Recorded) -> Option<Event> {
        let request = self.request.take()?;
        let approved = self
            .guardian
            .approved_policy()
            .map(|approved| approved.text);
        let built_in = ToolProfile::built_in();
        let profile = match approved {
            None => &built_in,
            // One that can't be read leaves the built-in one, in a mode in which nothing runs.
            Some(text) => self.profiles.get(&text)?.as_ref().unwrap_or(&built_in),
        };
        let judging = ToolJudging {
            profile,
            policy: approved,
            jail: self.jails.get(&request.scope)?,
            session: &self.guardian.tool_session(recorded.session),
        };
        let (judged, _) = judge_request(recorded.at, &request, &judging);
        Some(Event::ActionJudged(judged))
    }
}
