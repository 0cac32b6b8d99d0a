//! The kinds of values that keys take: how a value is read, shown and described.

use std::path::Path;

use serde_json::Value;
use tslp_core::budget::{self, Counter};

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
    /// A whole number: its bounds, and its unit.
    Number(u64, u64, &'static str),
    /// The same, or `auto` for a computed one.
    NumberOrAuto(u64, u64, &'static str),
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// Bounds of what is counted.
    Budget(&'static [Counter]),
    /// Several texts, with their placeholder in the help. In the file servers may be tables.
    List(&'static str),
}

/// What paths are relative to.
#[derive(Clone, Copy)]
pub struct PathBase<'a> {
    /// The folder that relative paths start from.
    pub folder: &'a Path,
    /// The folder that `~/` means, where no shell has replaced it.
    pub home: Option<&'a Path>,
}

impl ValueKind {
    /// The value that was written, as the settings take it. Texts may stand for numbers, switches and lists.
    ///
    /// # Errors
    /// If it can't be of this kind; the text says what is allowed, as the end of a sentence.
    pub fn read(self, written: Value, base: PathBase<'_>) -> Result<Value, String> {
        let text = written.as_str();
        let whole = || match text {
            Some(text) => text.replace('_', "").parse().ok(),
            None => written.as_u64(),
        };
        let number = |from, to| {
            let number = whole().filter(|number| (from..=to).contains(number));
            number.ok_or_else(|| format!("must be a whole number from {from} to {to}"))
        };
        Ok(match (self, text) {
            (Self::Switch, Some("true" | "1")) => true.into(),
            (Self::Switch, Some("false" | "0")) => false.into(),
            (Self::Switch, _) if !written.is_boolean() => {
                return Err("must be true or false".into());
            }
            (Self::Number(from, to, _), _) => number(from, to)?.into(),
            (Self::NumberOrAuto(from, to, _), text) if text != Some("auto") => number(from, to)
                .map_err(|problem| format!("{problem}, or auto"))?
                .into(),
            (Self::List(_), Some(text)) => {
                let items = text.split(',').map(str::trim).filter(|it| !it.is_empty());
                items.collect()
            }
            (Self::Switch | Self::NumberOrAuto(..), _) => written,
            (Self::List(form), None) => match written.as_array() {
                Some(items) if items.iter().all(|it| it.is_string() || it.is_object()) => written,
                _ => return Err(format!("must be an array of texts in quotes, each {form}")),
            },
            (_, None) => return Err("must be a text in quotes".into()),
            (Self::Folder | Self::File, Some("")) => return Err("must not be empty".into()),
            (Self::Folder | Self::File, Some(text)) => {
                let path = match (text.strip_prefix("~/"), base.home) {
                    (Some(below), Some(home)) => home.join(below),
                    _ => base.folder.join(text),
                };
                path.to_str().ok_or("must be a path in UTF-8")?.into()
            }
            (Self::Choice(words), Some(text)) if !words.contains(&text) => {
                return Err(format!("must be one of: {}", words.join(", ")));
            }
            (Self::Budget(countable), Some(text)) => {
                let budget: budget::Budget = text.parse()?;
                let mut limits = budget.limits().iter();
                match limits.find(|(counter, _)| !countable.contains(counter)) {
                    Some((counter, _)) => {
                        return Err(format!("`{counter}` can't be counted there"));
                    }
                    None => written,
                }
            }
            (Self::Text(_) | Self::Secret | Self::Choice(_), Some(_)) => written,
        })
    }

    /// A value as it is shown: as it would be written, but for credentials. Empty if nothing is set.
    #[must_use]
    pub fn shown(self, value: &Value) -> String {
        match value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            Value::Array(items) => {
                let texts = items.iter().map(|item| self.shown(item));
                texts.collect::<Vec<_>>().join(", ")
            }
            other => other.to_string(),
        }
    }

    /// The form of what is written.
    #[must_use]
    pub fn form(self) -> String {
        match self {
            Self::Choice(words) => format!("one of {}", words.join(", ")),
            Self::Switch => "true or false".into(),
            Self::Text(form) | Self::List(form) => form.into(),
            Self::Secret => "a secret".into(),
            Self::Folder => "a folder".into(),
            Self::File => "a file".into(),
            Self::Budget(_) => "BUDGET".into(),
            Self::Number(from, to, unit) => format!("{unit}, from {from} to {to}"),
            Self::NumberOrAuto(from, to, unit) => format!("{unit}, from {from} to {to}, or auto"),
        }
    }

    /// The number's unit; empty if there is none.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Number(.., unit) | Self::NumberOrAuto(.., unit) => unit,
            _ => "",
        }
    }
}
