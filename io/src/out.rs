//! What the command line prints: the only place that writes to standard output.

use std::fmt;
use std::io::{self, Write};
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Standard output that stays quiet once its reader has gone, as in `tslp state | head`.
#[derive(Debug)]
pub struct Out<W = io::StdoutLock<'static>> {
    sink: W,
    reader: Reader,
}

/// Whether anybody still reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
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
            reader: Reader::Present,
        }
    }

    /// Prints one line and flushes it, so that a reader sees it at once.
    ///
    /// # Errors
    /// Any failure but a closed pipe, such as a full disk behind a redirection.
    pub fn line(&mut self, line: impl fmt::Display) -> io::Result<()> {
        self.attempt(|sink| {
            writeln!(sink, "{line}")?;
            sink.flush()
        })
    }

    /// Prints text as it is.
    ///
    /// # Errors
    /// As [`Self::line`].
    pub fn text(&mut self, text: impl fmt::Display) -> io::Result<()> {
        self.attempt(|sink| {
            write!(sink, "{text}")?;
            sink.flush()
        })
    }

    /// Whether anybody still reads; long output may stop early when nobody does.
    #[must_use]
    pub fn reader(&self) -> Reader {
        self.reader
    }

    /// Looks whether the reader has gone, while there is nothing to print.
    ///
    /// # Errors
    /// If the system doesn't say.
    pub fn look_for_reader(&mut self) -> io::Result<Reader>
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
            self.reader = Reader::Gone;
        }
        Ok(self.reader)
    }

    fn attempt(&mut self, write: impl FnOnce(&mut W) -> io::Result<()>) -> io::Result<()> {
        if self.reader == Reader::Gone {
            return Ok(());
        }
        match write(&mut self.sink) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.reader = Reader::Gone;
                Ok(())
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn lines_end_with_a_line_feed() {
        let mut bytes = Vec::new();
        let mut out = Out::new(&mut bytes);
        out.line("one").unwrap();
        out.text("two").unwrap();
        assert_eq!(bytes, b"one\ntwo");
    }

    #[test]
    fn a_closed_pipe_is_no_failure() {
        let mut out = Out::new(Broken(io::ErrorKind::BrokenPipe));
        out.line("one").unwrap();
        out.line("two").unwrap();
        assert_eq!(out.reader(), Reader::Gone);
    }

    #[test]
    fn a_full_disk_is_a_failure() {
        let mut out = Out::new(Broken(io::ErrorKind::StorageFull));
        assert!(out.line("one").is_err());
    }
}
