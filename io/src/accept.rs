//! `tslp accept`: makes the workspace's files true as they are on disk, while no proxy runs.

use std::path::Path;
use std::sync::Arc;

use tslp_core::directive::Directive;
use tslp_core::event::{Event, ReadFailure, Verb};
use tslp_core::reason::Reason;
use tslp_grammars::TreeSitterGrammars;
use tslp_projections::state::State;
use tslp_projections::store::{EmptyStore, Store};
use tslp_replay::engine::Engine;
use tslp_replay::pending::{Batch, DiskAnswers};
use tslp_store::content_cache::{ArchiveTrust, ContentCache};
use tslp_store::data_dir;
use tslp_store::ledger::{DataFiles, LedgerError, OpenOptions, SqliteLog};
use tslp_store::startup::{self, StartError};
use tslp_workspace::observer::{Observer, SystemClock, WallClock, WorkspaceObserver as _};
use tslp_workspace::target::{self, NamedTarget, TargetError};

use crate::config::ServeConfig;
use crate::engine::new_engine;

/// The result for one target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AcceptOutcome {
    /// It has become true as it is on disk.
    Accepted,
    /// It was true already.
    TrueAlready,
    /// There is no such file in the workspace; the reason, for people.
    NoFile(String),
    /// The file doesn't define it, or not without parse errors.
    NoSymbol,
    /// It stays as it was.
    Refused {
        /// The rule that refused it.
        reason: Reason,
        /// The file's read failure, if that is the reason.
        failure: Option<ReadFailure>,
    },
}

impl AcceptOutcome {
    /// Whether the target is true as it is on disk.
    #[must_use]
    pub const fn is_fine(&self) -> bool {
        matches!(self, Self::Accepted | Self::TrueAlready)
    }

    /// A stable snake_case word.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::TrueAlready => "true_already",
            Self::NoFile(_) => "no_file",
            Self::NoSymbol => "no_symbol",
            Self::Refused { reason, .. } => reason.code(),
        }
    }

    /// The outcome, for people.
    #[must_use]
    pub fn description(&self) -> &str {
        match self {
            Self::Accepted => "true as it is on disk",
            Self::TrueAlready => "true already: nothing to do",
            Self::NoFile(why) => why,
            Self::NoSymbol => "the file has no such definition, or it doesn't parse",
            Self::Refused {
                failure: Some(failure),
                ..
            } => failure_words(*failure),
            Self::Refused { reason, .. } => refusal_words(*reason),
        }
    }
}

const fn refusal_words(reason: Reason) -> &'static str {
    match reason {
        Reason::TargetOutside => "lies outside of the workspace",
        Reason::TargetNotUsable => {
            "not a usable path, or one that matches several files: write it from the workspace's root"
        }
        Reason::NotText => "not taken: it isn't UTF-8",
        Reason::TooLargeToAccept => {
            "not taken: it is too large to be parsed, so none of it can become true"
        }
        Reason::LanguageNotRead => "not taken: its language isn't supported",
        Reason::NothingToAccept => "not taken: it defines nothing that can be parsed",
        Reason::QuotesDelimiters => "not taken: it quotes the proxy's own delimiters",
        Reason::CredentialRedacted => "not taken: it holds a credential",
        other => other.code(),
    }
}

/// The reason why a file can't be read, for people.
#[must_use]
pub const fn failure_words(failure: ReadFailure) -> &'static str {
    match failure {
        ReadFailure::Denied => "unreadable: no permission",
        ReadFailure::NotAFile => "unreadable: it is a folder, or not a regular file",
        ReadFailure::Escapes => "unreadable: a link that leaves the workspace, or an absolute one",
        ReadFailure::TooLarge => "unreadable: larger than etv.read_bytes_max",
        ReadFailure::Unsteady => "unreadable: it changed while it was read",
        ReadFailure::TimedOut => "unreadable: its file system didn't answer in time",
        ReadFailure::Failed => "unreadable: the system reports an error",
    }
}

/// A target as it was written, and as a directive names it, or why there is none.
type LocatedTarget<'t> = (&'t String, Result<String, AcceptOutcome>);

/// Accepts each target, which is `PATH` or `PATH::SYMBOL`; paths are looked for from `current_dir` first. A ledger is
/// made only if something is accepted.
///
/// # Errors
/// When the ledger is in use, damaged, or can't be written.
pub fn accept(
    config: &ServeConfig,
    current_dir: &Path,
    targets: &[String],
) -> Result<Vec<(String, AcceptOutcome)>, StartError> {
    let located: Vec<LocatedTarget<'_>> = targets
        .iter()
        .map(|target| (target, locate_target(config, current_dir, target)))
        .collect();
    let asks_for_something = located.iter().any(|(_, target)| target.is_ok());
    if !asks_for_something || !has_ledger(config) && !would_accept(config, &located) {
        return accept_located(&located, |target| {
            let mut trial = AcceptEngine::new(config, State::default(), EmptyStore);
            Ok(trial.accept_target(target).0)
        });
    }
    data_dir::prepare(&config.data_dir)?;
    let (mut opened, state) =
        startup::start(&OpenOptions::default(), &config.data_dir, &config.workspace)?;
    let contents = ContentCache::new(opened.readers.open()?, ArchiveTrust::Sound);
    let mut trial = AcceptEngine::new(config, state, contents);
    accept_located(&located, |target| {
        let (outcome, batch) = trial.accept_target(target);
        commit_batch(&mut opened.log, batch)?;
        trial.engine.rows_made_durable(trial.engine.state().head());
        Ok(outcome)
    })
}

fn accept_located(
    located: &[LocatedTarget<'_>],
    mut act: impl FnMut(&str) -> Result<AcceptOutcome, StartError>,
) -> Result<Vec<(String, AcceptOutcome)>, StartError> {
    located
        .iter()
        .map(|(written, target)| {
            let outcome = match target {
                Ok(target) => act(target)?,
                Err(outcome) => outcome.clone(),
            };
            Ok(((*written).clone(), outcome))
        })
        .collect()
}

fn has_ledger(config: &ServeConfig) -> bool {
    DataFiles::of(&config.data_dir).database.exists()
}

/// Whether anything would become true in a workspace without a ledger.
fn would_accept(config: &ServeConfig, located: &[LocatedTarget<'_>]) -> bool {
    let mut trial = AcceptEngine::new(config, State::default(), EmptyStore);
    let mut targets = located
        .iter()
        .filter_map(|(_, target)| target.as_ref().ok());
    targets.any(|target| trial.accept_target(target).0 == AcceptOutcome::Accepted)
}

/// The target as a directive names it.
fn locate_target(
    config: &ServeConfig,
    current_dir: &Path,
    written: &str,
) -> Result<String, AcceptOutcome> {
    let is_file = target::find_target(written, current_dir, &config.workspace).is_ok();
    let (path, symbol) = match written.split_once("::").filter(|_| !is_file) {
        Some((path, symbol)) => (path, Some(symbol)),
        None => (written, None),
    };
    let path = match target::find_target(path, current_dir, &config.workspace) {
        // With a folder in front it can't be taken for another file of the same name.
        Ok(NamedTarget::File(path)) => format!("./{path}"),
        Ok(NamedTarget::Folder(_) | NamedTarget::Workspace) => {
            let why = "a folder: `tslp adopt` takes those".into();
            return Err(AcceptOutcome::NoFile(why));
        }
        // The base name of a file that is tracked is enough; it may also be gone from disk.
        Err(TargetError::Missing(_)) if has_ledger(config) && !path.contains('/') => path.into(),
        Err(error) => {
            let error = error.to_string();
            let why = error.strip_prefix(&format!("{path}: ")).unwrap_or(&error);
            return Err(AcceptOutcome::NoFile(why.to_owned()));
        }
    };
    Ok(match symbol {
        Some(symbol) => format!("{path}::{symbol}"),
        None => path,
    })
}

/// An engine with an observer of the workspace.
struct AcceptEngine<S> {
    engine: Engine<TreeSitterGrammars, S>,
    observer: Observer,
}

impl<S: Store> AcceptEngine<S> {
    fn new(config: &ServeConfig, state: State, store: S) -> Self {
        Self {
            engine: new_engine(state, &config.policy, store),
            observer: Observer::new(
                &config.workspace,
                config.etv,
                Arc::new(TreeSitterGrammars),
                Arc::new(SystemClock),
            ),
        }
    }

    fn accept_target(&mut self, target: &str) -> (AcceptOutcome, Batch) {
        let directive = Directive {
            verb: Verb::Accept,
            target: target.to_owned(),
        };
        let pending = self.engine.receive_command(SystemClock.now(), directive);
        let findings = self.observer.check(pending.checks.clone());
        let texts: Vec<_> = pending
            .reads
            .iter()
            .map(|path| self.observer.read(path))
            .collect();
        let failure = match texts.first() {
            Some(Some(Err(failure))) => Some(*failure),
            _ => None,
        };
        let paths = pending.checks.iter().map(|check| check.path.clone());
        let answers = DiskAnswers {
            findings: paths.zip(findings).collect(),
            texts,
            ..DiskAnswers::default()
        };
        let batch = self.engine.carry_out_command(pending, answers);
        let outcome = match answering_notice(&batch) {
            Some(Reason::UserAccepted) => AcceptOutcome::Accepted,
            Some(Reason::FileMissing) => AcceptOutcome::NoFile("there is no such file".into()),
            Some(Reason::SymbolMissing) => AcceptOutcome::NoSymbol,
            Some(Reason::NothingToDo) | None => AcceptOutcome::TrueAlready,
            Some(reason) => AcceptOutcome::Refused {
                reason,
                failure: failure.filter(|_| reason == Reason::FileUnreadable),
            },
        };
        (outcome, batch)
    }
}

fn answering_notice(batch: &Batch) -> Option<Reason> {
    batch
        .recorded
        .iter()
        .rev()
        .find_map(|recorded| match &recorded.event {
            Event::NoticeIssued(notice) => Some(notice.reason),
            _ => None,
        })
}

pub(crate) fn commit_batch(log: &mut SqliteLog, batch: Batch) -> Result<(), LedgerError> {
    let mut transaction = log.begin_batch()?;
    transaction.record_all(batch.recorded)?;
    transaction.change_all(&batch.changes)?;
    transaction.commit().map(drop)
}
