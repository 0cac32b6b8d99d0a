//! The text given for a configuration key, and how it is parsed.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// The text given for a key, and what relative paths in it are relative to. Errors are the end of a sentence that says what is
/// allowed.
#[derive(Clone, Copy, Debug)]
pub struct WrittenValue<'a> {
    /// One text, or several for a list.
    pub texts: &'a [String],
    /// The folder that relative paths start from.
    pub base: &'a Path,
    /// The folder that `~/` means, where no shell has replaced it.
    pub home: Option<&'a Path>,
}

impl WrittenValue<'_> {
    /// The one text; the last counts if there are several.
    #[must_use]
    pub fn text(&self) -> &str {
        self.texts.last().map_or("", String::as_str)
    }

    /// A text that isn't empty.
    ///
    /// # Errors
    /// If it is empty.
    pub fn nonempty_text(&self) -> Result<&str, String> {
        match self.text() {
            "" => Err("must not be empty".into()),
            text => Ok(text),
        }
    }

    /// A whole number within bounds.
    ///
    /// # Errors
    /// If it is anything else.
    pub fn number<T>(&self, allowed: RangeInclusive<T>) -> Result<T, String>
    where
        T: FromStr + PartialOrd + std::fmt::Display,
    {
        self.text()
            .replace('_', "")
            .parse()
            .ok()
            .filter(|number| allowed.contains(number))
            .ok_or_else(|| {
                format!(
                    "must be a whole number from {} to {}",
                    allowed.start(),
                    allowed.end()
                )
            })
    }

    /// Whole seconds within bounds.
    ///
    /// # Errors
    /// If it is anything else.
    pub fn seconds(&self, allowed: RangeInclusive<u64>) -> Result<Duration, String> {
        self.number(allowed).map(Duration::from_secs)
    }

    /// Whole milliseconds within bounds.
    ///
    /// # Errors
    /// If it is anything else.
    pub fn milliseconds(&self, allowed: RangeInclusive<u64>) -> Result<Duration, String> {
        self.number(allowed).map(Duration::from_millis)
    }

    /// `true` or `false`.
    ///
    /// # Errors
    /// If it is anything else.
    pub fn boolean(&self) -> Result<bool, String> {
        match self.text() {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err("must be true or false".into()),
        }
    }

    /// One of a few words.
    ///
    /// # Errors
    /// If it is anything else.
    pub fn one_of<T>(&self, words: &[&str], of_word: fn(&str) -> Option<T>) -> Result<T, String> {
        of_word(self.text()).ok_or_else(|| format!("must be one of: {}", words.join(", ")))
    }

    /// A path; a relative one starts where it was written.
    ///
    /// # Errors
    /// If it is empty.
    pub fn path(&self) -> Result<PathBuf, String> {
        let text = self.nonempty_text()?;
        Ok(match (text.strip_prefix("~/"), self.home) {
            (Some(below), Some(home)) => home.join(below),
            _ => self.base.join(text),
        })
    }

    /// Texts of an array, of several flags, or between commas.
    pub fn list(&self) -> impl Iterator<Item = &str> {
        self.texts
            .iter()
            .flat_map(|text| text.split(','))
            .map(str::trim)
            .filter(|text| !text.is_empty())
    }
}
