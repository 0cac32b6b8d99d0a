//! The TOML configuration file as keys with their values and lines.

use std::ops::Range;
use std::path::Path;

use serde_json::Value;
use toml::de::{DeTable, DeValue};

use super::error::ConfigError;
use super::table::{ConfigKey, KEYS, key_named, nearest_name};

/// Reads the file's text into keys, their values and their lines, from 1.
///
/// # Errors
/// If it isn't TOML, or has a key that nobody reads.
pub(super) fn parse_file(
    text: &str,
    path: &Path,
) -> Result<Vec<(&'static ConfigKey, Value, usize)>, ConfigError> {
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
        entries: &mut Vec<(&'static ConfigKey, Value, usize)>,
    ) -> Result<(), ConfigError> {
        for (part, value) in table {
            let name = format!("{prefix}{}", part.get_ref());
            let line = self.line_of(Some(part.span()));
            let inside = format!("{name}.");
            match (key_named(&name), value.get_ref()) {
                (Some(key), value) => entries.push((key, json_of(value), line)),
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

    fn line_of(&self, span: Option<Range<usize>>) -> usize {
        let start = span.map_or(0, |span| span.start.min(self.text.len()));
        1 + self.text.as_bytes()[..start]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count()
    }
}

/// A value of the file. Numbers that no setting takes and dates become null, which every key refuses.
fn json_of(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Boolean(switch) => (*switch).into(),
        DeValue::Integer(number) => {
            i64::from_str_radix(number.as_str(), number.radix()).map_or(Value::Null, Value::from)
        }
        DeValue::Array(items) => items.iter().map(|item| json_of(item.get_ref())).collect(),
        DeValue::Table(table) => {
            let fields = table.iter();
            fields
                .map(|(name, value)| (name.get_ref().to_string(), json_of(value.get_ref())))
                .collect()
        }
        DeValue::Float(_) | DeValue::Datetime(_) => Value::Null,
    }
}
