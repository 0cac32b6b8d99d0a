//! A difference as text and JSON: the recorded decision, today's, the fields in which they differ, and the causes.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Value, json};
use tslp_core::event::{Content, Event};
use tslp_replay::trace::{Difference, DifferenceCause};
use tslp_store::evidence::line::event_fields;

use super::DeepReport;
use crate::evidence::log;

/// Inputs that aren't on record, so that deep verification takes what was decided from them as recorded.
pub const NOT_DERIVED: [&str; 10] = [
    "which conversation a prompt belongs to: older messages that the ledger holds aren't recorded again",
    "which known code stood in the client's own messages, and so wasn't shown twice",
    "which STALE code the model itself wrote in the client's own messages, so that it needs no notice",
    "which code that a reply replaces the model had seen in the messages that went to it, or written itself",
    "where a cleared conversation begins, which follows from its older messages",
    "the token budget, which follows from the model's context size at the time",
    "the workspace's path",
    "what disk held: a look is an observation, and one that found nothing new isn't recorded",
    "what an accepted or adopted file held where nothing of it was taken",
    "how a tool's command line was split, where links led and what the kernel enforced when it was asked for",
];

/// Fields that a difference names; further ones are only counted.
const FIELDS_MAX: usize = 12;

/// Differences that people are shown; the JSON has all that are listed.
const SHOWN_MAX: usize = 50;

/// A difference, ready to be printed.
#[derive(Debug)]
pub struct ListedDifference {
    json: Value,
    text: String,
    /// Its size as JSON.
    pub bytes: usize,
}

impl ListedDifference {
    /// Renders a difference.
    #[must_use]
    pub fn of(difference: &Difference) -> Self {
        let Difference {
            seq,
            recorded,
            today,
            causes,
        } = difference;
        let one = recorded.as_ref().or(today.as_ref());
        let fields = differing_fields(recorded.as_ref(), today.as_ref());
        let mut text = format!("#{} {}", seq.0, one.map_or("", Event::name));
        let _ = write!(text, "\n    on record  {}", event_text(recorded.as_ref()));
        let _ = write!(text, "\n    today      {}", event_text(today.as_ref()));
        for field in fields.iter().take(FIELDS_MAX) {
            let _ = write!(
                text,
                "\n    differs    {}: {} on record, {} today",
                field.name, field.then, field.now
            );
        }
        if fields.len() > FIELDS_MAX {
            let _ = write!(
                text,
                "\n    differs    in {} fields more",
                fields.len() - FIELDS_MAX
            );
        }
        let why: Vec<String> = causes.iter().map(cause_text).collect();
        let why = if why.is_empty() {
            "nothing on record explains it".to_owned()
        } else {
            why.join(", ")
        };
        let _ = write!(text, "\n    because    {why}");
        let mut entities = Vec::new();
        if let Some(event) = one {
            event.visit_entities(&mut |entity| entities.push(entity.to_string()));
        }
        entities.truncate(FIELDS_MAX);
        let json = json!({
            "seq": seq.0,
            "kind": one.map(Event::name),
            "entities": entities,
            "recorded": recorded.as_ref().map(event_json),
            "today": today.as_ref().map(event_json),
            "fields": fields.iter().map(FieldDifference::json).collect::<Vec<_>>(),
            "causes": causes.iter().map(cause_json).collect::<Vec<_>>(),
            "explained": difference.is_explained(),
        });
        Self {
            bytes: json.to_string().len(),
            json,
            text,
        }
    }
}

impl DeepReport {
    /// The JSON page's part about decisions.
    #[must_use]
    pub fn json(&self) -> Value {
        let listed: Vec<&Value> = self.listed.iter().map(|listed| &listed.json).collect();
        json!({
            "decisions": self.decisions,
            "until": self.until,
            "unexplained": self.unexplained,
            "explained": self.explained,
            "differences": listed,
            "unlisted": self.unlisted,
            "not_derived": NOT_DERIVED,
        })
    }

    /// The list, for people.
    #[must_use]
    pub fn text_lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = self
            .listed
            .iter()
            .take(SHOWN_MAX)
            .map(|listed| listed.text.clone())
            .collect();
        let unshown = self.difference_count() - lines.len() as u64;
        if unshown > 0 {
            lines.push(format!("and {unshown} differences more; --json lists them"));
        }
        lines.push("taken as it is on record, since nothing that it follows from is there:".into());
        lines.extend(NOT_DERIVED.iter().map(|what| format!("  {what}")));
        lines
    }
}

/// A cause, for people.
#[must_use]
pub(super) fn cause_text(cause: &DifferenceCause) -> String {
    match cause {
        DifferenceCause::Grammar {
            language,
            then,
            now,
        } => format!("grammar {language}: {then} then, {now} now"),
        DifferenceCause::Setting { name, then, now } => {
            format!("setting {name}: {then} then, {now} now")
        }
        DifferenceCause::Rules { then, now } => format!("rules: version {then} then, {now} now"),
        DifferenceCause::CutShort => "the ledger's end: its last step isn't whole".into(),
    }
}

fn cause_json(cause: &DifferenceCause) -> Value {
    match cause {
        DifferenceCause::Grammar {
            language,
            then,
            now,
        } => json!({ "cause": "grammar", "language": language, "then": then, "now": now }),
        DifferenceCause::Setting { name, then, now } => {
            json!({ "cause": "setting", "name": name, "then": then, "now": now })
        }
        DifferenceCause::Rules { then, now } => {
            json!({ "cause": "rules", "then": then, "now": now })
        }
        DifferenceCause::CutShort => json!({ "cause": "cut_short" }),
    }
}

fn event_text(event: Option<&Event>) -> String {
    event.map_or_else(
        || "nothing".to_owned(),
        |event| format!("{}: {}", event.name(), log::sentence(event)),
    )
}

/// The event's fields, without the bytes of content.
fn event_json(event: &Event) -> Value {
    let mut value = match event {
        Event::Content(content) => event_fields(&Event::Content(Content {
            bytes: Arc::default(),
            ..content.clone()
        })),
        event => event_fields(event),
    };
    value["event"] = event.name().into();
    value
}

/// A field whose recorded value differs from today's.
struct FieldDifference {
    name: String,
    then: Value,
    now: Value,
}

impl FieldDifference {
    fn json(&self) -> Value {
        json!({ "field": self.name, "recorded": self.then, "today": self.now })
    }
}

/// The fields in which two events of one kind differ.
fn differing_fields(recorded: Option<&Event>, today: Option<&Event>) -> Vec<FieldDifference> {
    let mut fields = Vec::new();
    if let (Some(recorded), Some(today)) = (recorded, today)
        && recorded.name() == today.name()
    {
        compare_values(
            String::new(),
            &event_json(recorded),
            &event_json(today),
            &mut fields,
        );
    }
    fields
}

fn compare_values(name: String, then: &Value, now: &Value, fields: &mut Vec<FieldDifference>) {
    match (then, now) {
        (then, now) if then == now => {}
        (Value::Object(then), Value::Object(now)) => {
            for (key, then) in then {
                let inner = if name.is_empty() {
                    key.clone()
                } else {
                    format!("{name}.{key}")
                };
                compare_values(inner, then, now.get(key).unwrap_or(&Value::Null), fields);
            }
        }
        (Value::Array(then), Value::Array(now)) if then.len() == now.len() => {
            for (at, (then, now)) in then.iter().zip(now).enumerate() {
                compare_values(format!("{name}[{at}]"), then, now, fields);
            }
        }
        (then, now) => fields.push(FieldDifference {
            name,
            then: then.clone(),
            now: now.clone(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documented_inputs() {
        let page = include_str!("../../../docs/storage.md");
        for input in NOT_DERIVED {
            let row = format!("\n* {input}\n");
            assert!(page.contains(&row), "docs/storage.md lacks: {input}");
        }
    }
}
