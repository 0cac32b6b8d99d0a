//! The Guardian: whether an action of a tool is allowed, by rules, and why (spec §8.5).
//!
//! [`judge_line`] and [`judge_client_call`] are pure: the same call, state and profile give the same verdict, now and when it is
//! verified. They stop careless programs early; hostile ones are held by the kernel (`io/tools/src/sandbox`).

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

use alloc::string::String;

use serde::{Deserialize, Serialize};

pub use class::{Capability, Class, Risk};
pub use client::{
    CallPart, Harm, HarmFound, JUDGED_BYTES_MAX, builds_and_tests, call_parts, can_write,
    judge_client_call, reads_files, writes_named_alone,
};
pub use command::{COMMANDS_MAX, Join, LINE_BYTES_MAX, SimpleCommand, SplitError};
pub use command_table::{ClassifiedCommand, classify};
pub use grant::{ACTION_MINUTES, GrantStanding, GrantToken, minutes_after};
pub use jail::{Jail, absolute_path, is_within};
pub use line::{JudgedCommand, JudgedLine, LineContext, judge_line};
pub use mode::Mode;
pub use profile::ToolProfile;
pub use shell::split;

use crate::stored::{Archive, Load, Store, stored_words};

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

/// Why one command of a line is denied.
#[derive(Clone, Debug, PartialEq, Eq, Archive, Store, Load, Serialize, Deserialize)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Denial {
    /// The command, from 0.
    pub command: u32,
    /// The question that isn't met.
    pub step: Step,
    /// The cause's code; a halt that follows bears the same one.
    pub code: String,
    /// The cause in words.
    pub why: String,
}
