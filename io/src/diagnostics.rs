//! The diagnostics of spec §14: `/doctor`, `/recent`, `/state`, `/debug/last-prompt`, and the same on the command line.
//!
//! They hold a read-only connection, and may ask for rows that are late: reporting is all they can do.

mod coloured;
pub mod disk_now;
pub mod doctor;
pub(crate) mod guardian;
mod overview;
pub mod price;
pub mod recent;
pub mod records;
pub mod state;
pub mod status;
pub mod tool_check;
mod turn;
pub(crate) mod unread;
pub mod vouched;
pub mod why;

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};
use serde_json::Value;
use serde_json::value::RawValue;
use tslp_core::hash::ArtifactHash;
use tslp_core::path::RelPath;
use tslp_projections::row::Row;
use tslp_projections::table::Value as Cell;
use tslp_store::ledger::{DataFiles, LedgerError, LedgerReader, OpenOptions, ReaderFactory};
use tslp_store::scrub::{ScrubProgress, SharedProgress};
use tslp_store::startup::StartError;
use tslp_wire::http::error::Refusal;

use self::disk_now::{DiskChanges, DiskNow};
use self::state::AsOf;
use self::tool_check::ToolCheck;
use self::vouched::VouchedPage;
use crate::channel::{
    DiagnosticPage, DiagnosticQuery, MissingLines, OwnAnswer, StateQuery, ToLoop, TurnQuery,
};
use crate::config::settings::Settings;
use crate::config::upstream::UpstreamUrl;
use crate::main_loop::LoopHandle;
use crate::memory;
use crate::metrics::{self, Metrics};
use crate::out::visible_json;
use crate::sent_prompts::{NotShown, last_sent};

/// The sources of the diagnostics pages.
pub struct DiagnosedSubject {
    /// The settings.
    pub settings: Arc<Settings>,
    /// Makes read-only connections.
    pub readers: ReaderFactory,
    /// The model server; `None` for the embedded demo.
    pub upstream: Option<UpstreamUrl>,
    /// The reason for safe mode, if the proxy started in it.
    pub safe_mode: Option<String>,
    /// The scrub of a running proxy, which checks the ledger after the start.
    pub scrub: Option<SharedProgress>,
    /// Whether tools can run, and why not.
    pub tools: ToolCheck,
    /// The observer of the files for a page.
    pub disk_now: DiskNow,
    /// A running proxy's counters.
    pub metrics: Arc<Metrics>,
}

impl DiagnosedSubject {
    /// The ledger alone, whether a proxy runs or not; no model server is looked for.
    #[must_use]
    pub fn of_ledger(settings: Arc<Settings>) -> Self {
        Self {
            readers: ReaderFactory::new(
                &DataFiles::of(&settings.data_dir),
                &OpenOptions::default(),
            ),
            upstream: None,
            safe_mode: None,
            scrub: None,
            tools: ToolCheck::for_config(&settings),
            disk_now: DiskNow::for_workspace(&settings),
            metrics: Arc::default(),
            settings,
        }
    }

    /// The reason for safe mode, if the proxy is in it: from the start, or since the scrub found a flaw.
    #[must_use]
    pub fn safe_mode_reason(&self) -> Option<String> {
        let found = || match self.scrub.as_ref()?.current() {
            ScrubProgress::Failed(reason) => Some(reason),
            _ => None,
        };
        self.safe_mode.clone().or_else(found)
    }

    /// What these files hold otherwise than at the last look on record.
    fn changed_on_disk(
        &self,
        reader: &LedgerReader,
        files: &BTreeSet<RelPath>,
    ) -> Result<DiskChanges, LedgerError> {
        self.disk_now.changes_since_recorded(reader, files)
    }
}

/// Longest wait for late rows before a page folds their events for itself.
const ROWS_WAIT: Duration = Duration::from_secs(1);

/// Answers questions on a thread of its own, because checks take time.
pub struct DiagnosticsThread {
    subject: DiagnosedSubject,
    /// Has the engine write rows.
    rows_wanted: Sender<Sender<Infallible>>,
}

impl DiagnosticsThread {
    /// Diagnostics of a running proxy.
    #[must_use]
    pub const fn new(subject: DiagnosedSubject, rows_wanted: Sender<Sender<Infallible>>) -> Self {
        Self {
            subject,
            rows_wanted,
        }
    }

    /// Answers until all senders of questions are dropped.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn spawn(
        self,
        questions: Receiver<DiagnosticQuery>,
        to_loop: LoopHandle,
    ) -> io::Result<JoinHandle<()>> {
        thread::Builder::new()
            .name("diagnostics".into())
            .spawn(move || {
                for DiagnosticQuery { exchange, page } in questions {
                    // A panic must not end the thread: the client that waits for the page has no deadline.
                    let answer = catch_unwind(AssertUnwindSafe(|| self.answer_page(&page)));
                    let answer = answer.unwrap_or_else(|_| {
                        let message = "the page panicked, a defect of tslp; see its log";
                        refusal_answer("diagnostics_panicked", message)
                    });
                    to_loop.send(ToLoop::Answer { exchange, answer });
                    memory::trim_heap();
                }
            })
    }

    /// Has late rows written, so that the page needn't fold their events, which takes the whole state.
    fn await_rows(&self) {
        let reader = self.subject.readers.open();
        let is_late = reader.and_then(|it| Ok(it.rows_written()? < it.head()?.seq));
        // What can't be read, the page says.
        if !is_late.unwrap_or(false) {
            return;
        }
        let (waiting, written) = bounded(0);
        if self.rows_wanted.send(waiting).is_ok() {
            let _ = written.recv_timeout(ROWS_WAIT);
        }
    }

    fn answer_page(&self, page: &DiagnosticPage) -> OwnAnswer {
        self.await_rows();
        let json = match page {
            DiagnosticPage::Doctor => Ok(doctor::examine_all(&self.subject).json_page()),
            DiagnosticPage::Recent(wanted) => {
                recent::read_recent(&self.subject, *wanted).and_then(|episodes| {
                    let mut json = recent::recent_json(&episodes.page);
                    // It quotes prompts, so it is on the page that shows content.
                    if wanted.missing_lines == MissingLines::Shown {
                        json["status"] = status::read_status(&self.subject)?.page.json_object();
                    }
                    mark_unverified(&mut json, episodes.flaw.as_deref());
                    Ok(json)
                })
            }
            DiagnosticPage::State(wanted) => return self.state_page(wanted),
            DiagnosticPage::LastPrompt => return self.last_prompt(),
            DiagnosticPage::Turn(wanted) => {
                return self.turn_answer(*wanted, turn::turn_json(&self.subject, *wanted));
            }
            DiagnosticPage::Sent(wanted) => return self.sent_answer(*wanted),
            DiagnosticPage::Entity(name) => why::entity_json(&self.subject, name),
            DiagnosticPage::Overview => overview::overview_json(&self.subject),
            DiagnosticPage::Metrics => return self.metrics_page(),
        };
        match json {
            Ok(json) => json_answer(&json),
            Err(error) => ledger_refusal(&error),
        }
    }

    fn state_page(&self, wanted: &StateQuery) -> OwnAnswer {
        let page = state::state_page(&self.subject, wanted, AsOf::Now);
        match page {
            Ok(Some(VouchedPage { page, flaw })) => {
                let mut json = state::state_json(&page, &[]);
                mark_unverified(&mut json, flaw.as_deref());
                json_answer(&json)
            }
            Ok(None) => refusal_answer(
                "unknown_entity",
                "nothing of the name that `after` gives is true, or not under `path`; begin anew without it",
            ),
            Err(error) => ledger_refusal(&error),
        }
    }

    fn metrics_page(&self) -> OwnAnswer {
        let reader = match self.subject.readers.open() {
            Ok(reader) => reader,
            Err(error) => return ledger_refusal(&error),
        };
        match doctor::metric_tables(&self.subject, &reader) {
            Ok(tables) => OwnAnswer {
                status: 200,
                content_type: metrics::MEDIA_TYPE,
                body: self.subject.metrics.prometheus_page(&tables).into_bytes(),
            },
            Err(error) => ledger_refusal(&error),
        }
    }

    fn turn_answer(
        &self,
        TurnQuery { episode, .. }: TurnQuery,
        turn: Result<Option<Value>, StartError>,
    ) -> OwnAnswer {
        match turn {
            Ok(Some(json)) => json_answer(&json),
            Ok(None) => refusal_answer(
                "unknown_episode",
                &format!(
                    "{episode} isn't one of the last episodes; `tslp log --episode` prints older ones"
                ),
            ),
            Err(error) => ledger_refusal(&error),
        }
    }

    fn sent_answer(&self, wanted: TurnQuery) -> OwnAnswer {
        match turn::sent_json(&self.subject, wanted) {
            Ok(json) => self.turn_answer(wanted, Ok(Some(json))),
            Err(NotShown::Ledger(error)) => ledger_refusal(&error),
            Err(error) => refusal_answer("not_shown", &error.to_string()),
        }
    }

    fn last_prompt(&self) -> OwnAnswer {
        let reader = match self.subject.readers.open() {
            Ok(reader) => reader,
            Err(error) => return ledger_refusal(&error),
        };
        let last = match last_sent(&reader, None) {
            Ok(Some(last)) => last,
            Ok(None) => {
                return refusal_answer("no_prompt_yet", "no prompt has gone to the model yet");
            }
            Err(NotShown::Ledger(error)) => return ledger_refusal(&error),
            Err(error) => return refusal_answer("prompt_unreadable", &error.to_string()),
        };
        let request: Result<Box<RawValue>, _> = serde_json::from_slice(&last.body);
        match request {
            Ok(request) => {
                let page = format!("{{\"episode\":{},\"request\":{request}}}", last.episode.0);
                OwnAnswer::json(200, page.into_bytes())
            }
            Err(_) => refusal_answer("prompt_unreadable", "the last prompt can't be shown"),
        }
    }
}

/// A row as an object with a field for each column.
pub(crate) fn row_object<R: Row + Clone>(row: &R) -> Value {
    let columns = R::TABLE.columns.iter();
    let cells = row.clone().into_cells();
    let fields = columns.zip(cells).map(|(column, cell)| {
        let value = match cell {
            Cell::Null => Value::Null,
            Cell::Integer(number) => number.into(),
            Cell::Text(text) => (*text).into(),
            Cell::Hash(hash) => ArtifactHash(hash).to_string().into(),
            // Nobody reads them on a page.
            Cell::Bytes(bytes) => bytes.len().into(),
        };
        (column.name.to_owned(), value)
    });
    Value::Object(fields.collect())
}

/// Says on a page that nothing vouches for it, and why.
pub(crate) fn mark_unverified(json: &mut Value, flaw: Option<&str>) {
    if let Some(flaw) = flaw {
        json["unverified"] = flaw.into();
    }
}

fn json_answer(json: &Value) -> OwnAnswer {
    OwnAnswer::json(200, visible_json(&json.to_string()).into_bytes())
}

fn ledger_refusal(error: &dyn fmt::Display) -> OwnAnswer {
    refusal_answer("ledger_unreadable", &error.to_string())
}

fn refusal_answer(code: &'static str, message: &str) -> OwnAnswer {
    OwnAnswer::refusal(&Refusal::new(code, message.to_owned()), None)
}
