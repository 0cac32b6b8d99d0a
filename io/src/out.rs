//! What the command line prints: the only place that writes to standard output.
//!
//! What is printed may come from a client, a model or a file name. So nothing that a terminal would obey reaches it, and
//! nothing from outside begins a line of its own.

use std::fmt;
use std::io::{self, Write};
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

pub use tslp_core::visible::{visible_json, visible_text};

/// Standard output that stays quiet once its reader has gone, as in `tslp state | head`.
#[derive(Debug)]
pub struct Out<W = io::StdoutLock<'static>> {
    sink: W,
    reader: OutputReader,
}

/// Whether anybody still reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputReader {
    /// As far as we know.
    Present,
    /// The pipe is closed: what is printed from now on is dropped.
    Gone,
}

impl Out {
    /// Locks standard output for this thread.
    #[must_use]
    pub fn stdout() -> Self {
        Self::new(io::stdout().lock())
    }
}

impl<W> Out<W> {
    /// What was printed into, for output in bulk; a closed pipe is an error there.
    pub fn into_sink(self) -> W {
        self.sink
    }
}

impl<W: Write> Out<W> {
    /// Prints into `sink`.
    pub fn new(sink: W) -> Self {
        Self {
            sink,
            reader: OutputReader::Present,
        }
    }

    /// Prints one line, made [`visible_text`], and flushes it, so that a reader sees it at once.
    ///
    /// # Errors
    /// Any failure but a closed pipe, such as a full disk after a redirection.
    pub fn line(&mut self, line: impl fmt::Display) -> io::Result<()> {
        let line = visible_text(&line.to_string());
        self.verbatim(format_args!("{line}\n"))
    }

    /// Prints lines, each as [`Self::line`] does.
    ///
    /// # Errors
    /// As [`Self::line`].
    pub fn lines(&mut self, lines: impl IntoIterator<Item = String>) -> io::Result<()> {
        lines.into_iter().try_for_each(|line| self.line(line))
    }

    /// Prints JSON, as [`visible_json`] has it, and ends the line.
    ///
    /// # Errors
    /// As [`Self::line`].
    pub fn json(&mut self, json: &str) -> io::Result<()> {
        self.verbatim(format_args!("{}\n", visible_json(json)))
    }

    /// Prints text as it is, which a caller must have a reason for.
    ///
    /// # Errors
    /// As [`Self::line`].
    pub fn verbatim(&mut self, text: impl fmt::Display) -> io::Result<()> {
        self.write_if_read(|sink| {
            write!(sink, "{text}")?;
            sink.flush()
        })
    }

    /// Whether anybody still reads; long output may stop early when nobody does.
    #[must_use]
    pub fn reader_state(&self) -> OutputReader {
        self.reader
    }

    /// Looks whether the reader has gone, while there is nothing to print.
    ///
    /// # Errors
    /// If the system doesn't say.
    pub fn look_for_reader(&mut self) -> io::Result<OutputReader>
    where
        W: AsFd,
    {
        let mut watched = [PollFd::new(&self.sink, PollFlags::empty())];
        let at_once = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        poll(&mut watched, Some(&at_once))?;
        if watched[0]
            .revents()
            .intersects(PollFlags::ERR | PollFlags::HUP)
        {
            self.reader = OutputReader::Gone;
        }
        Ok(self.reader)
    }

    fn write_if_read(&mut self, write: impl FnOnce(&mut W) -> io::Result<()>) -> io::Result<()> {
        // As in `tslp log | head`: who has read enough made no mistake.
        if self.reader == OutputReader::Gone {
            return Ok(());
        }
        match write(&mut self.sink) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.reader = OutputReader::Gone;
                Ok(())
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_for_terminals() {
        let shown = |print: fn(&mut Out<&mut Vec<u8>>, &str), text: &str| {
            let mut bytes = Vec::new();
            print(&mut Out::new(&mut bytes), text);
            String::from_utf8(bytes).unwrap()
        };
        let line = |text: &str| shown(|out, text| out.line(text).unwrap(), text);
        assert_eq!(
            line("a\u{1b}[2Jb\nepisode 9\rc\u{202e}d"),
            "a\\u{1b}[2Jb\\nepisode 9\\rc\\u{202e}d\n"
        );
        assert_eq!(line("größe → ok\tyes"), "größe → ok\tyes\n");
        let json = |text: &str| shown(|out, text| out.json(text).unwrap(), text);
        let hostile = "\u{9b}2J\u{7f}\u{202e}\u{e0041}\n";
        let printed = json(&serde_json::json!({ "model": hostile }).to_string());
        assert!(
            printed
                .trim_end()
                .bytes()
                .all(|byte| (0x20..0x7f).contains(&byte)),
            "{printed}"
        );
        let read: serde_json::Value = serde_json::from_str(&printed).unwrap();
        assert_eq!(read["model"], hostile);
    }

    /// Fails every write in the same way.
    struct Broken(io::ErrorKind);

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn line_feeds() {
        let mut bytes = Vec::new();
        let mut out = Out::new(&mut bytes);
        out.line("one").unwrap();
        out.verbatim("two").unwrap();
        assert_eq!(bytes, b"one\ntwo");
    }

    #[test]
    fn closed_pipe() {
        let mut out = Out::new(Broken(io::ErrorKind::BrokenPipe));
        out.line("one").unwrap();
        out.line("two").unwrap();
        assert_eq!(out.reader_state(), OutputReader::Gone);
    }

    #[test]
    fn full_disk() {
        let mut out = Out::new(Broken(io::ErrorKind::StorageFull));
        assert!(out.line("one").is_err());
    }
}
