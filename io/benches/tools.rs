//! How long judging a tool's action takes at 200 rules, and how much a sandbox adds to starting a program.
//! `cargo bench -p tslp-io --bench tools`

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tslp_core::guardian::{
    Action, ActionGoal, ActionLimits, BudgetAmounts, CommandTable, Condition, Door, Jail,
    JudgingState, Mode, PolicyRule, Risk, RuleEffect, ToolProfile, judge_action,
};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::UnixMillis;
use tslp_io::out::Out;
use tslp_tools::sandbox::{
    Pipeline, PlannedProgram, RunCondition, RunEnd, RunOutcome, Sandbox, SandboxLimits,
    SandboxPlan, SandboxTask, WorkspaceLayer,
};

const RULES: usize = 200;
const JUDGED: u32 = 20_000;
const STARTED: usize = 200;

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = Out::stdout();
    out.line(format!(
        "judging one action at {RULES} rules: {:?}",
        judging()?
    ))?;
    let folder = tempfile::tempdir()?;
    let folder = folder.path().canonicalize()?;
    let bare = median(|| {
        let began = Instant::now();
        Command::new("/bin/true").status()?;
        Ok(began.elapsed())
    })?;
    out.line(format!("starting /bin/true: {bare:?}"))?;
    let sandbox = Sandbox::helped_by(PathBuf::from(env!("CARGO_BIN_EXE_tslp")));
    for layer in [WorkspaceLayer::ReadOnly, WorkspaceLayer::Scratch] {
        let plan = plan(&folder, layer);
        let taken = median(|| match sandbox.run_plan(&plan) {
            RunOutcome {
                ended: RunEnd::Exited(0),
                duration,
                ..
            } => Ok(duration),
            other => Err(other.ended.to_string().into()),
        })?;
        let more = taken.saturating_sub(bare);
        out.line(format!("in a sandbox, {layer:?}: {taken:?}, {more:?} more"))?;
    }
    Ok(())
}

fn judging() -> Result<Duration, Box<dyn Error>> {
    let conditions = [
        r#"action.class == "BUILD" AND PathMatch(action.cwd, "tests/**")"#,
        r#"PathMatch(action.targets, "secrets/**") OR budget.builds_left < 1"#,
        r#"action.class == "READ" AND NOT PathMatch(action.targets, "vendor/*/src/**/*.c")"#,
    ];
    let rule = |at: usize| {
        Ok(PolicyRule {
            id: format!("rule {at}"),
            description: String::new(),
            when: Condition::parse(conditions[at % conditions.len()])?,
            effect: RuleEffect::Allow(ActionLimits::default()),
        })
    };
    let profile = ToolProfile {
        rules: (0..RULES)
            .map(rule)
            .collect::<Result<_, Box<dyn Error>>>()?,
        ..ToolProfile::built_in()
    };
    let words = ["grep", "-rn", "ring_put", "src/ring.c", "include/ring.h"].map(str::to_owned);
    let action = Action::from_command(&words, "/w", Door::Bridge, &CommandTable::built_in());
    let goal = ActionGoal {
        id: None,
        risk: Risk::High,
        scope_root: ArtifactHash::of(b"/w"),
    };
    let state = JudgingState {
        mode: Mode::Ready,
        now: UnixMillis(0),
        grants: Vec::new(),
        spent: BudgetAmounts::default(),
        jail: Jail {
            root: "/w".to_owned(),
            ..Jail::default()
        },
    };
    let began = Instant::now();
    for _ in 0..JUDGED {
        std::hint::black_box(judge_action(&goal, &action, &state, &profile));
    }
    Ok(began.elapsed() / JUDGED)
}

fn plan(workspace: &Path, layer: WorkspaceLayer) -> SandboxPlan {
    SandboxPlan {
        workspace: workspace.to_owned(),
        layer,
        hidden: Vec::new(),
        toolchains: Vec::new(),
        cwd: workspace.to_owned(),
        task: SandboxTask::Run(vec![Pipeline {
            when: RunCondition::Always,
            programs: vec![PlannedProgram {
                path: "/bin/true".into(),
                words: vec!["true".to_owned()],
            }],
        }]),
        limits: SandboxLimits::default(),
    }
}

fn median(
    mut once: impl FnMut() -> Result<Duration, Box<dyn Error>>,
) -> Result<Duration, Box<dyn Error>> {
    let mut taken = Vec::with_capacity(STARTED);
    for _ in 0..STARTED {
        taken.push(once()?);
    }
    taken.sort();
    Ok(taken[STARTED / 2])
}
