//! Commands that change what is true, or what tools may do: through the door of the proxy that runs, else in this process.

use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize as _;
use serde_json::{Value, json};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use tslp_core::event::Verb;
use tslp_core::ids::SessionId;
use tslp_decide::scope::tools::LIFTS_BREACH;
use tslp_store::ledger::LedgerError;
use tslp_store::progress::WalkProgress;
use tslp_store::startup::StartError;
use tslp_workspace::target::{self, NamedTarget};

use super::{CommandFailure, print_page, read_config};
use crate::acts::{self, Act, ActResult, DirectiveAct};
use crate::adopt::{self, AdoptError, AdoptMode};
use crate::cli::{CommandArgs, LockArgs, OutputFormat, PatternArgs, TargetArgs};
use crate::config::environment::Environment;
use crate::config::settings::Settings;
use crate::door::client::{DoorClient, DoorError};
use crate::door::message;
use crate::exit::Exit;
use crate::out::visible_text;
use crate::serve;

/// Longest wait for a proxy that is just starting or ending, or for another command: either holds the ledger.
const LEDGER_WAIT: Duration = Duration::from_secs(5);

/// Pause between two tries.
const TRY_PAUSE: Duration = Duration::from_millis(50);

impl From<DoorError> for CommandFailure {
    fn from(error: DoorError) -> Self {
        let exit = match error {
            DoorError::OtherUser(_) | DoorError::Unreachable { .. } => Exit::InUse,
            DoorError::BrokenOff(_) | DoorError::Refused(_) => Exit::Failure,
        };
        Self::new(exit, error)
    }
}

/// Asks the running proxy, or does it `here` if none runs.
fn ask_or_do<T>(
    config: &Settings,
    ask: impl Fn(&mut DoorClient) -> Result<T, DoorError>,
    here: impl Fn() -> Result<T, AdoptError>,
) -> Result<T, CommandFailure> {
    let began = Instant::now();
    loop {
        if let Some(mut door) = DoorClient::connect(&config.data_dir)? {
            return Ok(ask(&mut door)?);
        }
        match here() {
            Err(AdoptError::Start(StartError::Ledger(LedgerError::InUse { .. })))
                if began.elapsed() < LEDGER_WAIT =>
            {
                thread::sleep(TRY_PAUSE);
            }
            Err(AdoptError::Start(error)) => {
                return Err(CommandFailure::new(serve::exit_of(&error), error));
            }
            Err(error) => return Err(CommandFailure::new(Exit::Failure, error)),
            Ok(done) => return Ok(done),
        }
    }
}

pub(super) fn carry_out(config: &Settings, act: &Act) -> Result<Vec<ActResult>, CommandFailure> {
    let (kind, payload) = message::act_payload(act);
    let ask = |door: &mut DoorClient| {
        let goal = format!("the user asked for `{kind}`, by a command");
        let answer = door.ask(kind, &goal, payload.clone())?;
        let results = Vec::deserialize(&answer["results"]);
        results.map_err(|_| DoorError::Refused(format!("its answer can't be read: {answer}")))
    };
    ask_or_do(config, ask, || Ok(acts::carry_out_here(config, act)?))
}

/// A command that says what a directive says, too.
pub(super) fn act_on(
    verb: Verb,
    targets: &[String],
    session: Option<u64>,
    of: &CommandArgs,
) -> Result<Exit, CommandFailure> {
    act_on_located(verb, targets, session, of, |_, _, target| target.to_owned())
}

/// The same, with its targets named by how they were written in a folder.
fn act_on_located(
    verb: Verb,
    targets: &[String],
    session: Option<u64>,
    of: &CommandArgs,
    locate: impl Fn(&Settings, &Path, &str) -> String,
) -> Result<Exit, CommandFailure> {
    let config = read_config(&of.flags.0)?;
    let here = Environment::of_process().current_dir;
    let targets = targets.iter().map(|it| locate(&config, &here, it));
    let act = Act::Directive(DirectiveAct {
        verb,
        targets: targets.collect(),
        session: session.map(SessionId),
    });
    print_results(&carry_out(&config, &act)?, of.output)
}

/// `tslp accept`, `confirm` and `reject`.
pub(super) fn act_on_code(verb: Verb, on: &TargetArgs) -> Result<Exit, CommandFailure> {
    let TargetArgs {
        targets: written,
        common: of,
    } = on;
    let config = read_config(&of.flags.0)?;
    let current_dir = Environment::of_process().current_dir;
    let locate = |written: &String| match acts::locate_target(&config, &current_dir, written) {
        // What the model proposed may be in no file yet.
        Err(_) if verb != Verb::Accept => Ok(written.clone()),
        located => located,
    };
    let located: Vec<Result<String, ActResult>> = written.iter().map(locate).collect();
    let targets: Vec<String> = located.iter().flatten().cloned().collect();
    let mut done = match targets.is_empty() {
        true => Vec::new(),
        false => carry_out(&config, &Act::Directive(DirectiveAct::of(verb, targets)))?,
    }
    .into_iter();
    let results = written
        .iter()
        .zip(located)
        .filter_map(|(written, located)| {
            let result = located.err().or_else(|| done.next())?;
            Some(ActResult {
                target: written.clone(),
                ..result
            })
        });
    print_results(&results.collect::<Vec<_>>(), of.output)
}

/// `tslp off` and `on`.
pub(super) fn act_on_sight(verb: Verb, of: &PatternArgs) -> Result<Exit, CommandFailure> {
    act_on_located(verb, &of.patterns, None, &of.common, |config, here, it| {
        pattern_from_root(&config.workspace, here, it)
    })
}

/// A pattern that was written in a folder, as it is written in the workspace's root. What names a file or a folder means that one.
fn pattern_from_root(workspace: &Path, here: &Path, written: &str) -> String {
    let inside = here.strip_prefix(workspace).ok().and_then(Path::to_str);
    let is_there = here.join(written).symlink_metadata().is_ok();
    match inside {
        Some(inside) if !inside.is_empty() && !Path::new(written).is_absolute() => {
            let is_anywhere = !is_there && !written.trim_end_matches('/').contains('/');
            let between = if is_anywhere { "**/" } else { "" };
            format!("{inside}/{between}{written}")
        }
        Some("") if is_there && !Path::new(written).is_absolute() => format!("./{written}"),
        _ => written.to_owned(),
    }
}

/// `tslp lock`.
pub(super) fn act_on_locks(of: &LockArgs) -> Result<Exit, CommandFailure> {
    let verb = if of.none { Verb::Unlock } else { Verb::Lock };
    let (session, of, paths) = (of.session, &of.common, &of.paths);
    act_on_located(verb, paths, session, of, |config, here, it| {
        // What is no file is locked all the same, and no prompt goes out until it is one.
        acts::locate_target(config, here, it).unwrap_or_else(|_| it.to_owned())
    })
}

/// `tslp reply`.
pub(super) fn import_reply(
    file: &Path,
    source: String,
    of: &CommandArgs,
) -> Result<Exit, CommandFailure> {
    let config = read_config(&of.flags.0)?;
    let text = fs::read_to_string(file).map_err(|error| {
        CommandFailure::new(Exit::Failure, format!("{}: {error}", file.display()))
    })?;
    let results = carry_out(&config, &Act::ImportReply { source, text })?;
    print_results(&results, of.output)
}

/// `tslp resume`.
pub(super) fn resume(lifts_breach: bool, of: &CommandArgs) -> Result<Exit, CommandFailure> {
    // A model's tool has no terminal, unless it makes one, which nobody does by mistake.
    if lifts_breach && !io::stdin().is_terminal() {
        let why = "a breach of the sandbox is lifted by a person: run `tslp resume --breach` in a terminal";
        return Err(CommandFailure::new(Exit::Usage, why.to_owned()));
    }
    let lifts = lifts_breach.then(|| LIFTS_BREACH.to_owned());
    act_on(Verb::Resume, lifts.as_slice(), None, of)
}

/// `tslp tool policy --approve`, of a profile that can be read.
pub(super) fn approve_policy(
    config: &Settings,
    text: String,
    output: OutputFormat,
) -> Result<Exit, CommandFailure> {
    let results = carry_out(config, &Act::ApprovePolicy { text })?;
    print_results(&results, output)
}

fn print_results(results: &[ActResult], output: OutputFormat) -> Result<Exit, CommandFailure> {
    let json = || json!({ "targets": results }).to_string();
    let text = |result: &ActResult| match result.target.as_str() {
        "" => result.words.clone(),
        target => format!("{}: {}", visible_text(target), result.words),
    };
    // The words are our own, and may be several lines.
    let lines = || {
        let texts: Vec<String> = results.iter().map(text).collect();
        let lines = texts.iter().flat_map(|text| text.split('\n'));
        lines.map(str::to_owned).collect()
    };
    print_page(output, json, lines)?;
    Ok(if results.iter().all(|result| result.is_done) {
        Exit::Ok
    } else {
        Exit::Failure
    })
}

/// `tslp adopt`.
pub(super) fn run_adopt(
    config: &Settings,
    paths: &[String],
    mode: AdoptMode,
    output: OutputFormat,
) -> Result<Exit, CommandFailure> {
    let current_dir = Environment::of_process().current_dir;
    let targets: Vec<NamedTarget> = paths
        .iter()
        .map(|path| target::find_target(path, &current_dir, &config.workspace))
        .collect::<Result<_, _>>()
        .map_err(|error| CommandFailure::new(Exit::Failure, error))?;
    let progress = WalkProgress::new(0, "files found so far");
    say_when_interrupted(mode)?;
    let here = || {
        let summary = adopt::adopt(config, &targets, mode, &progress)?;
        Ok((summary.json(mode), summary.text_lines(mode)))
    };
    let adopted = match mode {
        // Nothing is recorded, so a running proxy needn't know.
        AdoptMode::DryRun => here().map_err(|error| CommandFailure::new(Exit::Failure, error)),
        AdoptMode::Append => ask_or_do(config, |door| adopt_through_door(door, &targets), here),
    };
    drop(progress);
    let (summary, lines) = adopted?;
    print_page(output, || summary.to_string(), || lines)?;
    let only_files = targets
        .iter()
        .all(|target| matches!(target, NamedTarget::File(_)));
    let has_skipped = summary["skipped"]
        .as_object()
        .is_some_and(|it| !it.is_empty());
    Ok(if only_files && has_skipped {
        Exit::Failure
    } else {
        Exit::Ok
    })
}

fn adopt_through_door(
    door: &mut DoorClient,
    targets: &[NamedTarget],
) -> Result<(Value, Vec<String>), DoorError> {
    let names: Vec<String> = targets.iter().map(ToString::to_string).collect();
    let goal = "the user gave the command `tslp adopt`";
    let answer = door.ask("adopt", goal, json!({ "targets": names }))?;
    let lines = answer["lines"].as_array().into_iter().flatten();
    let lines = lines.filter_map(|line| line.as_str().map(str::to_owned));
    Ok((answer["summary"].clone(), lines.collect()))
}

/// Interrupted, the process ends as it would anyway, and says what that means for the work so far.
fn say_when_interrupted(mode: AdoptMode) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            let Some(signal) = signals.forever().next() else {
                return;
            };
            let words = match mode {
                AdoptMode::Append => "interrupted: what was adopted so far is kept; run the same command again to continue",
                AdoptMode::DryRun => "interrupted: nothing was recorded",
            };
            // Whoever interrupts may have closed standard error; the process ends either way.
            let _ = writeln!(io::stderr(), "\n{words}");
            if emulate_default_handler(signal).is_err() {
                std::process::exit(Exit::Failure.code().into());
            }
        })?;
    Ok(())
}
