//! `/state`: everything that is true, and what disk says of it; no history, and nothing inferred (spec §14.3, §15.7).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use comfy_table::{Table, presets};
use serde_json::{Value, json};
use tslp_core::entity::{EntityId, Symbol};
use tslp_core::event::{Event, EventKind};
use tslp_core::ids::{EpisodeId, Seq, UnixMillis, VersionId};
use tslp_core::path::RelPath;
use tslp_core::record::RecordStanding;
use tslp_projections::audits::AuditRow;
use tslp_projections::disk::DiskRow;
use tslp_projections::file_code::TrueEntity;
use tslp_projections::stale::{DiskDifference, StaleRow};
use tslp_projections::state::State;
use tslp_store::ledger::{LedgerError, LedgerReader};
use tslp_store::startup::StartError;

use crate::out::visible_text;

use super::DiagnosedSubject;
use super::disk_now::DiskChanges;
use super::vouched::{self, VouchedPage};
use crate::channel::StateQuery;
use crate::cli::Moment;
use crate::evidence::moments::utc_moment;

/// One entity of the State Map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityState {
    /// Its authoritative version.
    pub row: TrueEntity,
    /// What disk holds: `same`, `missing`, `acknowledged` (something else, which the user knew of), `not_saved` (what the model's
    /// accepted change replaces), `refused` (the model's refused change), `superseded`, `unknown`, `unreadable`, or `not_checked`.
    pub disk: &'static str,
    /// When a look last found something else at the path than the look before; looks that find the same leave no record.
    /// What `disk` says was so then, and may have changed since the last look. `None` on a page that looked itself and found
    /// something else: that is recorded with the next prompt.
    pub looked_at: Option<String>,
    /// Whether a shadow audit doubts that it is complete (spec §10).
    pub contested: bool,
}

impl EntityState {
    /// Whether the entity is STALE (spec §15.4). A file that can't be read is withheld, too, but not known to differ.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        Self::is_stale_word(self.disk)
    }

    /// Whether what disk holds makes an entity STALE.
    pub(crate) fn is_stale_word(disk: &str) -> bool {
        matches!(disk, "superseded" | "unknown" | "refused")
    }

    /// `path::symbol`, or the path.
    #[must_use]
    pub fn name(&self) -> String {
        self.row.entity.to_string()
    }

    /// The page's object.
    #[must_use]
    pub fn json_object(&self) -> Value {
        let mut value = json!({
            "artifact": self.row.slice.to_string(),
            "disk": self.disk,
            "last_updated": utc_moment(self.row.updated_at_ms.0),
            "looked_at": self.looked_at,
            "origin": self.row.origin.as_str(),
            "source": self.row.artifact.to_string(),
            "stale": self.is_stale(),
        });
        if self.contested {
            value["contested"] = true.into();
        }
        value
    }

    /// What disk holds, in words, with the moment of which it is said.
    #[must_use]
    pub fn disk_as_of(&self) -> String {
        let word = match self.disk {
            "refused" => "STALE (the model's refused change)".into(),
            stale if self.is_stale() => format!("STALE ({stale})"),
            "not_saved" => "not saved yet".into(),
            word => word.to_owned(),
        };
        match &self.looked_at {
            Some(moment) => format!("{word} as of {moment}"),
            None => word,
        }
    }
}

/// Entities of one page, which says where to go on.
pub const PAGE_ENTITIES_MAX: usize = 2000;

/// Names that are looked through for one page that shows only some: whoever asks for the next one goes on, and other pages have their
/// turn meanwhile.
const NAMES_LOOKED_AT_MAX: usize = 50_000;

/// The moment whose disk contents a page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsOf {
    /// The last look on record.
    Recorded,
    /// Now: the page's files are looked at, and nothing is recorded.
    Now,
}

/// A part of the State Map.
#[derive(Debug, Default)]
pub struct StatePage {
    /// In the order of path and symbol.
    pub entities: Vec<EntityState>,
    /// The last of them, if there are more.
    pub next: Option<String>,
}

/// Reads a page by index: only what it shows is read, and only the files that it names are looked at. It ends at
/// [`PAGE_ENTITIES_MAX`], the wanted limit, or after so many names that aren't wanted. `None` if what it is to come after isn't there.
///
/// # Errors
/// When the ledger can't be read.
pub fn state_page(
    subject: &DiagnosedSubject,
    wanted: &StateQuery,
    as_of: AsOf,
) -> Result<Option<VouchedPage<StatePage>>, StartError> {
    let reader = subject.readers.open()?;
    let mut flaw = vouched::flaw_of_tables(subject, &reader)?;
    let after = match &wanted.after {
        None => None,
        Some(name) => match reader.true_entity_named(name)? {
            Some(entity) if entity.path.as_str().starts_with(&*wanted.path) => Some(entity),
            _ => return Ok(None),
        },
    };
    let limit = wanted
        .limit
        .map_or(PAGE_ENTITIES_MAX, |limit| limit.min(PAGE_ENTITIES_MAX));
    let mut names = NamesFound::new(wanted, after.as_ref(), limit);
    let first = match &after {
        Some(entity) => (entity.path.as_str(), symbol_of(entity)),
        None => (&*wanted.path, ""),
    };
    reader.visit_true_names(first, &mut |path, symbol| names.look(path, symbol))?;
    let mut shown: Vec<TrueEntity> = Vec::new();
    for found in names.found.chunk_by(|one, other| one.path == other.path) {
        let mut truths = reader.true_entities_in(&found[0].path)?;
        truths.retain(|truth| found.contains(&truth.entity));
        shown.extend(truths);
    }
    flaw = flaw.or_else(|| {
        let mut rows = shown.iter();
        rows.find_map(|row| vouched::flaw_of_row(&reader, row))
    });
    let next = names.has_more.then(|| names.last.to_string());
    let entities = described(subject, &reader, shown, as_of)?;
    Ok(Some(VouchedPage {
        page: StatePage { entities, next },
        flaw,
    }))
}

/// The names of a page, as they are looked through.
struct NamesFound<'q> {
    wanted: &'q StateQuery,
    after: Option<&'q EntityId>,
    limit: usize,
    found: Vec<EntityId>,
    /// How many were looked at, and the last of them.
    looked_at: usize,
    last: EntityId,
    /// Whether there are others after it.
    has_more: bool,
    name: String,
}

impl<'q> NamesFound<'q> {
    fn new(wanted: &'q StateQuery, after: Option<&'q EntityId>, limit: usize) -> Self {
        Self {
            wanted,
            after,
            limit,
            found: Vec::new(),
            looked_at: 0,
            last: EntityId::file(RelPath::from_normalised("")),
            has_more: false,
            name: String::new(),
        }
    }

    fn look(&mut self, path: &str, symbol: &str) -> ControlFlow<()> {
        // A path that begins otherwise comes after all that begin so.
        if !path.starts_with(&*self.wanted.path) {
            return ControlFlow::Break(());
        }
        let is_after = |after: &EntityId| (path, symbol) != (after.path.as_str(), symbol_of(after));
        if !self.after.is_none_or(is_after) {
            return ControlFlow::Continue(());
        }
        self.has_more = self.found.len() == self.limit || self.looked_at == NAMES_LOOKED_AT_MAX;
        if self.has_more {
            return ControlFlow::Break(());
        }
        self.looked_at += 1;
        let is_named = self.is_named(path, symbol);
        let is_last = self.looked_at == NAMES_LOOKED_AT_MAX;
        if is_named || is_last {
            self.last = EntityId {
                path: RelPath::from_normalised(path),
                symbol: (!symbol.is_empty()).then(|| Symbol::new(symbol)),
            };
        }
        if is_named {
            self.found.push(self.last.clone());
        }
        ControlFlow::Continue(())
    }

    /// Whether the name, `path::symbol`, contains what is wanted, whatever the case.
    fn is_named(&mut self, path: &str, symbol: &str) -> bool {
        let Some(part) = &self.wanted.contains else {
            return true;
        };
        self.name.clear();
        self.name.push_str(path);
        if !symbol.is_empty() {
            self.name.push_str("::");
            self.name.push_str(symbol);
        }
        if self.name.is_ascii() {
            self.name.make_ascii_lowercase();
        } else {
            self.name = self.name.to_lowercase();
        }
        self.name.contains(&**part)
    }
}

/// The text of an entity's symbol; empty for a file.
pub(crate) fn symbol_of(entity: &EntityId) -> &str {
    entity.symbol.as_ref().map_or("", Symbol::as_str)
}

/// The event after which a moment is; `None` if there was no such moment.
///
/// # Errors
/// When the ledger can't be read.
pub fn position_of(subject: &DiagnosedSubject, moment: Moment) -> Result<Option<Seq>, StartError> {
    if let Moment::Event(seq) = moment {
        return Ok(Some(Seq(seq)));
    }
    let mut last = None;
    let reader = subject.readers.open()?;
    reader.read_without(&[EventKind::Content], Seq(1), &mut |stored, event| {
        let is_meant = match (&moment, &event) {
            (Moment::Episode(episode), _) => stored.episode == EpisodeId(*episode),
            (Moment::Record(key), Event::RecordChanged(record)) => {
                record.key == *key && record.standing == RecordStanding::Kept
            }
            (Moment::Clear, Event::ContextCleared(_)) => true,
            _ => false,
        };
        if is_meant {
            last = Some(stored.seq);
        }
    })?;
    Ok(last)
}

/// Reads what was true, and what the last looks had found, after an event: by a fold of all events up to it, so that it is what
/// [`state_page`] showed then. `None` if there is no such event, or not what it is to come after.
///
/// # Errors
/// When the ledger can't be read.
pub fn state_page_at(
    subject: &DiagnosedSubject,
    wanted: &StateQuery,
    until: Seq,
) -> Result<Option<VouchedPage<StatePage>>, StartError> {
    let reader = subject.readers.open()?;
    let flaw = vouched::flaw_of_tables(subject, &reader)?;
    let mut state = State::default();
    reader.read_events(Seq(1), &mut |recorded| {
        if recorded.seq <= until {
            state.apply(recorded);
            state.rows_made_durable(recorded.seq);
        }
    })?;
    if state.head() != until {
        return Ok(None);
    }
    let mut looks = LastLooks::default();
    for row in state.rows::<DiskRow>() {
        let word = row.word();
        looks.seen.insert(row.path, (word, row.seq));
    }
    for row in state.rows::<StaleRow>() {
        looks.differing.insert(row.entity, row.disk_holds);
    }
    let contested = state.rows::<AuditRow>().into_iter();
    let contested = contested.filter(|row| row.status.is_contested());
    looks.contested = contested.map(|row| row.version).collect();
    let mut shown: Vec<_> = state.state_map().true_entities().collect();
    if let Some(after) = &wanted.after {
        let Some(at) = shown
            .iter()
            .position(|row| row.entity.to_string() == *after)
        else {
            return Ok(None);
        };
        shown.drain(..=at);
    }
    shown.retain(|row| row.entity.path.as_str().starts_with(&*wanted.path));
    let limit = wanted
        .limit
        .map_or(PAGE_ENTITIES_MAX, |limit| limit.min(PAGE_ENTITIES_MAX));
    let has_more = shown.len() > limit;
    shown.truncate(limit);
    let last = shown.last().filter(|_| has_more);
    let next = last.map(|row| row.entity.to_string());
    let at = |seq| reader.event_at(seq).map(|recorded| recorded.at);
    let entities = shown.into_iter().map(|row| looks.describe(row, &at));
    let entities = entities.collect();
    Ok(Some(VouchedPage {
        page: StatePage { entities, next },
        flaw,
    }))
}

/// Everything that is true in one file, in the order of the symbols.
///
/// # Errors
/// When the ledger can't be read.
pub(crate) fn of_file(
    subject: &DiagnosedSubject,
    reader: &LedgerReader,
    path: &RelPath,
) -> Result<Vec<EntityState>, LedgerError> {
    let shown = reader.true_entities_in(path)?;
    described(subject, reader, shown, AsOf::Recorded)
}

fn described(
    subject: &DiagnosedSubject,
    reader: &LedgerReader,
    shown: Vec<TrueEntity>,
    as_of: AsOf,
) -> Result<Vec<EntityState>, LedgerError> {
    let files: BTreeSet<RelPath> = shown.iter().map(|row| row.entity.path.clone()).collect();
    let mut looks = LastLooks::default();
    for path in &files {
        let seen = reader.find_row::<DiskRow>((path.clone(),))?;
        let seen = seen.map(|row| (path.clone(), (row.word(), row.seq)));
        looks.seen.extend(seen);
    }
    for row in &shown {
        let differing = reader.find_row::<StaleRow>((row.entity.clone(),))?;
        looks
            .differing
            .extend(differing.map(|row| (row.entity, row.disk_holds)));
    }
    reader.visit_rows(&mut |row: AuditRow| {
        if row.status.is_contested() {
            looks.contested.insert(row.version);
        }
        ControlFlow::Continue(())
    })?;
    let changed = match as_of {
        AsOf::Now => subject.changed_on_disk(reader, &files)?,
        AsOf::Recorded => DiskChanges::default(),
    };
    let at = |seq| reader.event_at(seq).map(|recorded| recorded.at);
    let entities = shown.into_iter().map(|row| {
        let mut entity = looks.describe(row, &at);
        if let Some(word) = changed.entities.get(&entity.row.entity) {
            entity.disk = word;
            entity.looked_at = None;
        }
        entity
    });
    Ok(entities.collect())
}

/// What the last looks on record say of entities, and what audits do.
#[derive(Default)]
struct LastLooks {
    differing: BTreeMap<EntityId, DiskDifference>,
    seen: BTreeMap<RelPath, (&'static str, Seq)>,
    contested: BTreeSet<VersionId>,
    /// The moment of the look that was asked for last: the entities of a file follow one another.
    last: Option<(Seq, Option<UnixMillis>)>,
}

impl LastLooks {
    fn describe(&mut self, row: TrueEntity, at: &dyn Fn(Seq) -> Option<UnixMillis>) -> EntityState {
        let (seen_word, looked_at) = match self.seen.get(&row.entity.path) {
            None => ("not_checked", None),
            Some((word, seq)) => {
                let known = self.last.filter(|(of, _)| of == seq);
                let (_, moment) = *self.last.insert(known.unwrap_or_else(|| (*seq, at(*seq))));
                (*word, moment)
            }
        };
        let differing = self.differing.get(&row.entity);
        EntityState {
            disk: differing.map_or(seen_word, |difference| difference.as_str()),
            looked_at: looked_at.map(|at| utc_moment(at.0)),
            contested: self.contested.contains(&row.version),
            row,
        }
    }
}

/// The page.
#[must_use]
pub fn state_json(page: &StatePage, unread: &[String]) -> Value {
    let entities = page.entities.iter();
    let map: serde_json::Map<String, Value> = entities
        .map(|entity| (entity.name(), entity.json_object()))
        .collect();
    let mut json = json!({ "entities": map });
    if let Some(next) = &page.next {
        json["next"] = next.as_str().into();
    }
    if !unread.is_empty() {
        json["unread"] = unread.into();
    }
    json
}

/// The page for people.
#[must_use]
pub fn state_lines(path_begins: &str, page: &StatePage, unread: &[String]) -> Vec<String> {
    let StatePage { entities, next } = page;
    let unread = unread.iter();
    let unread = unread.map(|file| format!("not read, and so never true: {file}"));
    if entities.is_empty() {
        let nothing = if path_begins.is_empty() {
            "Nothing is true yet: paste code with its path into a prompt, and it will be."
                .to_owned()
        } else {
            format!(
                "Nothing is true of paths that begin with `{path_begins}`; `tslp state` shows all that is."
            )
        };
        return std::iter::once(nothing).chain(unread).collect();
    }
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header(["entity", "artifact", "from", "since", "on disk"]);
    for entity in entities {
        let disk = entity.disk_as_of();
        let origin = entity.row.origin;
        let origin = if entity.contested {
            format!("{origin} (contested)")
        } else {
            origin.to_string()
        };
        table.add_row([
            // The table breaks cells at line feeds.
            &visible_text(&entity.name()),
            &format!("{:.12}", entity.row.slice),
            &origin,
            &utc_moment(entity.row.updated_at_ms.0),
            &disk,
        ]);
    }
    let more = next.as_ref().map(|next| {
        format!(
            "there is more: `tslp state --after '{next}'` goes on, `tslp state PATH` shows less"
        )
    });
    let lines = table.trim_fmt();
    let lines = lines.lines().map(str::to_owned);
    lines.chain(more).chain(unread).collect()
}
