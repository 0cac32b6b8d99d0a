//! The judge as a whole: each step's denials, rules and limits, and that nothing but its inputs counts.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::*;
use crate::hash::ArtifactHash;
use crate::ids::UnixMillis;

const ROOT: &str = "/home/u/w";

fn grant(capability: Capability) -> GrantToken {
    GrantToken::issue_for_session(capability, ArtifactHash::of(ROOT.as_bytes()), UnixMillis(0))
}

fn jail() -> Jail {
    Jail {
        root: ROOT.into(),
        visible: vec!["/usr".into()],
        protected: vec![format!("{ROOT}/.git/hooks")],
        home: "/home/u".into(),
        locked: Vec::new(),
    }
}

/// What a command is judged by, apart from its jail.
#[derive(Clone)]
struct Given {
    profile: ToolProfile,
    mode: Mode,
    now: UnixMillis,
    grants: Vec<GrantToken>,
    builds: u64,
}

fn given() -> Given {
    Given {
        profile: ToolProfile::built_in(),
        mode: Mode::Ready,
        now: UnixMillis(60_000),
        grants: Vec::new(),
        builds: 0,
    }
}

/// The decision, or the step, code and words of the first denial.
fn shown(line: &str, given: &Given) -> String {
    let command = SimpleCommand {
        join: Join::First,
        words: line.split(' ').map(String::from).collect(),
    };
    let context = LineContext {
        profile: &given.profile,
        mode: given.mode,
        now: given.now,
        grants: &given.grants,
        builds: given.builds,
        jail: &jail(),
        leads_to: &|_| None,
    };
    let judged = judge_line(vec![command], &context);
    match judged.commands[0].denials.first() {
        None => judged.strictest_decision().as_str().to_string(),
        Some(Denial {
            step, code, why, ..
        }) => format!("{step} {code}: {why}"),
    }
}

fn check(line: &str, given: &Given, expected: &str) {
    assert_eq!(shown(line, given), expected, "{line}");
}

#[test]
fn each_step_denies() {
    let ready = given();
    check("grep -rn x src", &ready, "ALLOW");
    check(
        "",
        &ready,
        "invariants COMMAND-CLASS-VIOLATION: no program is named",
    );
    let safe = Given {
        mode: Mode::SafeMode,
        ..given()
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
        "capability CAPABILITY-MISSING: it needs BUILD_EXEC, which only the user can grant",
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
fn grant_expires() {
    let mut granted = Given {
        grants: vec![grant(Capability::BuildExec)],
        ..given()
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
        "capability CAPABILITY-MISSING: it needs BUILD_EXEC, which only the user can grant",
    );
    granted.grants.push(grant(Capability::BuildExec));
    check(
        "perl x",
        &granted,
        "capability CAPABILITY-MISSING: it needs SHELL_EXEC, which only the user can grant",
    );
}

/// A profile can list programs and lift no rule.
#[test]
fn profile_limits() {
    let mut listed = given();
    listed.profile.programs = vec!["ls".into()];
    let check = |line: &str, expected: &str| {
        let shown = shown(line, &listed);
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

/// Client calls are denied for what they may never do, and for nothing else.
#[test]
fn listed_client_calls() {
    let jail = jail();
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

/// Judged for each folder of each search, this took longer than anybody waits.
#[test]
fn nested_searches() {
    let judged = |line: &str| judge_client_call(&[(CallPart::Shell, line)], &jail());
    let nested = "find a b -exec ".repeat(2_000);
    let found = judged(&format!("{nested} rm {{}} +"));
    assert_eq!(found[0].0, Harm::Unreadable);
    let (folders, names) = ((0..9_000).map(|at| format!("{at} ")), "{} ".repeat(9_000));
    let found = judged(&format!(
        "find {} -exec rm {names} +",
        folders.collect::<String>()
    ));
    assert_eq!(found[0].0, Harm::Unreadable);
    assert_eq!(judged("find src lib -exec grep -l x {} +"), []);
}

/// `npx jest` is jest's run.
#[test]
fn launchers() {
    for (line, expected) in [
        ("npx jest src", (0, 1)),
        ("pnpm exec vitest run", (0, 1)),
        ("bunx --bun tsc -p .", (1, 0)),
        ("uv run --with pytest-cov pytest -q", (0, 1)),
        ("poetry run pytest", (0, 1)),
        ("./venv/bin/pytest tests", (0, 1)),
        (".venv/bin/python -m pytest", (0, 1)),
        ("env CI=1 npx --yes mocha", (0, 1)),
        ("npm run build", (1, 0)),
        ("npm test", (0, 1)),
        ("npx cowsay hello", (0, 0)),
        ("uv run", (0, 0)),
    ] {
        let arguments = format!("{{\"command\": \"{line}\"}}");
        let counted = super::builds_and_tests("bash", &arguments);
        assert_eq!(counted, expected, "{line}");
    }
}
