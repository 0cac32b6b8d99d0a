//! The judge as a whole: each step's denials, rules and limits, and that nothing but its inputs counts.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::*;
use crate::hash::ArtifactHash;

const ROOT: &str = "/home/u/w";

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(String::from).collect()
}

fn action(line: &str) -> Action {
    Action::from_command(&words(line), ROOT, Door::Bridge, &CommandTable::built_in())
}

fn grant(capability: Capability) -> GrantToken {
    GrantToken::issue_for_session(capability, ArtifactHash::of(b"w"), UnixMillis(0))
}

fn state() -> JudgingState {
    JudgingState {
        mode: Mode::Ready,
        now: UnixMillis(60_000),
        grants: Vec::new(),
        builds: 0,
        jail: Jail {
            root: ROOT.into(),
            visible: vec!["/usr".into()],
            protected: vec![format!("{ROOT}/.git/hooks")],
            home: "/home/u".into(),
            locked: Vec::new(),
        },
    }
}

/// The decision, and the step, code and words of a denial.
fn shown(report: &ActionReport) -> String {
    match report.first_denial() {
        None => report.decision.as_str().to_string(),
        Some((step, cause)) => format!("{step} {}: {cause}", cause.denial_code()),
    }
}

fn check(line: &str, state: &JudgingState, expected: &str) {
    let report = judge_action(&action(line), state, &ToolProfile::built_in());
    assert_eq!(shown(&report), expected, "{line}");
    assert_eq!(
        report.decision == Decision::Deny,
        report.first_denial().is_some()
    );
}

#[test]
fn each_step_denies_by_itself() {
    let ready = state();
    check("grep -rn x src", &ready, "ALLOW");
    check(
        "",
        &ready,
        "invariants COMMAND-CLASS-VIOLATION: no program is named",
    );
    let safe = JudgingState {
        mode: Mode::SafeMode,
        ..state()
    };
    check("ls", &safe, "mode MODE: tools don't run in mode SAFE_MODE");
    check(
        "cat ../x",
        &ready,
        "scope SCOPE-BREACH: /home/u/x is outside of the workspace",
    );
    check(
        "cat .git/hooks/x",
        &ready,
        "scope SCOPE-BREACH: /home/u/w/.git/hooks/x is protected",
    );
    check(
        "make",
        &ready,
        "capability CAPABILITY-MISSING: it needs BUILD_EXEC; the user grants it with `@tslp allow BUILD_EXEC`, or `--allow BUILD_EXEC`",
    );
    check(
        "curl x",
        &ready,
        "class COMMAND-CLASS-VIOLATION: no tool may do what is of class NETWORK, whatever is granted",
    );
    check(
        "nosuch",
        &ready,
        "class COMMAND-CLASS-VIOLATION: no tool may do what is of class UNKNOWN, whatever is granted",
    );
}

#[test]
fn a_grant_allows_until_it_ends() {
    let mut granted = JudgingState {
        grants: vec![grant(Capability::BuildExec)],
        ..state()
    };
    check("make", &granted, "ALLOW_WITH_LIMITS");
    granted.builds = 5;
    check(
        "make",
        &granted,
        "budget BUDGET-EXHAUSTED: no builds are left in the budget",
    );
    granted.builds = 0;
    granted.now = UnixMillis(15 * 60_000);
    check(
        "make",
        &granted,
        "capability CAPABILITY-ESCALATION: the grant of BUILD_EXEC has expired",
    );
    granted.now = UnixMillis(1);
    granted.grants[0].revoked = true;
    check(
        "make",
        &granted,
        "capability CAPABILITY-REVOKED: the grant of BUILD_EXEC was revoked",
    );
    granted.grants.push(grant(Capability::BuildExec));
    check("make", &granted, "ALLOW_WITH_LIMITS");
    granted.grants.clear();
    check(
        "make",
        &granted,
        "capability CAPABILITY-MISSING: it needs BUILD_EXEC; the user grants it with `@tslp allow BUILD_EXEC`, or `--allow BUILD_EXEC`",
    );
    granted.grants.push(grant(Capability::BuildExec));
    check(
        "perl x",
        &granted,
        "capability CAPABILITY-MISSING: it needs SHELL_EXEC; the user grants it with `@tslp allow SHELL_EXEC`, or `--allow SHELL_EXEC`",
    );
}

#[test]
fn a_profile_can_list_programs_and_lift_nothing() {
    let mut profile = ToolProfile::built_in();
    profile.programs = vec!["ls".into()];
    let check = |line: &str, expected: &str| {
        let shown = shown(&judge_action(&action(line), &state(), &profile));
        assert!(shown.starts_with(expected), "{line}: {shown}");
    };
    check("ls", "ALLOW");
    check("cat x", "class POLICY-VIOLATION: the profile doesn't list");
    check("rm x", "class COMMAND-CLASS");
    check("cat /etc/passwd", "scope");
    check("make", "capability");
}

/// Calls of clients' tools, one a line: the harm or PASS, the tool, its arguments.
const CALLS: &str = include_str!("client_calls.txt");

#[test]
fn clients_calls_are_denied_for_what_they_may_never_do_and_for_nothing_else() {
    let jail = JudgingState { ..state() }.jail;
    let mut counts = [0, 0];
    let mut wrong = Vec::new();
    for line in CALLS
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let mut fields = line.splitn(3, ' ');
        let mut next = || fields.next().unwrap();
        let (expected, tool, arguments) = (next(), next(), next());
        let parts = call_parts(tool, arguments);
        let parts: Vec<(CallPart, &str)> =
            parts.iter().map(|(part, text)| (*part, &**text)).collect();
        assert!(!parts.is_empty(), "{line}");
        let found = judge_client_call(&parts, &jail);
        counts[usize::from(expected != "PASS")] += 1;
        let fits = match expected {
            "PASS" => found.is_empty(),
            harm => found.iter().any(|(it, _)| it.as_str() == harm),
        };
        if !fits {
            wrong.push(format!("{line}: {found:?}"));
        }
    }
    assert!(counts[0] >= 60 && counts[1] >= 60, "{counts:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
