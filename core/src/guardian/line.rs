//! Judges a whole command line: its commands in order, each with the budget that those before it left.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{
    Action, ActionReport, Class, CommandTable, Decision, Door, GrantToken, Jail, Join,
    JudgingState, Mode, SimpleCommand, ToolProfile, absolute_path, judge_action, minutes_after,
};
use crate::hash::ArtifactHash;
use crate::ids::UnixMillis;

/// The inputs by which a line is judged.
pub struct LineContext<'c> {
    /// The rules.
    pub profile: &'c ToolProfile,
    /// Who asks.
    pub door: Door,
    /// What tslp is able to do.
    pub mode: Mode,
    /// The time.
    pub now: UnixMillis,
    /// The goal that grants must be for: the line's session.
    pub goal: Option<u64>,
    /// What the Operator granted.
    pub grants: &'c [GrantToken],
    /// Builds that ran since the Operator last resumed.
    pub builds: u64,
    /// Where tools may look.
    pub jail: &'c Jail,
    /// Where a path really leads, if symbolic links lead it elsewhere.
    pub leads_to: &'c dyn Fn(&str) -> Option<String>,
}

/// One command of a line with its verdict.
#[derive(Clone, Debug)]
pub struct JudgedCommand {
    /// The command.
    pub command: SimpleCommand,
    /// Its action.
    pub action: Action,
    /// The verdict.
    pub report: ActionReport,
}

/// A line whose commands were judged, in order.
#[derive(Clone, Debug)]
pub struct JudgedLine {
    /// Its commands.
    pub commands: Vec<JudgedCommand>,
    /// Where the programs start: `cd` in front of all others is followed.
    pub cwd: String,
    /// Commands in front that only change the folder.
    pub moves: usize,
}

impl JudgedLine {
    /// Whether every command is allowed: a line runs as a whole or not at all.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        self.strictest_decision() != Decision::Deny
    }

    /// The strictest decision on its commands.
    #[must_use]
    pub fn strictest_decision(&self) -> Decision {
        let reports = || self.commands.iter().map(|judged| &judged.report);
        if reports().any(|report| report.decision == Decision::Deny) {
            Decision::Deny
        } else if reports().any(|report| report.decision == Decision::AllowWithLimits) {
            Decision::AllowWithLimits
        } else {
            Decision::Allow
        }
    }

    /// Its gravest class.
    #[must_use]
    pub fn gravest_class(&self) -> Class {
        let classes = self.commands.iter().map(|judged| judged.action.class);
        classes.max().unwrap_or(Class::Unknown)
    }

    /// How long it may take, if a rule says so.
    #[must_use]
    pub fn timeout_seconds(&self) -> Option<u64> {
        let reports = self.commands.iter().map(|judged| &judged.report);
        reports.filter_map(|report| report.timeout_seconds).min()
    }
}

/// Judges the commands of one line.
#[must_use]
pub fn judge_line(commands: Vec<SimpleCommand>, context: &LineContext<'_>) -> JudgedLine {
    let table = CommandTable::built_in();
    let mut cwd = context.jail.root.clone();
    let scope_root = ArtifactHash::of(context.jail.root.as_bytes());
    let concerns = |token: &&GrantToken| {
        token.scope_root == scope_root && (token.goal.is_none() || token.goal == context.goal)
    };
    let grants: Vec<GrantToken> = context
        .grants
        .iter()
        .filter(concerns)
        .map(|token| within_profile(*token, context.profile))
        .collect();
    let mut state = JudgingState {
        mode: context.mode,
        now: context.now,
        grants,
        builds: context.builds,
        jail: context.jail.clone(),
    };
    let moves = moves_in_front(&commands);
    let mut judged = Vec::with_capacity(commands.len());
    for (at, command) in commands.into_iter().enumerate() {
        let mut action = Action::from_command(&command.words, &cwd, context.door, &table);
        if command.program_name() == "cd" && at < moves {
            cwd = absolute_path(command.words.get(1).map_or("", String::as_str), &cwd);
            action.cwd.clone_from(&cwd);
        } else if command.program_name() == "cd" {
            action.class = Class::Unknown;
            action.because = Some("cd not followed by &&, or not in front".to_string());
        }
        let linked = action
            .targets
            .iter()
            .filter_map(|target| (context.leads_to)(target));
        action.targets.extend(linked.collect::<Vec<_>>());
        let report = judge_action(&action, &state, context.profile);
        state.builds += u64::from(action.is_build());
        judged.push(JudgedCommand {
            command,
            action,
            report,
        });
    }
    JudgedLine {
        commands: judged,
        cwd,
        moves,
    }
}

/// The token, expiring no later than the profile allows.
fn within_profile(token: GrantToken, profile: &ToolProfile) -> GrantToken {
    let most = minutes_after(token.issued_at, profile.grant_minutes(token.capability));
    GrantToken {
        expires_at: token.expires_at.min(most),
        ..token
    }
}

/// How many commands in front are `cd FOLDER &&`, or such at the end of a line.
fn moves_in_front(commands: &[SimpleCommand]) -> usize {
    let is_move = |at: usize| {
        let command = &commands[at];
        let next = commands.get(at + 1).map(|next| next.join);
        command.program_name() == "cd"
            && command.words.len() == 2
            && !command.words[1].starts_with('-')
            && matches!(next, None | Some(Join::And))
    };
    (0..commands.len()).take_while(|at| is_move(*at)).count()
}
