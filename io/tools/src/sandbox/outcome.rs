//! The outcome of a run.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tslp_core::event::ToolOutcome;

/// The outcome of a run, with its output and the resources that it used. Pid 1 reports what it knows of it when it ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunOutcome {
    /// The run's end.
    pub ended: ToolOutcome,
    /// Its programs' output, standard error included.
    #[serde(skip)]
    pub output: KeptOutput,
    /// Wall-clock time.
    #[serde(skip)]
    pub duration: Duration,
    /// Processor time of all processes that were waited for.
    pub cpu: Duration,
    /// Most memory of one process.
    pub rss_bytes_max: u64,
}

impl RunOutcome {
    /// Nothing was run.
    #[must_use]
    pub fn not_started(why: impl Into<String>) -> Self {
        Self::without_report(ToolOutcome::NotStarted(why.into()))
    }

    /// An end of which nothing else is known.
    pub(super) fn without_report(ended: ToolOutcome) -> Self {
        Self {
            ended,
            output: KeptOutput::default(),
            duration: Duration::ZERO,
            cpu: Duration::ZERO,
            rss_bytes_max: 0,
        }
    }
}

/// The beginning and the end of a stream of bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptOutput {
    head: Vec<u8>,
    tail: Vec<u8>,
    half: usize,
    /// All bytes, also those that weren't kept.
    pub bytes: u64,
}

impl KeptOutput {
    /// Keeps this many bytes, half from each end.
    #[must_use]
    pub fn with_capacity(bytes: usize) -> Self {
        Self {
            half: bytes / 2,
            ..Self::default()
        }
    }

    /// Takes more of the stream.
    pub fn push(&mut self, more: &[u8]) {
        self.bytes += more.len() as u64;
        debug_assert!(self.head.len() <= self.half, "the beginning has its half");
        let (head, rest) = more.split_at(more.len().min(self.half - self.head.len()));
        self.head.extend_from_slice(head);
        self.tail.extend_from_slice(rest);
        // Cut by the half now and then, not by the byte each time.
        if self.tail.len() > 2 * self.half {
            self.tail.drain(..self.tail.len() - self.half);
        }
    }

    /// The kept bytes as text, with a line for what was left out. The words at the cut are left out too: a piece of a credential
    /// wouldn't be recognised as one.
    #[must_use]
    pub fn kept_text(&self) -> String {
        let mut head = &self.head[..];
        let mut tail = &self.tail[self.tail.len().saturating_sub(self.half)..];
        debug_assert!(
            (head.len() + tail.len()) as u64 <= self.bytes,
            "no more is kept than came"
        );
        if (head.len() + tail.len()) as u64 != self.bytes {
            let cut = head.iter().rposition(u8::is_ascii_whitespace);
            head = &head[..cut.map_or(0, |at| at + 1)];
            let cut = tail.iter().position(u8::is_ascii_whitespace);
            tail = &tail[cut.unwrap_or(tail.len())..];
        }
        let left_out = self.bytes - (head.len() + tail.len()) as u64;
        let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
        match left_out {
            0 => format!("{head}{tail}"),
            bytes => {
                let head = head.strip_suffix('\n').unwrap_or(&head);
                let tail = tail.strip_prefix('\n').unwrap_or(&tail);
                format!("{head}\n[{bytes} bytes left out]\n{tail}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key survived in two pieces, neither of which is recognised.
    #[test]
    fn cut_words() {
        const KEY: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
        let printed = format!("first {KEY} {} {KEY} last", "é".repeat(30));
        for kept in (12..printed.len()).step_by(2) {
            let mut output = KeptOutput::with_capacity(kept);
            output.push(printed.as_bytes());
            let text = output.kept_text();
            let left = text.replace(KEY, "");
            assert!(
                !left.contains("ghp") && !left.contains("89"),
                "{kept}: {text}"
            );
            assert!(
                !left.contains('\u{fffd}') && text.starts_with("first"),
                "{text}"
            );
        }
        let mut one_word = KeptOutput::with_capacity(8);
        one_word.push(KEY.as_bytes());
        assert_eq!(one_word.kept_text(), "\n[40 bytes left out]\n");
    }

    #[test]
    fn output_keeps_both_ends() {
        let check = |kept, pieces: &[&str], expected: &str| {
            let mut output = KeptOutput::with_capacity(kept);
            for piece in pieces {
                output.push(piece.as_bytes());
            }
            assert_eq!(output.kept_text(), expected, "{pieces:?}");
        };
        check(8, &["abc"], "abc");
        check(8, &["abcd", "efgh"], "abcdefgh");
        check(8, &["ab c", "d e", " gh"], "ab \n[4 bytes left out]\n gh");
        check(8, &["ab\ncd ef\ngh"], "ab\n[5 bytes left out]\ngh");
        check(
            8,
            &["a", "bc", " defghijkl", "mn o", "q", "r"],
            "abc \n[11 bytes left out]\n oqr",
        );
        check(0, &["abc"], "\n[3 bytes left out]\n");
    }
}
