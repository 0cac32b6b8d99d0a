//! A running proxy's counters since its start, and their page for Prometheus.

use std::collections::BTreeMap;
use std::fmt::{Display, Write};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tslp_core::artifact::{Origin, Transition};
use tslp_core::event::Event;
use tslp_core::ids::Seq;

use tslp_wire::chat::dialect::Dialect;

/// The media type of [`Metrics::prometheus_page`].
pub const MEDIA_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Upper bounds of the histogram's buckets, in microseconds; the law allows 10 ms.
const BOUNDS_MICROS: [u64; 10] = [
    250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 500_000,
];

/// Figures counted by the network loop and the engine.
#[derive(Debug, Default)]
pub struct Metrics {
    prompts: [AtomicU64; Dialect::ALL.len()],
    /// By outcome and reason. Only the engine and the page take the lock.
    outcomes: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
    buckets: [AtomicU64; BOUNDS_MICROS.len()],
    overhead_count: AtomicU64,
    overhead_micros: AtomicU64,
    last_decided: AtomicU64,
}

/// The page's figures from the ledger's tables.
#[derive(Clone, Copy, Debug, Default)]
pub struct TableFigures {
    /// The last event on disk.
    pub head: Seq,
    /// Entities that are true.
    pub entities: usize,
    /// STALE entities.
    pub stale: usize,
    /// Characters that the model server read anew of what was sent, and of what clients wrote, in the last episodes.
    pub read_anew: (u64, u64),
}

impl Metrics {
    /// A prompt goes to the model.
    pub fn count_prompt(&self, dialect: Dialect) {
        let place = Dialect::ALL.iter().position(|known| *known == dialect);
        self.prompts[place.expect("all are listed")].fetch_add(1, Relaxed);
    }

    /// Counts a decision about code; `seq` is its event's position.
    pub fn count_event(&self, seq: Seq, event: &Event) {
        self.last_decided.store(seq.0, Relaxed);
        let moves = event.transitions().map(|moved| {
            let outcome = match moved.transition {
                Transition::Promote if moved.origin == Origin::Model => "promoted",
                Transition::Promote => "supplied",
                Transition::Discard => "discarded",
                Transition::Supersede => "superseded",
                Transition::Remove => "removed",
            };
            (outcome, moved.cause)
        });
        let counted = match event {
            Event::PromotionRefused(refused) => {
                let conclusion = refused.report.conclusion;
                conclusion.map(|reason| ("refused", reason))
            }
            Event::NoticeIssued(notice) => Some(("noticed", notice.reason)),
            _ => None,
        };
        for (outcome, reason) in moves.chain(counted) {
            let mut outcomes = self.outcomes.lock().unwrap_or_else(PoisonError::into_inner);
            *outcomes.entry((outcome, reason.code())).or_default() += 1;
        }
    }

    /// A prompt's time from its last byte until it was on its way to the model server.
    pub fn count_overhead(&self, overhead: Duration) {
        let micros = u64::try_from(overhead.as_micros()).unwrap_or(u64::MAX);
        self.overhead_count.fetch_add(1, Relaxed);
        self.overhead_micros.fetch_add(micros, Relaxed);
        let bucket = BOUNDS_MICROS.iter().position(|bound| micros <= *bound);
        if let Some(bucket) = bucket {
            self.buckets[bucket].fetch_add(1, Relaxed);
        }
    }

    /// The page, in Prometheus' text format.
    #[must_use]
    pub fn prometheus_page(&self, tables: &TableFigures) -> String {
        let mut page = MetricsPage::default();
        page.write_head(
            "tslp_prompts_total",
            "counter",
            "Prompts that went to the model, by dialect.",
        );
        for (dialect, count) in Dialect::ALL.iter().zip(&self.prompts) {
            let label = format!("{{route=\"{}\"}}", dialect.route_path());
            page.write_sample(&label, count.load(Relaxed));
        }
        page.write_head(
            "tslp_outcomes_total",
            "counter",
            "What became of code, by outcome and reason (`tslp why`, docs/rules.md).",
        );
        let outcomes = self.outcomes.lock().unwrap_or_else(PoisonError::into_inner);
        for ((outcome, reason), count) in &*outcomes {
            let label = format!("{{outcome=\"{outcome}\",reason=\"{reason}\"}}");
            page.write_sample(&label, count);
        }
        drop(outcomes);
        page.write_head(
            "tslp_overhead_seconds",
            "histogram",
            "From a prompt's last byte until it was on its way to the model server.",
        );
        let mut sum = 0;
        for (bound, bucket) in BOUNDS_MICROS.iter().zip(&self.buckets) {
            sum += bucket.load(Relaxed);
            let label = format!("_bucket{{le=\"{}\"}}", as_seconds(*bound));
            page.write_sample(&label, sum);
        }
        // A prompt may be counted between two of these, and a bucket must not hold more than all.
        let count = self.overhead_count.load(Relaxed).max(sum);
        page.write_sample("_bucket{le=\"+Inf\"}", count);
        page.write_sample("_sum", as_seconds(self.overhead_micros.load(Relaxed)));
        page.write_sample("_count", count);
        page.write_gauge(
            "tslp_ledger_lag_events",
            "Events that were decided and aren't on disk yet.",
            self.last_decided
                .load(Relaxed)
                .saturating_sub(tables.head.0),
        );
        page.write_gauge("tslp_ledger_events", "Events on disk.", tables.head.0);
        page.write_gauge("tslp_entities", "Entities that are true.", tables.entities);
        page.write_gauge(
            "tslp_stale_entities",
            "Entities whose file on disk says otherwise.",
            tables.stale,
        );
        let (sent, client) = tables.read_anew;
        if client > 0 {
            page.write_gauge(
                "tslp_read_anew_ratio",
                "What the model server read anew in the last episodes, against the clients' own prompts; below 1 is saved.",
                sent as f64 / client as f64,
            );
        }
        page.text
    }
}

fn as_seconds(micros: u64) -> f64 {
    Duration::from_micros(micros).as_secs_f64()
}

#[derive(Default)]
struct MetricsPage {
    name: &'static str,
    text: String,
}

impl MetricsPage {
    fn write_head(&mut self, name: &'static str, kind: &str, help: &str) {
        self.name = name;
        self.write_line(format_args!("# HELP {name} {help}"));
        self.write_line(format_args!("# TYPE {name} {kind}"));
    }

    fn write_sample(&mut self, label: &str, value: impl Display) {
        let name = self.name;
        self.write_line(format_args!("{name}{label} {value}"));
    }

    fn write_gauge(&mut self, name: &'static str, help: &str, value: impl Display) {
        self.write_head(name, "gauge", help);
        self.write_sample("", value);
    }

    fn write_line(&mut self, line: std::fmt::Arguments<'_>) {
        writeln!(self.text, "{line}").expect("a string takes everything");
    }
}
