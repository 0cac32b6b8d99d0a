//! `tslp serve`: puts the threads together, says where it listens, and takes them apart in order.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tslp_grammars::TreeSitterGrammars;
use tslp_projections::state::State;
use tslp_scripted::Server;
use tslp_store::content_cache::ContentCache;
use tslp_store::ledger::lock::DataDirLock;
use tslp_store::ledger::writer::{
    self, Durability, LedgerWriter, Remedy, WriterFailure, WriterLimits,
};
use tslp_store::ledger::{DataFiles, LedgerError, OpenLedger, OpenOptions};
use tslp_store::project;
use tslp_store::scrub::Scrub;
use tslp_store::startup::{self, StartError};
use tslp_workspace::observer::{Observer, SystemClock};

use crate::auditor::Auditor;
use crate::auditor::queue::AuditQueue;
use crate::channel::{ToEngine, ToLoop};
use crate::config::settings::{Settings, TokenBudget, WindowGuard};
use crate::config::upstream::{UpstreamSetting, UpstreamUrl};

use crate::demo_model;
use crate::diagnostics::{DiagnosedSubject, DiagnosticsThread};
use crate::disk_full::{self, SpaceFound, SpaceWatcher};
use crate::door::ProxyKeeper;
use crate::door::server::Door;
use crate::engine::new_engine;
use crate::engine_thread::{EngineThread, EngineWiring};
use crate::evidence::replies::ReplyReporter;
use crate::exit::Exit;
use crate::main_loop::{BindError, LoopChannels, LoopHandle, MainLoop};
use crate::memory;
use crate::metrics::Metrics;
use crate::out::Out;
use crate::probe::{self, ProbeTarget, ServerWindows};
use crate::scrub_thread::ScrubThread;
use crate::tool_loop;

/// Messages that may wait for the engine: prompts, whose memory is counted, and pieces of replies of 16 to 80 KiB.
const ENGINE_QUEUE: usize = 64;

/// Batches that may wait for the writer. The engine waits when it is full.
const COMMIT_QUEUE: usize = 256;

/// Questions that may wait for the diagnostics.
const DIAGNOSTICS_QUEUE: usize = 16;

/// Signals that follow the first one so soon are the same wish: many supervisors send one to the process and one to its group.
const SAME_WISH: Duration = Duration::from_millis(500);

/// The demo model's pause between two tokens.
const TOKEN_DELAY: Duration = Duration::from_millis(5);

/// An error that keeps the proxy from running, or stopped it.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// No state.
    #[error(transparent)]
    Start(#[from] StartError),
    /// No ledger.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// No listener.
    #[error("{error}{}", bind_advice(.error))]
    Bind {
        /// The cause.
        #[from]
        error: BindError,
    },
    /// No demo model, no signals, no output, or no polling.
    #[error("{0}")]
    System(#[from] io::Error),
    /// The writer stopped.
    #[error("{0}")]
    Writer(String),
    /// `symbols.json` is wrong.
    #[error("the patterns of symbols.json can't be used: {0}")]
    Patterns(String),
}

fn bind_advice(error: &BindError) -> &'static str {
    match error {
        BindError::Listen { error, .. } if error.kind() == io::ErrorKind::AddrInUse => {
            "; another process has that port: stop it, or choose another port with --listen"
        }
        _ => "",
    }
}

impl ServeError {
    /// The exit code.
    #[must_use]
    pub fn exit_code(&self) -> Exit {
        match self {
            Self::Start(error) => exit_of(error),
            Self::Ledger(LedgerError::InUse { .. }) => Exit::InUse,
            Self::Bind {
                error: BindError::Listen { error, .. },
            } if error.kind() == io::ErrorKind::AddrInUse => Exit::InUse,
            Self::Bind {
                error: BindError::Guard(_),
            } => Exit::Usage,
            _ => Exit::Failure,
        }
    }
}

/// The exit code of a ledger that can't be used.
#[must_use]
pub const fn exit_of(error: &StartError) -> Exit {
    match error {
        StartError::Ledger(LedgerError::InUse { .. }) => Exit::InUse,
        error if error.asks_for_safe_mode() => Exit::LedgerDamaged,
        _ => Exit::Failure,
    }
}

/// The model server in use.
pub(crate) struct ChosenUpstream {
    url: UpstreamUrl,
    /// Whether none was found, and this is where one would be.
    is_missing: bool,
    banner: String,
    /// Runs as long as it is held.
    demo: Option<Server>,
}

/// A proxy that listens but doesn't serve yet.
pub struct BoundServer {
    main_loop: MainLoop,
    address: SocketAddr,
    handle: LoopHandle,
    banner: Vec<String>,
    threads: ServerThreads,
    chosen: ChosenUpstream,
}

/// Threads that end after the network loop, in this order.
struct ServerThreads {
    audits: AuditQueue,
    to_engine: Sender<ToEngine>,
    engine: Option<JoinHandle<()>>,
    writer: Option<LedgerWriter>,
    /// The writer may wait for its verdict.
    scrub: Option<ScrubThread>,
    reports: Option<ReportThread>,
    diagnostics: JoinHandle<()>,
    disk_space: SpaceFound,
    /// Closed first: what comes by it has nobody to do it any more.
    door: Option<Door>,
    /// Keeps the channel of a proxy without an engine open.
    _unheard: Option<Receiver<ToEngine>>,
    _ledger: Option<OpenLedgerGuard>,
}

/// Holds the data directory's lock as long as anything may write.
struct OpenLedgerGuard(#[expect(dead_code, reason = "held for its lock")] Arc<DataDirLock>);

/// Runs the proxy until it is asked to stop.
///
/// # Errors
/// See [`ServeError`].
pub fn serve_proxy(config: &Settings) -> Result<Exit, ServeError> {
    let languages = TreeSitterGrammars::check_patterns().map_err(ServeError::Patterns)?;
    // Compiling every pattern takes memory that is never needed again.
    memory::trim_heap();
    tracing::debug!(languages, "symbols.json is sound");
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let running = RunningLoop::default();
    let asked_to_stop = running.clone();
    let stop = signals.handle();
    let listener = thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            let mut asked = signals.forever();
            if asked.next().is_none() {
                return;
            }
            let first = Instant::now();
            asked_to_stop.stop_serving();
            if asked.any(|_| first.elapsed() >= SAME_WISH) {
                tracing::warn!(
                    "asked to stop twice: replies in progress are cut off; the ledger stays intact"
                );
                std::process::exit(Exit::Failure.code().into());
            }
        })?;
    let mut server = BoundServer::bind_and_open(config)?;
    memory::trim_heap();
    server.print_ready_line()?;
    running.goes_on(server.loop_handle());
    let same_address = |address| Settings {
        listen: address,
        ..config.clone()
    };
    let outcome = loop {
        let address = server.listen_address();
        match server.run_until_end() {
            Ok(ServeEnd::Asked) => break Ok(Exit::Ok),
            Ok(ServeEnd::AskedInSafeMode) => break Ok(Exit::LedgerDamaged),
            Ok(ServeEnd::DiskSpaceFound(chosen)) => {
                match BoundServer::bind_with(&same_address(address), Some(chosen)) {
                    Ok(again) => {
                        tracing::warn!(%address, "listening again");
                        running.goes_on(again.loop_handle());
                        server = again;
                    }
                    Err(error) => break Err(error),
                }
            }
            Err(error) => break Err(error),
        }
    };
    stop.close();
    join_thread(listener, "signals");
    outcome
}

/// The network loop that a signal ends; after a full disk it is another one.
#[derive(Clone, Default)]
struct RunningLoop(Arc<Mutex<LoopCourse>>);

#[derive(Default)]
struct LoopCourse {
    handle: Option<LoopHandle>,
    asked: bool,
}

impl RunningLoop {
    fn goes_on(&self, handle: LoopHandle) {
        // A signal may have come between two loops, when there was none to stop.
        let mut course = self.lock_course();
        if course.asked {
            handle.shutdown();
        }
        course.handle = Some(handle);
    }

    fn stop_serving(&self) {
        // The lock is held up to the exit, so a start that is just done can't begin to serve.
        let mut course = self.lock_course();
        course.asked = true;
        if let Some(handle) = &course.handle {
            tracing::warn!(
                "stopping once the replies in progress have ended; ask again to stop at once"
            );
            handle.shutdown();
        } else {
            tracing::info!(
                "stopping before anything was served; the ledger stays intact whatever the start was doing"
            );
            std::process::exit(Exit::Ok.code().into());
        }
    }

    fn lock_course(&self) -> MutexGuard<'_, LoopCourse> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The reason why serving ended.
pub(crate) enum ServeEnd {
    /// It was asked to stop.
    Asked,
    /// It was asked to stop in safe mode, where it had no ledger to write to.
    AskedInSafeMode,
    /// The ledger's disk was full and has space again; the model is still the same.
    DiskSpaceFound(ChosenUpstream),
}

impl BoundServer {
    /// Opens the ledger, finds the model, binds the port and starts all threads but the network loop.
    ///
    /// # Errors
    /// See [`ServeError`].
    pub fn bind_and_open(config: &Settings) -> Result<Self, ServeError> {
        Self::bind_with(config, None)
    }

    /// As [`Self::bind_and_open`], with the model that was `chosen` before.
    fn bind_with(config: &Settings, chosen: Option<ChosenUpstream>) -> Result<Self, ServeError> {
        project::prepare(&config.data_dir, &config.workspace).map_err(StartError::from)?;
        let started =
            match startup::start(&OpenOptions::default(), &config.data_dir, &config.workspace) {
                Ok(started) => Ok(started),
                Err(error) if error.asks_for_safe_mode() => {
                    // The failed start has let go of the directory; two proxies in safe mode would only confuse.
                    let lock = DataDirLock::acquire(&DataFiles::of(&config.data_dir).lock)?;
                    Err((error.to_string(), lock))
                }
                Err(error) => return Err(error.into()),
            };
        let chosen = chosen.map_or_else(|| choose_upstream(&config.upstream.named.place), Ok)?;
        let mut config = config.clone();
        if !chosen.is_missing {
            config.upstream.named.place = UpstreamSetting::Url(chosen.url.clone());
        }
        let config = Arc::new(config);
        let (to_engine, from_loop) = bounded(ENGINE_QUEUE);
        let (to_diagnostics, questions) = bounded(DIAGNOSTICS_QUEUE);
        let (want_rows, rows_wanted) = bounded(1);
        let audits = AuditQueue::default();
        let metrics = Arc::default();
        let channels = LoopChannels {
            to_engine: to_engine.clone(),
            to_diagnostics,
            audits: audits.clone(),
            metrics: Arc::clone(&metrics),
        };
        let for_the_end = to_engine.clone();
        let (main_loop, address, handle) = MainLoop::bind(Arc::clone(&config), channels)?;
        let mut banner = vec![chosen.banner.clone()];
        for server in &config.upstream.named.by_model {
            let (url, models) = (&server.url, server.models.join(", "));
            banner.push(format!("upstream {url} for models {models}"));
        }
        banner.push(format!("workspace {}", config.workspace.display()));
        let safe_mode = started.as_ref().err().map(|(reason, _)| reason.clone());
        if let Some(reason) = &safe_mode {
            banner.push(format!("SAFE MODE: {reason}"));
        }
        let scrub = match &started {
            Ok((opened, _)) => Some(Scrub::of(opened)?),
            Err(_) => None,
        };
        let subject = DiagnosedSubject {
            upstream: Some(chosen.url.clone()),
            safe_mode: safe_mode.clone(),
            scrub: scrub.as_ref().map(Scrub::shared_progress),
            metrics: Arc::clone(&metrics),
            ..DiagnosedSubject::of_ledger(Arc::clone(&config))
        };
        let diagnostics =
            DiagnosticsThread::new(subject, want_rows).spawn(questions, handle.clone())?;
        let (space_watcher, disk_space) = disk_full::watch_disk(&config.data_dir, handle.clone());
        let scrub = scrub
            .map(|scrub| ScrubThread::spawn(scrub, handle.clone()))
            .transpose()?;
        let commands = to_engine.clone();
        let reports = match (&started, config.is_quiet) {
            (Ok((opened, _)), false) => {
                let reader = opened.readers.open()?;
                let next = reader.head()?.seq.next();
                Some(ReportThread::spawn(ReplyReporter::from(reader, next))?)
            }
            _ => None,
        };
        let (engine, writer, unheard, ledger) = match started {
            Ok((opened, state)) => {
                let lock = Arc::clone(&opened.lock);
                let surroundings = EngineSurroundings {
                    from_loop,
                    rows_wanted,
                    handle: &handle,
                    audits: audits.clone(),
                    metrics,
                    space_watcher,
                    to_engine: to_engine.clone(),
                    report: reports.as_ref().map(ReportThread::waker),
                };
                let (ask, asked) = bounded(1);
                let is_asked =
                    config.window_guard != WindowGuard::Off || config.budget == TokenBudget::Auto;
                let ask = is_asked.then_some(ask);
                let (engine, writer) = start_engine(&config, opened, state, surroundings, ask)?;
                // Not waited for at the end: it holds nothing, and may be in the middle of a look-up.
                Auditor::new(Arc::clone(&config), audits.clone(), to_engine.clone()).spawn()?;
                if is_asked {
                    ask_for_windows(&config, &chosen, to_engine, asked)?;
                }
                (
                    Some(engine),
                    Some(writer),
                    None,
                    Some(OpenLedgerGuard(lock)),
                )
            }
            Err((message, lock)) => {
                handle.send(ToLoop::LedgerFailed { message });
                let lock = OpenLedgerGuard(Arc::new(lock));
                (None, None, Some(from_loop), Some(lock))
            }
        };
        let keeper = ProxyKeeper {
            config: Arc::clone(&config),
            address,
            upstream: chosen.url.clone(),
            is_demo: chosen.demo.is_some(),
            engine: match (&writer, safe_mode) {
                (Some(writer), None) => Ok((commands, Arc::clone(writer.durable()))),
                (_, reason) => Err(format!("safe mode: {}", reason.unwrap_or_default())),
            },
            handle: handle.clone(),
        };
        let door = Door::open(&config.data_dir, keeper);
        let door = door.inspect_err(|error| {
            tracing::warn!(%error, "other commands can't act on this proxy while it runs: it has no door");
        });
        Ok(Self {
            main_loop,
            address,
            handle,
            banner,
            threads: ServerThreads {
                door: door.ok(),
                audits,
                to_engine: for_the_end,
                engine,
                writer,
                scrub,
                reports,
                diagnostics,
                _unheard: unheard,
                disk_space,
                _ledger: ledger,
            },
            chosen,
        })
    }

    /// The address that it listens at, with the port that the system chose for port 0.
    #[must_use]
    pub const fn listen_address(&self) -> SocketAddr {
        self.address
    }

    /// A handle that ends it from another thread.
    #[must_use]
    pub fn loop_handle(&self) -> LoopHandle {
        self.handle.clone()
    }

    /// Says where it listens, and what a person should know.
    ///
    /// # Errors
    /// If standard output can't be written to.
    pub fn print_ready_line(&self) -> io::Result<()> {
        let mut out = Out::stdout();
        out.line(format_args!("listening on http://{}", self.address))?;
        out.line(
            "`tslp open`, or that address in a browser, shows what is true and what was refused",
        )?;
        for line in &self.banner {
            out.line(line)?;
        }
        Ok(())
    }

    /// Serves until it is asked to stop, then ends every thread and closes the ledger.
    ///
    /// # Errors
    /// If polling fails or the ledger's writer has stopped.
    pub(crate) fn run_until_end(self) -> Result<ServeEnd, ServeError> {
        let polled = self.main_loop.run();
        if let Some(door) = self.threads.door {
            door.close();
        }
        // The loop says so itself, unless polling failed.
        let _ = self.threads.to_engine.send(ToEngine::Shutdown);
        self.threads.audits.close();
        // The engine first, since it may still append; then the writer, which may wait for the scrub's verdict before it moves pages;
        // then the scrub.
        if let Some(engine) = self.threads.engine {
            join_thread(engine, "engine");
        }
        let written = self.threads.writer.map(LedgerWriter::join).transpose();
        if let Some(reports) = self.threads.reports {
            reports.finish();
        }
        if let Some(scrub) = self.threads.scrub {
            scrub.stop_and_join();
        }
        join_thread(self.threads.diagnostics, "diagnostics");
        polled?;
        match written {
            Ok(Some(_)) => Ok(ServeEnd::Asked),
            Ok(None) => Ok(ServeEnd::AskedInSafeMode),
            Err(_) if self.threads.disk_space.is_found() => {
                Ok(ServeEnd::DiskSpaceFound(self.chosen))
            }
            Err(failure) => Err(ServeError::Writer(failure.message)),
        }
    }
}

/// Time for which what else happens is waited for: replies that end together share one look at the ledger.
const REPORT_PAUSE: Duration = Duration::from_millis(100);

/// Prints a line for each reply. It reads the ledger, so neither a slow terminal nor a closed one is in anybody's way.
struct ReportThread {
    wake: Sender<()>,
    goes_on: Sender<()>,
    thread: JoinHandle<()>,
}

impl ReportThread {
    fn spawn(mut reporter: ReplyReporter) -> io::Result<Self> {
        let (wake, woken) = bounded(1);
        let (goes_on, pause) = bounded::<()>(0);
        let thread = thread::Builder::new()
            .name("reports".into())
            .spawn(move || {
                let is_over = || {
                    let paused = woken.recv().map(|()| pause.recv_timeout(REPORT_PAUSE));
                    paused != Ok(Err(RecvTimeoutError::Timeout))
                };
                // Once more after the end: what was written last is reported, too.
                while let (is_over, Ok(lines)) = (is_over(), reporter.new_lines()) {
                    if Out::stdout().lines(lines).is_err() || is_over {
                        return;
                    }
                }
            })?;
        Ok(Self {
            wake,
            goes_on,
            thread,
        })
    }

    fn waker(&self) -> Sender<()> {
        self.wake.clone()
    }

    /// Ends it, once the writer has.
    fn finish(self) {
        drop((self.wake, self.goes_on));
        join_thread(self.thread, "reports");
    }
}

fn join_thread(thread: JoinHandle<()>, name: &str) {
    if thread.join().is_err() {
        tracing::error!(name, "a thread panicked");
    }
}

/// The model server to talk to.
fn choose_upstream(place: &UpstreamSetting) -> Result<ChosenUpstream, ServeError> {
    let mut demo = None;
    let found = match place {
        UpstreamSetting::Auto => probe::find_local(),
        _ => None,
    };
    let is_missing = *place == UpstreamSetting::Auto && found.is_none();
    let (url, banner) = match (place, found) {
        (UpstreamSetting::Url(url), _) => (url.clone(), format!("upstream {url}")),
        (UpstreamSetting::Demo, _) => {
            let server = demo.insert(demo_model::start(TOKEN_DELAY)?);
            let url = UpstreamUrl::parse(&server.url()).map_err(io::Error::other)?;
            let banner = "upstream DEMO: a scripted model, not a real one; name your model server with --upstream URL";
            (url, banner.to_owned())
        }
        (UpstreamSetting::Auto, Some((name, url))) => {
            let banner = format!("upstream {url} ({name}, found on its default port)");
            (url, banner)
        }
        (UpstreamSetting::Auto, None) => (
            probe::usual_place(),
            format!("upstream NONE: {}", probe::NONE_FOUND),
        ),
    };
    Ok(ChosenUpstream {
        url,
        is_missing,
        banner,
        demo,
    })
}

/// Asks the model server how much its models read at once, off the way of anything else: now, and whenever the engine wants to know.
fn ask_for_windows(
    config: &Settings,
    chosen: &ChosenUpstream,
    to_engine: Sender<ToEngine>,
    asked: Receiver<()>,
) -> io::Result<()> {
    let upstream = config.upstream.clone();
    let (url, is_missing) = (chosen.url.clone(), chosen.is_missing);
    thread::Builder::new().name("probe".into()).spawn(move || {
        let mut last = None;
        // It ends with the engine.
        for () in std::iter::once(()).chain(asked) {
            let target = ProbeTarget {
                url: &url,
                api_key: upstream.api_key.as_ref(),
                ca_file: upstream.ca_file.as_deref(),
            };
            let mut said = match probe::ask_server(&target) {
                Ok(server) => server.windows,
                Err(error) => {
                    if last.is_none() && !is_missing {
                        tracing::warn!(%url, %error, "the model server doesn't answer yet");
                    }
                    ServerWindows::default()
                }
            };
            // A figure for all models isn't one for those of other servers.
            let is_sole = upstream.named.by_model.is_empty();
            said.windows.retain(|(name, _)| is_sole || !name.is_empty());
            if last.as_ref() != Some(&said) {
                for (model, tokens) in &said.windows {
                    tracing::info!(%model, tokens, "the model server says how much is read at once");
                }
            }
            last = Some(said.clone());
            // A send fails only when the engine has ended, which needs no such message.
            let _ = to_engine.send(ToEngine::WindowsSaid(said));
        }
    })?;
    Ok(())
}

/// The threads and channels that the engine is connected to.
struct EngineSurroundings<'s> {
    from_loop: Receiver<ToEngine>,
    rows_wanted: Receiver<Sender<Infallible>>,
    handle: &'s LoopHandle,
    audits: AuditQueue,
    metrics: Arc<Metrics>,
    space_watcher: SpaceWatcher,
    /// The way to the engine, for the threads that answer it.
    to_engine: Sender<ToEngine>,
    /// Told of what has become durable, if anybody wants to know of replies.
    report: Option<Sender<()>>,
}

fn start_engine(
    config: &Arc<Settings>,
    opened: OpenLedger,
    state: State,
    surroundings: EngineSurroundings<'_>,
    ask_for_windows: Option<Sender<()>>,
) -> Result<(JoinHandle<()>, LedgerWriter), ServeError> {
    let handle = surroundings.handle;
    let contents = ContentCache::new(opened.readers.open()?);
    let (commits, queue) = writer::commit_queue(COMMIT_QUEUE);
    let tell = handle.clone();
    let mut space_watcher = Some(surroundings.space_watcher);
    let report = surroundings.report;
    let writer = writer::spawn_writer(
        opened.log,
        queue,
        WriterLimits::default(),
        Box::new(move |durability| match durability {
            Durability::Reached(seq) => tell.send(ToLoop::Durable(seq)),
            // It reads texts by their rows. If it is full, it is going to look anyway.
            Durability::RowsWritten(_) => {
                if let Some(report) = &report {
                    let _ = report.try_send(());
                }
            }
            Durability::Failed(WriterFailure { message, remedy }) => {
                tell.send(ToLoop::LedgerFailed { message });
                if remedy == Remedy::DiskSpace {
                    space_watcher
                        .take()
                        .into_iter()
                        .for_each(SpaceWatcher::start);
                }
            }
        }),
    )?;
    // All that was read at the start is on disk: a response that names it needn't wait.
    handle.send(ToLoop::Durable(state.head()));
    let observer = Observer::new(
        &config.workspace,
        config.etv(),
        Arc::new(TreeSitterGrammars),
        Arc::new(SystemClock),
    );
    let wiring = EngineWiring {
        from_loop: surroundings.from_loop,
        rows_wanted: surroundings.rows_wanted,
        to_loop: handle.clone(),
        commits,
        durable: Arc::clone(writer.durable()),
        audits: surroundings.audits,
        metrics: surroundings.metrics,
        settings: Arc::clone(config),
        ask_for_windows,
        clock: Arc::new(SystemClock),
    };
    let engine = new_engine(state, &config.policy, contents);
    let tools = tool_loop::scope_of_replies(config);
    let to_engine = surroundings.to_engine;
    let engine = EngineThread::new(engine, Box::new(observer), wiring)
        .with_parser(config.policy.clone(), to_engine.clone())?;
    let failed = handle.clone();
    let engine = thread::Builder::new().name("engine".into()).spawn(move || {
        let work = std::panic::AssertUnwindSafe(|| match tools {
            Some(tools) => engine.with_tools(tools, to_engine).run(),
            None => engine.run(),
        });
        if std::panic::catch_unwind(work).is_err() {
            let message = "the engine stopped, and the log says why; everything acknowledged is safe: restart tslp";
            failed.send(ToLoop::LedgerFailed {
                message: message.into(),
            });
        }
    })?;
    Ok((engine, writer))
}
