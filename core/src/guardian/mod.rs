//! The Guardian: whether an action of a tool is allowed, by rules, and why (spec §8.5).
//!
//! [`evaluate`] is pure: the same goal, action, state and profile give the same report, now and when it is verified. It stops
//! careless programs early; hostile ones are held by the kernel (`io/tools/src/sandbox`).

mod budget;
mod class;
mod command;
mod command_table;
mod condition;
mod glob;
mod grant;
mod jail;
mod line;
mod mode;
mod profile;
mod sed_script;
#[cfg(test)]
mod tests;

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

pub use budget::{BudgetAmounts, BudgetItem};
pub use class::{Capability, Class, Risk};
pub use command::{COMMANDS_MAX, Join, LINE_BYTES_MAX, SimpleCommand, SplitError};
pub use command_table::{ClassifiedCommand, CommandTable};
pub use condition::{Condition, ConditionError};
pub use glob::{Glob, fits_with_stars};
pub use grant::{
    ACTION_MINUTES, GrantLimit, GrantStanding, GrantToken, SESSION_MINUTES, minutes_after,
};
pub use jail::{Jail, PathTrespass, absolute_path, is_within};
pub use line::{JudgedCommand, JudgedLine, LineContext, judge_line};
pub use mode::{Hindrance, Mode};
pub use profile::{ActionLimits, PolicyRule, RULES_MAX, RuleEffect, ToolProfile};

use crate::hash::ArtifactHash;
use crate::ids::UnixMillis;
use crate::stored::stored_words;

stored_words! {
    /// Who asks for an action.
    Door, "door" {
        /// A model, by a tool block in its reply.
        Bridge = "bridge",
        /// A model, by a tool call that its client would carry out.
        Client = "client",
        /// The Operator, by hand.
        Operator = "operator",
    }
}

/// What the action is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActionGoal {
    /// The goal, if one is active.
    pub id: Option<u64>,
    /// The highest risk that the Operator accepts for it.
    pub risk: Risk,
    /// The workspace.
    pub scope_root: ArtifactHash,
}

/// One command that is to be judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// Who asks.
    pub door: Door,
    /// Its words; the first names the program.
    pub words: Vec<String>,
    /// Where it runs, absolute.
    pub cwd: String,
    /// Its class.
    pub class: Class,
    /// The argument that raised the class.
    pub because: Option<String>,
    /// The paths that it names, absolute and normal.
    pub targets: Vec<String>,
}

impl Action {
    /// The action of a command that is run in `cwd`.
    #[must_use]
    pub fn from_command(words: &[String], cwd: &str, door: Door, table: &CommandTable) -> Self {
        let ClassifiedCommand {
            class,
            because,
            paths,
        } = table.classify(words);
        let targets = paths.iter().map(|path| absolute_path(path, cwd));
        Self {
            door,
            words: words.to_vec(),
            cwd: cwd.to_string(),
            class,
            because,
            targets: targets.collect(),
        }
    }

    /// The word that names the program.
    #[must_use]
    pub fn program_name(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// The budget that it uses before it has run.
    #[must_use]
    pub fn budget_cost(&self) -> BudgetAmounts {
        let builds = u64::from(matches!(self.class, Class::Build | Class::Shell));
        BudgetAmounts::default()
            .with_amount(BudgetItem::Calls, 1)
            .with_amount(BudgetItem::Builds, builds)
    }
}

/// The state by which an action is judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgingState {
    /// What tslp is able to do.
    pub mode: Mode,
    /// The time.
    pub now: UnixMillis,
    /// All grants.
    pub grants: Vec<GrantToken>,
    /// What was spent already.
    pub spent: BudgetAmounts,
    /// Where tools may look.
    pub jail: Jail,
}

stored_words! {
    /// The eight questions, in the order in which they are asked.
    Step, "step of the Guardian" {
        /// Conditions that no rule can lift.
        Invariants = "invariants",
        /// Whether tools run at all.
        Mode = "mode",
        /// Whether everything that is named lies where tools may look.
        Scope = "scope",
        /// Whether the Operator granted what it needs.
        Capability = "capability",
        /// Whether a tool may ever do this.
        Class = "class",
        /// Whether there is enough left of everything.
        Budget = "budget",
        /// Whether a rule denies it.
        Rules = "rules",
        /// Whether a rule allows it; the default is to deny.
        DefaultDeny = "default_deny",
    }
}

/// Why a step denies an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DenialCause {
    /// The command names no program.
    NoProgram,
    /// Its risk is higher than its goal's.
    RiskTooHigh(Risk),
    /// Tools don't run now.
    Mode(Mode),
    /// A path leads out of the workspace, or to what is protected.
    Trespass(PathTrespass, String),
    /// The capability was never granted.
    NotGranted(Capability),
    /// A grant exists, and isn't valid for this action.
    GrantInvalid(Capability, GrantStanding),
    /// No tool may do it.
    ClassDenied(Class),
    /// The profile names the programs that may run, and this isn't one.
    ProgramNotListed,
    /// Too little of the budget is left.
    BudgetExhausted(BudgetItem),
    /// A rule denies it.
    Denied(String),
    /// No rule allows it.
    NotAllowed,
}

impl DenialCause {
    /// Its code in events and reports; a halt that follows bears the same one.
    #[must_use]
    pub const fn denial_code(&self) -> &'static str {
        match self {
            Self::NoProgram | Self::ClassDenied(_) => "COMMAND-CLASS-VIOLATION",
            Self::Mode(_) => "MODE",
            Self::Trespass(..) => "SCOPE-BREACH",
            Self::NotGranted(_) => "CAPABILITY-MISSING",
            Self::GrantInvalid(_, GrantStanding::Revoked) => "CAPABILITY-REVOKED",
            Self::GrantInvalid(..) => "CAPABILITY-ESCALATION",
            Self::BudgetExhausted(_) => "BUDGET-EXHAUSTED",
            Self::RiskTooHigh(_) | Self::ProgramNotListed | Self::Denied(_) | Self::NotAllowed => {
                "POLICY-VIOLATION"
            }
        }
    }
}

impl fmt::Display for DenialCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProgram => f.write_str("no program is named"),
            Self::RiskTooHigh(risk) => {
                write!(f, "its risk is {risk}, which is more than its goal's")
            }
            Self::Mode(mode) => write!(f, "tools don't run in mode {mode}"),
            Self::Trespass(PathTrespass::Outside, path) => {
                write!(f, "{path} is outside of the workspace")
            }
            Self::Trespass(PathTrespass::Protected, path) => write!(f, "{path} is protected"),
            Self::NotGranted(capability) => {
                write!(
                    f,
                    "it needs {capability}; the user grants it with `@tslp allow {capability}`, or `--allow {capability}`"
                )
            }
            Self::GrantInvalid(capability, standing) => {
                let why = match standing {
                    GrantStanding::Expired => "has expired",
                    GrantStanding::Revoked => "was revoked",
                    GrantStanding::RiskTooLow | GrantStanding::Valid => "is for a lower risk class",
                };
                write!(f, "the grant of {capability} {why}")
            }
            Self::ClassDenied(class) => write!(
                f,
                "class {class} needs {}; none is granted to tools",
                class.missing_capability()
            ),
            Self::ProgramNotListed => f.write_str("the profile doesn't list the program"),
            Self::BudgetExhausted(spend) => write!(f, "no {spend} are left in the budget"),
            Self::Denied(rule) => write!(f, "rule {rule} denies it"),
            Self::NotAllowed => f.write_str("no rule allows it"),
        }
    }
}

stored_words! {
    /// Whether an action is run.
    Decision, "decision on an action" {
        /// It isn't run.
        Deny = "DENY",
        /// It is run within limits that a rule sets.
        AllowWithLimits = "ALLOW_WITH_LIMITS",
        /// It is run within the sandbox's limits.
        Allow = "ALLOW",
    }
}

/// All eight verdicts on an action, also those after the first denial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionReport {
    /// Whether the action is run.
    pub decision: Decision,
    /// Why each step denies it; `None` where it is met. In the order of [`Step::ALL`].
    pub verdicts: [Option<DenialCause>; Step::ALL.len()],
    /// Bounds if it is allowed.
    pub limits: ActionLimits,
    /// The rule that denies it, or the last that allows it.
    pub rule: Option<String>,
}

impl ActionReport {
    /// The first step that denies it, and why.
    #[must_use]
    pub fn first_denial(&self) -> Option<(Step, &DenialCause)> {
        let mut verdicts = Step::ALL.iter().zip(&self.verdicts);
        verdicts.find_map(|(step, cause)| Some((*step, cause.as_ref()?)))
    }
}

/// The facts that conditions can name.
struct JudgingFacts<'f> {
    goal: &'f ActionGoal,
    action: &'f Action,
    state: &'f JudgingState,
    left: BudgetAmounts,
}

impl JudgingFacts<'_> {
    /// The standing of the best token for a capability; `None` without a token. Reading needs none.
    fn best_standing(&self, capability: Capability) -> Option<GrantStanding> {
        let (id, root) = (self.goal.id, self.goal.scope_root);
        let tokens = self.state.grants.iter();
        let concerned = tokens.filter(|token| token.is_about(capability, id, root));
        let best = concerned
            .map(|token| token.standing_at(self.state.now))
            .min();
        match capability {
            Capability::FsRead => Some(GrantStanding::Valid),
            Capability::BuildExec | Capability::ShellExec => best,
        }
    }

    fn has_capability(&self, capability: Capability) -> bool {
        self.best_standing(capability) == Some(GrantStanding::Valid)
    }

    fn first_trespass(&self) -> Option<DenialCause> {
        let Action { cwd, targets, .. } = self.action;
        let mut paths = core::iter::once(cwd).chain(targets);
        paths.find_map(|path| {
            let trespass = self.state.jail.trespass_of(path)?;
            Some(DenialCause::Trespass(trespass, path.clone()))
        })
    }

    fn not_granted(&self) -> Option<DenialCause> {
        let capability = self.action.class.needed_capability()?;
        match self.best_standing(capability) {
            Some(GrantStanding::Valid) => None,
            Some(standing) => Some(DenialCause::GrantInvalid(capability, standing)),
            None => Some(DenialCause::NotGranted(capability)),
        }
    }

    fn class_denied(&self, profile: &ToolProfile) -> Option<DenialCause> {
        let program = self.action.program_name();
        let listed = &profile.programs;
        if self.action.class.needed_capability().is_none() {
            Some(DenialCause::ClassDenied(self.action.class))
        } else if !listed.is_empty() && !listed.iter().any(|it| it == program) {
            Some(DenialCause::ProgramNotListed)
        } else {
            None
        }
    }
}

/// Judges one action. The first step that isn't met denies it; the others' verdicts are in the report, too.
#[must_use]
pub fn judge_action(
    goal: &ActionGoal,
    action: &Action,
    state: &JudgingState,
    profile: &ToolProfile,
) -> ActionReport {
    let left = profile.budget.left_after(&state.spent);
    let facts = JudgingFacts {
        goal,
        action,
        state,
        left,
    };
    let risk = profile.risk_of(action.class);
    let is_known = action.class.needed_capability().is_some();
    let invariants = match action.program_name() {
        "" => Some(DenialCause::NoProgram),
        _ if is_known && risk > goal.risk => Some(DenialCause::RiskTooHigh(risk)),
        _ => None,
    };
    let ruling = apply_rules(profile, &facts);
    let verdicts = [
        invariants,
        (state.mode != Mode::Ready).then_some(DenialCause::Mode(state.mode)),
        facts.first_trespass(),
        facts.not_granted(),
        facts.class_denied(profile),
        left.lacking_for(&action.budget_cost())
            .map(DenialCause::BudgetExhausted),
        ruling
            .denied_by
            .map(|id| DenialCause::Denied(id.to_string())),
        ruling
            .allowed_by
            .is_none()
            .then_some(DenialCause::NotAllowed),
    ];
    let decision = if verdicts.iter().any(Option::is_some) {
        Decision::Deny
    } else if ruling.limits == ActionLimits::default() {
        Decision::Allow
    } else {
        Decision::AllowWithLimits
    };
    ActionReport {
        decision,
        verdicts,
        limits: ruling.limits,
        rule: ruling.denied_by.or(ruling.allowed_by).map(String::from),
    }
}

/// The verdict of all rules together.
#[derive(Default)]
struct RulesVerdict<'p> {
    denied_by: Option<&'p str>,
    allowed_by: Option<&'p str>,
    limits: ActionLimits,
}

/// The first denial counts; of allowing rules the strictest limits add up.
fn apply_rules<'p>(profile: &'p ToolProfile, facts: &JudgingFacts<'_>) -> RulesVerdict<'p> {
    let mut ruling = RulesVerdict::default();
    for rule in profile
        .rules
        .iter()
        .filter(|rule| rule.when.holds_for(facts))
    {
        match rule.effect {
            RuleEffect::Deny if ruling.denied_by.is_none() => ruling.denied_by = Some(&rule.id),
            RuleEffect::Deny => {}
            RuleEffect::Allow(limits) => {
                ruling.limits = ruling.limits.strictest_with(limits);
                ruling.allowed_by = Some(&rule.id);
            }
        }
    }
    ruling
}
