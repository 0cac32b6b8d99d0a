//! `tslp log`, `why` and `copy`: from arguments to an exit code.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal as _, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use jiff::Timestamp;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event::EventKind;
use tslp_core::hash::SliceHash;
use tslp_core::ids::{EpisodeId, Seq, SessionId};
use tslp_core::path::RelPath;
use tslp_core::reason::Reason;
use tslp_core::redact;
use tslp_projections::episodes::EpisodeRow;
use tslp_projections::proposals::Proposal;
use tslp_projections::state_map::FormerVersionsRow;
use tslp_store::data_dir::{self, DataDirError};
use tslp_store::evidence::copy::{self, CopyError, CopySource};
use tslp_store::evidence::scan::LedgerScan;
use tslp_store::ledger::{DataFiles, LedgerError, LedgerReader, OpenOptions, ReaderFactory};
use tslp_store::startup::StartError;

use super::{
    CommandFailure, diagnosed_subject, is_in_use, need_ledger, path_from_root, print_vouched,
};
use crate::cli::{LogArgs, OutputFormat, UndoArgs};
use crate::config::settings::Settings;
use crate::diagnostics::DiagnosedSubject;
use crate::diagnostics::state::symbol_of;
use crate::diagnostics::why::{self, EntityHistory};
use crate::evidence::log::filter::{self, EventFilter};
use crate::evidence::log::{EventPrinter, LogError};
use crate::evidence::replies::ReplyReporter;
use crate::evidence::undo::{self, UndoWish};
use crate::evidence::{moments, suggestions};
use crate::exit::Exit;
use crate::out::{Out, OutputReader, visible_text};
use crate::sent_prompts;
use crate::serve;

/// Replies that are printed before those that come.
const REPLIES_AT_FIRST: usize = 10;

/// Interval between two looks at a followed ledger.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(200);

impl From<StartError> for CommandFailure {
    fn from(error: StartError) -> Self {
        Self::new(serve::exit_of(&error), error)
    }
}

impl From<LogError> for CommandFailure {
    fn from(error: LogError) -> Self {
        match error {
            LogError::Ledger(error) => error.into(),
            LogError::Write(error) => error.into(),
        }
    }
}

pub(super) fn run_log(
    config: &Settings,
    args: &LogArgs,
    output: OutputFormat,
) -> Result<Exit, CommandFailure> {
    need_ledger(config)?;
    let usage = |message| CommandFailure::new(Exit::Usage, message);
    let workspace = config.workspace.to_string_lossy();
    let entity = args.entity.as_ref().map(|written| {
        if written.contains("::") || written.contains(['/', '.']) {
            let written = path_from_root(config, written);
            return filter::entity_named(&written, &workspace).map_err(usage);
        }
        entity_meant(&diagnosed_subject(config), written)
    });
    let filter = EventFilter {
        entity: entity.transpose()?,
        ..log_filter(args).map_err(usage)?
    };
    if args.follow && !args.events && output == OutputFormat::Human && filter.passes_all() {
        return follow_replies(config, args.limit);
    }
    let interrupted = args.follow.then(watch_interrupts).transpose()?;
    let mut log = EventPrinter::new(begin_scan(config)?, filter, output);
    let mut out = Out::stdout();
    let limit = (args.limit > 0).then_some(args.limit);
    log.print_last(limit, &mut out)?;
    match interrupted {
        Some(interrupted) => follow_log(&mut log, &interrupted, &mut out)?,
        None => {
            if let Some(wanted) = log.never_met() {
                let known = known_entities(&diagnosed_subject(config).readers.open()?, |_| true)?;
                let message = suggestions::unknown_entity(&wanted.to_string(), &known);
                return Err(CommandFailure::new(Exit::Failure, message));
            }
        }
    }
    Ok(Exit::Ok)
}

/// Prints a line for each of the last replies, and for each that comes.
fn follow_replies(config: &Settings, limit: usize) -> Result<Exit, CommandFailure> {
    let interrupted = watch_interrupts()?;
    let reader = diagnosed_subject(config).readers.open()?;
    let episodes = reader.rows::<EpisodeRow>()?.into_iter();
    let mut prompts: Vec<Seq> = episodes
        .filter(|row| row.episode != EpisodeId::OUTSIDE)
        .map(|row| row.seq)
        .collect();
    prompts.sort_unstable();
    let first = prompts.len().saturating_sub(limit.min(REPLIES_AT_FIRST));
    let from = match prompts.get(first) {
        Some(seq) => *seq,
        None => reader.head()?.seq.next(),
    };
    let mut replies = ReplyReporter::from(reader, from);
    let mut out = Out::stdout();
    loop {
        out.lines(replies.new_lines()?)?;
        let waited = interrupted.recv_timeout(FOLLOW_INTERVAL);
        if waited != Err(RecvTimeoutError::Timeout) || out.look_for_reader()? == OutputReader::Gone
        {
            return Ok(Exit::Ok);
        }
    }
}

/// `tslp undo`.
pub(super) fn print_undo(config: &Settings, args: &UndoArgs) -> Result<Exit, CommandFailure> {
    need_ledger(config)?;
    let wish = match (&args.path, args.episode) {
        (Some(path), _) => {
            let named =
                RelPath::parse(&path_from_root(config, path), &config.policy.workspace_root);
            UndoWish::File(named.map_err(|reason| {
                CommandFailure::new(Exit::Usage, format!("{path}: {}", reason.meaning()))
            })?)
        }
        (None, Some(episode)) => UndoWish::Since(EpisodeId(episode)),
        (None, None) => UndoWish::LastReply,
    };
    let reader = diagnosed_subject(config).readers.open()?;
    let undo = undo::undo(&reader, &config.workspace, &wish)?;
    if io::stdout().is_terminal() {
        let patch = String::from_utf8_lossy(&undo.patch);
        Out::stdout().lines(patch.lines().map(str::to_owned))?;
    } else {
        let mut sink = Out::stdout().into_sink();
        sink.write_all(&undo.patch)?;
        sink.flush()?;
    }
    let mut said = io::stderr();
    match (undo.since, undo.files.len()) {
        (None, _) => writeln!(
            said,
            "tslp: no reply with code{} is on record: there is nothing to take back",
            match &wish {
                UndoWish::File(path) => format!(" for {}", visible_text(path.as_str())),
                UndoWish::Since(_) | UndoWish::LastReply => String::new(),
            }
        )?,
        (Some(_), 0) if undo.left.is_empty() => {
            writeln!(
                said,
                "tslp: every file is as it was before: there is nothing to take back"
            )?;
        }
        (Some(_), 0) => {}
        (Some(episode), files) => writeln!(
            said,
            "tslp: takes {files} {} back to before {episode}; apply it in {} with `tslp undo … | patch -p1`",
            if files == 1 { "file" } else { "files" },
            config.workspace.display()
        )?,
    }
    for (path, why) in &undo.left {
        writeln!(
            said,
            "tslp: {} stays as it is: {why}",
            visible_text(path.as_str())
        )?;
    }
    Ok(if undo.left.is_empty() {
        Exit::Ok
    } else {
        Exit::CheckFailed
    })
}

fn begin_scan(config: &Settings) -> Result<LedgerScan, StartError> {
    LedgerScan::begin(&config.data_dir, &diagnosed_subject(config).readers)
}

/// Prints events as they are appended, until it is interrupted or its output is closed.
fn follow_log(
    log: &mut EventPrinter,
    interrupted: &Receiver<()>,
    out: &mut Out,
) -> Result<(), CommandFailure> {
    while out.look_for_reader()? == OutputReader::Present {
        match interrupted.recv_timeout(FOLLOW_INTERVAL) {
            Err(RecvTimeoutError::Timeout) => log.print_appended(out)?,
            Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    Ok(())
}

/// Receives a message when the process is asked to end.
fn watch_interrupts() -> io::Result<Receiver<()>> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let (tell, told) = bounded(1);
    thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            if signals.forever().next().is_some() {
                // Whoever waited may have ended already.
                let _ = tell.send(());
            }
        })?;
    Ok(told)
}

fn log_filter(args: &LogArgs) -> Result<EventFilter, String> {
    let now = Timestamp::now();
    let moment = |written: &Option<String>| {
        let parsed = written
            .as_ref()
            .map(|written| moments::parse_moment(written, now));
        parsed.transpose()
    };
    Ok(EventFilter {
        episode: args.episode.map(EpisodeId),
        session: args.session.map(SessionId),
        entity: None,
        kinds: args
            .kind
            .iter()
            .map(|name| event_kind(name))
            .collect::<Result<_, _>>()?,
        reasons: args
            .reason
            .iter()
            .map(|code| known_reason(code))
            .collect::<Result<_, _>>()?,
        since: moment(&args.since)?,
        until: moment(&args.until)?,
    })
}

/// The entities that have this full name, or bear it.
fn bearers_of(
    reader: &LedgerReader,
    name: &str,
    workspace: &str,
) -> Result<BTreeSet<EntityId>, LedgerError> {
    let named = filter::entity_named(name, workspace).ok();
    known_entities(reader, |(path, symbol)| {
        let is_it = |named: &EntityId| (named.path.as_str(), symbol_of(named)) == (path, symbol);
        named.as_ref().is_some_and(is_it) || suggestions::bears_name(symbol, name)
    })
}

/// The entities that are or were true, or are proposed, as far as they are wanted by path and symbol, which is empty for a file.
fn known_entities(
    reader: &LedgerReader,
    is_wanted: impl Fn((&str, &str)) -> bool,
) -> Result<BTreeSet<EntityId>, LedgerError> {
    let mut known = BTreeSet::new();
    reader.visit_true_names(("", ""), &mut |path, symbol| {
        if is_wanted((path, symbol)) {
            known.insert(EntityId {
                path: RelPath::from_normalised(path),
                symbol: (!symbol.is_empty()).then(|| Symbol::new(symbol)),
            });
        }
        ControlFlow::Continue(())
    })?;
    let others = other_versions(reader)?.map(|(entity, _)| entity);
    let is_wanted = |entity: &EntityId| is_wanted((entity.path.as_str(), symbol_of(entity)));
    known.extend(others.filter(is_wanted));
    Ok(known)
}

/// The versions that were true, and those that are proposed.
fn other_versions(
    reader: &LedgerReader,
) -> Result<impl Iterator<Item = (EntityId, SliceHash)>, LedgerError> {
    let former = reader.rows::<FormerVersionsRow>()?.into_iter();
    let proposed = reader.rows::<Proposal>()?.into_iter();
    let former = former.flat_map(|row| {
        let versions = row.versions.into_iter();
        versions.map(move |version| (row.entity.clone(), version.slice))
    });
    Ok(former.chain(proposed.map(|row| (row.entity, row.slice))))
}

/// The entities of which a version that is or was true, or is proposed, has an artifact that begins with these digits.
fn entities_of_artifact(
    reader: &LedgerReader,
    digits: &str,
) -> Result<BTreeSet<EntityId>, LedgerError> {
    let mut found = BTreeSet::new();
    let mut look = |(entity, artifact): (EntityId, SliceHash)| {
        if artifact.to_string().starts_with(digits) {
            found.insert(entity);
        }
    };
    reader.visit_true(&mut |truth| look((truth.entity, truth.slice)))?;
    other_versions(reader)?.for_each(look);
    Ok(found)
}

fn event_kind(name: &str) -> Result<EventKind, String> {
    EventKind::of_word(name).ok_or_else(|| {
        let names = EventKind::WORDS;
        let hint = suggestions::did_you_mean(name, names.iter().copied());
        format!(
            "`{name}` isn't a kind of event{hint} Known kinds: {}",
            names.join(", ")
        )
    })
}

fn known_reason(code: &str) -> Result<Reason, String> {
    Reason::from_code(code).ok_or_else(|| {
        let hint = suggestions::did_you_mean(code, Reason::ALL.iter().map(|reason| reason.code()));
        format!("`{code}` isn't a reason code{hint} docs/rules.md lists all of them")
    })
}

pub(super) fn run_why(
    config: &Settings,
    written: &str,
    output: OutputFormat,
) -> Result<Exit, CommandFailure> {
    need_ledger(config)?;
    let subject = diagnosed_subject(config);
    let workspace = subject.settings.workspace.to_string_lossy();
    let named = filter::entity_named(written, &workspace).ok();
    let named = named.map(|named| why::entity_history(&subject, &named));
    let history = match named.transpose()? {
        Some(history) if !history.page.is_empty() => history,
        _ => why::entity_history(&subject, &entity_meant(&subject, written)?)?,
    };
    print_vouched(
        output,
        history,
        EntityHistory::json,
        EntityHistory::text_lines,
    )
}

/// The entity that a person means: by its name, or by the first digits of an artifact of it, four or more, as prompts show them.
fn entity_meant(subject: &DiagnosedSubject, written: &str) -> Result<EntityId, CommandFailure> {
    let reader = subject.readers.open()?;
    let workspace = subject.settings.workspace.to_string_lossy();
    let bearers = bearers_of(&reader, written, &workspace)?;
    if let Some(meant) = suggestions::entity_meant(written, &workspace, &bearers) {
        return Ok(meant);
    }
    let digits = written.to_ascii_lowercase();
    let is_artifact = digits.len() >= 4 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let mut of_artifact = match is_artifact {
        true => entities_of_artifact(&reader, &digits)?,
        false => BTreeSet::new(),
    };
    // A text that makes a file with one definition in it is shown for the definition.
    if of_artifact.iter().filter(|it| it.symbol.is_some()).count() == 1 {
        of_artifact.retain(|it| it.symbol.is_some());
    }
    if of_artifact.len() > 1 {
        let names: Vec<String> = of_artifact.iter().map(ToString::to_string).collect();
        let why = format!(
            "the artifacts of several entities begin with {written}: {}; name one of them, or give more digits",
            names.join(", ")
        );
        return Err(CommandFailure::new(Exit::Failure, why));
    }
    if let Some(meant) = of_artifact.pop_first() {
        return Ok(meant);
    }
    let message = match bearers.is_empty() {
        true => suggestions::unknown_entity(written, &known_entities(&reader, |_| true)?),
        false => suggestions::ambiguous_entity(written, &bearers),
    };
    Err(CommandFailure::new(Exit::Failure, message))
}

pub(super) fn show_prompt(config: &Settings, episode: u64) -> Result<Exit, CommandFailure> {
    need_ledger(config)?;
    let reader = diagnosed_subject(config).readers.open()?;
    let body = sent_prompts::sent_in(&reader, EpisodeId(episode))
        .map_err(|error| CommandFailure::new(Exit::Failure, error))?
        .body;
    let text = String::from_utf8_lossy(&body);
    // On standard error: what is printed is what was sent, and nothing else.
    let redacted = text.matches(redact::MARKER).count();
    if redacted > 0 {
        tracing::warn!(
            "`{} …]` replaces a credential in {redacted} places: credentials aren't recorded",
            redact::MARKER
        );
    }
    let mut out = Out::stdout();
    // Byte for byte for programs; a terminal would obey control characters in it.
    if io::stdout().is_terminal() {
        out.lines(text.lines().map(str::to_owned))?;
    } else {
        out.verbatim(text)?;
    }
    Ok(Exit::Ok)
}

/// `tslp copy`: this workspace's ledger to `to`, or what is at `from` to where this workspace's is.
pub(super) fn run_copy(
    config: &Settings,
    to: Option<&Path>,
    from: Option<&Path>,
) -> Result<Exit, CommandFailure> {
    let of_ledger = |data_dir: &Path| {
        let readers = ReaderFactory::new(&DataFiles::of(data_dir), &OpenOptions::default());
        let scan = LedgerScan::begin_unvouched(data_dir, &readers);
        scan.map(|scan| CopySource::Ledger(Box::new(scan)))
    };
    let mut lines: Box<dyn BufRead>;
    let source = match from {
        None => {
            need_ledger(config)?;
            of_ledger(&config.data_dir)?
        }
        Some(from) if from.is_dir() => of_ledger(from)?,
        Some(from) => {
            lines = match from == Path::new("-") {
                true => Box::new(io::stdin().lock()),
                false => Box::new(BufReader::with_capacity(1 << 16, open_lines(from)?)),
            };
            CopySource::Lines(&mut *lines)
        }
    };
    let target = match to {
        Some(to) => outside_workspace(config, to)?,
        None => config.data_dir.clone(),
    };
    if to.is_some() && target.starts_with(&config.data_dir) {
        let message = format!(
            "{} lies inside the data directory, which must stay as it is; name another place",
            target.display()
        );
        return Err(CommandFailure::new(Exit::Usage, message));
    }
    if to.is_none() && DataFiles::of(&target).lock.exists() && !is_in_use(&target) {
        // Nothing is lost with a ledger in which nothing was asked.
        std::fs::rename(&target, target.with_extension("unused"))?;
    }
    let copied = copy::copy_ledger(source, &target, &config.workspace);
    let copied = copied.map_err(|error| {
        let exit = match &error {
            CopyError::Place(_) => Exit::Usage,
            CopyError::Ledger(LedgerError::InUse { .. }) => Exit::InUse,
            _ => Exit::Failure,
        };
        CommandFailure::new(exit, error)
    })?;
    let (events, chain) = (copied.head.seq.0, copied.head.chain.to_string());
    let mut out = Out::stdout();
    out.line(format_args!(
        "{events} events are in {}, verified; the last has the chain hash {chain:.16}",
        target.display()
    ))?;
    match copied.flaw {
        None => Ok(Exit::Ok),
        Some(flaw) => {
            out.line(format_args!("everything after that was left out: {flaw}"))?;
            Ok(Exit::LedgerDamaged)
        }
    }
}

fn open_lines(file: &Path) -> Result<File, CommandFailure> {
    File::open(file).map_err(|error| {
        let message = format!("{} can't be read: {error}", file.display());
        CommandFailure::new(Exit::Failure, message)
    })
}

/// A copy's place; nothing is ever written into the workspace.
fn outside_workspace(config: &Settings, to: &Path) -> Result<PathBuf, CommandFailure> {
    data_dir::choose_data_dir(&config.workspace, Some(to), None).map_err(|error| {
        let message = match error {
            DataDirError::InsideWorkspace { path, .. } => format!(
                "{} lies inside the workspace, which tslp never writes to; name another place",
                path.display()
            ),
            other => other.to_string(),
        };
        CommandFailure::new(Exit::Usage, message)
    })
}
