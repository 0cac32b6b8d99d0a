//! From the command line to an exit code.

mod acting;
mod evidence;
mod hook;
mod mcp;
mod preview;
mod run;
mod run_end;
mod status;
mod tool;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use tslp_core::event::Verb;
use tslp_core::path::RelPath;
use tslp_decide::prompt::clear::FORCE;
use tslp_projections::episodes::EpisodeRow;
use tslp_store::ledger::{DataFiles, LedgerError, OpenOptions, ReaderFactory};
use tslp_store::project;
use tslp_store::startup::StartError;
use tslp_workspace::target::{self, NamedTarget};
use tslp_workspace::unread_code::in_files;

use crate::adopt::AdoptMode;
use crate::channel::{MissingLines, RecentQuery, StateQuery};
use crate::cli::{self, CliCommand, OutputFormat, StatusView};
use crate::config::environment::Environment;
use crate::config::layers::{ConfigLayers, ConfigSource, WrittenFlags};
use crate::config::secret::Secret;
use crate::config::settings::Settings;
use crate::config::upstream::{UpstreamSetting, UpstreamUrl};
use crate::config::{self, page};
use crate::connect;
use crate::deep::{self, DeepReport};
use crate::diagnostics::doctor::{self, CheckHealth, DoctorReport};
use crate::diagnostics::state::{AsOf, EntityState};
use crate::diagnostics::vouched::VouchedPage;
use crate::diagnostics::{self, DiagnosedSubject, recent, state};
use crate::door::client::{DoorClient, RunningProxy};
use crate::exit::Exit;
use crate::logging::{self, LogReader};
use crate::out::{Out, visible_text};
use crate::serve::ServeError;
use crate::{demo_tour, maintenance, probe, serve};

/// Runs the command; `line` begins with the program's own name.
#[must_use]
pub fn run_command(line: impl IntoIterator<Item = OsString>) -> Exit {
    let command = match cli::parse_command(line) {
        Ok(command) => command,
        Err(error) => return cli::print_refusal(&error),
    };
    match carry_out(command) {
        Ok(exit) => exit,
        Err(CommandFailure { exit, message }) => {
            // Standard error may be closed; the exit code still reports it.
            let lines: Vec<String> = message.lines().map(visible_text).collect();
            let _ = writeln!(io::stderr(), "tslp: {}", lines.join("\n"));
            exit
        }
    }
}

/// A command's error, for people, and its exit code.
struct CommandFailure {
    exit: Exit,
    message: String,
}

impl CommandFailure {
    fn new(exit: Exit, error: impl ToString) -> Self {
        Self {
            exit,
            message: error.to_string(),
        }
    }
}

impl From<io::Error> for CommandFailure {
    fn from(error: io::Error) -> Self {
        Self::new(Exit::Failure, error)
    }
}

impl From<LedgerError> for CommandFailure {
    fn from(error: LedgerError) -> Self {
        StartError::Ledger(error).into()
    }
}

fn carry_out(command: CliCommand) -> Result<Exit, CommandFailure> {
    match command {
        CliCommand::Serve { manner, flags } => {
            if manner.background {
                return run::serve_in_background();
            }
            let mut config = prepare_to(&flags.0, LedgerUse::Stay)?.settings;
            config.is_quiet = manner.quiet;
            config.until_unused = manner.until_unused;
            serve::serve_proxy(&config).map_err(|error| served_already(&config, &error))
        }
        CliCommand::Run { flags, client } => {
            let (name, arguments) = client.split_first().expect("one is required");
            run::run_client(&name.to_string_lossy(), arguments, &flags.0)
        }
        CliCommand::Undo { undo, flags } => {
            let config = read_config(&flags.0)?;
            evidence::print_undo(&config, &undo)
        }
        CliCommand::Demo => {
            // The tour tells of each refusal itself.
            log_to(LogReader::User, "error")?;
            demo_tour::run_tour(&mut Out::stdout())
                .map_err(|error| CommandFailure::new(Exit::CheckFailed, error))
        }
        CliCommand::Open(flags) => {
            let config = read_config(&flags.0)?;
            run::open_page(&config)
        }
        CliCommand::Doctor(of) => {
            let config = config_of_running(&of.flags.0)?;
            show_doctor(&config, of.output)
        }
        CliCommand::State {
            path,
            check,
            at,
            after,
            limit,
            common,
        } => {
            let config = read_config(&common.flags.0)?;
            let path = path.filter(|path| !path.is_empty());
            let wanted = StateQuery {
                contains: None,
                // Every path begins with nothing, so none given means all.
                path: path.map_or_else(String::new, |path| path_from_root(&config, &path)),
                after,
                limit,
            };
            if let Some(at) = at {
                need_ledger(&config)?;
                let subject = ledger_subject(&config);
                let until = state::position_of(&subject, at)?;
                let page = until
                    .map(|until| state::state_page_at(&subject, &wanted, until))
                    .transpose()?;
                let page = page.flatten().ok_or_else(|| {
                    let message =
                        "there is no such event or statement, or nothing true of what --after names".to_owned();
                    CommandFailure::new(Exit::Failure, message)
                })?;
                return print_vouched(
                    common.output,
                    page,
                    |page| state::state_json(page, &[]),
                    |page| state::state_lines(&wanted.path, page, &[]),
                );
            }
            let as_of = if check { AsOf::Now } else { AsOf::Recorded };
            show_state(&config, &wanted, as_of, common.output)
        }
        CliCommand::Recent { limit, common } => {
            let config = read_config(&common.flags.0)?;
            let wanted = RecentQuery {
                limit,
                missing_lines: match common.output {
                    OutputFormat::Human => MissingLines::Shown,
                    OutputFormat::Json => MissingLines::Hidden,
                },
            };
            let page = read_or_default(&config, |it| recent::read_recent(it, wanted))?;
            print_vouched(
                common.output,
                page,
                |episodes| recent::recent_json(episodes),
                |episodes| recent::recent_lines(episodes),
            )
        }
        CliCommand::Log { log, common } => {
            let config = read_config(&common.flags.0)?;
            evidence::run_log(&config, &log, common.output)
        }
        CliCommand::Why { entity, common } => {
            let config = read_config(&common.flags.0)?;
            let named = path_from_root(&config, &entity);
            // A definition may be called as a folder is.
            let is_folder = named.is_empty() || named.ends_with('/');
            let named = if is_folder { &entity } else { &named };
            evidence::run_why(&config, named, common.output)
        }
        CliCommand::ShowPrompt { episode, flags } => {
            let config = read_config(&flags.0)?;
            evidence::show_prompt(&config, episode)
        }
        CliCommand::Config { key, all, common } => {
            let layers = prepare_to(&common.flags.0, LedgerUse::Act)?;
            if let Some(name) = key {
                let lines = page::explained(&layers, &name);
                let lines = lines.map_err(|why| CommandFailure::new(Exit::Usage, why))?;
                Out::stdout().lines(lines)?;
                return Ok(Exit::Ok);
            }
            print_page(
                common.output,
                || page::json(&layers),
                || page::lines(&layers, all),
            )
        }
        CliCommand::Hook(flags) => hook::run_hook(&flags.0),
        CliCommand::Mcp(flags) => mcp::run_mcp(&flags.0),
        CliCommand::Goal(of) => acting::act_on(Verb::Goal, &joined(&of.words), None, &of.common),
        CliCommand::Clear(of) => {
            let forced = of.force.then(|| FORCE.to_owned());
            acting::act_on(Verb::Clear, &Vec::from_iter(forced), of.session, &of.common)
        }
        CliCommand::Status {
            view,
            days,
            notes_md,
            common,
        } => match view {
            None => status::show_work(&common),
            Some(StatusView::Usage) => status::show_usage(days, &common),
            Some(StatusView::Notes) if notes_md => status::print_notes(&common.flags.0),
            Some(StatusView::Notes) => status::show_records(&common),
            Some(StatusView::Scope) => status::show_scope(&common),
            Some(StatusView::Guard) => status::show_guard(&common),
            Some(StatusView::Line) => hook::run_statusline(&common.flags.0),
        },
        CliCommand::Accept(on) => acting::act_on_code(Verb::Accept, &on),
        CliCommand::Confirm(on) => acting::act_on_code(Verb::Confirm, &on),
        CliCommand::Reject(on) => acting::act_on_code(Verb::Reject, &on),
        CliCommand::Off(of) => acting::act_on_sight(Verb::Off, &of),
        CliCommand::On(of) => acting::act_on_sight(Verb::On, &of),
        CliCommand::Lock(of) => acting::act_on_locks(&of),
        CliCommand::Note(of) => {
            let verb = if of.forget { Verb::Forget } else { Verb::Note };
            acting::act_on(verb, &joined(&of.words), None, &of.common)
        }
        CliCommand::Preview(args) => preview::run_preview(&args),
        CliCommand::Reply {
            file,
            source,
            common,
        } => acting::import_reply(&file, source, &common),
        CliCommand::Stop(of) => acting::act_on(Verb::Stop, &Vec::new(), None, &of),
        CliCommand::Resume { breach, common } => acting::resume(breach, &common),
        CliCommand::Adopt {
            paths,
            dry_run,
            common,
        } => {
            let config = read_config(&common.flags.0)?;
            let mode = if dry_run {
                AdoptMode::DryRun
            } else {
                AdoptMode::Append
            };
            acting::run_adopt(&config, &paths, mode, common.output)
        }
        CliCommand::Verify { deep, common } => {
            let config = read_config(&common.flags.0)?;
            need_ledger(&config)?;
            let report = maintenance::verify_subject(&diagnosed_subject(&config));
            if deep {
                return show_deep(&config, report, common.output);
            }
            print_report(&report, common.output, Exit::LedgerDamaged)
        }
        CliCommand::Rebuild(flags) => {
            let config = read_config(&flags.0)?;
            need_ledger(&config)?;
            let options = OpenOptions::default();
            let (data_dir, workspace) = (&config.data_dir, &config.workspace);
            let lines = maintenance::rebuild_tables(&options, data_dir, workspace)
                .map_err(|error| CommandFailure::new(serve::exit_of(&error), error))?;
            Out::stdout().lines(lines)?;
            Ok(Exit::Ok)
        }
        CliCommand::Copy { to, from, flags } => {
            let config = read_config(&flags.0)?;
            evidence::run_copy(&config, to.as_deref(), from.as_deref())
        }
        CliCommand::Connect {
            client,
            hooks: true,
            ..
        } => {
            let lines = hook::settings_lines(client.as_deref().unwrap_or_default());
            let lines = lines.map_err(|why| CommandFailure::new(Exit::Usage, why))?;
            Out::stdout().lines(lines)?;
            Ok(Exit::Ok)
        }
        CliCommand::Connect { client, flags, .. } => {
            let config = config_of_running(&flags.0)?;
            if RunningProxy::find(&config.data_dir)?.is_none() {
                let workspace = config.workspace.display();
                tracing::warn!(
                    "no proxy runs for {workspace}: start one with `tslp` there, or use `tslp run CLIENT`, which does both"
                );
            }
            let token = config.access.token.as_ref().map(Secret::reveal);
            let lines = connect::setup_lines(client.as_deref(), config.listen, token);
            Out::stdout().lines(lines)?;
            Ok(Exit::Ok)
        }
        CliCommand::Tool(command) => tool::run_tool(&command),
        CliCommand::Completions { shell } => {
            cli::print_completions(shell, &mut Out::stdout())?;
            Ok(Exit::Ok)
        }
        CliCommand::Man { command } => {
            cli::print_man_page(command.as_deref(), &mut Out::stdout())?;
            Ok(Exit::Ok)
        }
    }
}

/// One target of several words.
fn joined(words: &[String]) -> Vec<String> {
    vec![words.join(" ")]
}

/// The failure of a proxy, with the address of the one that is in its place.
fn served_already(config: &Settings, error: &ServeError) -> CommandFailure {
    let mut failure = CommandFailure::new(error.exit_code(), error);
    let is_in_use = matches!(
        error,
        ServeError::Start(StartError::Ledger(LedgerError::InUse { .. }))
    );
    if is_in_use && let Ok(Some(running)) = RunningProxy::find(&config.data_dir) {
        let (address, workspace) = (running.address, config.workspace.display());
        failure.message = format!(
            "a proxy serves {workspace} already, at http://{address}; use it (`tslp connect`), or end it first, by Ctrl-C where it runs"
        );
    }
    failure
}

/// A command's use of the ledger.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LedgerUse {
    /// Serve until stopped.
    Stay,
    /// Do one thing and print the result.
    Act,
}

/// Reads the whole configuration and starts the log.
fn read_config(flags: &WrittenFlags) -> Result<Settings, CommandFailure> {
    Ok(prepare_to(flags, LedgerUse::Act)?.settings)
}

/// The configuration with the address, the token and the model server of the proxy that runs, where the flags name no others.
fn config_of_running(flags: &WrittenFlags) -> Result<Settings, CommandFailure> {
    let layers = prepare_to(flags, LedgerUse::Act)?;
    let mut config = layers.settings.clone();
    let Some(running) = RunningProxy::find(&config.data_dir)? else {
        return Ok(config);
    };
    let is_named = |key| matches!(layers.source_of_key(key), ConfigSource::Flag(_));
    if !is_named("listen") {
        config.listen = running.address;
    }
    if !is_named("token") {
        config.access.token = running.token;
    }
    if !is_named("upstream") {
        config.upstream.named.place = UpstreamSetting::Url(running.upstream);
        config.upstream.api_key = running.upstream_api_key;
        config.upstream.ca_file = running.upstream_ca_file;
    }
    Ok(config)
}

fn prepare_to(flags: &WrittenFlags, course: LedgerUse) -> Result<ConfigLayers, CommandFailure> {
    let environment = Environment::of_process();
    let loaded = match course {
        // A workspace is made by whoever serves it, in the folder where they do.
        LedgerUse::Stay => config::load(flags, &environment),
        LedgerUse::Act => config::load_from_within(flags, &environment, is_in_use),
    };
    let layers = loaded.map_err(|error| CommandFailure::new(Exit::Usage, error))?;
    let config = &layers.settings;
    start_logging(&layers)?;
    let is_named = flags.written.iter().any(|(key, _)| key.name == "workspace");
    offer_former_ledger(config, flags);
    let here = environment.current_dir.canonicalize().unwrap_or_default();
    if course == LedgerUse::Act && !is_named && here != config.workspace {
        let workspace = config.workspace.display();
        let _ = writeln!(
            io::stderr(),
            "tslp: workspace {workspace} (`--workspace .` for the current folder)"
        );
    }
    Ok(layers)
}

/// Names the ledger of a project that was moved, where there is none at its new place; it is never taken silently.
fn offer_former_ledger(config: &Settings, flags: &WrittenFlags) {
    let own = &config.data_dir;
    let is_named = flags.written.iter().any(|(key, _)| key.name == "data_dir");
    if is_named || is_in_use(own) {
        return;
    }
    if let Some((data_dir, named)) = project::former_ledger(own, &config.workspace) {
        let (data_dir, named) = (data_dir.display(), named.display());
        // Standard error may be closed.
        let _ = writeln!(
            io::stderr(),
            "tslp: this may be the project that was at {named}, whose ledger is in {data_dir}: if it is, `tslp copy --from {data_dir}` \
             takes it over, as long as nothing was asked here"
        );
    }
}

/// Whether there is a ledger with a prompt or an act of the user's, or that a proxy serves. One that can't be read is somebody's: the
/// command will say why.
fn is_in_use(data_dir: &Path) -> bool {
    let files = DataFiles::of(data_dir);
    let reader = || ReaderFactory::new(&files, &OpenOptions::default()).open();
    let is_used = || reader().and_then(|reader| Ok(!reader.rows::<EpisodeRow>()?.is_empty()));
    let is_served = || !matches!(DoorClient::connect(data_dir), Ok(None));
    files.database.exists() && (is_used().unwrap_or(true) || is_served())
}

fn log_to(reader: LogReader, level: &str) -> Result<(), CommandFailure> {
    logging::start_logging(level, reader).map_err(|error| CommandFailure::new(Exit::Failure, error))
}

fn start_logging(layers: &ConfigLayers) -> Result<(), CommandFailure> {
    let level = layers.settings.log_level.as_str();
    let reader = match layers.source_of_key("log_level") {
        ConfigSource::Default => LogReader::User,
        _ => LogReader::Developer,
    };
    log_to(reader, level)?;
    for warning in &layers.warnings {
        tracing::warn!("{warning}");
    }
    Ok(())
}

/// The beginning of an entity's name, as it is written in the workspace's root, where it names a file or a folder from here.
fn path_from_root(config: &Settings, written: &str) -> String {
    let (path, symbol) = match written.split_once("::") {
        Some((path, symbol)) => (path, format!("::{symbol}")),
        None => (written, String::new()),
    };
    let here = Environment::of_process().current_dir;
    match target::find_target(path, &here, &config.workspace) {
        Ok(NamedTarget::Workspace) => String::new(),
        Ok(NamedTarget::Folder(path)) => format!("{path}/"),
        Ok(NamedTarget::File(path)) => format!("{path}{symbol}"),
        // It may be gone from disk, or a part of a name.
        Err(_) => written.strip_prefix("./").unwrap_or(written).to_owned(),
    }
}

/// Whether there is a ledger; one that this user can't read is none that isn't there.
fn has_ledger(config: &Settings) -> Result<bool, CommandFailure> {
    let files = DataFiles::of(&config.data_dir);
    let opened = File::open(&files.database).and_then(|file| file.metadata());
    match opened.and_then(|found| match found.is_dir() {
        true => Err(io::ErrorKind::IsADirectory.into()),
        // An empty file without an anchor is what a first start leaves that was interrupted: the next one begins anew.
        false => Ok(found.len() > 0 || files.anchor.exists()),
    }) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(LedgerError::File {
            action: "read",
            path: files.database,
            source,
        }
        .into()),
        Ok(has_ledger) => Ok(has_ledger),
    }
}

/// What the ledger says, or nothing where there is none yet.
fn read_or_default<T: Default, E>(
    config: &Settings,
    read: impl FnOnce(&DiagnosedSubject) -> Result<T, E>,
) -> Result<T, CommandFailure>
where
    CommandFailure: From<E>,
{
    match has_ledger(config)? {
        true => Ok(read(&diagnosed_subject(config))?),
        false => Ok(T::default()),
    }
}

/// The diagnostics' subject for a workspace, whether its proxy runs or not.
fn diagnosed_subject(config: &Settings) -> DiagnosedSubject {
    DiagnosedSubject {
        upstream: upstream_url(&config.upstream.named.place),
        ..ledger_subject(config)
    }
}

/// The subject of what is asked of the ledger alone: no model server is looked for.
fn ledger_subject(config: &Settings) -> DiagnosedSubject {
    DiagnosedSubject::of_ledger(Arc::new(config.clone()))
}

/// The configured server, or the local one that `auto` takes; none is the demo.
fn upstream_url(place: &UpstreamSetting) -> Option<UpstreamUrl> {
    match place {
        UpstreamSetting::Url(url) => Some(url.clone()),
        UpstreamSetting::Auto => {
            Some(probe::find_local().map_or_else(probe::usual_place, |(_, url)| url))
        }
        UpstreamSetting::Demo => None,
    }
}

/// The code that can't be read in the entities' files; only where a path was asked for.
fn unread_in(config: &Settings, path: &str, entities: &[EntityState]) -> Vec<String> {
    if path.is_empty() {
        return Vec::new();
    }
    let paths = entities.iter().map(|entity| entity.row.entity.path.clone());
    let paths: BTreeSet<RelPath> = paths.collect();
    let named = RelPath::from_normalised(path);
    let (mut unread, left_out) = in_files(&config.workspace, paths.into_iter().chain([named]));
    unread.dedup();
    if left_out > 0 {
        unread.push(format!("{left_out} more files weren't looked at"));
    }
    unread
}

fn show_state(
    config: &Settings,
    wanted: &StateQuery,
    as_of: AsOf,
    output: OutputFormat,
) -> Result<Exit, CommandFailure> {
    let page = if has_ledger(config)? {
        state::state_page(&diagnosed_subject(config), wanted, as_of)?
    } else {
        Some(VouchedPage::default())
    };
    let Some(page) = page else {
        let message = "nothing of the name that --after gives is true, or not under PATH; begin anew without it";
        return Err(CommandFailure::new(Exit::Failure, message));
    };
    let unread = unread_in(config, &wanted.path, &page.page.entities);
    print_vouched(
        output,
        page,
        |page| state::state_json(page, &unread),
        |page| state::state_lines(&wanted.path, page, &unread),
    )
}

/// Prints a page. Where nothing vouches for it, it is printed all the same, and standard error and the exit code say so.
fn print_vouched<T>(
    output: OutputFormat,
    VouchedPage { page, flaw }: VouchedPage<T>,
    json: impl FnOnce(&T) -> serde_json::Value,
    human: impl FnOnce(&T) -> Vec<String>,
) -> Result<Exit, CommandFailure> {
    let marked = || {
        let mut json = json(&page);
        diagnostics::mark_unverified(&mut json, flaw.as_deref());
        json.to_string()
    };
    print_page(output, marked, || human(&page))?;
    let Some(flaw) = flaw else {
        return Ok(Exit::Ok);
    };
    let message = format!("this page can't be trusted: {flaw}");
    Err(CommandFailure::new(Exit::LedgerDamaged, message))
}

fn show_doctor(config: &Settings, output: OutputFormat) -> Result<Exit, CommandFailure> {
    let report: DoctorReport = if has_ledger(config).unwrap_or(true) {
        doctor::examine_all(&diagnosed_subject(config))
    } else {
        doctor::examine_without_ledger(&diagnosed_subject(config))
    };
    print_report(&report, output, Exit::CheckFailed)
}

/// Prints a report; `unhealthy` is the exit code if anything is broken.
fn print_report(
    report: &DoctorReport,
    output: OutputFormat,
    unhealthy: Exit,
) -> Result<Exit, CommandFailure> {
    print_page(
        output,
        || report.json_page().to_string(),
        || report.text_lines(),
    )?;
    Ok(match report.worst_health() {
        CheckHealth::Ok | CheckHealth::Warning => Exit::Ok,
        CheckHealth::OtherVersion => Exit::Failure,
        CheckHealth::Failed => unhealthy,
    })
}

/// Prints a report together with every decision that would differ today.
fn show_deep(
    config: &Settings,
    mut report: DoctorReport,
    output: OutputFormat,
) -> Result<Exit, CommandFailure> {
    let is_sound = report.is_healthy();
    let subject = diagnosed_subject(config);
    let (data_dir, readers) = (&subject.settings.data_dir, &subject.readers);
    let deep = deep::verify_decisions(data_dir, readers, &config.policy, is_sound);
    match &deep {
        Ok(deep) => deep.add_to(&mut report),
        Err(error) => report.add_ledger_check("decisions", Err(error)),
    }
    let json = || {
        let mut page = report.json_page();
        page["deep"] = deep
            .as_ref()
            .map_or(serde_json::Value::Null, DeepReport::json);
        page.to_string()
    };
    let human = || {
        let mut lines = report.text_lines();
        if let Ok(deep) = &deep {
            lines.extend(deep.text_lines());
        }
        lines
    };
    print_page(output, json, human)?;
    let is_read = deep.as_ref().is_ok_and(|deep| deep.flaw.is_none());
    Ok(match report.worst_health() {
        CheckHealth::Ok | CheckHealth::Warning => Exit::Ok,
        CheckHealth::OtherVersion => Exit::Failure,
        CheckHealth::Failed if is_sound && is_read => Exit::CheckFailed,
        CheckHealth::Failed => Exit::LedgerDamaged,
    })
}

fn need_ledger(config: &Settings) -> Result<(), CommandFailure> {
    if has_ledger(config)? {
        return Ok(());
    }
    let message = format!(
        "there is no ledger in {}: `tslp serve` makes one",
        config.data_dir.display()
    );
    Err(CommandFailure::new(Exit::Failure, message))
}

fn print_page(
    output: OutputFormat,
    json: impl FnOnce() -> String,
    human: impl FnOnce() -> Vec<String>,
) -> Result<Exit, CommandFailure> {
    let mut out = Out::stdout();
    match output {
        OutputFormat::Json => out.json(&json())?,
        OutputFormat::Human => out.lines(human())?,
    }
    Ok(Exit::Ok)
}
