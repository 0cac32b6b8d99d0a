//! Gate A, gate B and the ETV gate: what a proposal must show to become truth (spec §6, §7, §15.5).

use alloc::vec::Vec;

use crate::artifact::Level;
use crate::damage::{self, Comparison, Damage};
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

impl Profile {
    /// The word that configures it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Strict => "strict",
        }
    }
}

/// Shares, in percent, from which on a rule holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// Least share of the base's AST nodes; less is a collapse.
    pub nodes_percent: u8,
    /// Least share of the base's tokens; less is a collapse.
    pub tokens_percent: u8,
    /// Least share of a known definition's words that code without a path must hold to be linked to it.
    pub correlation_percent: u8,
    /// Least likeness of a new symbol to a missing one for the rename to be suspected.
    pub rename_percent: u8,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            nodes_percent: 50,
            tokens_percent: 50,
            correlation_percent: 50,
            rename_percent: 80,
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
    /// Disk holds something else, of the entity or of its file as a whole.
    Stale,
    /// Disk could not be read.
    Unreadable,
    /// Disk defines the symbol, and the ledger never held that definition.
    Unacknowledged,
}

/// Whether the version that the change was made on is still the current one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaseVerdict {
    /// It is, and the model was shown it; or there is none.
    Unmoved,
    /// Something else became true meanwhile, in another conversation.
    Moved,
    /// Nothing that went to the model for this reply shows it.
    Unseen,
    /// The change is an edit of code that isn't known, or isn't known so.
    Unmatched,
}

/// How the name of what is defined relates to the known ones of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameVerdict {
    /// Known, or new and unlike anything that is missing.
    Kept,
    /// Like a known definition that is missing, by this many percent.
    Suspected(u8),
    /// Like a known definition of another file, by this many percent.
    Elsewhere(u8),
}

/// Whether a tombstone of the user's stands against the entity (spec §9.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemovalVerdict {
    /// None, or the user asks for it by name.
    None,
    /// The user removed it within the last episodes.
    Tombstoned,
}

/// Grants of gate B that come after a proposal was judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LateGrant {
    /// None yet.
    #[default]
    None,
    /// A shadow audit found it complete, in time (spec §10).
    ShadowAudit,
    /// The user went on from it (spec §6, user verification).
    UserVerified,
}

/// Everything that the gates look at for one version of the model's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// How sure its entity is.
    pub level: Level,
    /// Whether all of it is there.
    pub completeness: Completeness,
    /// Bodies of the base that the candidate replaces by stubs.
    pub bodies_stubbed: u32,
    /// Definitions with the same head as another one, beyond those of the base.
    pub definitions_repeated: u32,
    /// The candidate's structure.
    pub figures: Figures,
    /// The authoritative base's structure, if there is a base.
    pub base: Option<Figures>,
    /// The structure of the last version that the user supplied or confirmed, if the change takes away more of it: many
    /// small losses are a large one.
    pub confirmed: Option<Figures>,
    /// Tracked top-level symbols of the base that the candidate lacks.
    pub symbols_missing: u32,
    /// Tracked top-level symbols of the base.
    pub symbols_of_base: u32,
    /// What was taken out of the base that nobody asked to take out.
    pub comparison: Comparison,
    /// Whether the name is the known one.
    pub name: NameVerdict,
    /// Whether the user removed the entity a short while ago and doesn't ask for it now.
    pub removal: RemovalVerdict,
    /// What became of the base since the model was shown it.
    pub base_verdict: BaseVerdict,
    /// What disk says of the base.
    pub disk: DiskVerdict,
}

/// The rules of gate A, in the order of evaluation, each with the reason for failing it.
const GATE_A: [(Reason, Reason); 7] = [
    (Reason::Confirmed, Reason::NotConfirmed),
    (Reason::FullDefinition, Reason::Elided),
    (Reason::BodyGiven, Reason::Stub),
    (Reason::DefinedOnce, Reason::DuplicateDefinition),
    (Reason::SymbolsKept, Reason::SymbolsLost),
    (Reason::NodesKept, Reason::NodesCollapsed),
    (Reason::TokensKept, Reason::TokensCollapsed),
];

/// Whether failing this rule alone keeps a version out; of gate B's grants any one is enough.
#[must_use]
pub const fn is_needed(rule: Reason) -> bool {
    !matches!(
        rule,
        Reason::WriteHead | Reason::StructuralParity | Reason::ShadowAudit | Reason::UserVerified
    )
}

impl GateReport {
    /// Whether every rule of gate A was looked at and met.
    #[must_use]
    pub fn passed_gate_a(&self) -> bool {
        GATE_A.iter().all(|(rule, _)| {
            self.verdicts
                .iter()
                .any(|verdict| verdict.rule == *rule && verdict.met)
        })
    }

    /// Whether a rule of this version's own keeps it out, not that of another definition of its block.
    #[must_use]
    pub fn failed_by_itself(&self) -> bool {
        self.verdicts
            .iter()
            .any(|verdict| is_needed(verdict.rule) && !verdict.met)
    }

    /// The report of a version that was judged before and now has a grant; its base and `disk` are looked at anew.
    #[must_use]
    pub fn granted(mut self, grant: LateGrant, base: BaseVerdict, disk: DiskVerdict) -> Self {
        self.verdicts.retain(|verdict| {
            is_needed(verdict.rule)
                && !matches!(verdict.rule, Reason::BaseUnmoved | Reason::DiskAgrees)
        });
        let moved = base_moved(base, &mut self.verdicts);
        let disk_refusal = etv(disk, &mut self.verdicts);
        let grant = late_grant(grant, &mut self.verdicts);
        let own = self.failed_by_itself();
        self.passed = !own && grant.is_some();
        self.conclusion = moved
            .or(disk_refusal)
            .or(grant)
            .or(Some(Reason::GrantMissing));
        self
    }
}

/// Judges one version of the model's. Pure; every rule's verdict is in the report, also those after the first failure.
#[must_use]
pub fn judge(facts: &Facts, thresholds: Thresholds, profile: Profile) -> GateReport {
    let mut report = GateReport::default();
    let refusal = gate_a(facts, thresholds, &mut report.verdicts);
    let damaged = damaged(facts.comparison, &mut report.verdicts);
    let moved = base_moved(facts.base_verdict, &mut report.verdicts);
    let renamed = renamed(facts, thresholds, &mut report.verdicts);
    let removed = removed(facts, &mut report.verdicts);
    let disk_refusal = etv(facts.disk, &mut report.verdicts);
    let grant = gate_b(facts, profile, refusal, &mut report.verdicts);
    let unmatched = moved.filter(|_| facts.base_verdict == BaseVerdict::Unmatched);
    // STALE code is withheld, so nobody can have seen it: that it is STALE says more.
    let unseen = moved.filter(|_| facts.base_verdict == BaseVerdict::Unseen);
    let refused = unmatched
        .or(refusal)
        .or(damaged)
        .or(moved.filter(|_| unseen.is_none()))
        .or(disk_refusal)
        .or(unseen)
        .or(renamed)
        .or(removed);
    report.passed = refused.is_none() && grant.is_some();
    report.conclusion = refused.or(grant).or(Some(Reason::GrantMissing));
    report
}

/// Judges code of the user's: it is true at once (spec §6, write-head). The user may shrink, drop and diverge at will;
/// only what isn't there in full or has no entity can't become true.
#[must_use]
pub fn write_head(level: Level, completeness: Completeness) -> GateReport {
    let confirmed = level == Level::Confirmed;
    let full = completeness == Completeness::Full;
    let refused = match (confirmed, completeness) {
        (false, _) => Some(Reason::NoEntity),
        (true, Completeness::Full) => None,
        (true, Completeness::Elided) => Some(Reason::Elided),
        (true, Completeness::Truncated) => Some(Reason::Truncated),
    };
    GateReport {
        verdicts: Vec::from([
            held(Reason::Confirmed, confirmed),
            held(Reason::FullDefinition, full),
            held(Reason::WriteHead, true),
        ]),
        conclusion: refused.or(Some(Reason::WriteHead)),
        passed: refused.is_none(),
    }
}

fn gate_a(facts: &Facts, thresholds: Thresholds, verdicts: &mut Vec<Verdict>) -> Option<Reason> {
    let base = facts.base.unwrap_or_default();
    let confirmed = facts.confirmed.unwrap_or_default();
    let nodes_needed = share(base.nodes.max(confirmed.nodes), thresholds.nodes_percent);
    let tokens_needed = share(base.tokens.max(confirmed.tokens), thresholds.tokens_percent);
    let kept = facts.symbols_of_base - facts.symbols_missing;
    let rules = [
        held(Reason::Confirmed, facts.level == Level::Confirmed),
        held(
            Reason::FullDefinition,
            facts.completeness == Completeness::Full,
        ),
        none_of(Reason::BodyGiven, facts.bodies_stubbed),
        none_of(Reason::DefinedOnce, facts.definitions_repeated),
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
    let (_, (_, reason)) = rules.iter().zip(GATE_A).find(|(verdict, _)| !verdict.met)?;
    Some(match (reason, facts.completeness) {
        (Reason::Elided, Completeness::Truncated) => Reason::Truncated,
        (reason, _) => reason,
    })
}

/// An update of a version that is gone would undo, unseen, what took its place; an edit of code that isn't known so
/// says nothing (spec §12).
fn base_moved(base: BaseVerdict, verdicts: &mut Vec<Verdict>) -> Option<Reason> {
    let unmoved = base == BaseVerdict::Unmoved;
    verdicts.push(held(Reason::BaseUnmoved, unmoved));
    (!unmoved).then_some(Reason::BaseUnacknowledged)
}

/// What looks like damage needs the user's confirmation: only they know whether it is.
fn damaged(comparison: Comparison, verdicts: &mut Vec<Verdict>) -> Option<Reason> {
    verdicts.push(Verdict {
        rule: Reason::CodeKept,
        met: comparison.damage.is_none(),
        seen: comparison.kept_percent.into(),
        needed: damage::KEPT_PERCENT.into(),
    });
    comparison.damage.map(|damage| match damage {
        Damage::Elided => Reason::Elided,
        Damage::StubInPlace => Reason::StubInPlace,
        Damage::PartRemoved | Damage::MuchRemoved => Reason::RemovedUnasked,
    })
}

/// A rename needs the user's confirmation (spec §12).
fn renamed(facts: &Facts, thresholds: Thresholds, verdicts: &mut Vec<Verdict>) -> Option<Reason> {
    let (seen, refused) = match facts.name {
        NameVerdict::Kept => (0, None),
        NameVerdict::Suspected(percent) => (percent, Some(Reason::RenameSuspected)),
        NameVerdict::Elsewhere(percent) => (percent, Some(Reason::MovedOrCopied)),
    };
    verdicts.push(Verdict {
        rule: Reason::NameKept,
        met: refused.is_none(),
        seen: seen.into(),
        needed: thresholds.rename_percent.into(),
    });
    refused
}

/// What the user removed comes back by the user's word alone (spec §9.2).
fn removed(facts: &Facts, verdicts: &mut Vec<Verdict>) -> Option<Reason> {
    let met = facts.removal == RemovalVerdict::None;
    verdicts.push(held(Reason::NotRemoved, met));
    (!met).then_some(Reason::RemovedByUser)
}

fn etv(disk: DiskVerdict, verdicts: &mut Vec<Verdict>) -> Option<Reason> {
    verdicts.push(held(Reason::DiskAgrees, disk == DiskVerdict::Agrees));
    match disk {
        DiskVerdict::Agrees => None,
        DiskVerdict::Stale => Some(Reason::Stale),
        DiskVerdict::Unreadable => Some(Reason::DiskUnreadable),
        DiskVerdict::Unacknowledged => Some(Reason::BaseUnacknowledged),
    }
}

/// The grant that a proposal can have at once.
fn gate_b(
    facts: &Facts,
    profile: Profile,
    gate_a: Option<Reason>,
    verdicts: &mut Vec<Verdict>,
) -> Option<Reason> {
    let parity = facts.symbols_missing == 0 && gate_a.is_none() && profile == Profile::Standard;
    verdicts.push(held(Reason::StructuralParity, parity));
    parity.then_some(Reason::StructuralParity)
}

fn late_grant(grant: LateGrant, verdicts: &mut Vec<Verdict>) -> Option<Reason> {
    let grants = [
        (Reason::ShadowAudit, grant == LateGrant::ShadowAudit),
        (Reason::UserVerified, grant == LateGrant::UserVerified),
    ];
    verdicts.extend(grants.map(|(grant, holds)| held(grant, holds)));
    grants
        .into_iter()
        .find(|(_, holds)| *holds)
        .map(|(grant, _)| grant)
}

fn held(rule: Reason, met: bool) -> Verdict {
    Verdict {
        rule,
        met,
        seen: u64::from(met),
        needed: 1,
    }
}

/// A count that must be nought.
fn none_of(rule: Reason, count: u32) -> Verdict {
    Verdict {
        rule,
        met: count == 0,
        seen: count.into(),
        needed: 0,
    }
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
            level: Level::Confirmed,
            completeness: Completeness::Full,
            bodies_stubbed: 0,
            definitions_repeated: 0,
            figures,
            base: Some(figures),
            confirmed: None,
            symbols_missing: 0,
            symbols_of_base: 3,
            comparison: Comparison::UNHARMED,
            name: NameVerdict::Kept,
            removal: RemovalVerdict::None,
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
            Reason::NotConfirmed,
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
            Reason::SymbolsLost,
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
            Reason::NodesCollapsed,
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
            Reason::TokensCollapsed,
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
    fn stubs_repetitions_and_renames_keep_a_model_out() {
        check(
            Facts {
                bodies_stubbed: 1,
                ..faithful()
            },
            false,
            Reason::Stub,
        );
        check(
            Facts {
                definitions_repeated: 1,
                ..faithful()
            },
            false,
            Reason::DuplicateDefinition,
        );
        check(
            Facts {
                name: NameVerdict::Suspected(90),
                ..faithful()
            },
            false,
            Reason::RenameSuspected,
        );
        check(
            Facts {
                removal: RemovalVerdict::Tombstoned,
                ..faithful()
            },
            false,
            Reason::RemovedByUser,
        );
    }

    #[test]
    fn an_edit_of_unknown_code_is_unacknowledged_whatever_else_it_lacks() {
        let facts = Facts {
            base_verdict: BaseVerdict::Unmatched,
            level: Level::Inferred,
            ..faithful()
        };
        check(facts, false, Reason::BaseUnacknowledged);
    }

    #[test]
    fn a_late_grant_lifts_what_only_lacked_one_and_disk_still_counts() {
        let judged = judge(&faithful(), Thresholds::default(), Profile::Strict);
        assert!(judged.passed_gate_a() && !judged.failed_by_itself());
        let conclusion = |grant, disk| {
            let report = judged.clone().granted(grant, BaseVerdict::Unmoved, disk);
            (report.passed, report.conclusion)
        };
        assert_eq!(
            conclusion(LateGrant::ShadowAudit, DiskVerdict::Agrees),
            (true, Some(Reason::ShadowAudit))
        );
        assert_eq!(
            conclusion(LateGrant::UserVerified, DiskVerdict::Agrees),
            (true, Some(Reason::UserVerified))
        );
        assert_eq!(
            conclusion(LateGrant::UserVerified, DiskVerdict::Stale),
            (false, Some(Reason::Stale))
        );
        let moved = judged.clone().granted(
            LateGrant::ShadowAudit,
            BaseVerdict::Moved,
            DiskVerdict::Agrees,
        );
        assert_eq!(
            (moved.passed, moved.conclusion),
            (false, Some(Reason::BaseUnacknowledged))
        );
        assert_eq!(
            conclusion(LateGrant::None, DiskVerdict::Agrees),
            (false, Some(Reason::GrantMissing))
        );
    }

    #[test]
    fn no_late_grant_lifts_what_failed_gate_a() {
        let shrunk = Facts {
            symbols_missing: 1,
            ..faithful()
        };
        let judged = judge(&shrunk, Thresholds::default(), Profile::Strict);
        assert!(!judged.passed_gate_a());
        assert!(
            !judged
                .granted(
                    LateGrant::ShadowAudit,
                    BaseVerdict::Unmoved,
                    DiskVerdict::Agrees
                )
                .passed
        );
    }

    #[test]
    fn a_base_that_moved_blocks_the_model() {
        let facts = Facts {
            base_verdict: BaseVerdict::Moved,
            ..faithful()
        };
        check(facts, false, Reason::BaseUnacknowledged);
        // What it lacks by itself is said first: that stays wrong whatever becomes of the base.
        let lossy = Facts {
            symbols_missing: 1,
            ..facts
        };
        check(lossy, false, Reason::SymbolsLost);
    }

    #[test]
    fn disk_blocks_the_model() {
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
    }

    #[test]
    fn the_users_word_counts_but_for_what_is_not_all_there() {
        let conclusion = |level, completeness| {
            let report = write_head(level, completeness);
            (report.passed, report.conclusion)
        };
        let (sure, full) = (Level::Confirmed, Completeness::Full);
        assert_eq!(conclusion(sure, full), (true, Some(Reason::WriteHead)));
        assert_eq!(
            conclusion(sure, Completeness::Elided),
            (false, Some(Reason::Elided))
        );
        assert_eq!(
            conclusion(sure, Completeness::Truncated),
            (false, Some(Reason::Truncated))
        );
        assert_eq!(
            conclusion(Level::Inferred, full),
            (false, Some(Reason::NoEntity))
        );
    }

    #[test]
    fn the_strict_profile_wants_more_than_parity() {
        let report = judge(&faithful(), Thresholds::default(), Profile::Strict);
        assert!(!report.passed);
    }
}
