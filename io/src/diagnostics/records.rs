//! `tslp status notes`, and what is recalled of them by exact words: what is kept for the project, and whether disk bears it out now.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tslp_core::event::{Author, Event, RecordChanged, Recorded};
use tslp_core::ids::{SessionId, UnixMillis};
use tslp_core::path::RelPath;
use tslp_core::record::RecordStanding;
use tslp_projections::records::RecordRow;
use tslp_store::ledger::LedgerError;

use super::DiagnosedSubject;
use super::status::off_rules;
use crate::evidence::moments::utc_moment;

/// Bytes of what is recalled at once.
const RECALLED_BYTES_MAX: usize = 2000;

/// Why a record of a file that is off doesn't hold.
const OFF: &str = "its file is off";

/// A record, and why it doesn't hold now, if so.
#[derive(Clone, Debug)]
pub struct RecordNow {
    said: Recorded,
    why_not: Option<&'static str>,
    /// What the work was for when it was said, if there was a goal.
    pub goal: Option<String>,
}

/// Reads what is kept and what waits, by key.
///
/// # Errors
/// When the ledger can't be read.
pub fn read_records(subject: &DiagnosedSubject) -> Result<Vec<RecordNow>, LedgerError> {
    let reader = subject.readers.open()?;
    let off = off_rules(&reader)?;
    let mut records: Vec<RecordNow> = Vec::new();
    let mut texts = BTreeMap::new();
    for row in reader.rows::<RecordRow>()? {
        let Some(said) = reader.event_at(row.seq) else {
            continue;
        };
        let Event::RecordChanged(RecordChanged {
            path, quotation, ..
        }) = &said.event
        else {
            continue;
        };
        let why_not = if path.is_empty() {
            None
        } else if off.is_off(path) {
            Some(OFF)
        } else {
            let text = texts
                .entry(path.clone())
                .or_insert_with_key(|path| subject.disk_now.text(&RelPath::from_normalised(path)));
            match text.as_deref() {
                None => Some("its file can't be read"),
                Some(text) if !text.contains(quotation) => {
                    Some("the code that it quotes has changed")
                }
                Some(_) => None,
            }
        };
        let goal = match reader.event_at(row.goal).map(|recorded| recorded.event) {
            Some(Event::GoalChanged(goal)) => Some(goal.text),
            _ => None,
        };
        records.push(RecordNow {
            said,
            why_not,
            goal,
        });
    }
    withdraw_derived(&mut records);
    Ok(records)
}

/// What is derived from what doesn't hold doesn't hold.
fn withdraw_derived(records: &mut [RecordNow]) {
    loop {
        let holding = records
            .iter()
            .filter(|it| it.is_kept() && it.why_not.is_none());
        let holding: BTreeSet<String> = holding.map(|it| it.record().key.clone()).collect();
        let lacks = |it: &RecordNow| !it.record().inputs.iter().all(|it| holding.contains(it));
        let mut records = records.iter_mut();
        let Some(record) = records.find(|it| it.why_not.is_none() && lacks(it)) else {
            return;
        };
        record.why_not = Some("what it is derived from no longer holds");
    }
}

/// What of the records is about these exact words: that of a key, or those in which all of the words are; of none all. For a model: nothing of a file
/// that is off.
#[must_use]
pub fn recalled_lines(records: &[RecordNow], about: &str) -> Vec<String> {
    let words_of = |text: &str| -> BTreeSet<String> {
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        let words = words.filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    let words = words_of(about);
    let is_about = |record: &RecordChanged| {
        let own = words_of(&format!("{} {}", record.key, record.statement));
        let mut named = about.split([' ', ',', '#']);
        named.any(|key| key == record.key) || words.is_subset(&own)
    };
    let shown = records.iter().filter(|it| it.why_not != Some(OFF));
    let shown = shown.filter(|it| is_about(it.record()));
    let (mut lines, mut left, mut more) = (Vec::new(), RECALLED_BYTES_MAX, 0);
    for record in shown {
        let line = record.line();
        if line.len() > left {
            more += 1;
        } else {
            left -= line.len();
            lines.push(line);
        }
    }
    match more {
        0 if lines.is_empty() => lines.push("Nothing is kept of that.".into()),
        0 => {}
        more => lines.push(format!("{more} more: ask by a key.")),
    }
    lines
}

impl RecordNow {
    fn record(&self) -> &RecordChanged {
        match &self.said.event {
            Event::RecordChanged(record) => record,
            _ => unreachable!("only events of records are read"),
        }
    }

    /// When it was said, and what.
    #[must_use]
    pub fn said(&self) -> (UnixMillis, &RecordChanged) {
        (self.said.at, self.record())
    }

    /// Whether it holds by a proof or the user's word, and doesn't wait for it.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.record().standing == RecordStanding::Kept
    }

    /// In words.
    #[must_use]
    pub fn line(&self) -> String {
        let record = self.record();
        let mut line = format!("{} #{}: {}", record.kind, record.key, record.statement);
        if !record.path.is_empty() {
            // A quotation may be long.
            let first = record.quotation.lines().next().unwrap_or_default();
            let is_whole = first.len() == record.quotation.len();
            let more = if is_whole { "" } else { " …" };
            line += &format!(" `{first}{more}` [{}]", record.path);
        }
        if !record.inputs.is_empty() {
            line += &format!(" from #{}", record.inputs.join(" #"));
        }
        if record.expires_at != UnixMillis(0) {
            line += &format!(" until {}", utc_moment(record.expires_at.0));
        }
        if let Some(goal) = &self.goal {
            line += &format!(" for the goal \"{goal}\"");
        }
        if record.author != Author::User {
            line += ", noted by a model";
        }
        if !self.is_kept() {
            line += "; waits for the user's word";
        }
        line + &self.doubt()
    }

    /// Why it doesn't hold now, in words that go behind it; empty if it does.
    #[must_use]
    pub fn doubt(&self) -> String {
        let doubt = |why| format!("; does NOT hold now: {why}");
        self.why_not.map_or_else(String::new, doubt)
    }

    /// As JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        let (record, said) = (self.record(), &self.said);
        let is_cited = !record.path.is_empty();
        let ends = record.expires_at != UnixMillis(0);
        json!({
            "at": utc_moment(said.at.0),
            "author": record.author.as_str(),
            "cause": record.cause.code(),
            "expires_at": ends.then(|| utc_moment(record.expires_at.0)),
            "goal": self.goal,
            "grounded": self.why_not.is_none(),
            "inputs": record.inputs,
            "key": record.key,
            "kind": record.kind.as_str(),
            "path": is_cited.then_some(&record.path),
            "quotation": is_cited.then_some(&record.quotation),
            "said_in": (said.session != SessionId(0)).then_some(said.session.0),
            "standing": record.standing.as_str(),
            "statement": record.statement,
            "why_not": self.why_not,
        })
    }
}
