//! From the command line to an exit code.

mod evidence;
mod guardian;
mod tool;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use tslp_core::path::RelPath;

use crate::adopt::{AdoptError, Mode, Progress};
use crate::cli::{self, Command, Output};
use crate::config::layers::{Flags, Layers, Source};
use crate::config::secret::Secret;
use crate::config::surroundings::Surroundings;
use crate::config::upstream::{Upstream, UpstreamUrl};
use crate::config::{ServeConfig, page};
use crate::connect;
use crate::contents::Archives;
use crate::data_dir::{self, DataDirError};
use crate::deep::{self, DeepReport};
use crate::diagnostics::disk_now::DiskNow;
use crate::diagnostics::doctor::{self, Health, Report};
use crate::diagnostics::state::{EntityState, RecordedAt};
use crate::diagnostics::tool_check::ToolCheck;
use crate::diagnostics::unread::in_files;
use crate::diagnostics::verified::{self, AsOf, Page};
use crate::diagnostics::{Subject, missing, recent, state};
use crate::exit::Exit;
use crate::ledger::{DataFiles, LedgerError, OpenOptions, ReaderFactory};
use crate::out::{Out, visible};
use crate::startup::StartError;
use crate::target::{self, Target};
use crate::{accept, adopt, demo_tour, logging, maintenance, probe, progress, sandbox, serve};

/// Runs the command; `line` begins with the program's own name.
#[must_use]
pub fn run(line: impl IntoIterator<Item = OsString>) -> Exit {
    let line: Vec<OsString> = line.into_iter().collect();
    if let Some(exit) = sandbox::run_as_helper(line.get(1).map(OsString::as_os_str)) {
        return exit;
    }
    let command = match cli::parse(line) {
        Ok(command) => command,
        Err(error) => return cli::refusal(&error),
    };
    match carry_out(command) {
        Ok(exit) => exit,
        Err(Failed { exit, message }) => {
            // Standard error may be closed; the exit code still tells.
            let lines: Vec<String> = message.lines().map(visible).collect();
            let _ = writeln!(io::stderr(), "tslp: {}", lines.join("\n"));
            exit
        }
    }
}

/// Why a command failed, in words, and its exit code.
struct Failed {
    exit: Exit,
    message: String,
}

impl Failed {
    fn new(exit: Exit, error: impl ToString) -> Self {
        Self {
            exit,
            message: error.to_string(),
        }
    }
}

impl From<io::Error> for Failed {
    fn from(error: io::Error) -> Self {
        Self::new(Exit::Failure, error)
    }
}

impl From<LedgerError> for Failed {
    fn from(error: LedgerError) -> Self {
        StartError::Ledger(error).into()
    }
}

fn carry_out(command: Command) -> Result<Exit, Failed> {
    match command {
        Command::Serve { flags } => {
            let (config, _) = prepare_to(&flags.0, Course::Stay)?;
            serve::serve(&config).map_err(|error| Failed::new(error.exit(), error))
        }
        Command::Demo { flags } => {
            start_logging(&layers(&flags.0)?, Course::Act)?;
            demo_tour::run(&mut Out::stdout())
                .map_err(|error| Failed::new(Exit::CheckFailed, error))
        }
        Command::Doctor { flags, output } => {
            let (config, _) = prepare(&flags.0)?;
            show_doctor(&config, output)
        }
        Command::State {
            path,
            check,
            flags,
            output,
        } => {
            let (config, _) = prepare(&flags.0)?;
            let path = path.unwrap_or_default();
            let path = path.strip_prefix("./").unwrap_or(&path);
            let as_of = match check {
                true => AsOf::Now(&config),
                false => AsOf::Recorded,
            };
            show_page(
                &config,
                as_of,
                output,
                |rows, at| state::from_rows(rows, at, path),
                |entities| state::json(entities, &unread_in(&config, path, entities)),
                |entities| state::human(entities, &unread_in(&config, path, entities)),
            )
        }
        Command::Recent {
            limit,
            flags,
            output,
        } => {
            let (config, _) = prepare(&flags.0)?;
            let limit = limit.unwrap_or(config.recent_episodes);
            let readers = subject(&config).readers;
            let artifact = |artifact| readers.open().ok()?.artifact(artifact).ok()?;
            show_page(
                &config,
                AsOf::Recorded,
                output,
                |rows, _| {
                    let mut episodes = recent::from_rows(rows, limit)?;
                    if output == Output::Human {
                        missing::add(&mut episodes, rows, artifact)?;
                    }
                    Ok(episodes)
                },
                recent::json,
                recent::human,
            )
        }
        Command::Log { log, flags, output } => {
            let (config, _) = prepare(&flags.0)?;
            evidence::log(&config, &log, output)
        }
        Command::Why {
            entity,
            flags,
            output,
        } => {
            let (config, _) = prepare(&flags.0)?;
            evidence::why(&config, &entity, output)
        }
        Command::ShowPrompt { episode, flags } => {
            let (config, _) = prepare(&flags.0)?;
            evidence::show_prompt(&config, episode)
        }
        Command::Export { to, flags } => {
            let (config, _) = prepare(&flags.0)?;
            evidence::export(&config, to.as_deref())
        }
        Command::Import { file, to, flags } => {
            start_logging(&layers(&flags.0)?, Course::Act)?;
            evidence::import(&file, &to)
        }
        Command::Backup { to, flags } => {
            let (config, _) = prepare(&flags.0)?;
            evidence::backup(&config, &to)
        }
        Command::Config { flags, output } => {
            let (_, layers) = prepare(&flags.0)?;
            print(output, || page::json(&layers), || page::human(&layers))
        }
        Command::Accept {
            targets,
            flags,
            output,
        } => {
            let (config, _) = prepare(&flags.0)?;
            accept(&config, &targets, output)
        }
        Command::Adopt {
            paths,
            dry_run,
            flags,
            output,
        } => {
            let (config, _) = prepare(&flags.0)?;
            let mode = if dry_run { Mode::DryRun } else { Mode::Append };
            adopt(&config, &paths, mode, output)
        }
        Command::Verify {
            deep,
            flags,
            output,
        } => {
            let (config, _) = prepare(&flags.0)?;
            need_ledger(&config)?;
            let report = maintenance::verify(&subject(&config));
            if deep {
                return show_deep(&config, report, output);
            }
            show(&report, output, Exit::LedgerDamaged)
        }
        Command::Rebuild { flags } => {
            let (config, _) = prepare(&flags.0)?;
            need_ledger(&config)?;
            let options = OpenOptions::default();
            let (data_dir, workspace) = (&config.data_dir, &config.workspace);
            let lines = maintenance::rebuild(&options, data_dir, workspace, progress::Progress::of)
                .map_err(|error| Failed::new(serve::exit_of(&error), error))?;
            Out::stdout().lines(lines)?;
            Ok(Exit::Ok)
        }
        Command::Salvage { to, flags } => {
            let (config, _) = prepare(&flags.0)?;
            need_ledger(&config)?;
            salvage(&config, &to)
        }
        Command::Connect { client, flags } => {
            let (config, _) = prepare(&flags.0)?;
            let token = config.access.token.as_ref().map(Secret::reveal);
            let lines = connect::lines(client.as_deref(), config.listen, token);
            Out::stdout().lines(lines)?;
            Ok(Exit::Ok)
        }
        Command::Tool(command) => tool::tool(&command),
        Command::Policy(command) => tool::policy(&command),
        Command::Guardian(command) => guardian::guardian(&command),
        Command::Completions { shell } => {
            cli::completions(shell, &mut Out::stdout())?;
            Ok(Exit::Ok)
        }
        Command::Man { command } => {
            cli::man(command.as_deref(), &mut Out::stdout())?;
            Ok(Exit::Ok)
        }
    }
}

/// What a command is about to do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Course {
    /// Stay, and log what happens.
    Stay,
    /// Do one thing and tell what came of it: the log stays quiet unless somebody asks for it.
    Act,
}

/// Reads the whole configuration and starts the log.
fn prepare(flags: &Flags) -> Result<(ServeConfig, Layers), Failed> {
    prepare_to(flags, Course::Act)
}

fn prepare_to(flags: &Flags, course: Course) -> Result<(ServeConfig, Layers), Failed> {
    let loaded = ServeConfig::load(flags, &Surroundings::of_process());
    let (config, layers) = loaded.map_err(|error| Failed::new(Exit::Usage, error))?;
    start_logging(&layers, course)?;
    Ok((config, layers))
}

fn layers(flags: &Flags) -> Result<Layers, Failed> {
    Layers::read(flags, &Surroundings::of_process())
        .map_err(|error| Failed::new(Exit::Usage, error))
}

fn start_logging(layers: &Layers, course: Course) -> Result<(), Failed> {
    let mut log = layers.settings.log.clone();
    if course == Course::Act && layers.source("log_level") == Some(&Source::Default) {
        "warn".clone_into(&mut log.level);
    }
    logging::start(&log).map_err(|error| Failed::new(Exit::Failure, error))?;
    for warning in &layers.warnings {
        tracing::warn!("{warning}");
    }
    Ok(())
}

fn has_ledger(config: &ServeConfig) -> bool {
    DataFiles::of(&config.data_dir).database.exists()
}

/// What the diagnostics of a workspace look at, whether its proxy runs or not.
fn subject(config: &ServeConfig) -> Subject {
    Subject {
        readers: ReaderFactory::new(&DataFiles::of(&config.data_dir), &OpenOptions::default()),
        data_dir: config.data_dir.clone(),
        workspace: config.workspace.clone(),
        upstream: upstream(&config.upstream.place),
        api_key: config.upstream.api_key.clone(),
        ca_file: config.upstream.ca_file.clone(),
        safe_mode: None,
        scrub: None,
        recent_episodes: config.recent_episodes,
        tools: ToolCheck::of(config),
        disk_now: DiskNow::of(config),
        metrics: Arc::default(),
    }
}

/// The configured server, or the local one that `auto` would take.
fn upstream(place: &Upstream) -> Option<UpstreamUrl> {
    match place {
        Upstream::Url(url) => Some(url.clone()),
        Upstream::Auto => probe::find_local().map(|(_, url)| url),
        Upstream::Demo => None,
    }
}

/// Prints a page of what the projections say. Where nothing vouches for it, it is printed all the same, and standard error
/// and the exit code say so.
/// What can't be read of the files that entities lie in, where somebody asks for some files.
fn unread_in(config: &ServeConfig, path: &str, entities: &[EntityState]) -> Vec<String> {
    if path.is_empty() {
        return Vec::new();
    }
    let of = |entity: &EntityState| {
        let path = entity.entity.split("::").next().unwrap_or_default();
        RelPath::from_normalised(path)
    };
    let paths: BTreeSet<RelPath> = entities.iter().map(of).collect();
    let named = RelPath::from_normalised(path);
    let (mut unread, left_out) = in_files(&config.workspace, paths.into_iter().chain([named]));
    unread.dedup();
    if left_out > 0 {
        unread.push(format!("{left_out} more files weren't looked at"));
    }
    unread
}

fn show_page<T>(
    config: &ServeConfig,
    as_of: AsOf<'_>,
    output: Output,
    make: impl Fn(verified::Source<'_>, RecordedAt<'_>) -> Result<Vec<T>, StartError>,
    json: impl FnOnce(&[T]) -> serde_json::Value,
    human: impl FnOnce(&[T]) -> Vec<String>,
) -> Result<Exit, Failed> {
    let Page { page, flaw } = if has_ledger(config) {
        verified::page(&subject(config), as_of, make)?
    } else {
        Page {
            page: Vec::new(),
            flaw: None,
        }
    };
    let marked = || {
        let mut json = json(&page);
        if let Some(flaw) = &flaw {
            json["unverified"] = flaw.to_string().into();
        }
        json.to_string()
    };
    print(output, marked, || human(&page))?;
    let Some(flaw) = flaw else {
        return Ok(Exit::Ok);
    };
    let message = format!("nothing vouches for what is shown, which is read from tables: {flaw}");
    Err(Failed::new(serve::exit_of(&flaw), message))
}

fn show_doctor(config: &ServeConfig, output: Output) -> Result<Exit, Failed> {
    let report: Report = if has_ledger(config) {
        doctor::examine(&subject(config))
    } else {
        doctor::examine_without_ledger(&subject(config))
    };
    show(&report, output, Exit::CheckFailed)
}

/// Prints a report; `unhealthy` is the exit code if anything is broken.
fn show(report: &Report, output: Output, unhealthy: Exit) -> Result<Exit, Failed> {
    print(output, || report.json().to_string(), || report.human())?;
    Ok(match report.worst() {
        Health::Ok | Health::Warning => Exit::Ok,
        Health::Newer => Exit::Failure,
        Health::Failed => unhealthy,
    })
}

/// Prints a report together with what comes of every decision today.
fn show_deep(config: &ServeConfig, mut report: Report, output: Output) -> Result<Exit, Failed> {
    let is_sound = report.is_healthy();
    let subject = subject(config);
    let archives = match is_sound {
        true => Archives::Sound,
        false => Archives::Doubtful,
    };
    let (data_dir, readers) = (&subject.data_dir, &subject.readers);
    let deep = deep::verify(data_dir, readers, &config.policy, archives);
    match &deep {
        Ok(deep) => deep.add_to(&mut report),
        Err(error) => report.judge("decisions", Err(error)),
    }
    let json = || {
        let mut page = report.json();
        page["deep"] = deep
            .as_ref()
            .map_or(serde_json::Value::Null, DeepReport::json);
        page.to_string()
    };
    let human = || {
        let mut lines = report.human();
        lines.extend(deep.as_ref().map(DeepReport::human).unwrap_or_default());
        lines
    };
    print(output, json, human)?;
    let is_read = deep.as_ref().is_ok_and(|deep| deep.flaw.is_none());
    Ok(match report.worst() {
        Health::Ok | Health::Warning => Exit::Ok,
        Health::Newer => Exit::Failure,
        Health::Failed if is_sound && is_read => Exit::CheckFailed,
        Health::Failed => Exit::LedgerDamaged,
    })
}

fn accept(config: &ServeConfig, targets: &[String], output: Output) -> Result<Exit, Failed> {
    let current_dir = Surroundings::of_process().current_dir;
    let outcomes = accept::accept(config, &current_dir, targets)
        .map_err(|error| Failed::new(serve::exit_of(&error), error))?;
    let json = || {
        let targets = outcomes.iter().map(|(target, outcome)| {
            json!({ "outcome": outcome.code(), "target": target, "words": outcome.words() })
        });
        json!({ "targets": targets.collect::<Vec<_>>() }).to_string()
    };
    let human = || {
        let lines = outcomes
            .iter()
            .map(|(target, outcome)| format!("{target}: {}", outcome.words()));
        lines.collect()
    };
    print(output, json, human)?;
    Ok(if outcomes.iter().all(|(_, outcome)| outcome.is_fine()) {
        Exit::Ok
    } else {
        Exit::Failure
    })
}

fn adopt(
    config: &ServeConfig,
    paths: &[String],
    mode: Mode,
    output: Output,
) -> Result<Exit, Failed> {
    let current_dir = Surroundings::of_process().current_dir;
    let targets: Vec<Target> = paths
        .iter()
        .map(|path| target::find(path, &current_dir, &config.workspace))
        .collect::<Result<_, _>>()
        .map_err(|error| Failed::new(Exit::Failure, error))?;
    let progress = Progress::on_terminal();
    say_when_interrupted(mode)?;
    let adopted = adopt::adopt(config, &targets, mode, &progress);
    progress.clear();
    let summary = adopted.map_err(|error| {
        let exit = match &error {
            AdoptError::Start(error) => serve::exit_of(error),
            _ => Exit::Failure,
        };
        Failed::new(exit, error)
    })?;
    print(
        output,
        || summary.json(mode).to_string(),
        || summary.human(mode),
    )?;
    let only_files = targets
        .iter()
        .all(|target| matches!(target, Target::File(_)));
    Ok(if only_files && !summary.skipped.is_empty() {
        Exit::Failure
    } else {
        Exit::Ok
    })
}

/// Interrupted, the process ends as it would anyway, and says what that means for the work so far.
fn say_when_interrupted(mode: Mode) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            let Some(signal) = signals.forever().next() else {
                return;
            };
            let words = match mode {
                Mode::Append => "interrupted: what was adopted so far is kept, and the same command goes on from there",
                Mode::DryRun => "interrupted: nothing was recorded",
            };
            // Whoever interrupts may have closed standard error; the process ends either way.
            let _ = writeln!(io::stderr(), "\n{words}");
            if emulate_default_handler(signal).is_err() {
                std::process::exit(Exit::Failure.code().into());
            }
        })?;
    Ok(())
}

fn salvage(config: &ServeConfig, to: &Path) -> Result<Exit, Failed> {
    let to = outside_workspace(config, to)?;
    if to.starts_with(&config.data_dir) {
        let message = format!(
            "{} lies inside the data directory, which is to stay as it is; name another place with --to",
            to.display()
        );
        return Err(Failed::new(Exit::Usage, message));
    }
    let reader = subject(config).readers.open()?;
    let (options, bar) = (OpenOptions::default(), progress::Progress::of);
    let salvaged = maintenance::salvage(&options, &reader, &to, &config.workspace, bar)
        .map_err(|error| Failed::new(Exit::Failure, error))?;
    let mut out = Out::stdout();
    out.line(format_args!(
        "{} events are safe in {}",
        salvaged.head.0,
        to.display()
    ))?;
    if let Some(flaw) = salvaged.flaw {
        out.line(format_args!("what follows was left behind: {flaw}"))?;
    }
    out.line(format_args!(
        "go on with `tslp serve --workspace {} --data-dir {}`",
        config.workspace.display(),
        to.display()
    ))?;
    Ok(Exit::Ok)
}

/// Where `--to` leads; nothing is ever written into the workspace.
fn outside_workspace(config: &ServeConfig, to: &Path) -> Result<PathBuf, Failed> {
    data_dir::place(&config.workspace, Some(to), None).map_err(|error| {
        let message = match error {
            DataDirError::InsideWorkspace { path, .. } => format!(
                "{} lies inside the workspace, which tslp never writes to; name another place with --to",
                path.display()
            ),
            other => other.to_string(),
        };
        Failed::new(Exit::Usage, message)
    })
}

fn need_ledger(config: &ServeConfig) -> Result<(), Failed> {
    if has_ledger(config) {
        return Ok(());
    }
    let message = format!(
        "there is no ledger in {}: `tslp serve` makes one",
        config.data_dir.display()
    );
    Err(Failed::new(Exit::Failure, message))
}

fn print(
    output: Output,
    json: impl FnOnce() -> String,
    human: impl FnOnce() -> Vec<String>,
) -> Result<Exit, Failed> {
    let mut out = Out::stdout();
    match output {
        Output::Json => out.json(&json())?,
        Output::Human => out.lines(human())?,
    }
    Ok(Exit::Ok)
}
