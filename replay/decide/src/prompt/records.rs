//! What is kept for the project: taken if the user says it or the code that it quotes proves it, and shown where it matters, as long as
//! that stays so (docs/memory.md).

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::str;

use crate::prompt::hydrate::{self, Hydration};
use crate::prompt::said_texts::{SaidText, SaidTexts, letters};
use crate::prompt::shown;
use crate::prompt::text_index::TextIndex;
use crate::scope::place::{self, Standpoint};
use crate::wording::notice;
use tslp_core::capture;
use tslp_core::delimiter::{MEMORY_CLOSE, MEMORY_OPEN};
use tslp_core::entity::EntityId;
use tslp_core::event::{Author, Dropped, Event, NoticeIssued, RecordChanged, Verb};
use tslp_core::ids::{EpisodeId, Seq, SessionId, UnixMillis};
use tslp_core::limits::{
    BYTES_PER_TOKEN, RECORDS_KEPT_MAX, RECORDS_PER_REPLY_MAX, RECORDS_PROPOSED_MAX,
};
use tslp_core::message::Role;
use tslp_core::name_hash::name_hash;
use tslp_core::path::RelPath;
use tslp_core::policy::{Grounding, Policy};
use tslp_core::reason::Reason;
use tslp_core::record::{self, Note, RecordKind, RecordStanding};
use tslp_core::request::Request;
use tslp_core::spoken_lines;
use tslp_projections::disk::LastFinding;
use tslp_projections::records::{Clues, RecordEntry};
use tslp_projections::state::StateView;

/// How much of a prompt records may be, in tokens.
const MEMORY_TOKENS_MAX: usize = 500;

/// Words of a prompt that records are looked for by.
const WORDS_MAX: usize = 512;

/// Records that are looked up because a prompt may be about them; the most telling come first.
const LOOKED_UP_MAX: usize = 64;

/// Records that one is derived from, directly or through others, that are followed.
const INPUTS_FOLLOWED_MAX: usize = 64;

/// What a reply says where its record has no key that can be named.
const UNNAMED: &str = "unnamed";

/// Carries out `note` or `forget`, or `accept`, `confirm` or `reject` of a `#key`.
#[must_use]
pub fn change_record(
    view: &StateView<'_>,
    policy: &Policy,
    at: UnixMillis,
    ids: (EpisodeId, SessionId),
    (verb, said): (Verb, &str),
) -> Vec<Event> {
    let records = view.state.records();
    let key = || record::parse_key(said).ok_or(Reason::RecordNotUsable);
    let of = |entry: Option<&RecordEntry>| {
        let record = entry.and_then(|entry| view.record(entry));
        record.ok_or(Reason::NothingToDo)
    };
    let waiting = || of(records.proposed(&key()?));
    let kept = || of(records.named(&key()?));
    let changed = match verb {
        Verb::Forget => kept().map(|it| ended(&it, Reason::RecordForgotten)),
        Verb::Accept | Verb::Confirm => waiting().and_then(|it| accepted(view, at, &it)),
        Verb::Reject => waiting().map(|it| ended(&it, Reason::RecordRejected)),
        _ => record::parse_note(said).and_then(|note| {
            let author = match said_by_another(view, &format!("{}{}", note.key, note.statement)) {
                // Whoever repeats a model hasn't said it: accepting it is a word of its own.
                Some(_) => Author::Model,
                None => Author::User,
            };
            noted(view, Standpoint::of(policy, ids.1), at, author, note)
        }),
    };
    let reason = match &changed {
        Ok(changed) => changed.cause,
        Err(reason) => *reason,
    };
    let answer = Event::NoticeIssued(NoticeIssued::new(ids, reason, None));
    let event = changed.ok().map(Event::RecordChanged);
    event.into_iter().chain([answer]).collect()
}

/// What a reply proposes: at most one more than [`RECORDS_PER_REPLY_MAX`], which is answered for all that follow.
#[must_use]
pub fn proposals_in(text: &str) -> Vec<String> {
    let fences = capture::record_fences(text).into_iter();
    let notes = fences.flat_map(record::notes_in);
    notes.take(RECORDS_PER_REPLY_MAX + 1).collect()
}

/// Keeps what a model notes, if that is a fact and the code that it quotes is true, or lets it wait for the user's word.
#[must_use]
pub fn propose_record(
    view: &StateView<'_>,
    policy: &Policy,
    at: UnixMillis,
    ids: (EpisodeId, SessionId),
    (number, written): (usize, &str),
) -> Vec<Event> {
    let noted = match number < RECORDS_PER_REPLY_MAX {
        true => record::parse_note(written)
            .and_then(|note| noted(view, Standpoint::of(policy, ids.1), at, Author::Model, note)),
        false => Err(Reason::TooManyRecords),
    };
    let event = match noted {
        Ok(changed) => Event::RecordChanged(changed),
        Err(Reason::NothingToDo) => return Vec::new(),
        Err(reason) => {
            let key = written.split([' ', ':']).find_map(record::parse_key);
            let about = named_entity(key.as_deref().unwrap_or(UNNAMED));
            Event::NoticeIssued(NoticeIssued::new(ids, reason, about))
        }
    };
    Vec::from([event])
}

/// Ends the hypotheses whose time is over: on record, so that no clock brings them back.
#[must_use]
pub fn expire(view: &StateView<'_>, at: UnixMillis) -> Vec<Event> {
    end(view, |entry| is_over(entry.expires_at, at))
}

/// Ends the hypotheses that were made for the goal.
pub(crate) fn end_hypotheses(view: &StateView<'_>) -> Vec<Event> {
    let goal = view.state.goal().current();
    let is_of_goal = |entry: &RecordEntry| goal.is_some_and(|goal| goal.seq == entry.goal);
    end(view, |entry| {
        entry.kind == RecordKind::Hypothesis && is_of_goal(entry)
    })
}

fn end(view: &StateView<'_>, is_over: impl Fn(&RecordEntry) -> bool) -> Vec<Event> {
    let entries = view.state.records().all().iter();
    let over = entries.filter(|entry| is_over(entry));
    let over = over.filter_map(|entry| view.record(entry));
    let ended = over.map(|record| ended(&record, Reason::RecordExpired));
    ended.map(Event::RecordChanged).collect()
}

fn is_over(expires_at: UnixMillis, at: UnixMillis) -> bool {
    expires_at != UnixMillis(0) && expires_at <= at
}

/// The file that a directive about records cites.
#[must_use]
pub fn cited_file(
    view: &StateView<'_>,
    at: Standpoint<'_>,
    (verb, said): (Verb, &str),
) -> Option<RelPath> {
    if verb != Verb::Note {
        let entry = view.state.records().proposed(&record::parse_key(said)?)?;
        let path = &view.record(entry)?.path;
        return (!path.is_empty()).then(|| RelPath::from_normalised(path));
    }
    let (path, _) = record::parse_note(said).ok()?.citation?;
    place::of(view, at, &path).ok()
}

/// The files of what a reply proposes.
pub fn proposed_files(
    view: &StateView<'_>,
    at: Standpoint<'_>,
    notes: &[String],
) -> impl Iterator<Item = RelPath> {
    let cited = move |note: &String| cited_file(view, at, (Verb::Note, note));
    notes.iter().filter_map(cited)
}

/// Keeps a statement, or lets it wait, by who says it.
fn noted(
    view: &StateView<'_>,
    from: Standpoint<'_>,
    at: UnixMillis,
    author: Author,
    note: Note,
) -> Result<RecordChanged, Reason> {
    let records = view.state.records();
    let (path, quotation) = match note.citation {
        None => (String::new(), String::new()),
        Some((written, quotation)) => {
            let path = place::of(view, from, &written);
            let path = path.map_err(|_| Reason::QuotationMissing)?;
            prove(view, &path, &quotation)?;
            (String::from(path.as_str()), quotation)
        }
    };
    let is_kept = |key: &String| records.named(key).is_some();
    if !note.inputs.iter().all(is_kept) || leads_to(view, &note.inputs, &note.key) {
        return Err(Reason::RecordWithoutInputs);
    }
    let known = records.named(&note.key);
    // The model's word never replaces the user's.
    let is_users = known.is_some_and(|known| known.author == Author::User);
    let is_proven = note.kind == RecordKind::Fact && !path.is_empty() && !is_users;
    let (standing, cause) = match author {
        Author::User => (RecordStanding::Kept, Reason::RecordNoted),
        _ if is_proven => (RecordStanding::Kept, Reason::RecordProven),
        _ => (RecordStanding::Proposed, Reason::RecordProposed),
    };
    let life = note.life_ms.and_then(|life| i64::try_from(life).ok());
    let changed = RecordChanged {
        key: note.key,
        kind: note.kind,
        standing,
        author,
        cause,
        statement: note.statement,
        path,
        quotation,
        inputs: note.inputs,
        expires_at: UnixMillis(life.map_or(0, |life| at.0.saturating_add(life))),
    };
    let waiting = records.proposed(&changed.key);
    let says_the_same = |entry: &RecordEntry| {
        let is_same = view.record(entry).is_some_and(|it| {
            let said = RecordChanged {
                standing: changed.standing,
                author: changed.author,
                cause: changed.cause,
                expires_at: changed.expires_at,
                ..(*it).clone()
            };
            said == changed
        });
        // A hypothesis that is said again lives on.
        is_same
            && (entry.author == author || author == Author::Model)
            && changed.expires_at == UnixMillis(0)
    };
    let has_room = match standing {
        RecordStanding::Proposed => {
            waiting.is_some() || records.proposed_count() < RECORDS_PROPOSED_MAX
        }
        _ => known.is_some() || records.all().len() < RECORDS_KEPT_MAX,
    };
    match standing {
        _ if known.is_some_and(&says_the_same) => Err(Reason::NothingToDo),
        RecordStanding::Proposed if waiting.is_some_and(says_the_same) => Err(Reason::NothingToDo),
        _ if !has_room => Err(Reason::TooManyRecords),
        _ => Ok(changed),
    }
}

/// Whether a record would be derived from itself.
fn leads_to(view: &StateView<'_>, inputs: &[String], key: &str) -> bool {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut ahead: Vec<String> = inputs.to_vec();
    while let Some(next) = ahead.pop() {
        if next == key || seen.len() > INPUTS_FOLLOWED_MAX {
            return true;
        }
        let entry = view.state.records().named(&next);
        let record = entry.and_then(|entry| view.record(entry));
        if seen.insert(next) {
            ahead.extend(record.into_iter().flat_map(|it| it.inputs.clone()));
        }
    }
    false
}

fn accepted(
    view: &StateView<'_>,
    at: UnixMillis,
    record: &RecordChanged,
) -> Result<RecordChanged, Reason> {
    if is_over(record.expires_at, at) {
        return Err(Reason::NothingToDo);
    }
    ground(view, record)?;
    Ok(RecordChanged {
        standing: RecordStanding::Kept,
        author: Author::User,
        cause: Reason::RecordAccepted,
        ..record.clone()
    })
}

fn ended(record: &RecordChanged, cause: Reason) -> RecordChanged {
    RecordChanged {
        key: record.key.clone(),
        kind: record.kind,
        standing: RecordStanding::Ended,
        author: record.author,
        cause,
        statement: String::new(),
        path: String::new(),
        quotation: String::new(),
        inputs: Vec::new(),
        expires_at: UnixMillis(0),
    }
}

/// Who said this first, if it wasn't the user: a text's letters and digits are compared, so that no markup and no escape hides it.
fn said_by_another(view: &StateView<'_>, said: &str) -> Option<Author> {
    let wanted = letters(said);
    let texts = SaidTexts::now(view);
    let says = |text: &&SaidText| {
        letters(&String::from_utf8_lossy(&text.content(view, usize::MAX))).contains(&wanted)
    };
    let author = texts.iter().find(says)?.source().author;
    Some(author).filter(|author| *author != Author::User)
}

/// How a record is named where an entity is.
fn named_entity(key: &str) -> EntityId {
    EntityId::file(RelPath::from_normalised(&format!("#{key}")))
}

/// Whether a record holds now: the code that it quotes, and all that it is derived from.
///
/// # Errors
/// Why it doesn't.
pub(crate) fn ground(view: &StateView<'_>, record: &RecordChanged) -> Result<(), Reason> {
    let prove_own = |record: &RecordChanged| match record.path.as_str() {
        "" => Ok(()),
        path => prove(view, &RelPath::from_normalised(path), &record.quotation),
    };
    prove_own(record)?;
    let mut seen = BTreeSet::new();
    let mut ahead = record.inputs.clone();
    while let Some(input) = ahead.pop() {
        let entry = view.state.records().named(&input);
        let found = entry.and_then(|entry| view.record(entry));
        let found = found.ok_or(Reason::RecordUngrounded)?;
        prove_own(&found).map_err(|_| Reason::RecordUngrounded)?;
        if seen.insert(input) {
            ahead.extend(found.inputs.iter().cloned());
        }
    }
    Ok(())
}

/// Whether code is true of the file, once, as disk holds it, and may be shown. Where in it doesn't matter: code moves.
fn prove(view: &StateView<'_>, path: &RelPath, quotation: &str) -> Result<(), Reason> {
    if view.state.scope().off().is_off(path.as_str()) {
        return Err(Reason::OffByUser);
    }
    match view.disk_finding(path) {
        Some(LastFinding::Unreadable(_)) => return Err(Reason::FileUnreadable),
        Some(LastFinding::Missing) => return Err(Reason::FileMissing),
        _ => {}
    }
    // A definition in another one, or in the file that is true, is a part of that.
    let (mut places, mut searched) = (0, BTreeSet::new());
    let mut entities = hydrate::true_entities_of(view, path);
    entities.retain(|entity| view.divergence(entity).is_none());
    entities.sort();
    for entity in entities {
        let Some(current) = view.current_version(&entity) else {
            continue;
        };
        let file = EntityId::file(path.clone());
        let is_in = |around: EntityId| searched.contains(&around);
        if entity.symbol.is_some() && entity.holders().chain([file]).any(is_in) {
            continue;
        }
        for span in &current.spans {
            let code = view.artifact_slices(current.artifact, core::slice::from_ref(span));
            let code = code.unwrap_or_default();
            let Ok(code) = str::from_utf8(&code) else {
                continue;
            };
            places += code.match_indices(quotation).take(2).count();
        }
        searched.insert(entity);
    }
    match places {
        0 => Err(Reason::QuotationMissing),
        1 => Ok(()),
        _ => Err(Reason::QuotationAmbiguous),
    }
}

/// What a prompt is about, as far as records go.
#[derive(Default)]
pub struct About {
    keys: BTreeSet<String>,
    /// [Hashes](name_hash) of its telling words, sorted.
    words: Vec<u64>,
    paths: BTreeSet<RelPath>,
    /// What its newest messages show of tools' results.
    shown: Vec<String>,
    /// The keys of the records that it may be about, the most telling first, some of them twice, and of preferences all.
    found: Vec<String>,
    /// The [state](tslp_projections::records::Records::state) of the records that were searched.
    searched: (usize, Seq),
}

impl About {
    /// From the messages after the last reply, and the files that are shown or named.
    fn of<'p>(
        view: &StateView<'_>,
        index: &mut TextIndex,
        request: &Request,
        paths: impl Iterator<Item = &'p RelPath>,
    ) -> Self {
        let mut about = Self {
            paths: paths.cloned().collect(),
            searched: view.state.records().state(),
            ..Self::default()
        };
        for message in shown::newest_messages(request) {
            for (text, hash) in message.texts().zip(message.text_hashes()) {
                if message.role == Role::User {
                    about.keys.extend(named_keys(text));
                    let room = WORDS_MAX.saturating_sub(about.words.len());
                    let words = record::telling_words(text).map(|(word, _)| name_hash(&word));
                    about.words.extend(words.take(room));
                    about.words.sort_unstable();
                    about.words.dedup();
                } else {
                    let facts = index.facts(*hash, text);
                    let files = facts.paths();
                    let files = files.filter_map(|named| view.state.state_map().file_meant(named));
                    about.paths.extend(files);
                    about.shown.push(String::from(text));
                }
            }
        }
        about.found = about.find(view);
        about
    }

    fn entries<'v>(&self, view: &StateView<'v>) -> impl Iterator<Item = &'v RecordEntry> {
        let found = self.found.iter();
        found.filter_map(|key| view.state.records().named(key))
    }

    fn find(&self, view: &StateView<'_>) -> Vec<String> {
        let shown = self.shown.iter();
        let clues = Clues::new(
            self.words.iter().copied(),
            self.paths.iter().map(RelPath::as_str),
            shown.flat_map(|text| spoken_lines::line_hashes(text)),
        );
        let rank = |entry: &RecordEntry| match entry.kind {
            RecordKind::Preference => Some(0),
            _ => clues.rank(entry),
        };
        let entries = view.state.records().all().iter();
        let ranked = entries.filter_map(|entry| Some((rank(entry)?, entry)));
        let mut ranked: Vec<(u8, &RecordEntry)> = ranked.collect();
        // By key among those of a rank.
        ranked.sort_by_key(|(rank, _)| *rank);
        let ranked = ranked.iter().map(|(_, entry)| String::from(&*entry.key));
        self.keys.iter().cloned().chain(ranked).collect()
    }

    /// Whether it is about a record, which only looked like it so far.
    fn is_about(&self, record: &RecordChanged) -> bool {
        let is_read = || {
            let mut shown = self.shown.iter();
            !record.path.is_empty() && shown.any(|text| holds_lines(text, &record.quotation))
        };
        record.kind == RecordKind::Preference
            || self.keys.contains(&record.key)
            || self.paths.iter().any(|path| path.as_str() == record.path)
            || record::names_statement(
                |word| self.words.binary_search(&name_hash(word)).is_ok(),
                &record.key,
                &record.statement,
            )
            || is_read()
    }
}

/// Whether a text has the lines of a quotation one after the other, whatever a tool has put around each.
fn holds_lines(text: &str, quotation: &str) -> bool {
    let wanted: Vec<u64> = spoken_lines::line_hashes(quotation).collect();
    let lines: Vec<u64> = spoken_lines::line_hashes(text).collect();
    !wanted.is_empty() && lines.windows(wanted.len()).any(|lines| lines == wanted)
}

/// The records that a prompt may be about, and the files of those and of what its conversation was told: whether they are still true is to be
/// looked up.
#[must_use]
pub fn search_records(
    view: &StateView<'_>,
    index: &mut TextIndex,
    request: &Request,
    session: SessionId,
    named: &BTreeSet<RelPath>,
) -> (About, BTreeSet<RelPath>) {
    let records = view.state.records();
    let (mut seen, mut files) = (BTreeSet::new(), BTreeSet::new());
    if records.all().is_empty() {
        return (About::default(), files);
    }
    let amendments = view.state.sessions().amendments(session);
    let told = amendments.injected.iter();
    let told: Vec<String> = told.filter_map(|it| view.text(it.text)).collect();
    let told = last_told(&told).into_keys();
    let told = told.filter_map(|key| records.named(&key));
    let about = About::of(view, index, request, named.iter());
    let looked_up = about.entries(view).take(LOOKED_UP_MAX).chain(told);
    let mut ahead: Vec<&RecordEntry> = looked_up.collect();
    while let Some(entry) = ahead.pop() {
        if !seen.insert(&entry.key) || seen.len() > 2 * LOOKED_UP_MAX {
            continue;
        }
        let Some(record) = view.record(entry) else {
            continue;
        };
        if !record.path.is_empty() {
            files.insert(RelPath::from_normalised(&record.path));
        }
        ahead.extend(record.inputs.iter().filter_map(|key| records.named(key)));
    }
    (about, files)
}

/// The block of records for a prompt of whose `hydration` files are shown or named. `told` are texts of ours that the conversation holds
/// already, in order: what they say as it is now isn't said again, and what they say and isn't so any more is taken back, once. With it,
/// what it would have said and doesn't.
#[must_use]
pub(crate) fn memory_block(
    view: &StateView<'_>,
    policy: &Policy,
    (request, index): (&Request, &RefCell<TextIndex>),
    about: &About,
    hydration: &Hydration,
    told: &[String],
) -> (Option<String>, Vec<Dropped>) {
    let records = view.state.records();
    let mut told = last_told(told);
    let mut dropped = Vec::new();
    if records.all().is_empty() && told.is_empty() {
        return (None, dropped);
    }
    let shown = hydration.hydrated.iter().map(|it| &it.entity.path);
    let named = shown.chain(hydration.dropped.iter().map(|it| &it.entity.path));
    // What the prompt itself notes or makes true wasn't there when it was searched.
    let is_known = |path| about.paths.contains(path);
    let is_same = about.searched == records.state() && named.clone().all(is_known);
    let anew = || About::of(view, &mut index.borrow_mut(), request, named);
    let anew = (!is_same).then(anew);
    let about = anew.as_ref().unwrap_or(about);
    let mut drop_record = |key: &str, reason| {
        if dropped.len() < LOOKED_UP_MAX {
            let entity = named_entity(key);
            dropped.push(Dropped { entity, reason });
        }
    };
    let mut left = MEMORY_TOKENS_MAX * BYTES_PER_TOKEN;
    let mut sections: [(&str, Vec<String>); 3] = [
        ("Facts:", Vec::new()),
        ("Constraints:", Vec::new()),
        ("Open Issues:", Vec::new()),
    ];
    let before = told.keys().filter_map(|key| records.named(key));
    // What was told comes first, because what is taken back always has a place.
    let before: Vec<&RecordEntry> = before.collect();
    // Whatever crosses a clear without evidence is an assumption.
    let last_clear = view.state.sessions().last_clear();
    let is_assumed = |entry: &RecordEntry, record: &RecordChanged| {
        let lacks_evidence = record.kind == RecordKind::Decision && record.path.is_empty();
        lacks_evidence && entry.seq < last_clear && policy.grounding != Grounding::Disabled
    };
    let mut seen = BTreeSet::new();
    let all = before.into_iter().chain(about.entries(view));
    let candidates = all.filter(|entry| seen.insert(&*entry.key)).enumerate();
    for (at, entry) in candidates {
        let was_told = told.remove(&*entry.key);
        if was_told.is_none() && at >= LOOKED_UP_MAX {
            drop_record(&entry.key, Reason::OverBudget);
            continue;
        }
        let Some(record) = view.record(entry) else {
            drop_record(&entry.key, Reason::ContentMissing);
            continue;
        };
        if was_told.is_none() && !about.is_about(&record) {
            continue;
        }
        let kind = match is_assumed(entry, &record) {
            true => RecordKind::Hypothesis,
            false => record.kind,
        };
        let line = record_line(kind, &record);
        // What has no place needn't be looked up.
        if was_told.is_none() && line.len() >= left {
            drop_record(&entry.key, Reason::OverBudget);
            continue;
        }
        match (ground(view, &record), was_told) {
            (Ok(()), Some(told)) if told == line => {}
            (Ok(()), _) if line.len() >= left => drop_record(&entry.key, Reason::OverBudget),
            (Ok(()), _) => {
                left -= line.len() + 1;
                sections[section_of(kind)].1.push(line);
            }
            (Err(reason), None) => drop_record(&entry.key, reason),
            (Err(reason), Some(told)) => {
                let gone = gone_line(&entry.key, why_gone(reason));
                if !says_gone(told) {
                    left = left.saturating_sub(gone.len() + 1);
                    sections[2].1.push(gone);
                }
            }
        }
    }
    // What is left was told, and has ended.
    for (key, line) in told {
        let gone = gone_line(&key, "it was taken back, or its time is over");
        if !says_gone(line) {
            sections[2].1.push(gone);
        }
    }
    let mut lines: Vec<&str> = Vec::from([MEMORY_OPEN]);
    for (title, of_section) in &sections {
        if !of_section.is_empty() {
            lines.push(title);
            lines.extend(of_section.iter().map(String::as_str));
        }
    }
    lines.push(MEMORY_CLOSE);
    ((lines.len() > 2).then(|| lines.join("\n")), dropped)
}

const fn section_of(kind: RecordKind) -> usize {
    match kind {
        RecordKind::Fact | RecordKind::Derived => 0,
        RecordKind::Preference | RecordKind::Decision => 1,
        RecordKind::Hypothesis => 2,
    }
}

fn record_line(kind: RecordKind, record: &RecordChanged) -> String {
    let RecordChanged {
        key,
        statement,
        path,
        ..
    } = record;
    let kind = match kind {
        RecordKind::Hypothesis => " (hypothesis)",
        RecordKind::Derived => " (derived)",
        _ => "",
    };
    let source = match (path.as_str(), record.author) {
        ("", _) => String::new(),
        (path, Author::User) => format!(" ({path})"),
        (path, _) => format!(" ({path}, noted by a model)"),
    };
    format!("#{key}{kind}: {statement}{source}")
}

fn gone_line(key: &str, why: &str) -> String {
    format!("#{key}{GONE}, {why}.")
}

/// Follows the key of what was told and isn't so any more.
const GONE: &str = ": no longer holds";

/// Whether a line says that. A statement is preceded by its key as well, and only says so if it is these words.
fn says_gone(line: &str) -> bool {
    let (_, rest) = line.split_at(line.find(':').unwrap_or(line.len()));
    rest.starts_with(GONE)
}

/// Why a record doesn't hold now, as [`ground`] says.
pub(crate) fn why_gone(reason: Reason) -> &'static str {
    match reason {
        Reason::OffByUser => "its file is off",
        Reason::FileUnreadable => "its file can't be read",
        other => notice::why(other),
    }
}

/// The keys that a text names.
fn named_keys(text: &str) -> impl Iterator<Item = String> {
    let words = text.split_whitespace();
    words
        .filter_map(|word| word.trim_start_matches('(').strip_prefix('#'))
        .map(|word| word.trim_end_matches(['.', ',', ';', ':', '!', '?', ')']))
        .map(String::from)
}

/// Of each key the last line that was told of it.
fn last_told(texts: &[String]) -> BTreeMap<String, &str> {
    let mut told = BTreeMap::new();
    // Most of what was told holds no block of records.
    for text in texts.iter().filter(|text| text.contains(MEMORY_OPEN)) {
        let mut is_memory = false;
        for line in text.lines() {
            match line {
                MEMORY_OPEN => is_memory = true,
                MEMORY_CLOSE => is_memory = false,
                _ if is_memory => {
                    let key = line.split([' ', ':']).next().and_then(record::parse_key);
                    told.extend(key.map(|key| (key, line)));
                }
                _ => {}
            }
        }
    }
    told
}
