//! Tools: command lines are split as bash splits them, and judged by whatever profile there is.

use std::process::{Command, Stdio};

use globset::GlobBuilder;
use tslp_core::guardian::{
    Action, ActionGoal, ActionLimits, BudgetAmounts, Capability, Class, CommandTable, Condition,
    Decision, Door, Glob, GrantToken, Jail, Join, JudgingState, Mode, PolicyRule, Risk, RuleEffect,
    SimpleCommand, ToolProfile, judge_action, minutes_after,
};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::UnixMillis;
use tslp_grammars::shell;
use tslp_tools::guardian::profile_file;

/// Bash with no program to be found and nearly all builtins off: a command that it would run goes to the handler, which
/// prints its words and gives the line's first argument as the status.
const SCRIPT: &str = r#"
code=$1
PATH=/nonexistent
command_not_found_handle() { printf '%s\0' "$@" $'\1' >&2; return "$code"; }
for builtin in $(compgen -b); do
    case $builtin in printf|return|eval|enable) ;; *) enable -n "$builtin";; esac
done
enable -n enable
eval " $2"
"#;

/// Builtins that the script needs itself.
const NEEDED: [&str; 3] = ["printf", "return", "eval"];

/// A line that is split gives the words that bash would run, whether the commands succeed or fail. No word is ever run:
/// without slashes bash finds no program, and it starts where nothing can be written. Bash flushes at line breaks, at which the
/// words of a pipeline's commands would mix.
pub fn command_line(data: &[u8]) {
    let line = String::from_utf8_lossy(data).replace(['/', '\n'], "_");
    let Ok(commands) = shell::split(&line) else {
        return;
    };
    let table = CommandTable::built_in();
    for command in &commands {
        let _ = table.classify(&command.words);
        if NEEDED.contains(&command.program_name()) {
            return;
        }
    }
    for status in [0, 1] {
        let mut ours = run_by(&commands, status);
        let mut theirs = run_by_bash(&line, status);
        // The commands of a pipeline print in any order.
        ours.sort();
        theirs.sort();
        assert_eq!(ours, theirs, "{line:?} with status {status}");
    }
}

/// The words of the commands that are run, if each ends with a status.
fn run_by(commands: &[SimpleCommand], status: i32) -> Vec<Vec<String>> {
    let (mut last, mut is_running) = (0, false);
    let mut run = Vec::new();
    for command in commands {
        is_running = match command.join {
            Join::First | Join::Then => true,
            Join::And => last == 0,
            Join::Or => last != 0,
            Join::Pipe => is_running,
        };
        if is_running {
            run.push(command.words.clone());
            last = status;
        }
    }
    run
}

fn run_by_bash(line: &str, status: i32) -> Vec<Vec<String>> {
    let output = Command::new("bash")
        .args(["--norc", "--noprofile", "-c", SCRIPT, "bash"])
        .args([&status.to_string(), line])
        .env_clear()
        .env("LC_ALL", "C.UTF-8")
        .current_dir("/proc")
        .stdin(Stdio::null())
        .output();
    let output = output.expect("bash can be started");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let mut run = Vec::new();
    let mut words = Vec::new();
    for word in text.split_terminator('\0') {
        match word {
            "\u{1}" => run.push(std::mem::take(&mut words)),
            word => words.push(word.to_owned()),
        }
    }
    assert!(words.is_empty(), "{line:?}: {text:?}");
    run
}

/// Any text is a profile, a condition and a pattern, or is refused. Patterns fit as globset has it. One NUL parts a pattern,
/// which may be a condition, from a path, which may be a command line.
///
/// Whatever a rule says, the same action gets the same report; what no tool may do is denied; one more rule that denies, or one
/// grant less, never allows more.
pub fn policy(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let _ = profile_file::parse_profile(&text);
    let (pattern, path) = text.split_once('\0').unwrap_or((&text, "src/a.c"));
    fits_as_globset_has_it(pattern, path);
    let Ok(when) = Condition::parse(pattern) else {
        return;
    };
    let words: Vec<String> = path.split_whitespace().map(str::to_owned).collect();
    let action = Action::from_command(&words, "/w", Door::Bridge, &CommandTable::built_in());
    let mut profile = ToolProfile::built_in();
    let mut with = |effect| {
        profile.rules.push(PolicyRule {
            id: "fuzzed".to_owned(),
            description: String::new(),
            when: when.clone(),
            effect,
        });
        profile.clone()
    };
    let (allowing, denying) = (
        with(RuleEffect::Allow(ActionLimits::default())),
        with(RuleEffect::Deny),
    );
    let granted = judging_state(&[Capability::BuildExec, Capability::ShellExec]);
    let judged = |state: &JudgingState, profile: &ToolProfile| {
        let report = judge_action(&action_goal(), &action, state, profile);
        assert_eq!(
            report,
            judge_action(&action_goal(), &action, state, profile)
        );
        assert_eq!(
            report.decision == Decision::Deny,
            report.first_denial().is_some()
        );
        report.decision != Decision::Deny
    };
    let is_allowed = judged(&granted, &allowing);
    assert!(!is_allowed || matches!(action.class, Class::Read | Class::Build | Class::Shell));
    assert!(
        is_allowed || !judged(&granted, &denying),
        "a denying rule allows"
    );
    // A rule may ask for the lack of a grant, but no rule replaces one.
    let is_reading = action.class == Class::Read;
    assert!(
        is_reading || !judged(&judging_state(&[]), &allowing),
        "it isn't granted"
    );
}

fn fits_as_globset_has_it(pattern: &str, path: &str) {
    let is_plain = |text: &str| {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let mut parts = text.split('/');
        !text.is_empty()
            && parts.all(|part| {
                !part.is_empty() && part.chars().all(|c| is_plain(c) || matches!(c, '*' | '?'))
            })
    };
    let (Some(ours), true, true) = (
        Glob::parse_pattern(pattern),
        is_plain(pattern),
        is_plain(path),
    ) else {
        return;
    };
    let theirs = GlobBuilder::new(pattern).literal_separator(true).build();
    let theirs = theirs
        .expect("globset reads what is plain")
        .compile_matcher();
    assert_eq!(
        ours.matches_path(path),
        theirs.is_match(path),
        "{pattern} {path}"
    );
}

fn action_goal() -> ActionGoal {
    ActionGoal {
        id: None,
        risk: Risk::Critical,
        scope_root: ArtifactHash::of(b"/w"),
    }
}

fn judging_state(granted: &[Capability]) -> JudgingState {
    let now = UnixMillis(0);
    let token = |capability: &Capability| GrantToken {
        id: 1,
        goal: None,
        capability: *capability,
        risk: capability.least_risk(),
        issued_at: now,
        expires_at: minutes_after(now, 1),
        renewed_count: 0,
        last_renewed_at: None,
        scope_root: ArtifactHash::of(b"/w"),
        revoked: false,
    };
    JudgingState {
        mode: Mode::Ready,
        now,
        grants: granted.iter().map(token).collect(),
        spent: BudgetAmounts::default(),
        jail: Jail {
            root: "/w".to_owned(),
            ..Jail::default()
        },
    }
}
