//! `tslp run CLIENT`: a client in the terminal, through a proxy that is there for as long as somebody uses it.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, BufRead as _, BufReader, IsTerminal as _, Write as _};
use std::net::SocketAddr;
use std::os::fd::AsFd as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::{FdFlags, fcntl_setfd};
use serde_json::json;
use tslp_store::data_dir::{self, DataDirError};
use tslp_store::ledger::lock::DataDirLock;
use tslp_store::ledger::{DataFiles, LedgerError};
use tslp_store::project;

use super::{CommandFailure, print_page, read_config, run_end};
use crate::cli::OutputFormat;
use crate::config::layers::WrittenFlags;
use crate::config::secret::Secret;
use crate::config::settings::Settings;
use crate::config::upstream::{UpstreamSetting, UpstreamUrl};
use crate::connect::{self, ClientRun, RunPlaces};
use crate::disk_full;
use crate::door;
use crate::door::client::{DoorClient, DoorError, RunningProxy};
use crate::exit::Exit;
use crate::out::Out;
use crate::probe::{self, ProbeTarget};

/// Longest wait for a proxy that starts, or for one that is just ending; a large ledger takes its time.
const START_TIME: Duration = Duration::from_secs(120);

/// Pause between two looks.
const LOOK_PAUSE: Duration = Duration::from_millis(50);

/// In the words of a proxy that found another process at work.
const IN_USE: &str = "is using ";

/// Most lines of a failed start's log that are shown.
const LOG_LINES_SHOWN: usize = 5;

/// Runs the client, and keeps its proxy there; ends as the client does, and returns only if it can't be run.
pub(super) fn run_client(
    client: &str,
    arguments: &[OsString],
    flags: &WrittenFlags,
) -> Result<Exit, CommandFailure> {
    let run = match connect::client_run(client) {
        Ok(run) => run,
        Err((why, lines)) => {
            print_page(OutputFormat::Human, String::new, || lines)?;
            return Err(CommandFailure::new(Exit::Usage, why));
        }
    };
    let program = find_program(&run.program).ok_or_else(|| {
        let message = format!("there is no program `{}` on your PATH", run.program);
        CommandFailure::new(Exit::Failure, message)
    })?;
    let config = read_config(flags)?;
    let (door, running, is_new) = hold_proxy(&config, flags, None)?;
    if !is_new {
        say_what_counts(&config, flags, &running)?;
    }
    // The token takes its place in the client's requests.
    let own_key = run.own_key().filter(|_| running.token.is_none());
    let own_key = own_key.map(Secret::new);
    let named = connect::model_named(arguments);
    let (model, window) = match run.wants_model() || named.is_some() {
        true => model_and_window(&running, own_key.as_ref(), named)?,
        false => (String::new(), None),
    };
    let places = RunPlaces {
        listen: running.address,
        token: running.token.as_ref().map(Secret::reveal),
        own_key: own_key.as_ref().map(Secret::reveal),
        model: &model,
        window,
        folder: &config.data_dir.join("clients").join(client),
    };
    let words = run.filled_in(&places, arguments);
    if let Some((path, text)) = words.file {
        write_own_file(&path, &text)?;
    }
    if running.is_demo {
        // Nobody may be reading, here and below.
        let _ = writeln!(
            io::stderr(),
            "tslp: the built-in demo model answers, not a real one: start a model server, or name it with `tslp run --upstream URL {client}`"
        );
    }
    if io::stderr().is_terminal() {
        let through = running.address;
        let _ = writeln!(io::stderr(), "tslp: {client} through http://{through}");
    }
    // The client keeps the door open for as long as it lives, should this process be killed.
    fcntl_setfd(door.as_fd(), FdFlags::empty()).map_err(io::Error::from)?;
    let mut command = Command::new(program);
    command.args(words.arguments).args(arguments);
    for (name, value) in words.environment {
        // What the user has chosen stays chosen.
        if !(value.is_choice && std::env::var_os(&name).is_some_and(|own| !own.is_empty())) {
            command.env(name, value.text);
        }
    }
    let config = Arc::new(config);
    let (kept, flags, address) = (Arc::clone(&config), flags.clone(), running.address);
    thread::spawn(move || keep_proxy(door, &kept, &flags, address));
    let error = run_end::run_to_end(command, &config);
    Err(CommandFailure::new(
        Exit::Failure,
        format!("{client} can't be run: {error}"),
    ))
}

/// Holds the proxy for as long as this process lives. One that was killed is started again, at the address that the client knows.
fn keep_proxy(mut door: DoorClient, config: &Settings, flags: &WrittenFlags, address: SocketAddr) {
    loop {
        door.wait_for_end();
        match hold_proxy(config, flags, Some(address)) {
            Ok((again, ..)) => door = again,
            // Whoever ended it wanted that.
            Err(_) if !door::is_left_behind(&config.data_dir) => return,
            Err(CommandFailure { message, .. }) => {
                // The client's window may be closed.
                let _ = writeln!(io::stderr(), "tslp: the proxy was killed, and {message}");
                return;
            }
        }
    }
}

/// The file that a program's name stands for.
fn find_program(name: &str) -> Option<PathBuf> {
    let is_program = |path: &PathBuf| {
        fs::metadata(path)
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    };
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(is_program);
    }
    let path = std::env::var_os("PATH")?;
    let mut candidates = std::env::split_paths(&path).map(|folder| folder.join(name));
    candidates.find(is_program)
}

/// Says which flags don't count, since the workspace's proxy ran before with its own.
///
/// # Errors
/// If another model server is named than the one that answers.
fn say_what_counts(
    config: &Settings,
    flags: &WrittenFlags,
    running: &RunningProxy,
) -> Result<(), CommandFailure> {
    let is_named = |name: &str| flags.written.iter().any(|(key, _)| key.name == name);
    let is_other = match &config.upstream.named.place {
        UpstreamSetting::Url(url) => !is_same_server(url, &running.upstream),
        UpstreamSetting::Demo => !running.is_demo,
        UpstreamSetting::Auto => false,
    };
    if is_named("upstream") && is_other {
        let answering = match running.is_demo {
            true => "the built-in demo model".to_owned(),
            false => format!("the model server at {}", running.upstream),
        };
        let message = format!(
            "a proxy of this workspace runs already, and {answering} answers there: let its clients end first (a `tslp` in a terminal by \
             Ctrl-C), or leave `--upstream` out"
        );
        return Err(CommandFailure::new(Exit::InUse, message));
    }
    let named = flags.written.iter().map(|(key, _)| key);
    let is_same = config.upstream.named.by_model.is_empty();
    let left = named.filter(|key| match key.name {
        "workspace" | "data_dir" => false,
        "upstream" => !is_same,
        _ => true,
    });
    let left: Vec<String> = left.map(|key| format!("--{}", key.flag)).collect();
    if !left.is_empty() {
        tracing::warn!(
            "a proxy of this workspace runs already, with the settings that it was started with: {} {} for nothing here",
            left.join(", "),
            if left.len() == 1 { "counts" } else { "count" }
        );
    }
    Ok(())
}

/// Whether two URLs are one server's; this machine has several names.
fn is_same_server(one: &UpstreamUrl, other: &UpstreamUrl) -> bool {
    let host = |url: &UpstreamUrl| match url.host.as_str() {
        "localhost" | "127.0.0.1" | "::1" | "[::1]" => String::new(),
        host => host.to_owned(),
    };
    (one.scheme, host(one), one.port, &one.prefix)
        == (other.scheme, host(other), other.port, &other.prefix)
}

/// The door of the workspace's proxy, which is held from now on, what it serves, and whether it was started for that. With an address,
/// one is started there only if the last one was killed.
fn hold_proxy(
    config: &Settings,
    flags: &WrittenFlags,
    again_at: Option<SocketAddr>,
) -> Result<(DoorClient, RunningProxy, bool), CommandFailure> {
    project::prepare(&config.data_dir, &config.workspace)
        .map_err(|error| CommandFailure::new(Exit::Failure, error))?;
    let until = Instant::now() + START_TIME;
    let mut is_new = false;
    loop {
        if let Some(mut door) = DoorClient::connect(&config.data_dir)? {
            let running = RunningProxy::ask(&mut door);
            let held = running.and_then(|running| {
                door.ask("hold", "keep the proxy while a client uses it", json!({}))?;
                Ok(running)
            });
            match held {
                Ok(running) => return Ok((door, running, is_new)),
                // It is just ending.
                Err(DoorError::BrokenOff(_)) if Instant::now() < until => {}
                Err(error) => return Err(error.into()),
            }
        } else {
            let lock = DataDirLock::acquire(&DataFiles::of(&config.data_dir).lock);
            match lock {
                Ok(lock) => {
                    drop(lock);
                    if again_at.is_some() && !door::is_left_behind(&config.data_dir) {
                        return Err(CommandFailure::new(Exit::Failure, "it has ended"));
                    }
                    match start_proxy(config, flags, again_at)? {
                        None => {
                            is_new = true;
                            continue;
                        }
                        // Another client may have started one at the same moment.
                        Some(_) if DoorClient::connect(&config.data_dir)?.is_some() => continue,
                        Some(why) if Instant::now() > until || !why.contains(IN_USE) => {
                            let message = format!("the proxy didn't start: {why}");
                            return Err(CommandFailure::new(Exit::Failure, message));
                        }
                        Some(_) => {}
                    }
                }
                // It is just starting or ending, or a command is at work.
                Err(LedgerError::InUse { .. }) if Instant::now() < until => {}
                Err(error) => return Err(error.into()),
            }
        }
        thread::sleep(LOOK_PAUSE);
    }
}

/// Starts a proxy that goes on without this process, and ends when nobody holds it any more. Gives the last words of one that
/// didn't start.
fn start_proxy(
    config: &Settings,
    flags: &WrittenFlags,
    again_at: Option<SocketAddr>,
) -> Result<Option<String>, CommandFailure> {
    let path = config.data_dir.clone();
    let unusable = |cause| DataDirError::Unusable { path, cause }.to_string();
    let log_path = config.data_dir.join("serve.log");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let log = match options.open(&log_path) {
        Ok(log) => log,
        Err(cause) => return Ok(Some(unusable(cause))),
    };
    let mut serve = Command::new(std::env::current_exe()?);
    serve.args(["serve", "--background", "--until-unused", "--quiet"]);
    serve.arg("--workspace").arg(&config.workspace);
    serve.arg("--data-dir").arg(&config.data_dir);
    let is_named = |name: &str| flags.written.iter().any(|(key, _)| key.name == name);
    match again_at {
        Some(address) => serve.arg(format!("--listen={address}")),
        None if !is_named("listen") => serve.arg("--listen=127.0.0.1:0"),
        None => &mut serve,
    };
    if let Some(file) = &flags.file {
        serve.arg("--config").arg(file);
    }
    for (key, texts) in &flags.written {
        let is_given = key.name == "listen" && again_at.is_some();
        if !is_given && !matches!(key.name, "workspace" | "data_dir") {
            serve.args(texts.iter().map(|text| format!("--{}={text}", key.flag)));
        }
    }
    let mut helper = serve
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()?;
    let stdout = helper.stdout.take().expect("it is piped");
    // The helper ends at once; what it has started holds the other end of the pipe.
    helper.wait()?;
    let mut ready = String::new();
    BufReader::new(stdout).read_line(&mut ready)?;
    if ready.starts_with("listening on ") {
        return Ok(None);
    }
    let log = fs::read_to_string(&log_path).unwrap_or_default();
    // A full disk has no room for its own message.
    let full = disk_full::try_space(&config.data_dir)
        .map_err(unusable)
        .err();
    let lines: Vec<&str> = log.lines().chain(full.as_deref()).collect();
    let last = &lines[lines.len().saturating_sub(LOG_LINES_SHOWN)..];
    Ok(Some(last.join("\n")))
}

/// `tslp serve --background`: starts the same without that word, and ends.
pub(super) fn serve_in_background() -> Result<Exit, CommandFailure> {
    let arguments = std::env::args_os()
        .skip(1)
        .filter(|word| word != "--background");
    Command::new(std::env::current_exe()?)
        .args(arguments)
        // A key that interrupts the client isn't meant for it.
        .process_group(0)
        .spawn()?;
    Ok(Exit::Ok)
}

/// `tslp open`: the page of the running proxy, in the system's browser; its address, where there is none.
pub(super) fn open_page(config: &Settings) -> Result<Exit, CommandFailure> {
    let Some(running) = RunningProxy::find(&config.data_dir)? else {
        let message = "no proxy runs for this workspace: start one with `tslp`, then try again";
        return Err(CommandFailure::new(Exit::Failure, message));
    };
    let address = connect::origin_of(running.address) + "/";
    Out::stdout().line(&address)?;
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let opened = Command::new(opener)
        .arg(&address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match opened {
        Ok(status) if status.success() => Ok(Exit::Ok),
        _ => {
            tracing::warn!("no browser could be opened: go to that address in yours");
            Ok(Exit::Ok)
        }
    }
}

/// The model that the user named, or the first that the server lists; and how many tokens it reads at once, if the server says so.
fn model_and_window(
    running: &RunningProxy,
    own_key: Option<&Secret>,
    named: Option<String>,
) -> Result<(String, Option<u32>), CommandFailure> {
    let target = ProbeTarget {
        url: &running.upstream,
        api_key: running.upstream_api_key.as_ref().or(own_key),
        ca_file: running.upstream_ca_file.as_deref(),
    };
    let listed = probe::ask_server(&target).map(|server| {
        let model = named.clone().or_else(|| server.models.first().cloned());
        model.map(|model| {
            let window = server.windows.window_of(&model);
            (model, window)
        })
    });
    let (why, advice) = match listed {
        Ok(Some(found)) => return Ok(found),
        // Whoever names a model knows of a server that lists none, or will start it.
        _ if named.is_some() => return Ok((named.unwrap_or_default(), None)),
        Ok(None) => (
            "it lists none".to_owned(),
            "load one, as by `ollama pull NAME`, or name one, as in `tslp run CLIENT --model NAME`",
        ),
        Err(error) => (
            error.to_string(),
            match error.kind() {
                io::ErrorKind::PermissionDenied => {
                    "set its key, as OPENAI_API_KEY (ANTHROPIC_AUTH_TOKEN for Claude Code) or, for every client, as TSLP_UPSTREAM_API_KEY"
                }
                io::ErrorKind::Other => {
                    "name a model, as in `tslp run CLIENT --model NAME`, or another server, as in `tslp run --upstream URL CLIENT`"
                }
                _ => "start it, or name another server, as in `tslp run --upstream URL CLIENT`",
            },
        ),
    };
    let message = format!(
        "the model server at {} gave no model: {why}; {advice}",
        running.upstream
    );
    Err(CommandFailure::new(Exit::Failure, message))
}

/// Writes a configuration that only this client reads, into tslp's own data directory.
fn write_own_file(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        data_dir::prepare(folder).map_err(io::Error::other)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(path)?.write_all(text.as_bytes())
}

impl ClientRun {
    fn wants_model(&self) -> bool {
        self.line.contains("MODEL") || self.file.is_some_and(|(_, text)| text.contains("MODEL"))
    }

    /// The user's key, which a server may ask for. It is never written into a client's file.
    fn own_key(&self) -> Option<String> {
        let variable = match self.line.starts_with("ANTHROPIC_") {
            true => "ANTHROPIC_AUTH_TOKEN",
            false => "OPENAI_API_KEY",
        };
        let key = std::env::var(variable).ok()?;
        let is_written = self.file.is_some_and(|(_, text)| text.contains("KEY"));
        (!key.is_empty() && !is_written).then_some(key)
    }
}
