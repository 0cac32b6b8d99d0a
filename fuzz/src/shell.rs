//! Tools: command lines are split as bash splits them, and judged by whatever profile there is.

use std::process::{Command, Stdio};

use tslp_core::guardian::{
    self, Capability, Class, Decision, GrantToken, Jail, Join, JudgedLine, LineContext, Mode,
    SimpleCommand, ToolProfile, judge_line,
};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::UnixMillis;
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
pub(crate) fn command_line(data: &[u8]) {
    let line = String::from_utf8_lossy(data).replace(['/', '\n'], "_");
    let Ok(commands) = guardian::split(&line) else {
        return;
    };
    for command in &commands {
        let _ = guardian::classify(&command.words);
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

/// Any text is a profile, or is refused. What no tool may do is denied, and no profile replaces a grant. One NUL parts a profile
/// from a command line.
pub(crate) fn policy(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (profile, line) = text.split_once('\0').unwrap_or((&text, "src/a.c"));
    let profile = profile_file::parse_profile(profile).unwrap_or_else(|_| ToolProfile::built_in());
    let command = SimpleCommand {
        join: Join::First,
        words: line.split_whitespace().map(str::to_owned).collect(),
    };
    let bare = judged_by(&profile, &command, &[]);
    let class = bare.gravest_class();
    assert!(
        class == Class::Read || bare.strictest_decision() == Decision::Deny,
        "it isn't granted"
    );
    let granted = [Capability::BuildExec, Capability::ShellExec];
    let granted = judged_by(&profile, &command, &granted).strictest_decision();
    let may_run = matches!(class, Class::Read | Class::Build | Class::Shell);
    assert!(may_run || granted == Decision::Deny);
}

fn judged_by(profile: &ToolProfile, command: &SimpleCommand, granted: &[Capability]) -> JudgedLine {
    let now = UnixMillis(0);
    let root = ArtifactHash::of(b"/w");
    let grants = granted.iter();
    let grants = grants.map(|it| GrantToken::issue_for_session(*it, root, now));
    let context = LineContext {
        profile,
        mode: Mode::Ready,
        now,
        grants: &grants.collect::<Vec<_>>(),
        builds: 0,
        jail: &Jail {
            root: "/w".to_owned(),
            ..Jail::default()
        },
        leads_to: &|_| None,
    };
    judge_line(vec![command.clone()], &context)
}
