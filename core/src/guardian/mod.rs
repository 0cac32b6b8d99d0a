//! The Guardian: whether an action of a tool is allowed, by rules, and why (spec §8.5).
//!
//! [`evaluate`] is pure: the same goal, action, state and profile give the same report, now and when it is verified. It stops
//! careless programs early; hostile ones are held by the kernel (`io/tools/src/sandbox`).

mod class;
mod client;
mod client_lists;
mod command;
mod command_table;
mod grant;
mod jail;
mod line;
mod mode;
mod profile;
mod shell;
#[cfg(test)]
mod tests;

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

pub use class::{Capability, Class, Risk};
pub use client::{
    CallPart, Harm, HarmFound, JUDGED_BYTES_MAX, builds_and_tests, call_parts, judge_client_call,
};
pub use command::{COMMANDS_MAX, Join, LINE_BYTES_MAX, SimpleCommand, SplitError};
pub use command_table::{ClassifiedCommand, CommandTable};
pub use grant::{ACTION_MINUTES, GrantStanding, GrantToken, minutes_after};
pub use jail::{Jail, PathTrespass, absolute_path, is_within};
pub use line::{JudgedCommand, JudgedLine, LineContext, judge_line};
pub use mode::Mode;
pub use profile::ToolProfile;
pub use shell::split;

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

    /// Whether it counts as a build: it runs the workspace's own code.
    #[must_use]
    pub const fn is_build(&self) -> bool {
        matches!(self.class, Class::Build | Class::Shell)
    }
}

/// The state by which an action is judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgingState {
    /// What tslp is able to do.
    pub mode: Mode,
    /// The time.
    pub now: UnixMillis,
    /// The grants that are for this session and workspace.
    pub grants: Vec<GrantToken>,
    /// Builds that ran since the Operator last resumed.
    pub builds: u64,
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
    /// All builds of the budget have run.
    BudgetExhausted,
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
            Self::BudgetExhausted => "BUDGET-EXHAUSTED",
            Self::ProgramNotListed | Self::NotAllowed => "POLICY-VIOLATION",
        }
    }
}

impl fmt::Display for DenialCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProgram => f.write_str("no program is named"),
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
                    GrantStanding::Revoked => "was revoked",
                    GrantStanding::Expired | GrantStanding::Valid => "has expired",
                };
                write!(f, "the grant of {capability} {why}")
            }
            Self::ClassDenied(class) => {
                write!(f, "no tool may do what is of class {class}, whatever is granted")
            }
            Self::ProgramNotListed => f.write_str("the profile doesn't list the program"),
            Self::BudgetExhausted => f.write_str("no builds are left in the budget"),
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
    /// Its longest run in seconds, if its rule sets one.
    pub timeout_seconds: Option<u64>,
    /// The rule that allows it.
    pub rule: Option<&'static str>,
}

impl ActionReport {
    /// The first step that denies it, and why.
    #[must_use]
    pub fn first_denial(&self) -> Option<(Step, &DenialCause)> {
        let mut verdicts = Step::ALL.iter().zip(&self.verdicts);
        verdicts.find_map(|(step, cause)| Some((*step, cause.as_ref()?)))
    }
}

/// Judges one action. The first step that isn't met denies it; the others' verdicts are in the report, too.
#[must_use]
pub fn judge_action(action: &Action, state: &JudgingState, profile: &ToolProfile) -> ActionReport {
    let listed = &profile.programs;
    let is_listed = listed.is_empty() || listed.iter().any(|it| it == action.program_name());
    let class_denied = match action.class.needed_capability() {
        None => Some(DenialCause::ClassDenied(action.class)),
        Some(_) => (!is_listed).then_some(DenialCause::ProgramNotListed),
    };
    let rule = profile.rule_for(action.class);
    let verdicts = [
        action
            .program_name()
            .is_empty()
            .then_some(DenialCause::NoProgram),
        (state.mode != Mode::Ready).then_some(DenialCause::Mode(state.mode)),
        first_trespass(action, &state.jail),
        not_granted(action, state),
        class_denied,
        (action.is_build() && state.builds >= profile.builds)
            .then_some(DenialCause::BudgetExhausted),
        // No rule of today denies what the steps before allow.
        None,
        rule.is_none().then_some(DenialCause::NotAllowed),
    ];
    let decision = match (verdicts.iter().any(Option::is_some), action.is_build()) {
        (true, _) => Decision::Deny,
        (false, false) => Decision::Allow,
        (false, true) => Decision::AllowWithLimits,
    };
    ActionReport {
        decision,
        verdicts,
        timeout_seconds: rule.map(|(_, seconds)| seconds),
        rule: rule.map(|(id, _)| id),
    }
}

fn first_trespass(Action { cwd, targets, .. }: &Action, jail: &Jail) -> Option<DenialCause> {
    let mut paths = core::iter::once(cwd).chain(targets);
    paths.find_map(|path| Some(DenialCause::Trespass(jail.trespass_of(path)?, path.clone())))
}

/// Why the capability that an action needs isn't there; reading needs no grant.
fn not_granted(action: &Action, state: &JudgingState) -> Option<DenialCause> {
    let needed = action.class.needed_capability();
    let capability = needed.filter(|it| *it != Capability::FsRead)?;
    let tokens = state
        .grants
        .iter()
        .filter(|token| token.capability == capability);
    match tokens.map(|token| token.standing_at(state.now)).min() {
        Some(GrantStanding::Valid) => None,
        Some(standing) => Some(DenialCause::GrantInvalid(capability, standing)),
        None => Some(DenialCause::NotGranted(capability)),
    }
}
