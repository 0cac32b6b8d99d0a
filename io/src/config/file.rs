//! Reads the TOML configuration file into keys and texts.

use std::ops::Range;
use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::error::ConfigError;
use super::key::{ConfigKey, ValueKind};
use super::table::{KEYS, key_named, nearest_name};
use super::upstream::{BEFORE_URL, BETWEEN_MODELS};

pub(super) struct FileEntry {
    pub(super) key: &'static ConfigKey,
    /// Its value as text; several for an array.
    pub(super) texts: Vec<String>,
    /// Line from 1.
    pub(super) line: usize,
}

/// Reads the file's text.
///
/// # Errors
/// If it isn't TOML, has a key that nobody reads, or a value of the wrong type.
pub(super) fn parse_file(text: &str, path: &Path) -> Result<Vec<FileEntry>, ConfigError> {
    let file = FileText { text, path };
    let table = DeTable::parse(text).map_err(|error| ConfigError::FileMalformed {
        path: path.to_owned(),
        line: file.line_of(error.span()),
        problem: error.message().to_owned(),
    })?;
    let mut entries = Vec::new();
    file.collect_entries(table.get_ref(), "", &mut entries)?;
    Ok(entries)
}

struct FileText<'a> {
    text: &'a str,
    path: &'a Path,
}

impl FileText<'_> {
    fn collect_entries(
        &self,
        table: &DeTable<'_>,
        prefix: &str,
        entries: &mut Vec<FileEntry>,
    ) -> Result<(), ConfigError> {
        for (part, value) in table {
            let name = format!("{prefix}{}", part.get_ref());
            let line = self.line_of(Some(part.span()));
            let inside = format!("{name}.");
            match (key_named(&name), value.get_ref()) {
                (Some(key), value) => entries.push(FileEntry {
                    key,
                    texts: self.texts_of(key, value, line)?,
                    line,
                }),
                (None, DeValue::Table(table))
                    if KEYS.iter().any(|key| key.name.starts_with(&inside)) =>
                {
                    self.collect_entries(table, &inside, entries)?;
                }
                (None, _) => {
                    return Err(ConfigError::UnknownKey {
                        path: self.path.to_owned(),
                        line,
                        nearest: nearest_name(&name, KEYS.iter().map(|key| key.name)),
                        name,
                    });
                }
            }
        }
        Ok(())
    }

    fn texts_of(
        &self,
        key: &'static ConfigKey,
        value: &DeValue<'_>,
        line: usize,
    ) -> Result<Vec<String>, ConfigError> {
        let one = |text: &str| Some(vec![text.to_owned()]);
        let texts = match (key.kind, value) {
            (ValueKind::Switch, DeValue::Boolean(switch)) => one(&switch.to_string()),
            (ValueKind::Number | ValueKind::NumberOrWord, DeValue::Integer(number)) => {
                i128::from_str_radix(number.as_str(), number.radix())
                    .ok()
                    .and_then(|number| one(&number.to_string()))
            }
            (ValueKind::Switch | ValueKind::Number, _) => None,
            (ValueKind::List(_), DeValue::Array(items)) => items
                .iter()
                .map(|item| item.get_ref().as_str().map(str::to_owned))
                .collect(),
            (ValueKind::Servers(_), DeValue::Array(items)) => items
                .iter()
                .map(|item| match item.get_ref() {
                    DeValue::Table(server) => server_text(server),
                    other => other.as_str().map(str::to_owned),
                })
                .collect(),
            (_, DeValue::String(text)) => one(text),
            _ => None,
        };
        texts.ok_or_else(|| ConfigError::WrongValue {
            name: key.name,
            place: format!("{}:{line}", self.path.display()),
            problem: format!("must be {}", type_wanted(key.kind)),
            written: None,
        })
    }

    fn line_of(&self, span: Option<Range<usize>>) -> usize {
        let start = span.map_or(0, |span| span.start.min(self.text.len()));
        1 + self.text.as_bytes()[..start]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count()
    }
}

/// A server of the file, with `url` and at will `models`, as it is written elsewhere; nothing if it has anything else.
fn server_text(table: &DeTable<'_>) -> Option<String> {
    let (mut url, mut models) = (None, None);
    for (name, value) in table {
        match (name.get_ref().as_ref(), value.get_ref()) {
            ("url", DeValue::String(text)) => url = Some(text),
            ("models", DeValue::Array(patterns)) => {
                let patterns = patterns.iter().map(|pattern| pattern.get_ref().as_str());
                let patterns: Option<Vec<&str>> = patterns.collect();
                models = Some(patterns?.join(&BETWEEN_MODELS.to_string()));
            }
            _ => return None,
        }
    }
    let url = url?;
    Some(models.map_or_else(
        || url.to_string(),
        |models| format!("{models}{BEFORE_URL}{url}"),
    ))
}

fn type_wanted(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Switch => "true or false, without quotes",
        ValueKind::Number => "a whole number, without quotes",
        ValueKind::NumberOrWord => "a whole number, or a word in quotes",
        ValueKind::List(_) => "an array of texts in quotes",
        ValueKind::Servers(_) => {
            "a text in quotes, or tables `[[upstream]]` with `url = \"…\"` and, for some models, `models = [\"…\"]`"
        }
        ValueKind::Text(_)
        | ValueKind::Secret
        | ValueKind::Folder
        | ValueKind::File
        | ValueKind::Choice(_) => "a text in quotes",
    }
}
