//! How long judging a tool's action takes, and how much a sandbox adds to starting a program.
//! `cargo bench -p tslp-io --bench tools`

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tslp_core::event::ToolOutcome;
use tslp_core::guardian::{
    Jail, LineContext, Mode, ToolProfile, call_parts, judge_client_call, judge_line, split,
};
use tslp_core::ids::UnixMillis;
use tslp_io::out::Out;
use tslp_tools::sandbox::{
    Pipeline, PlannedProgram, RunCondition, RunOutcome, Sandbox, SandboxLimits, SandboxPlan,
    SandboxTask, WorkspaceLayer,
};

const JUDGED: u32 = 20_000;
const STARTED: usize = 200;

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = Out::stdout();
    out.line(format!("judging one line: {:?}", judging()))?;
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
                ended: ToolOutcome::Exited(0),
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
    let commands = split("grep -rn ring_put src/ring.c include/ring.h");
    let commands = commands.expect("plain words");
    let context = LineContext {
        profile: &profile,
        mode: Mode::Ready,
        now: UnixMillis(0),
        grants: &[],
        builds: 0,
        jail: &Jail {
            root: "/w".to_owned(),
            ..Jail::default()
        },
        leads_to: &|_| None,
    };
    let began = Instant::now();
    for _ in 0..JUDGED {
        std::hint::black_box(judge_line(commands.clone(), &context));
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
