//! `tslp verify --deep`: every decision on record is made again by today's grammars, rules and settings, and what differs
//! is listed with its cause. Nothing is changed.

mod actions;
mod listing;

use std::collections::BTreeMap;
use std::path::Path;

use tslp_core::policy::Policy;
use tslp_grammars::TreeSitterGrammars;
use tslp_replay::deep::DeepVerifier;
use tslp_replay::trace::Difference;

pub use listing::{ListedDifference, NOT_DERIVED};

use actions::ActionReplay;
use tslp_store::content_cache::ContentCache;
use tslp_store::evidence::scan::LedgerScan;
use tslp_store::ledger::ReaderFactory;
use tslp_store::progress::WalkProgress;
use tslp_store::startup::StartError;

use crate::diagnostics::doctor::DoctorReport;

/// Differences that are listed; further ones are only counted.
const LISTED_MAX: usize = 10_000;

/// Bytes of the list's JSON.
const LISTED_BYTES_MAX: usize = 32 << 20;

/// The result of a deep verification.
#[derive(Debug, Default)]
pub struct DeepReport {
    /// Decisions that were made again.
    pub decisions: u64,
    /// The last event of the steps that were taken again.
    pub until: u64,
    /// The number of differences that each set of causes explains.
    pub explained: BTreeMap<String, u64>,
    /// Differences that nothing on record explains.
    pub unexplained: u64,
    /// The first differences, in the order of the ledger.
    pub listed: Vec<ListedDifference>,
    listed_bytes: usize,
    /// Differences beyond the list's bounds.
    pub unlisted: u64,
    /// The error that ended the walk before the ledger's head.
    pub flaw: Option<StartError>,
}

/// Makes every decision of a ledger again. Works while others write: what is appended meanwhile isn't looked at. Memory
/// doesn't grow with the ledger if the archives are sound.
///
/// # Errors
/// When the ledger can't be read at all.
pub fn verify_decisions(
    data_dir: &Path,
    readers: &ReaderFactory,
    policy: &Policy,
    are_tables_sound: bool,
) -> Result<DeepReport, StartError> {
    let mut scan = LedgerScan::begin(data_dir, readers)?;
    let mut contents = ContentCache::new(readers.open()?);
    if !are_tables_sound {
        contents = contents.without_archives();
    }
    let progress = WalkProgress::new(scan.head().seq.0, "events");
    let mut deep = DeepVerifier::new(TreeSitterGrammars, policy.clone(), contents);
    let mut report = DeepReport::default();
    let mut actions = ActionReplay::default();
    loop {
        let (stored, event) = match scan.next_event() {
            Ok(Some(next)) => next,
            Ok(None) => break,
            Err(flaw) => {
                report.flaw = Some(flaw);
                break;
            }
        };
        report.until = stored.seq.0;
        progress.set_done(stored.seq.0);
        let recorded = stored.recorded(event);
        report.count_differences(actions.next_event(&recorded).into_iter().collect());
        report.count_differences(deep.next(recorded));
    }
    report.count_differences(deep.finish());
    report.decisions = deep.decisions();
    Ok(report)
}

impl DeepReport {
    /// Whether nothing differs, or what is on record explains all that does.
    #[must_use]
    pub const fn is_explained(&self) -> bool {
        self.unexplained == 0
    }

    /// Explained and unexplained differences together.
    #[must_use]
    pub fn difference_count(&self) -> u64 {
        self.unexplained + self.explained.values().sum::<u64>()
    }

    /// Adds the result to the checks of a ledger.
    pub fn add_to(&self, report: &mut DoctorReport) {
        let made = format!("{} made again up to #{}", self.decisions, self.until);
        if let Some(flaw) = self.flaw.as_ref().filter(|flaw| flaw.is_other_version()) {
            report.add_ledger_check("decisions", Err(flaw));
        } else if let Some(flaw) = &self.flaw {
            report.add_check("decisions", Err(format!("{made}, then: {flaw}")));
        } else if self.unexplained > 0 {
            let detail = format!(
                "{made}; {} came out otherwise for no reason on record: a defect of tslp, or the ledger was forged",
                self.unexplained
            );
            report.add_check("decisions", Err(detail));
        } else if !self.explained.is_empty() {
            let causes: Vec<String> = self
                .explained
                .iter()
                .map(|(cause, count)| format!("{count} by {cause}"))
                .collect();
            let detail = format!("{made}; came out otherwise: {}", causes.join("; "));
            report.add_warning_check("decisions", Err(detail));
        } else {
            report.add_check("decisions", Ok(format!("{made}, none came out otherwise")));
        }
    }

    fn count_differences(&mut self, differences: Vec<Difference>) {
        for difference in differences {
            if difference.is_explained() {
                let causes = difference.causes.iter().map(listing::cause_text);
                let causes: Vec<String> = causes.collect();
                *self.explained.entry(causes.join(", ")).or_default() += 1;
            } else {
                self.unexplained += 1;
            }
            self.list_difference(&difference);
        }
    }

    fn list_difference(&mut self, difference: &Difference) {
        if self.listed.len() >= LISTED_MAX || self.listed_bytes >= LISTED_BYTES_MAX {
            self.unlisted += 1;
        } else {
            let listed = ListedDifference::of(difference);
            self.listed_bytes += listed.bytes;
            self.listed.push(listed);
        }
    }
}
