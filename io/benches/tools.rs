//! How long judging a tool's action takes, and how much a sandbox adds to starting a program.
//! `cargo bench -p tslp-io --bench tools`

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tslp_core::guardian::{
    Action, CommandTable, Door, Jail, JudgingState, Mode, ToolProfile, call_parts, judge_action,
    judge_client_call,
};
use tslp_core::ids::UnixMillis;
use tslp_io::out::Out;
use tslp_tools::sandbox::{
    Pipeline, PlannedProgram, RunCondition, RunEnd, RunOutcome, Sandbox, SandboxLimits,
    SandboxPlan, SandboxTask, WorkspaceLayer,
};

const JUDGED: u32 = 20_000;
const STARTED: usize = 200;

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = Out::stdout();
    out.line(format!("judging one action: {:?}", judging()))?;
    let (usual, longest) = judging_clients_calls();
    out.line(format!(
        "judging a client's call: {usual:?}, at most {longest:?}"
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

fn judging() -> Duration {
    let profile = ToolProfile::built_in();
    let words = ["grep", "-rn", "ring_put", "src/ring.c", "include/ring.h"].map(str::to_owned);
    let action = Action::from_command(&words, "/w", Door::Bridge, &CommandTable::built_in());
    let state = JudgingState {
        mode: Mode::Ready,
        now: UnixMillis(0),
        grants: Vec::new(),
        builds: 0,
        jail: Jail {
            root: "/w".to_owned(),
            ..Jail::default()
        },
    };
    let began = Instant::now();
    for _ in 0..JUDGED {
        std::hint::black_box(judge_action(&action, &state, &profile));
    }
    began.elapsed() / JUDGED
}

/// The median and the longest time of the calls that the tests judge.
fn judging_clients_calls() -> (Duration, Duration) {
    const CALLS: &str = include_str!("../../core/src/guardian/client_calls.txt");
    const TIMES: u32 = 200;
    let jail = Jail {
        root: "/home/u/w".to_owned(),
        home: "/home/u".to_owned(),
        ..Jail::default()
    };
    let calls = CALLS.lines().filter(|line| !line.starts_with('#'));
    let calls = calls.filter_map(|line| line.split_once(' ')?.1.split_once(' '));
    let taken = calls.map(|(tool, arguments)| {
        let began = Instant::now();
        for _ in 0..TIMES {
            let parts = call_parts(tool, arguments);
            let parts: Vec<_> = parts.iter().map(|(part, text)| (*part, &**text)).collect();
            std::hint::black_box(judge_client_call(&parts, &jail));
        }
        began.elapsed() / TIMES
    });
    let mut taken: Vec<Duration> = taken.collect();
    taken.sort();
    (taken[taken.len() / 2], taken[taken.len() - 1])
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
