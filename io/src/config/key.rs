//! One configuration key: its names, its kind, and how text becomes a setting and a setting becomes text again.

use std::time::Duration;

use super::settings::Settings;
use super::written::Written;

/// A row of the table of all keys.
#[derive(Clone, Copy)]
pub struct Key {
    /// Name in the TOML file; a dot stands for a table.
    pub name: &'static str,
    /// Name of the flag, without its dashes.
    pub flag: &'static str,
    /// Name of the environment variable.
    pub variable: &'static str,
    /// What may be written.
    pub kind: Kind,
    /// Which commands take the flag.
    pub audience: Audience,
    /// Unit of the number; empty if there is none.
    pub unit: &'static str,
    /// What applies when nothing is set and the default is computed; empty if the default is a plain value.
    pub unset: &'static str,
    /// What it is for, in a sentence.
    pub meaning: &'static str,
    /// Puts what was written into the settings; an error is the end of a sentence that begins with the key.
    pub set: fn(&mut Settings, &Written<'_>) -> Result<(), String>,
    /// The setting as it would be written; empty if nothing is set.
    pub show: fn(&Settings) -> String,
}

/// What may be written for a key.
#[derive(Clone, Copy)]
pub enum Kind {
    /// A text; the word stands for it in the help.
    Text(&'static str),
    /// A credential: never shown.
    Secret,
    /// A folder.
    Folder,
    /// A file.
    File,
    /// `true` or `false`; the flag alone means `true`.
    Switch,
    /// A whole number.
    Number,
    /// A whole number, or a word that stands for a computed one.
    NumberOrWord,
    /// One of a few words.
    Choice(fn() -> Vec<&'static str>),
    /// Several texts; the word stands for each in the help.
    List(&'static str),
    /// Model servers: several texts, or tables in the file; the word stands for each in the help.
    Servers(&'static str),
}

/// Which commands take a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Every command that works on a workspace; shown in the short help.
    Common,
    /// The same commands; shown in the long help only.
    Tuning,
    /// These and the commands that need no workspace.
    Everyone,
}

impl Key {
    /// The setting for a person's eyes: credentials masked.
    #[must_use]
    pub fn shown(&self, settings: &Settings) -> String {
        let text = (self.show)(settings);
        match self.kind {
            Kind::Secret if !text.is_empty() => "********".into(),
            _ => text,
        }
    }

    /// The default for a person's eyes: the value, or what it is computed from.
    #[must_use]
    pub fn default_shown(&self) -> String {
        let text = self.shown(&Settings::default());
        if text.is_empty() {
            self.unset.into()
        } else {
            text
        }
    }
}

/// Seconds as a setting is written.
#[must_use]
pub fn seconds(duration: Duration) -> String {
    duration.as_secs().to_string()
}
