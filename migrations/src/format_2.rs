//! Layouts of format 2 that have changed since.

use rkyv::{Archive, Deserialize, Serialize};
use tslp_core::event;
use tslp_core::extract::GrammarTag;
use tslp_core::gate::{GateProfile, Thresholds};
use tslp_core::hash::ArtifactHash;
use tslp_core::policy::{self, AuditChoice, HistoryChoice, Placement};

/// Held its policy's settings by their places.
#[derive(Archive, Serialize, Deserialize)]
pub struct RulesInForce {
    program: String,
    rules: u32,
    grammars: Vec<GrammarTag>,
    patterns: ArtifactHash,
    policy: Policy,
}

#[derive(Archive, Serialize, Deserialize)]
struct Policy {
    workspace_root: String,
    profile: GateProfile,
    thresholds: Thresholds,
    audit: AuditChoice,
    history: HistoryChoice,
    placement: Placement,
    budget_tokens: u32,
    tombstone_episodes: u32,
}

impl From<RulesInForce> for event::RulesInForce {
    fn from(past: RulesInForce) -> Self {
        let policy = past.policy;
        Self {
            program: past.program,
            rules: past.rules,
            grammars: past.grammars,
            patterns: past.patterns,
            policy: policy::Policy {
                workspace_root: policy.workspace_root,
                profile: policy.profile,
                thresholds: policy.thresholds,
                audit: policy.audit,
                history: policy.history,
                placement: policy.placement,
                budget_tokens: policy.budget_tokens,
                tombstone_episodes: policy.tombstone_episodes,
                // Settings that there weren't: what was decided then was decided by their defaults or by other rules.
                ..policy::Policy::default()
            },
        }
    }
}
