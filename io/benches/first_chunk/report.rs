//! Percentiles, and lines that say whether a figure is within its target.

use std::fmt;
use std::io;
use std::time::Duration;

use tslp_io::out::Out;

/// Standard output, shared by all parts.
pub(crate) struct Report {
    out: Out,
    verdicts: Vec<String>,
}

/// Times of one kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn push(&mut self, time: Duration) {
        self.0.push(time);
    }

    pub(crate) fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// In microseconds; `share` is 0.5 for the median.
    pub(crate) fn micros(&self, share: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let at = ((sorted.len() as f64 * share).ceil() as usize).clamp(1, sorted.len().max(1));
        sorted
            .get(at - 1)
            .map_or(f64::NAN, |time| time.as_secs_f64() * 1e6)
    }
}

impl Report {
    pub(crate) fn new() -> Self {
        Self {
            out: Out::stdout(),
            verdicts: Vec::new(),
        }
    }

    pub(crate) fn line(&mut self, line: impl fmt::Display) -> io::Result<()> {
        self.out.line(line)
    }

    /// Notes whether `figure` keeps its target; said at the end. Benchmarks never fail on figures.
    pub(crate) fn verdict(&mut self, what: &str, figure: f64, target: f64, unit: &str) {
        let word = if figure <= target {
            "within target"
        } else {
            "OVER TARGET"
        };
        self.verdicts.push(format!(
            "{word:14} {what}: {figure:.2} {unit}, target {target} {unit}"
        ));
    }

    pub(crate) fn verdicts(&mut self) -> io::Result<()> {
        self.line("")?;
        for verdict in std::mem::take(&mut self.verdicts) {
            self.line(verdict)?;
        }
        Ok(())
    }
}

/// Bytes in MB.
pub(crate) fn mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
