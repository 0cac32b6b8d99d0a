//! Gate A, gate B and the ETV gate: what a proposal must show to become truth (spec §6, §7, §15.5).

use alloc::vec::Vec;

use crate::artifact::{Level, Origin};
use crate::reason::Reason;
use crate::slice::Figures;

/// One rule's verdict with the figures that it saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The rule, by the reason code of its being met.
    pub rule: Reason,
    /// Whether it is met.
    pub met: bool,
    /// What was seen: a count, or 0/1.
    pub seen: u64,
    /// The least that would have met the rule, or 0 where nothing is counted.
    pub needed: u64,
}

/// Both gates' verdicts, rule by rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GateReport {
    /// In the order of evaluation; gate A's rules, then ETV, then the grants of gate B.
    pub verdicts: Vec<Verdict>,
    /// What keeps the version out, or the grant that let it in.
    pub conclusion: Option<Reason>,
    /// Whether both gates let it pass.
    pub passed: bool,
}

/// How strict gate B is (engine: "Promotion").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Structural parity is a grant of its own.
    #[default]
    Standard,
    /// Structural parity alone is not enough: the user confirms each change.
    Strict,
}

/// Where a count counts as collapsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// Least share of the base's AST nodes, in percent.
    pub nodes_percent: u8,
    /// Least share of the base's tokens, in percent.
    pub tokens_percent: u8,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            nodes_percent: 50,
            tokens_percent: 50,
        }
    }
}

/// Why a text is not the full definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// All of it is there.
    Full,
    /// A placeholder stands for a part.
    Elided,
    /// It breaks off.
    Truncated,
}

/// What disk says of the entity, by an observation made in this episode (spec §15.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskVerdict {
    /// Disk holds the same, holds no such file, or the user has acknowledged the difference.
    Agrees,
    /// Disk holds something else.
    Stale,
    /// Disk could not be read.
    Unreadable,
    /// Disk defines the symbol, and the ledger never held that definition.
    Unacknowledged,
}

/// Whether the version that the model was shown is still the current one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaseVerdict {
    /// It is, or none was shown.
    Unmoved,
    /// Something else became true meanwhile, in another conversation.
    Moved,
}

/// Everything that the gates look at for one version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Who supplied the code.
    pub origin: Origin,
    /// How sure its entity is.
    pub level: Level,
    /// Whether all of it is there.
    pub completeness: Completeness,
    /// The candidate's structure.
    pub figures: Figures,
    /// The authoritative base's structure, if there is a base.
    pub base: Option<Figures>,
    /// Tracked top-level symbols of the base that the candidate lacks.
    pub symbols_missing: u32,
    /// Tracked top-level symbols of the base.
    pub symbols_of_base: u32,
    /// What became of the base since the model was shown it.
    pub base_verdict: BaseVerdict,
    /// What disk says of the base.
    pub disk: DiskVerdict,
}

/// Judges one version. Pure; every rule's verdict is in the report, also those after the first failure.
#[must_use]
pub fn judge(facts: &Facts, thresholds: Thresholds, profile: Profile) -> GateReport {
    let mut report = GateReport::default();
    let refusal = gate_a(facts, thresholds, &mut report.verdicts);
    let moved = base_moved(facts, &mut report.verdicts);
    let disk_refusal = etv(facts, &mut report.verdicts);
    let grant = gate_b(facts, profile, refusal, &mut report.verdicts);
    let refused = if facts.origin == Origin::User {
        refusal_of_paste(facts)
    } else {
        refusal.or(moved).or(disk_refusal)
    };
    report.passed = refused.is_none() && grant.is_some();
    report.conclusion = refused.or(grant).or(Some(Reason::GrantMissing));
    report
}

/// The user may shrink, drop and diverge at will; only what isn't there in full or has no entity can't become true.
fn refusal_of_paste(facts: &Facts) -> Option<Reason> {
    match (facts.level, facts.completeness) {
        (Level::Confirmed, Completeness::Full) => None,
        (Level::Confirmed, Completeness::Elided) => Some(Reason::Elided),
        (Level::Confirmed, Completeness::Truncated) => Some(Reason::Truncated),
        _ => Some(Reason::NoEntity),
    }
}

fn gate_a(facts: &Facts, thresholds: Thresholds, verdicts: &mut Vec<Verdict>) -> Option<Reason> {
    let confirmed = facts.level == Level::Confirmed;
    let full = facts.completeness == Completeness::Full;
    let base = facts.base.unwrap_or_default();
    let nodes_needed = share(base.nodes, thresholds.nodes_percent);
    let tokens_needed = share(base.tokens, thresholds.tokens_percent);
    let kept = facts.symbols_of_base - facts.symbols_missing;
    let rules = [
        Verdict {
            rule: Reason::Confirmed,
            met: confirmed,
            seen: u64::from(confirmed),
            needed: 1,
        },
        Verdict {
            rule: Reason::FullDefinition,
            met: full,
            seen: u64::from(full),
            needed: 1,
        },
        counted(
            Reason::SymbolsKept,
            kept.into(),
            facts.symbols_of_base.into(),
        ),
        counted(Reason::NodesKept, facts.figures.nodes.into(), nodes_needed),
        counted(
            Reason::TokensKept,
            facts.figures.tokens.into(),
            tokens_needed,
        ),
    ];
    verdicts.extend(rules);
    let failed = rules.iter().find(|verdict| !verdict.met)?;
    Some(match (failed.rule, facts.completeness) {
        (Reason::FullDefinition, Completeness::Truncated) => Reason::Truncated,
        (Reason::FullDefinition, _) => Reason::Elided,
        (rule, _) => rule,
    })
}

/// An update of a version that is gone would undo, unseen, what took its place (spec §12).
fn base_moved(facts: &Facts, verdicts: &mut Vec<Verdict>) -> Option<Reason> {
    let unmoved = facts.base_verdict == BaseVerdict::Unmoved;
    verdicts.push(Verdict {
        rule: Reason::BaseUnmoved,
        met: unmoved,
        seen: u64::from(unmoved),
        needed: 1,
    });
    (!unmoved).then_some(Reason::BaseUnacknowledged)
}

fn etv(facts: &Facts, verdicts: &mut Vec<Verdict>) -> Option<Reason> {
    let agrees = facts.disk == DiskVerdict::Agrees;
    verdicts.push(Verdict {
        rule: Reason::DiskAgrees,
        met: agrees,
        seen: u64::from(agrees),
        needed: 1,
    });
    match facts.disk {
        DiskVerdict::Agrees => None,
        DiskVerdict::Stale => Some(Reason::Stale),
        DiskVerdict::Unreadable => Some(Reason::DiskUnreadable),
        DiskVerdict::Unacknowledged => Some(Reason::BaseUnacknowledged),
    }
}

/// The first grant that holds.
fn gate_b(
    facts: &Facts,
    profile: Profile,
    gate_a: Option<Reason>,
    verdicts: &mut Vec<Verdict>,
) -> Option<Reason> {
    let write_head = facts.origin == Origin::User;
    let parity = facts.symbols_missing == 0 && gate_a.is_none() && profile == Profile::Standard;
    verdicts.push(Verdict {
        rule: Reason::WriteHead,
        met: write_head,
        seen: u64::from(write_head),
        needed: 1,
    });
    verdicts.push(Verdict {
        rule: Reason::StructuralParity,
        met: parity,
        seen: u64::from(parity),
        needed: 1,
    });
    let granted = [
        (write_head, Reason::WriteHead),
        (parity, Reason::StructuralParity),
    ];
    granted
        .into_iter()
        .find(|(holds, _)| *holds)
        .map(|(_, grant)| grant)
}

fn counted(rule: Reason, seen: u64, needed: u64) -> Verdict {
    Verdict {
        rule,
        met: seen >= needed,
        seen,
        needed,
    }
}

/// `percent` of `count`, rounded up, so that a share is never met by less.
fn share(count: u32, percent: u8) -> u64 {
    (u64::from(count) * u64::from(percent)).div_ceil(100)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faithful() -> Facts {
        let figures = Figures {
            nodes: 100,
            tokens: 200,
        };
        Facts {
            origin: Origin::Model,
            level: Level::Confirmed,
            completeness: Completeness::Full,
            figures,
            base: Some(figures),
            symbols_missing: 0,
            symbols_of_base: 3,
            base_verdict: BaseVerdict::Unmoved,
            disk: DiskVerdict::Agrees,
        }
    }

    fn check(facts: Facts, passed: bool, conclusion: Reason) {
        let report = judge(&facts, Thresholds::default(), Profile::Standard);
        assert_eq!(
            (report.passed, report.conclusion),
            (passed, Some(conclusion)),
            "{facts:?}"
        );
    }

    #[test]
    fn a_faithful_update_is_granted_by_parity() {
        check(faithful(), true, Reason::StructuralParity);
        check(
            Facts {
                base: None,
                symbols_of_base: 0,
                ..faithful()
            },
            true,
            Reason::StructuralParity,
        );
    }

    #[test]
    fn each_rule_of_gate_a_keeps_a_model_out() {
        check(
            Facts {
                level: Level::Inferred,
                ..faithful()
            },
            false,
            Reason::Confirmed,
        );
        check(
            Facts {
                completeness: Completeness::Elided,
                ..faithful()
            },
            false,
            Reason::Elided,
        );
        check(
            Facts {
                completeness: Completeness::Truncated,
                ..faithful()
            },
            false,
            Reason::Truncated,
        );
        check(
            Facts {
                symbols_missing: 1,
                ..faithful()
            },
            false,
            Reason::SymbolsKept,
        );
        check(
            Facts {
                figures: Figures {
                    nodes: 49,
                    tokens: 200,
                },
                ..faithful()
            },
            false,
            Reason::NodesKept,
        );
        check(
            Facts {
                figures: Figures {
                    nodes: 100,
                    tokens: 99,
                },
                ..faithful()
            },
            false,
            Reason::TokensKept,
        );
        check(
            Facts {
                figures: Figures {
                    nodes: 50,
                    tokens: 100,
                },
                ..faithful()
            },
            true,
            Reason::StructuralParity,
        );
    }

    #[test]
    fn a_base_that_moved_blocks_the_model() {
        let facts = Facts {
            base_verdict: BaseVerdict::Moved,
            ..faithful()
        };
        check(facts, false, Reason::BaseUnacknowledged);
    }

    #[test]
    fn disk_blocks_the_model_and_not_the_user() {
        check(
            Facts {
                disk: DiskVerdict::Stale,
                ..faithful()
            },
            false,
            Reason::Stale,
        );
        check(
            Facts {
                disk: DiskVerdict::Unreadable,
                ..faithful()
            },
            false,
            Reason::DiskUnreadable,
        );
        check(
            Facts {
                disk: DiskVerdict::Stale,
                origin: Origin::User,
                ..faithful()
            },
            true,
            Reason::WriteHead,
        );
    }

    #[test]
    fn the_user_may_shrink_and_drop_but_not_elide() {
        let shrunk = Facts {
            origin: Origin::User,
            figures: Figures::default(),
            symbols_missing: 2,
            ..faithful()
        };
        check(shrunk, true, Reason::WriteHead);
        check(
            Facts {
                completeness: Completeness::Elided,
                ..shrunk
            },
            false,
            Reason::Elided,
        );
        check(
            Facts {
                level: Level::Inferred,
                ..shrunk
            },
            false,
            Reason::NoEntity,
        );
    }

    #[test]
    fn the_strict_profile_wants_more_than_parity() {
        let report = judge(&faithful(), Thresholds::default(), Profile::Strict);
        assert!(!report.passed);
    }
}
