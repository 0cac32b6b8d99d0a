//! The log: to standard error, filtered by target and level.

use std::io::{self, Write};

use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};
use tracing_subscriber::{Layer, fmt, registry};

use crate::out::visible_text;

/// The words for levels, quietest first.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Checks a level, or levels by target: `info`, `info,tslp_io::main_loop=debug`.
///
/// # Errors
/// The allowed values, as a sentence's end.
pub fn check_level(text: &str) -> Result<String, String> {
    let is_level = |word: &str| LEVELS.iter().any(|level| word.eq_ignore_ascii_case(level));
    let is_directive = |part: &str| match part.split_once('=') {
        None => is_level(part),
        Some((target, word)) => is_target(target) && is_level(word),
    };
    if text.split(',').all(is_directive) {
        Ok(text.to_ascii_lowercase())
    } else {
        Err(format!(
            "must be one of {}, or levels by target such as info,tslp_io::main_loop=debug",
            LEVELS.join(", ")
        ))
    }
}

/// For whom the log's lines are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogReader {
    /// Whoever uses tslp: what happened, in words.
    User,
    /// Whoever asked for the log: also when, where in the program, and how grave it is.
    Developer,
}

/// Starts logging for the whole process.
///
/// # Errors
/// If something in this process has started it before.
pub fn start_logging(level: &str, reader: LogReader) -> Result<(), TryInitError> {
    let lines = fmt::layer().with_ansi(false);
    let lines = match reader {
        LogReader::User => lines
            .with_writer(|| VisibleLog("tslp: ", io::stderr()))
            .without_time()
            .with_target(false)
            .with_level(false)
            .boxed(),
        LogReader::Developer => lines.with_writer(|| VisibleLog("", io::stderr())).boxed(),
    };
    registry()
        .with(lines.with_filter(target_filter(level)))
        .try_init()
}

/// Writes lines, each after the same words, with nothing in them that a terminal would obey: what is logged may come from outside.
struct VisibleLog<W>(&'static str, W);

impl<W: Write> Write for VisibleLog<W> {
    /// Takes whole lines, as the formatter hands them over.
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(lines);
        let mut shown = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            let (body, end) = line
                .strip_suffix('\n')
                .map_or((line, ""), |body| (body, "\n"));
            shown.push_str(self.0);
            shown.push_str(&visible_text(body));
            shown.push_str(end);
        }
        self.1.write_all(shown.as_bytes())?;
        Ok(lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.1.flush()
    }
}

/// The filter of a level that [`check_level`] has accepted; of any other, nothing but errors passes.
fn target_filter(level: &str) -> Targets {
    level
        .parse()
        .unwrap_or_else(|_| Targets::new().with_default(tracing::Level::ERROR))
}

fn is_target(target: &str) -> bool {
    !target.is_empty()
        && target
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, accepted: bool) {
        let read = check_level(text);
        assert_eq!(read.is_ok(), accepted, "{text}: {read:?}");
        if let Ok(read) = read {
            read.parse::<Targets>().unwrap();
        }
    }

    #[test]
    fn valid_filters() {
        check("info", true);
        check("OFF", true);
        check("warn,tslp_io::main_loop=debug,rustls=off", true);
    }

    #[test]
    fn invalid_filters() {
        check("verbose", false);
        check("", false);
        check("info,,debug", false);
        check("tslp_io=loud", false);
        check("a b=info", false);
    }

    #[test]
    fn escaped_for_terminals() {
        let mut log = VisibleLog("tslp: ", Vec::new());
        log.write_all("to http://a\u{202e}b\u{9b}2J\n".as_bytes())
            .unwrap();
        assert_eq!(log.1, b"tslp: to http://a\\u{202e}b\\u{9b}2J\n");
    }

    #[test]
    fn filter_by_target() {
        let filter = target_filter("warn,tslp_io::main_loop=debug");
        assert!(filter.would_enable("tslp_io::main_loop::parse", &tracing::Level::DEBUG));
        assert!(!filter.would_enable("tslp_io::serve", &tracing::Level::INFO));
    }
}
