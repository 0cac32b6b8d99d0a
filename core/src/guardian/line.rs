//! Judges a whole command line: its commands in order, each with the budget that those before it left.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::class::{Capability, Class};
use super::command::{Join, SimpleCommand};
use super::command_table::{ClassifiedCommand, classify};
use super::grant::{GrantStanding, GrantToken, minutes_after};
use super::jail::{Jail, absolute_path};
use super::mode::Mode;
use super::profile::ToolProfile;
use super::{Decision, Denial, Step};
use crate::hash::ArtifactHash;
use crate::ids::UnixMillis;

/// The inputs by which a line is judged.
pub struct LineContext<'c> {
    /// The rules.
    pub profile: &'c ToolProfile,
    /// What tslp is able to do.
    pub mode: Mode,
    /// The time.
    pub now: UnixMillis,
    /// What the Operator granted for the line's session.
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
    /// Its class.
    pub class: Class,
    /// The argument that raised the class.
    pub because: Option<String>,
    /// The paths that it names, absolute and normal, and where links lead them.
    pub targets: Vec<String>,
    /// Why each step that isn't met denies it, in the order of the steps.
    pub denials: Vec<Denial>,
}

impl JudgedCommand {
    /// Whether it runs.
    #[must_use]
    pub fn decision(&self) -> Decision {
        match self.class {
            _ if !self.denials.is_empty() => Decision::Deny,
            class if class.is_build() => Decision::AllowWithLimits,
            _ => Decision::Allow,
        }
    }
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
    /// How long it may take, if a rule says so.
    pub timeout_seconds: Option<u64>,
}

impl JudgedLine {
    /// The strictest decision on its commands: a line runs as a whole or not at all.
    #[must_use]
    pub fn strictest_decision(&self) -> Decision {
        let decisions = self.commands.iter().map(JudgedCommand::decision);
        decisions.min().unwrap_or(Decision::Allow)
    }

    /// Its gravest class.
    #[must_use]
    pub fn gravest_class(&self) -> Class {
        let classes = self.commands.iter().map(|judged| judged.class);
        classes.max().unwrap_or(Class::Unknown)
    }
}

/// Judges the commands of one line.
#[must_use]
pub fn judge_line(commands: Vec<SimpleCommand>, context: &LineContext<'_>) -> JudgedLine {
    let mut cwd = context.jail.root.clone();
    let moves = moves_in_front(&commands);
    let mut builds = context.builds;
    let mut judged = Vec::with_capacity(commands.len());
    for (at, command) in (0..).zip(commands) {
        let ClassifiedCommand {
            mut class,
            mut because,
            paths,
        } = classify(&command.words);
        let named = paths.iter().map(|path| absolute_path(path, &cwd));
        let mut targets: Vec<String> = named.collect();
        if command.program_name() == "cd" && (at as usize) < moves {
            cwd = absolute_path(command.words.get(1).map_or("", String::as_str), &cwd);
        } else if command.program_name() == "cd" {
            class = Class::Unknown;
            because = Some("cd not followed by &&, or not in front".to_string());
        }
        let linked = targets.iter().filter_map(|path| (context.leads_to)(path));
        targets.extend(linked.collect::<Vec<_>>());
        let paths = core::iter::once(&cwd).chain(&targets);
        let denials = context.denials((at, command.program_name()), class, paths, builds);
        builds += u64::from(class.is_build());
        judged.push(JudgedCommand {
            command,
            class,
            because,
            targets,
            denials,
        });
    }
    let rules = judged.iter().map(|it| context.profile.rule_for(it.class));
    let timeout_seconds = rules.flatten().map(|(_, seconds)| seconds).min();
    JudgedLine {
        commands: judged,
        cwd,
        moves,
        timeout_seconds,
    }
}

impl LineContext<'_> {
    /// Asks the questions about one command in their order; each that isn't met denies, also those after the first.
    fn denials<'p>(
        &self,
        (at, program): (u32, &str),
        class: Class,
        mut paths: impl Iterator<Item = &'p String>,
        builds: u64,
    ) -> Vec<Denial> {
        const CLASS_VIOLATION: &str = "COMMAND-CLASS-VIOLATION";
        let mut denials = Vec::new();
        let mut deny = |step, code: &str, why: &str| {
            denials.push(Denial {
                command: at,
                step,
                code: code.to_string(),
                why: why.to_string(),
            });
        };
        let programs = &self.profile.programs;
        if program.is_empty() {
            deny(Step::Invariants, CLASS_VIOLATION, "no program is named");
        }
        if self.mode != Mode::Ready {
            let why = format!("tools don't run in mode {}", self.mode);
            deny(Step::Mode, "MODE", &why);
        }
        if let Some((path, is)) = paths.find_map(|it| Some((it, self.jail.trespass_of(it)?))) {
            deny(Step::Scope, "SCOPE-BREACH", &format!("{path} is {is}"));
        }
        let Some(capability) = class.needed_capability() else {
            let why = format!("no tool may do what is of class {class}, whatever is granted");
            deny(Step::Class, CLASS_VIOLATION, &why);
            deny(Step::DefaultDeny, "POLICY-VIOLATION", "no rule allows it");
            return denials;
        };
        // Reading needs no grant.
        if capability != Capability::FsRead
            && let Some((code, why)) = self.missing_grant(capability)
        {
            deny(Step::Capability, code, &why);
        }
        if !programs.is_empty() && !programs.iter().any(|it| it == program) {
            let why = "the profile doesn't list the program";
            deny(Step::Class, "POLICY-VIOLATION", why);
        }
        if class.is_build() && builds >= self.profile.builds {
            let why = "no builds are left in the budget";
            deny(Step::Budget, "BUDGET-EXHAUSTED", why);
        }
        denials
    }

    /// Why a capability isn't there: the code and the words.
    fn missing_grant(&self, capability: Capability) -> Option<(&'static str, String)> {
        let scope_root = ArtifactHash::of(self.jail.root.as_bytes());
        let grants = self.grants.iter();
        let tokens = grants.filter(|it| it.capability == capability && it.scope_root == scope_root);
        let standings = tokens.map(|token| {
            // No longer than the profile allows.
            let most = minutes_after(token.issued_at, self.profile.grant_minutes(capability));
            let expires_at = token.expires_at.min(most);
            GrantToken {
                expires_at,
                ..*token
            }
            .standing_at(self.now)
        });
        let (code, became) = match standings.min() {
            Some(GrantStanding::Valid) => return None,
            Some(GrantStanding::Expired) => ("CAPABILITY-ESCALATION", "has expired"),
            Some(GrantStanding::Revoked) => ("CAPABILITY-REVOKED", "was revoked"),
            None => {
                let why = format!("it needs {capability}, which only the user can grant");
                return Some(("CAPABILITY-MISSING", why));
            }
        };
        Some((code, format!("the grant of {capability} {became}")))
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
