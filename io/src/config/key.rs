//! One configuration key: its names, its kind, and how text becomes a setting and a setting becomes text again.

use super::settings::Settings;
use super::written::WrittenValue;

/// A row of the table of all keys.
#[derive(Clone, Copy)]
pub struct ConfigKey {
    /// Name in the TOML file, with a dot after its table.
    pub name: &'static str,
    /// Name of the flag, without its dashes.
    pub flag: &'static str,
    /// Name of the environment variable.
    pub variable: &'static str,
    /// The kind of its value.
    pub kind: ValueKind,
    /// What it is about; keys of one group follow each other.
    pub group: &'static str,
    /// Unit of the number; empty if there is none.
    pub unit: &'static str,
    /// The computed default, in words; empty if the default is a plain value.
    pub unset: &'static str,
    /// Its purpose, in a sentence.
    pub meaning: &'static str,
    /// Puts what was written into the settings; an error is the end of a sentence that begins with the key.
    pub set: fn(&mut Settings, &WrittenValue<'_>) -> Result<(), String>,
    /// The setting as it would be written; empty if nothing is set.
    pub show: fn(&Settings) -> String,
}

/// The kind of value that a key takes.
#[derive(Clone, Copy)]
pub enum ValueKind {
    /// A text, with its placeholder in the help.
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
    /// A whole number, or a word for a computed one.
    NumberOrWord,
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// Several texts, with their placeholder in the help.
    List(&'static str),
    /// Model servers: several texts, or tables in the file, with their placeholder in the help.
    Servers(&'static str),
}

impl ConfigKey {
    /// The setting as text, with credentials masked.
    #[must_use]
    pub fn masked_text(&self, settings: &Settings) -> String {
        let text = (self.show)(settings);
        match self.kind {
            ValueKind::Secret if !text.is_empty() => "********".into(),
            _ => text,
        }
    }

    /// The default as text: the value, or what it is computed from.
    #[must_use]
    pub fn default_shown(&self) -> String {
        let text = self.masked_text(&Settings::default());
        if text.is_empty() {
            self.unset.into()
        } else {
            text
        }
    }
}

/// The part of a [`ConfigKey`] that follows from the field with its setting.
pub(super) struct SettingAccess {
    pub(super) kind: ValueKind,
    pub(super) unit: &'static str,
    pub(super) set: fn(&mut Settings, &WrittenValue<'_>) -> Result<(), String>,
    pub(super) show: fn(&Settings) -> String,
}

/// `etv.timeout_ms` as a flag: `etv-timeout-ms`.
pub(super) const fn flag_of_name<const N: usize>(name: &str) -> [u8; N] {
    let mut flag = [0; N];
    let mut at = 0;
    while at < N {
        flag[at] = match name.as_bytes()[at] {
            b'.' | b'_' => b'-',
            other => other,
        };
        at += 1;
    }
    flag
}

/// `etv.timeout_ms` as an environment variable: `TSLP_ETV_TIMEOUT_MS`.
pub(super) const fn variable_of_name<const N: usize>(name: &str) -> [u8; N] {
    let mut variable = [0; N];
    let prefix = b"TSLP_";
    let mut at = 0;
    while at < N {
        variable[at] = if at < prefix.len() {
            prefix[at]
        } else {
            match name.as_bytes()[at - prefix.len()] {
                b'.' => b'_',
                other => other.to_ascii_uppercase(),
            }
        };
        at += 1;
    }
    variable
}

/// Bytes of a name as text.
pub(super) const fn name_text(name: &'static [u8]) -> &'static str {
    match str::from_utf8(name) {
        Ok(name) => name,
        Err(_) => panic!("names of keys are ASCII"),
    }
}
