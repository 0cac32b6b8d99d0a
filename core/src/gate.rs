//! Gate A, gate B and the ETV gate: the rules that a proposal must meet to become true (spec §6, §7, §15.5).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::artifact::Level;
use crate::entity::EntityId;
use crate::limits::{CORRELATION_PERCENT, PARITY_PERCENT, RENAME_PERCENT};
use crate::measure::{Effect, KEPT_PERCENT, Measure};
use crate::reason::{Reason, ReasonClass};
use crate::slice::Figures;
use crate::stored::{Archive, Load, Store, stored_words};

/// One rule's verdict with its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Verdict {
    /// The rule, as the reason code for meeting it.
    pub rule: Reason,
    /// Whether it is met.
    pub met: bool,
    /// The value that was judged: a count, or 0/1.
    pub seen: u64,
    /// The least value that meets the rule, or 0 if nothing is counted.
    pub needed: u64,
}

/// Both gates' verdicts, rule by rule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct GateReport {
    /// In the order of evaluation; gate A's rules, then ETV, then the grants of gate B.
    pub verdicts: Vec<Verdict>,
    /// The reason that keeps the version out, or the grant that let it in.
    pub conclusion: Option<Reason>,
    /// Whether the version passed both gates.
    pub passed: bool,
}

stored_words! {
    /// How strict gate B is (engine: "Promotion").
    #[derive(Default)]
    GateProfile, "profile" {
        /// Structural parity is a grant of its own.
        #[default]
        Standard = "standard",
        /// Structural parity alone is not enough: the user confirms each change.
        Strict = "strict",
    }
}

/// Least shares, in percent, by which rules are met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// Least share of the base's AST nodes; less is a collapse.
    pub nodes_percent: u8,
    /// Least share of the base's tokens; less is a collapse.
    pub tokens_percent: u8,
    /// Least share of a known definition's words that code without a path must hold to be linked to it.
    pub correlation_percent: u8,
    /// Least similarity of a new symbol to a missing one that makes a rename suspected.
    pub rename_percent: u8,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            nodes_percent: PARITY_PERCENT,
            tokens_percent: PARITY_PERCENT,
            correlation_percent: CORRELATION_PERCENT,
            rename_percent: RENAME_PERCENT,
        }
    }
}

stored_words! {
    /// Whether a text is the full definition.
    Completeness, "completeness" {
        /// It is complete.
        Full = "full",
        /// A placeholder replaces a part.
        Elided = "elided",
        /// It breaks off.
        Truncated = "truncated",
    }
}

/// The disk's verdict on the entity, by an observation made in this episode (spec §15.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskVerdict {
    /// Disk holds the same, holds no such file, or the user has acknowledged the difference.
    Agrees,
    /// Disk holds something else, for the entity or for its file as a whole.
    Stale,
    /// Disk could not be read.
    Unreadable,
    /// Disk defines the symbol, and the ledger never held that definition.
    Unacknowledged,
}

/// Whether the version that the change was made on is still the current one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaseVerdict {
    /// It is current, and the model was shown it; or there is none.
    Unmoved,
    /// Something else became true meanwhile, in another conversation.
    Moved,
    /// Nothing that went to the model for this reply shows it.
    Unseen,
    /// The change is an edit whose text to replace isn't in the known code.
    Unmatched,
}

/// How the name of a definition relates to the known ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameVerdict {
    /// Known, or new and not similar to any missing definition.
    Kept,
    /// Similar to a known definition that is missing, by this many percent.
    Suspected(u8),
    /// Similar to a known definition of another file, by this many percent.
    Elsewhere(u8),
}

/// Whether the user has removed the entity recently (spec §9.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemovalVerdict {
    /// Not removed, or the user asks for it by name.
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
    /// A shadow audit found it complete before the next prompt (spec §10).
    ShadowAudit,
    /// The user asked for the next change of it (spec §6, user verification).
    UserVerified,
}

/// All inputs of the gates for one version of the model's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateFacts {
    /// The certainty of its entity.
    pub level: Level,
    /// Whether it is complete.
    pub completeness: Completeness,
    /// Bodies of the base that the candidate replaces by stubs.
    pub bodies_stubbed: u32,
    /// Definitions with the same head as another one, beyond those of the base.
    pub definitions_repeated: u32,
    /// The candidate's structure.
    pub figures: Figures,
    /// The authoritative base's structure, if there is a base.
    pub base: Option<Figures>,
    /// The structure of the last version that the user supplied or confirmed, if the change removes more of it: many small
    /// losses add up to a large one.
    pub users_figures: Option<Figures>,
    /// Tracked top-level symbols of the base that the candidate lacks.
    pub symbols_missing: u32,
    /// Tracked top-level symbols of the base.
    pub symbols_of_base: u32,
    /// What the change takes from its base; `None` if the base's code can't be had.
    pub measure: Option<Measure>,
    /// Whether the name is the known one.
    pub name: NameVerdict,
    /// Whether the user removed the entity a short while ago and doesn't ask for it now.
    pub removal: RemovalVerdict,
    /// Whether the base has changed since the model was shown it.
    pub base_verdict: BaseVerdict,
    /// The disk's verdict on the base.
    pub disk: DiskVerdict,
}

/// The rules of gate A, each with the reason for failing it.
const GATE_A: [(Reason, Reason); 7] = [
    (Reason::Confirmed, Reason::NotConfirmed),
    (Reason::FullDefinition, Reason::Elided),
    (Reason::BodyGiven, Reason::Stub),
    (Reason::DefinedOnce, Reason::DuplicateDefinition),
    (Reason::SymbolsKept, Reason::SymbolsLost),
    (Reason::NodesKept, Reason::NodesCollapsed),
    (Reason::TokensKept, Reason::TokensCollapsed),
];

/// Leaves of what was refused one story for each file: the file's own, where it lost definitions, else those of its definitions.
/// `of` gives the entity of a refusal, and its report.
pub fn tell_once<T>(refused: &mut Vec<T>, of: impl Fn(&T) -> (&EntityId, Option<&GateReport>)) {
    let (mut files, mut parts) = (BTreeMap::new(), BTreeSet::new());
    for (entity, report) in refused.iter().map(&of) {
        let mut own = report.into_iter().flat_map(GateReport::own_failures);
        let loses_symbols = own.any(|rule| rule == Reason::SymbolsKept);
        match entity.symbol {
            None => *files.entry(entity.path.clone()).or_insert(false) |= loses_symbols,
            Some(_) => _ = parts.insert(entity.path.clone()),
        }
    }
    refused.retain(|it| {
        let (entity, _) = of(it);
        let file_lost = files.get(&entity.path).copied();
        match entity.symbol {
            None => file_lost == Some(true) || !parts.contains(&entity.path),
            Some(_) => file_lost != Some(true),
        }
    });
}

/// Whether failing this rule alone keeps a version out. Of gate B's grants one is enough, so none is needed.
#[must_use]
pub const fn is_needed(rule: Reason) -> bool {
    !matches!(
        rule,
        Reason::WriteHead | Reason::StructuralParity | Reason::ShadowAudit | Reason::UserVerified
    )
}

impl GateReport {
    /// Whether every rule of gate A was judged and met.
    #[must_use]
    pub fn passed_gate_a(&self) -> bool {
        GATE_A.iter().all(|(rule, _)| {
            self.verdicts
                .iter()
                .any(|verdict| verdict.rule == *rule && verdict.met)
        })
    }

    /// Whether it is the user's to confirm: something other than gate A keeps it out, or definitions of what is around it are missing. The
    /// same reason may be gate A's or damage's; the verdicts tell which.
    #[must_use]
    pub fn is_left_to_user(&self) -> bool {
        let is_met = |rule: Reason| {
            let mut verdicts = self.verdicts.iter();
            verdicts.any(|verdict| verdict.rule == rule && verdict.met)
        };
        let mut rules = GATE_A.iter().map(|(rule, _)| *rule);
        self.conclusion.is_some_and(|it| match it {
            Reason::SymbolsLost => rules.all(|rule| rule == Reason::SymbolsKept || is_met(rule)),
            it => it.is(ReasonClass::LeftToUser) && self.passed_gate_a(),
        })
    }

    /// Whether a rule refuses it, and not only that nobody could judge it.
    #[must_use]
    pub fn refuses(&self) -> bool {
        self.failed_by_itself()
            && !self
                .conclusion
                .is_some_and(|it| it.is(ReasonClass::Unjudged))
    }

    /// Whether a rule that this version failed keeps it out, and not another version of its block.
    #[must_use]
    pub fn failed_by_itself(&self) -> bool {
        self.own_failures().next().is_some()
    }

    /// The rules that this version failed and that keep it out.
    pub fn own_failures(&self) -> impl Iterator<Item = Reason> {
        let failed = self.verdicts.iter().filter(|verdict| !verdict.met);
        failed
            .map(|verdict| verdict.rule)
            .filter(|rule| is_needed(*rule))
    }

    /// Says whether it is let pass although disk holds another version than the one that it replaces, since nothing changed but definitions
    /// inside of it: what disk holds stays news.
    pub fn set_parts_alone(&mut self, is_holder: bool) {
        self.verdicts
            .retain(|verdict| verdict.rule != Reason::PartsChanged);
        let verdict = is_holder.then(|| boolean_verdict(Reason::PartsChanged, true));
        self.verdicts.extend(verdict);
    }

    /// Whether disk still holds another version than the one that this one replaces.
    #[must_use]
    pub fn leaves_disk_news(&self) -> bool {
        let mut verdicts = self.verdicts.iter();
        verdicts.any(|verdict| verdict.rule == Reason::PartsChanged)
    }

    /// Adds the verdict on a change where files are locked: of other files nothing may be changed.
    pub fn judge_scope(&mut self, is_within: bool) {
        self.verdicts
            .push(boolean_verdict(Reason::WithinLock, is_within));
        if !is_within {
            self.passed = false;
            self.conclusion = Some(Reason::OutsideLock);
        }
    }

    /// Adds the verdicts on the project's rules for code: how many are broken and, where one block of code is all that a reply may
    /// have, how many it has. A model can mend that, so it is named before what the user has to decide.
    pub fn judge_spec(&mut self, broken: u32, blocks: u32) {
        self.verdicts.push(zero_verdict(Reason::SpecMet, broken));
        self.verdicts.extend((blocks > 0).then_some(Verdict {
            rule: Reason::OneBlock,
            met: blocks == 1,
            seen: blocks.into(),
            needed: 1,
        }));
        if broken > 0 && self.passed_gate_a() {
            self.conclusion = Some(Reason::SpecBroken);
        }
        self.passed &= broken == 0;
    }

    /// The count that a rule was judged by; 0 if it wasn't.
    #[must_use]
    pub fn seen_by(&self, rule: Reason) -> u32 {
        let seen = self.verdicts.iter().find(|it| it.rule == rule);
        seen.map_or(0, |it| u32::try_from(it.seen).unwrap_or(u32::MAX))
    }

    /// The report of a version that was judged before and now has a grant; the rules about base and disk are judged again.
    #[must_use]
    pub fn with_late_grant(
        mut self,
        grant: LateGrant,
        base: BaseVerdict,
        disk: DiskVerdict,
    ) -> Self {
        self.verdicts.retain(|verdict| {
            is_needed(verdict.rule)
                && !matches!(verdict.rule, Reason::BaseUnmoved | Reason::DiskAgrees)
        });
        let is_holder = self.leaves_disk_news() && disk == DiskVerdict::Stale;
        self.set_parts_alone(is_holder);
        let disk = if is_holder { DiskVerdict::Agrees } else { disk };
        let moved = base_refusal(base, &mut self.verdicts);
        let disk_refusal = etv_refusal(disk, &mut self.verdicts);
        let grant = late_grant(grant, &mut self.verdicts);
        let own = self.failed_by_itself();
        self.passed = !own && grant.is_some();
        self.conclusion = moved
            .or(disk_refusal)
            .or(grant)
            .or(Some(Reason::GrantMissing));
        debug_assert!(
            !self.passed || self.passed_gate_a(),
            "no late grant lifts what gate A kept out"
        );
        self
    }
}

/// Judges one version of the model's. The report has the verdict of every rule, including those after the first failure.
#[must_use]
pub fn judge(facts: &GateFacts, thresholds: Thresholds, profile: GateProfile) -> GateReport {
    let mut report = GateReport::default();
    let refusal = gate_a_refusal(facts, thresholds, &mut report.verdicts);
    let damaged = damage_refusal(facts.measure, &mut report.verdicts);
    let moved = base_refusal(facts.base_verdict, &mut report.verdicts);
    let renamed = rename_refusal(facts, thresholds, &mut report.verdicts);
    let removed = removal_refusal(facts, &mut report.verdicts);
    let disk_refusal = etv_refusal(facts.disk, &mut report.verdicts);
    let grant = parity_grant(facts, profile, refusal, &mut report.verdicts);
    let unmatched = moved.filter(|_| facts.base_verdict == BaseVerdict::Unmatched);
    // STALE code is withheld, so the model can't have seen it, and STALE is the more useful reason of the two.
    let unseen = moved.filter(|_| facts.base_verdict == BaseVerdict::Unseen);
    // All rules are judged, so that the report is complete; the order here only picks the reason that is most useful to name.
    // An edit that doesn't match explains all other failures, and a failure of gate A can be mended without the user.
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
    debug_assert_eq!(
        refused.is_some(),
        report.failed_by_itself(),
        "every rule that isn't met refuses, and nothing else does"
    );
    debug_assert!(
        !report.passed || report.passed_gate_a(),
        "what passes was judged by every rule of gate A"
    );
    report
}

/// Judges code of the user's: it is true at once (spec §6, write-head). The user may shrink, drop and diverge at will; only
/// incomplete code and code without an entity can't become true.
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
            boolean_verdict(Reason::Confirmed, confirmed),
            boolean_verdict(Reason::FullDefinition, full),
            boolean_verdict(Reason::WriteHead, true),
        ]),
        conclusion: refused.or(Some(Reason::WriteHead)),
        passed: refused.is_none(),
    }
}

/// The reason of the first rule of gate A that isn't met.
fn gate_a_refusal(
    facts: &GateFacts,
    thresholds: Thresholds,
    verdicts: &mut Vec<Verdict>,
) -> Option<Reason> {
    // Without a base nothing can collapse: any figures are more than none.
    let base = facts.base.unwrap_or_default();
    // Held against the larger of the two, so that ten steps of a tenth each don't pass where one of all would not.
    let users = facts.users_figures.unwrap_or_default();
    let nodes_needed = share_of(base.nodes.max(users.nodes), thresholds.nodes_percent);
    let tokens_needed = share_of(base.tokens.max(users.tokens), thresholds.tokens_percent);
    debug_assert!(
        facts.symbols_missing <= facts.symbols_of_base,
        "missing symbols are some of the base's"
    );
    let kept = facts.symbols_of_base - facts.symbols_missing;
    let verdicts_of_a = [
        boolean_verdict(Reason::Confirmed, facts.level == Level::Confirmed),
        boolean_verdict(
            Reason::FullDefinition,
            facts.completeness == Completeness::Full,
        ),
        zero_verdict(Reason::BodyGiven, facts.bodies_stubbed),
        zero_verdict(Reason::DefinedOnce, facts.definitions_repeated),
        count_verdict(
            Reason::SymbolsKept,
            kept.into(),
            facts.symbols_of_base.into(),
        ),
        count_verdict(Reason::NodesKept, facts.figures.nodes.into(), nodes_needed),
        count_verdict(
            Reason::TokensKept,
            facts.figures.tokens.into(),
            tokens_needed,
        ),
    ];
    verdicts.extend(verdicts_of_a);
    let failed = verdicts_of_a.iter().find(|verdict| !verdict.met)?;
    let (_, refusal) = GATE_A
        .iter()
        .find(|(rule, _)| *rule == failed.rule)
        .expect("every rule of gate A has its reason");
    Some(match (*refusal, facts.completeness) {
        (Reason::Elided, Completeness::Truncated) => Reason::Truncated,
        (refusal, _) => refusal,
    })
}

/// Refuses a change of a base that has moved, which would silently undo the newer version, and an edit whose base isn't
/// known (spec §12).
fn base_refusal(base: BaseVerdict, verdicts: &mut Vec<Verdict>) -> Option<Reason> {
    let unmoved = base == BaseVerdict::Unmoved;
    verdicts.push(boolean_verdict(Reason::BaseUnmoved, unmoved));
    (!unmoved).then_some(Reason::BaseUnacknowledged)
}

/// Refuses what looks like damage until the user confirms it: only they know whether it is.
///
/// Without the base's code nobody can tell what is missing, so that is refused as well: a ledger that can't be read must not
/// let pass what a sound one would keep out.
fn damage_refusal(measure: Option<Measure>, verdicts: &mut Vec<Verdict>) -> Option<Reason> {
    let refused = measure.map_or(Some(Reason::BaseUnreadable), |measure| {
        match measure.effect {
            Effect::Whole | Effect::Deletion => None,
            Effect::Elided => Some(Reason::Elided),
            Effect::Emptied => Some(Reason::StubInPlace),
            Effect::Loss => Some(Reason::RemovedUnasked),
        }
    });
    verdicts.push(Verdict {
        rule: Reason::CodeKept,
        met: refused.is_none(),
        seen: measure.map_or(0, |measure| measure.kept_percent.into()),
        needed: KEPT_PERCENT.into(),
    });
    refused
}

/// Refuses a suspected rename until the user confirms it (spec §12).
fn rename_refusal(
    facts: &GateFacts,
    thresholds: Thresholds,
    verdicts: &mut Vec<Verdict>,
) -> Option<Reason> {
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

/// Refuses to bring back what the user removed (spec §9.2).
fn removal_refusal(facts: &GateFacts, verdicts: &mut Vec<Verdict>) -> Option<Reason> {
    let met = facts.removal == RemovalVerdict::None;
    verdicts.push(boolean_verdict(Reason::NotRemoved, met));
    (!met).then_some(Reason::RemovedByUser)
}

fn etv_refusal(disk: DiskVerdict, verdicts: &mut Vec<Verdict>) -> Option<Reason> {
    verdicts.push(boolean_verdict(
        Reason::DiskAgrees,
        disk == DiskVerdict::Agrees,
    ));
    match disk {
        DiskVerdict::Agrees => None,
        DiskVerdict::Stale => Some(Reason::Stale),
        DiskVerdict::Unreadable => Some(Reason::DiskUnreadable),
        DiskVerdict::Unacknowledged => Some(Reason::BaseUnacknowledged),
    }
}

/// The grant that a proposal can have at once.
fn parity_grant(
    facts: &GateFacts,
    profile: GateProfile,
    gate_a: Option<Reason>,
    verdicts: &mut Vec<Verdict>,
) -> Option<Reason> {
    let parity = facts.symbols_missing == 0 && gate_a.is_none() && profile == GateProfile::Standard;
    verdicts.push(boolean_verdict(Reason::StructuralParity, parity));
    parity.then_some(Reason::StructuralParity)
}

fn late_grant(grant: LateGrant, verdicts: &mut Vec<Verdict>) -> Option<Reason> {
    debug_assert!(
        verdicts.iter().all(|verdict| is_needed(verdict.rule)),
        "earlier grants were taken back before a late one is judged"
    );
    let grants = [
        (Reason::ShadowAudit, grant == LateGrant::ShadowAudit),
        (Reason::UserVerified, grant == LateGrant::UserVerified),
    ];
    verdicts.extend(grants.map(|(grant, holds)| boolean_verdict(grant, holds)));
    grants
        .into_iter()
        .find(|(_, holds)| *holds)
        .map(|(grant, _)| grant)
}

fn boolean_verdict(rule: Reason, met: bool) -> Verdict {
    Verdict {
        rule,
        met,
        seen: u64::from(met),
        needed: 1,
    }
}

/// The verdict on a count that must be 0.
fn zero_verdict(rule: Reason, count: u32) -> Verdict {
    Verdict {
        rule,
        met: count == 0,
        seen: count.into(),
        needed: 0,
    }
}

fn count_verdict(rule: Reason, seen: u64, needed: u64) -> Verdict {
    Verdict {
        rule,
        met: seen >= needed,
        seen,
        needed,
    }
}

/// `percent` of `count`, rounded up, so that a share is never met by less.
fn share_of(count: u32, percent: u8) -> u64 {
    debug_assert!(percent <= 100, "thresholds are checked when they are read");
    (u64::from(count) * u64::from(percent)).div_ceil(100)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faithful() -> GateFacts {
        let figures = Figures {
            nodes: 100,
            tokens: 200,
        };
        GateFacts {
            level: Level::Confirmed,
            completeness: Completeness::Full,
            bodies_stubbed: 0,
            definitions_repeated: 0,
            figures,
            base: Some(figures),
            users_figures: None,
            symbols_missing: 0,
            symbols_of_base: 3,
            measure: Some(Measure::UNHARMED),
            name: NameVerdict::Kept,
            removal: RemovalVerdict::None,
            base_verdict: BaseVerdict::Unmoved,
            disk: DiskVerdict::Agrees,
        }
    }

    fn check(facts: GateFacts, passed: bool, conclusion: Reason) {
        let report = judge(&facts, Thresholds::default(), GateProfile::Standard);
        assert_eq!(
            (report.passed, report.conclusion),
            (passed, Some(conclusion)),
            "{facts:?}"
        );
    }

    #[test]
    fn faithful_update() {
        check(faithful(), true, Reason::StructuralParity);
        check(
            GateFacts {
                base: None,
                symbols_of_base: 0,
                ..faithful()
            },
            true,
            Reason::StructuralParity,
        );
    }

    /// law 15.5 | Before each promotion: resolution, parity, disk
    #[test]
    fn rule_by_rule() {
        check(
            GateFacts {
                level: Level::Inferred,
                ..faithful()
            },
            false,
            Reason::NotConfirmed,
        );
        check(
            GateFacts {
                completeness: Completeness::Elided,
                ..faithful()
            },
            false,
            Reason::Elided,
        );
        check(
            GateFacts {
                completeness: Completeness::Truncated,
                ..faithful()
            },
            false,
            Reason::Truncated,
        );
        check(
            GateFacts {
                symbols_missing: 1,
                ..faithful()
            },
            false,
            Reason::SymbolsLost,
        );
        check(
            GateFacts {
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
            GateFacts {
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
            GateFacts {
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

    /// Stubs, repetitions and renames keep a model's code from being promoted.
    #[test]
    fn stubs_and_renames() {
        check(
            GateFacts {
                bodies_stubbed: 1,
                ..faithful()
            },
            false,
            Reason::Stub,
        );
        check(
            GateFacts {
                definitions_repeated: 1,
                ..faithful()
            },
            false,
            Reason::DuplicateDefinition,
        );
        check(
            GateFacts {
                name: NameVerdict::Suspected(90),
                ..faithful()
            },
            false,
            Reason::RenameSuspected,
        );
        check(
            GateFacts {
                removal: RemovalVerdict::Tombstoned,
                ..faithful()
            },
            false,
            Reason::RemovedByUser,
        );
    }

    #[test]
    fn unreadable_base() {
        let facts = GateFacts {
            measure: None,
            ..faithful()
        };
        check(facts, false, Reason::BaseUnreadable);
    }

    /// An edit of unknown code is unacknowledged, whatever else it lacks.
    #[test]
    fn unknown_base() {
        let facts = GateFacts {
            base_verdict: BaseVerdict::Unmatched,
            level: Level::Inferred,
            ..faithful()
        };
        check(facts, false, Reason::BaseUnacknowledged);
    }

    /// A late grant lifts a verdict that lacked only a grant, and the disk still counts.
    #[test]
    fn late_grants() {
        let judged = judge(&faithful(), Thresholds::default(), GateProfile::Strict);
        assert!(judged.passed_gate_a() && !judged.failed_by_itself());
        let conclusion = |grant, disk| {
            let report = judged
                .clone()
                .with_late_grant(grant, BaseVerdict::Unmoved, disk);
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
        let moved = judged.clone().with_late_grant(
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

    /// No late grant lifts what failed gate A.
    #[test]
    fn no_late_grant() {
        let shrunk = GateFacts {
            symbols_missing: 1,
            ..faithful()
        };
        let judged = judge(&shrunk, Thresholds::default(), GateProfile::Strict);
        assert!(!judged.passed_gate_a());
        assert!(
            !judged
                .with_late_grant(
                    LateGrant::ShadowAudit,
                    BaseVerdict::Unmoved,
                    DiskVerdict::Agrees
                )
                .passed
        );
    }

    #[test]
    fn moved_base() {
        let facts = GateFacts {
            base_verdict: BaseVerdict::Moved,
            ..faithful()
        };
        check(facts, false, Reason::BaseUnacknowledged);
        // What it lacks by itself is said first: that stays wrong whatever becomes of the base.
        let lossy = GateFacts {
            symbols_missing: 1,
            ..facts
        };
        check(lossy, false, Reason::SymbolsLost);
    }

    /// law 15.5 | Before each promotion: resolution, parity, disk
    #[test]
    fn diverging_disk() {
        check(
            GateFacts {
                disk: DiskVerdict::Stale,
                ..faithful()
            },
            false,
            Reason::Stale,
        );
        check(
            GateFacts {
                disk: DiskVerdict::Unreadable,
                ..faithful()
            },
            false,
            Reason::DiskUnreadable,
        );
    }

    /// The user's word counts unless the code is incomplete.
    #[test]
    fn users_word() {
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
    fn strict_profile() {
        let report = judge(&faithful(), Thresholds::default(), GateProfile::Strict);
        assert!(!report.passed);
    }
}
