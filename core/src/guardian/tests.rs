//! The judge as a whole: each step's denials, rules and limits, and that nothing but its inputs counts.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use super::*;

const ROOT: &str = "/home/u/w";

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(String::from).collect()
}

fn action(line: &str) -> Action {
    Action::from_command(&words(line), ROOT, Door::Bridge, &CommandTable::built_in())
}

fn goal() -> ActionGoal {
    ActionGoal {
        id: None,
        risk: Risk::High,
        scope_root: ArtifactHash::of(ROOT.as_bytes()),
    }
}

fn grant(capability: Capability) -> GrantToken {
    let root = ArtifactHash::of(ROOT.as_bytes());
    GrantToken::issue_for_session(1, capability, root, UnixMillis(0))
}

fn state() -> JudgingState {
    JudgingState {
        mode: Mode::Ready,
        now: UnixMillis(60_000),
        grants: Vec::new(),
        spent: BudgetAmounts::default(),
        jail: Jail {
            root: ROOT.into(),
            visible: vec!["/usr".into()],
            protected: vec![format!("{ROOT}/.git/hooks")],
        },
    }
}

fn profile(rules: &[(&str, &str, RuleEffect)]) -> ToolProfile {
    let rules = rules.iter().map(|(id, when, effect)| PolicyRule {
        id: (*id).into(),
        description: String::new(),
        when: Condition::parse(when).unwrap(),
        effect: *effect,
    });
    ToolProfile {
        rules: rules.collect(),
        ..ToolProfile::built_in()
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
    let report = judge_action(&goal(), &action(line), state, &ToolProfile::built_in());
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
        "class COMMAND-CLASS-VIOLATION: class NETWORK needs a NET_* token; none is granted to tools",
    );
    check(
        "nosuch",
        &ready,
        "class COMMAND-CLASS-VIOLATION: class UNKNOWN needs a known class; none is granted to tools",
    );
    let spent = JudgingState {
        spent: BudgetAmounts::default().with_amount(BudgetItem::Calls, 8),
        ..state()
    };
    check(
        "ls",
        &spent,
        "budget BUDGET-EXHAUSTED: no calls are left in the budget",
    );
}

#[test]
fn a_grant_allows_until_it_ends() {
    let mut granted = JudgingState {
        grants: vec![grant(Capability::BuildExec)],
        ..state()
    };
    check("make", &granted, "ALLOW_WITH_LIMITS");
    granted.spent = BudgetAmounts::default().with_amount(BudgetItem::Builds, 5);
    check(
        "make",
        &granted,
        "budget BUDGET-EXHAUSTED: no builds are left in the budget",
    );
    granted.spent = BudgetAmounts::default();
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
    granted.grants[1].scope_root = ArtifactHash::of(b"/elsewhere");
    granted.grants.remove(0);
    check(
        "make",
        &granted,
        "capability CAPABILITY-MISSING: it needs BUILD_EXEC; the user grants it with `@tslp allow BUILD_EXEC`, or `--allow BUILD_EXEC`",
    );
}

#[test]
fn an_interpreter_needs_a_critical_goal_and_a_critical_grant() {
    let state = JudgingState {
        grants: vec![grant(Capability::ShellExec)],
        ..state()
    };
    check(
        "perl x",
        &state,
        "invariants POLICY-VIOLATION: its risk is CRITICAL, which is more than its goal's",
    );
    let critical = ActionGoal {
        risk: Risk::Critical,
        ..goal()
    };
    let report = judge_action(
        &critical,
        &action("perl x"),
        &state,
        &ToolProfile::built_in(),
    );
    assert_eq!(shown(&report), "ALLOW_WITH_LIMITS");
    let mut low = state.clone();
    low.grants[0].risk = Risk::High;
    let report = judge_action(&critical, &action("perl x"), &low, &ToolProfile::built_in());
    assert_eq!(
        shown(&report),
        "capability CAPABILITY-ESCALATION: the grant of SHELL_EXEC is for a lower risk class"
    );
}

#[test]
fn a_denying_rule_wins_and_limits_add_up() {
    let limits = |timeout_seconds, files| {
        RuleEffect::Allow(ActionLimits {
            timeout_seconds,
            files,
            lines: None,
        })
    };
    let rules = profile(&[
        ("a", r#"action.class == "READ""#, limits(Some(10), None)),
        (
            "b",
            r#"PathMatch(action.targets, "src/**")"#,
            limits(Some(5), Some(3)),
        ),
        ("c", r#"action.program == "cat""#, RuleEffect::Deny),
        ("d", r#"action.program == "cat""#, RuleEffect::Deny),
    ]);
    let report = |line| judge_action(&goal(), &action(line), &state(), &rules);
    let read = report("grep x src/a.c");
    assert_eq!(
        (read.decision, read.rule.as_deref()),
        (Decision::AllowWithLimits, Some("b"))
    );
    assert_eq!(
        read.limits,
        ActionLimits {
            timeout_seconds: Some(5),
            files: Some(3),
            lines: None
        }
    );
    assert_eq!(
        shown(&report("cat src/a.c")),
        "rules POLICY-VIOLATION: rule c denies it"
    );
    let none = judge_action(&goal(), &action("ls"), &state(), &profile(&[]));
    assert_eq!(
        shown(&none),
        "default_deny POLICY-VIOLATION: no rule allows it"
    );
}

#[test]
fn a_profile_can_list_programs_and_raise_risks_but_lift_nothing() {
    let everything = (
        "all",
        "NOT InState(\"BOOT\")",
        RuleEffect::Allow(ActionLimits::default()),
    );
    let mut profile = profile(&[everything]);
    let shown = |line: &str, profile: &ToolProfile| {
        shown(&judge_action(&goal(), &action(line), &state(), profile))
    };
    assert!(shown("rm x", &profile).starts_with("class"));
    assert!(shown("cat /etc/passwd", &profile).starts_with("scope"));
    assert!(shown("make", &profile).starts_with("capability"));
    profile.programs = vec!["ls".into()];
    assert_eq!(shown("ls", &profile), "ALLOW");
    assert!(shown("cat x", &profile).contains("doesn't list"));
    profile.risks = vec![(Class::Read, Risk::Critical)];
    assert!(shown("ls", &profile).starts_with("invariants"));
}

#[test]
fn conditions_ask_about_everything_that_is_known() {
    let check = |when: &str, expected| {
        let rules = profile(&[("r", when, RuleEffect::Deny)]);
        let state = JudgingState {
            grants: vec![grant(Capability::BuildExec)],
            ..state()
        };
        let report = judge_action(
            &goal(),
            &action("grep -n http://h/a src/a.c tests/b.c"),
            &state,
            &rules,
        );
        assert_eq!(report.verdicts[6].is_some(), expected, "{when}");
    };
    check(
        r#"action.class == "READ" AND action.program != "cat""#,
        true,
    );
    check(r#"PathMatch(action.cwd, ".")"#, true);
    check(r#"PathMatch(action.targets, "tests/**")"#, true);
    check(r#"NOT PathMatch(action.targets, "!src/**")"#, false);
    check(r#"UrlMatch(action.urls, "http://h/*")"#, true);
    check(r#"PathMatch(action.words, "-n")"#, true);
    check(r#"budget.builds_left >= 5 AND budget.calls_left < 9"#, true);
    check("budget.tokens_left > 500000", false);
    check(
        r#"HasCapability("BUILD_EXEC") AND NOT HasCapability("SHELL_EXEC")"#,
        true,
    );
    check(r#"InState("READY") AND state.mode != "BOOT""#, true);
    check("goal.active OR goal.active == false", true);
    check(
        r#"action.door == "bridge" AND (goal.risk == "LOW" OR goal.risk == "HIGH")"#,
        true,
    );
    // AND binds closer than OR, NOT closest.
    check(r#"InState("READY") OR goal.active AND goal.active"#, true);
    check(r#"NOT goal.active AND goal.active"#, false);
}

#[test]
fn conditions_are_checked_when_they_are_read() {
    let check = |when: &str, expected: &str| {
        assert_eq!(
            Condition::parse(when).unwrap_err().to_string(),
            expected,
            "{when}"
        );
    };
    check("", "expected a condition where it says `the end`");
    check("action.clas == \"READ\"", "there is no `action.clas`");
    check("budget.pies_left > 1", "there is no `budget.pies_left`");
    check("Match(action.cwd, \"x\")", "there is no `Match`");
    check(
        "action.program < \"a\"",
        "`action.program` can't be used with what it is used with",
    );
    check(
        "action.words == \"x\"",
        "`action.words` can't be used with what it is used with",
    );
    check(
        "action.program == 3",
        "`action.program` can't be used with what it is used with",
    );
    check(
        "budget.calls_left == \"3\"",
        "`budget.calls_left` can't be used with what it is used with",
    );
    check(
        "PathMatch(budget.calls_left, \"x\")",
        "`PathMatch` can't be used with what it is used with",
    );
    check(
        "UrlMatch(action.cwd, \"x\")",
        "`UrlMatch` can't be used with what it is used with",
    );
    check(
        "PathMatch(action.cwd, \"a**\")",
        "`a**` can't be used with what it is used with",
    );
    check("InState(\"REDAY\")", "there is no `REDAY`");
    check("HasCapability(\"FS_WRITE\")", "there is no `FS_WRITE`");
    check(
        "goal.active goal.active",
        "expected AND, OR or the end where it says `goal.active`",
    );
    check(
        "action.program == \"x",
        "expected a closing quote where it says `the end`",
    );
    check(
        "goal.active & goal.active",
        "expected a name, a text in quotes or a number where it says `&`",
    );
    let wrong = Condition::parse("action.class == \"read\"")
        .unwrap_err()
        .to_string();
    assert!(
        wrong.starts_with("action.class is never \"read\"; it is one of READ, BUILD"),
        "{wrong}"
    );
    let deep = "NOT ".repeat(33) + "goal.active";
    assert_eq!(Condition::parse(&deep), Err(ConditionError::TooLarge));
    assert_eq!(
        Condition::parse(&" ".repeat(5_000)),
        Err(ConditionError::TooLarge)
    );
}
