//! Sessions as rows and back.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use crate::sessions::{Exchange, PendingNotice};
use tslp_core::entity::EntityId;
use tslp_core::event::{Injected, NoticeIssued, Side, Withheld};
use tslp_core::hash::{ArtifactHash, MessageKey, SliceHash, TranscriptHash};
use tslp_core::ids::{EpisodeId, SessionId};
use tslp_core::path::RelPath;
use tslp_core::reason::Reason;

use super::{
    ConversationPoint, HYDRATION_ORDER_KEPT, LookupKey, LookupKind, PromptInProgress, Session,
    Sessions, ShownEntity,
};
use crate::table::{
    self, Column, ColumnType, Keep, RowCells, Table, UnfitRow, Value, column, nullable,
};

const COLUMNS: &[Column] = &[
    column("session", ColumnType::Integer),
    nullable("name", ColumnType::Text),
    column("messages", ColumnType::Integer),
    column("last_episode", ColumnType::Integer),
    column("before_last", ColumnType::Integer),
    column("plain", ColumnType::Integer),
    nullable("head", ColumnType::Hash),
    nullable("tail", ColumnType::Hash),
    nullable("reply", ColumnType::Hash),
    nullable("prompt", ColumnType::Hash),
    nullable("prompt_messages", ColumnType::Integer),
    nullable("open", ColumnType::Integer),
    nullable("open_transcript", ColumnType::Hash),
    nullable("open_messages", ColumnType::Integer),
    nullable("open_user", ColumnType::Hash),
    nullable("in_flight", ColumnType::Integer),
    nullable("in_tool_chain", ColumnType::Integer),
    column("composed_seq", ColumnType::Integer),
];

/// `sessions`: conversations that can be continued. `prompt` is the conversation up to the last prompt; `open` the episode
/// of a prompt that has no complete reply; `composed_seq` the event that composed the last prompt.
pub const TABLE: Table = latest("sessions", 3, COLUMNS, 1);

const ENTITIES_COLUMNS: &[Column] = &[
    column("session", ColumnType::Integer),
    column("path", ColumnType::Text),
    column("symbol", ColumnType::Text),
    column("version", ColumnType::Integer),
    column("shown_seq", ColumnType::Integer),
    nullable("position", ColumnType::Integer),
];

/// `session_entities`: the entities that a session's prompts have shown, each with the version that was shown last and the event
/// that composed that prompt. `position` is its place in the order of first showing, which only the first ones have.
pub const ENTITIES_TABLE: Table = latest("session_entities", 1, ENTITIES_COLUMNS, 3);

const RECENT_COLUMNS: &[Column] = &[
    column("session", ColumnType::Integer),
    column("position", ColumnType::Integer),
    column("speaker", ColumnType::Text),
    nullable("content", ColumnType::Hash),
    nullable("messages", ColumnType::Integer),
];

/// `recent_context`: the Vault addresses of each session's last exchanges, oldest first. A row with the speaker `exchange`
/// begins each of them, with the number of messages up to its end.
pub const RECENT_TABLE: Table = latest("recent_context", 2, RECENT_COLUMNS, 2);

const PARTS_COLUMNS: &[Column] = &[
    column("session", ColumnType::Integer),
    column("part", ColumnType::Text),
    column("position", ColumnType::Integer),
    column("path", ColumnType::Text),
    column("symbol", ColumnType::Text),
    nullable("hash", ColumnType::Hash),
    nullable("text", ColumnType::Hash),
    nullable("number", ColumnType::Integer),
    nullable("until", ColumnType::Integer),
    nullable("word", ColumnType::Text),
];

/// `session_parts`: the lists of a session, one row for each item; its path and symbol are empty where it is about no
/// entity.
///
/// | part | position | hash | text | number | word |
/// |---|---|---|---|---|---|
/// | `ancestor`: a session whose history it shares, `until` an episode | in the list | | | the session | |
/// | `injected`: a text injected into its messages | its number | the message | in the Vault | messages up to it | the side |
/// | `notice`: a notice that the model hasn't been given | in the list | | | the episode | the reason |
/// | `notice_other`: the other entity of a notice | the notice's | | | | |
/// | `notice_shown`: a notice that the open prompt shows | the notice's | | | | |
/// | `open_user`: the texts of the open prompt | in the list | | in the Vault | | |
/// | `point`: the conversation after one of its last replies | the episode | the conversation | | messages | |
/// | `refused`: a file that a reply was refused for last | | | | the episode | |
/// | `withheld`: code withheld from its messages | its number | the slice | | messages up to it | |
pub const PARTS_TABLE: Table = latest("session_parts", 2, PARTS_COLUMNS, 5);

const INDEX_COLUMNS: &[Column] = &[
    column("sign", ColumnType::Text),
    column("hash", ColumnType::Hash),
    column("session", ColumnType::Integer),
    column("messages", ColumnType::Integer),
];

/// `session_index`: the properties by which sessions are recognised.
pub const INDEX_TABLE: Table = latest("session_index", 1, INDEX_COLUMNS, 2);

const EPISODES_COLUMNS: &[Column] = &[
    column("episode", ColumnType::Integer),
    column("session", ColumnType::Integer),
];

/// `session_episodes`: the session of each episode whose reply may still come.
pub const EPISODES_TABLE: Table = latest("session_episodes", 1, EPISODES_COLUMNS, 1);

const UNDER_WAY_COLUMNS: &[Column] = &[
    column("episode", ColumnType::Integer),
    column("attempts", ColumnType::Integer),
];

/// `replies_under_way`: prompts that were sent and whose reply hasn't ended, with the number of attempts.
pub const UNDER_WAY_TABLE: Table = latest("replies_under_way", 1, UNDER_WAY_COLUMNS, 1);

const fn latest(name: &'static str, version: u32, columns: &'static [Column], key: usize) -> Table {
    Table {
        name,
        version,
        columns,
        key,
        keep: Keep::Latest,
    }
}

/// All kinds, in the order of their words.
const LOOKUP_KINDS: [LookupKind; 5] = [
    LookupKind::Name,
    LookupKind::Point,
    LookupKind::Prompt,
    LookupKind::Reply,
    LookupKind::Tail,
];

const fn lookup_kind_word(kind: LookupKind) -> &'static str {
    match kind {
        LookupKind::Name => "name",
        LookupKind::Point => "point",
        LookupKind::Prompt => "prompt",
        LookupKind::Reply => "reply",
        LookupKind::Tail => "tail",
    }
}

const fn side_word(side: Side) -> &'static str {
    match side {
        Side::Before => "before",
        Side::After => "after",
    }
}

impl Sessions {
    /// The row of a session in `sessions`.
    #[must_use]
    pub fn row(&self, id: SessionId) -> Option<Vec<Value>> {
        self.sessions.get(&id).map(|session| row(id, session))
    }

    /// The rows of a session in `recent_context`, by key.
    #[must_use]
    pub fn recent_rows_of(&self, id: SessionId) -> Vec<Vec<Value>> {
        let session = self.sessions.get(&id);
        session.map_or_else(Vec::new, |session| recent_rows(id, session))
    }

    /// The rows of a session in `session_entities`, by key.
    #[must_use]
    pub fn entity_rows_of(&self, id: SessionId) -> Vec<Vec<Value>> {
        let session = self.sessions.get(&id);
        let entities = session.into_iter().flat_map(|session| &session.entities);
        entities
            .map(|(entity, shown)| entity_row(id, entity, *shown))
            .collect()
    }

    /// The rows of a session in `session_parts`, by key.
    #[must_use]
    pub fn part_rows_of(&self, id: SessionId) -> Vec<Vec<Value>> {
        let session = self.sessions.get(&id);
        session.map_or_else(Vec::new, |session| part_rows(id, session))
    }

    /// The rows of one list of a session in `session_parts`, by key.
    #[must_use]
    pub fn rows_of_part(&self, id: SessionId, part: SessionList) -> Vec<Vec<Value>> {
        let session = self.sessions.get(&id);
        let items = session.map_or_else(Vec::new, |session| part_items(session, part));
        items.into_iter().map(|item| item.row(id)).collect()
    }

    /// All rows of `sessions`, by key.
    pub fn rows(&self, visit: &mut dyn FnMut(Vec<Value>)) {
        let sessions = self.sessions.iter();
        let rows = sessions.map(|(id, session)| row(*id, session));
        rows.for_each(visit);
    }

    /// All rows of `recent_context`, by key.
    pub fn recent_rows(&self, visit: &mut dyn FnMut(Vec<Value>)) {
        let sessions = self.sessions.iter();
        let rows = sessions.flat_map(|(id, session)| recent_rows(*id, session));
        rows.for_each(visit);
    }

    /// All rows of `session_entities`, by key.
    pub fn entity_rows(&self, visit: &mut dyn FnMut(Vec<Value>)) {
        let rows = self.sessions.keys().flat_map(|id| self.entity_rows_of(*id));
        rows.for_each(visit);
    }

    /// All rows of `session_parts`, by key.
    pub fn part_rows(&self, visit: &mut dyn FnMut(Vec<Value>)) {
        let sessions = self.sessions.iter();
        let rows = sessions.flat_map(|(id, session)| part_rows(*id, session));
        rows.for_each(visit);
    }

    /// All rows of `session_index`, by key.
    pub fn index_rows(&self, visit: &mut dyn FnMut(Vec<Value>)) {
        let rows = self.index.iter();
        rows.map(|(key, owner)| index_row(*key, *owner))
            .for_each(visit);
    }

    /// All rows of `session_episodes`, by key.
    pub fn episode_rows(&self, visit: &mut dyn FnMut(Vec<Value>)) {
        let rows = self.episodes.iter();
        rows.map(|(id, session)| episode_row(*id, *session))
            .for_each(visit);
    }

    /// All rows of `replies_under_way`, by key.
    pub fn under_way_rows(&self, visit: &mut dyn FnMut(Vec<Value>)) {
        let rows = self.under_way.iter();
        rows.map(|(episode, count)| attempts_row(*episode, *count))
            .for_each(visit);
    }

    /// Restores a row of `sessions`.
    ///
    /// # Errors
    /// [`UnfitRow`] if no fold writes such a row.
    pub fn restore(&mut self, row: &[Value]) -> Result<(), UnfitRow> {
        let mut cells = RowCells::of(row);
        let id = cells.next()?;
        let mut session = Session {
            name: cells.next()?,
            length: cells.next()?,
            last_episode: cells.next()?,
            before_last: cells.next()?,
            plain: cells.next()?,
            head: cells.next()?,
            tail: cells.next()?,
            reply: cells.next()?,
            ..Session::default()
        };
        let (prompt, messages) = (cells.next::<Option<_>>()?, cells.next::<Option<_>>()?);
        session.last_prompt = prompt.zip(messages);
        if let Some(episode) = cells.next()? {
            session.open = Some(PromptInProgress {
                episode,
                transcript: cells.next()?,
                length: cells.next()?,
                user_key: cells.next()?,
                user: Vec::new(),
                in_flight: cells.next()?,
                in_tool_chain: cells.next()?,
            });
        } else {
            // The open prompt's cells are empty.
            (0..5).try_for_each(|_| cells.next::<Option<i64>>().map(drop))?;
        }
        session.composed_seq = cells.next()?;
        self.sessions.insert(id, session);
        Ok(())
    }

    /// Restores a row of `recent_context`, in the order of their keys, after all rows of `sessions`.
    ///
    /// # Errors
    /// [`UnfitRow`] if no fold writes such a row.
    pub fn restore_recent(&mut self, row: &[Value]) -> Result<(), UnfitRow> {
        let mut cells = RowCells::of(row);
        let session = self.restored_session(&mut cells)?;
        let _position: u64 = cells.next()?;
        let speaker: &str = cells.next()?;
        let content: Option<ArtifactHash> = cells.next()?;
        let exchange = session.exchanges.back_mut().map(|(exchange, _)| exchange);
        match (speaker, content, exchange) {
            ("exchange", None, _) => {
                let exchange = Exchange {
                    user: Vec::new(),
                    assistant: Vec::new(),
                };
                session.exchanges.push_back((exchange, cells.next()?));
            }
            ("user", Some(content), Some(exchange)) => exchange.user.push(content),
            ("assistant", Some(content), Some(exchange)) => exchange.assistant.push(content),
            _ => return Err(UnfitRow("a text belongs to no exchange")),
        }
        Ok(())
    }

    /// Restores a row of `session_entities`, after all rows of `sessions`.
    ///
    /// # Errors
    /// [`UnfitRow`] if no fold writes such a row.
    pub fn restore_entity(&mut self, row: &[Value]) -> Result<(), UnfitRow> {
        let mut cells = RowCells::of(row);
        let session = self.restored_session(&mut cells)?;
        let entity = cells.entity()?;
        let shown = ShownEntity {
            version: cells.next()?,
            shown_seq: cells.next()?,
            position: cells.next()?,
        };
        if shown
            .position
            .is_some_and(|position| position >= HYDRATION_ORDER_KEPT)
        {
            return Err(UnfitRow("an entity's position is too large"));
        }
        session.entities.insert(entity, shown);
        Ok(())
    }

    /// Restores a row of `session_parts`, in the order of their keys, after all rows of `sessions`.
    ///
    /// # Errors
    /// [`UnfitRow`] if no fold writes such a row.
    pub fn restore_part(&mut self, row: &[Value]) -> Result<(), UnfitRow> {
        let mut cells = RowCells::of(row);
        let id = RowCells::of(row).next()?;
        let session = self.restored_session(&mut cells)?;
        let part: &str = cells.next()?;
        let position: u64 = cells.next()?;
        let has_entity = !cells.clone().next::<&str>()?.is_empty();
        let entity = cells.entity()?;
        let entity = has_entity
            .then_some(entity)
            .ok_or(UnfitRow("a part has no entity"));
        let hash = cells.next::<Option<[u8; 32]>>()?;
        let hash = hash.ok_or(UnfitRow("a part has no hash"));
        let text = cells.next::<Option<ArtifactHash>>()?;
        let text = text.ok_or(UnfitRow("a part has no text"));
        let number = cells.next::<Option<u64>>()?;
        let number = number.ok_or(UnfitRow("a part has no number"));
        let until = cells.next::<Option<EpisodeId>>()?;
        let messages =
            || u32::try_from(number?).map_err(|_| UnfitRow("a part's number is too large"));
        match part {
            "ancestor" => {
                let until = until.ok_or(UnfitRow("an ancestor has no end"))?;
                session.ancestors.push((SessionId(number?), until));
            }
            "injected" => {
                let injected = Injected {
                    message: hash.map(MessageKey)?,
                    position: messages()?,
                    side: cells.word(&[Side::Before, Side::After], side_word)?,
                    text: text?,
                };
                session.injected.push_back((position, injected));
            }
            "notice" => {
                let word: &str = cells.next()?;
                let notice = NoticeIssued {
                    episode: EpisodeId(number?),
                    session: id,
                    reason: Reason::from_code(word).ok_or(UnfitRow("a reason isn't known"))?,
                    entity: entity.ok(),
                    other: None,
                };
                session.notices.push_back(PendingNotice {
                    notice,
                    was_shown: false,
                });
            }
            "notice_other" => session.notice_at(position)?.notice.other = Some(entity?),
            "notice_shown" => session.notice_at(position)?.was_shown = true,
            "open_user" => match &mut session.open {
                Some(open) => open.user.push(text?),
                None => return Err(UnfitRow("a text belongs to no open prompt")),
            },
            "point" => {
                let point = ConversationPoint {
                    transcript: hash.map(TranscriptHash)?,
                    length: messages()?,
                };
                session.points.insert(EpisodeId(position), point);
            }
            "refused" => {
                let refused = EpisodeId(number?);
                session.refused.insert(entity?.path, refused);
            }
            "withheld" => {
                let withheld = Withheld {
                    entity: entity?,
                    slice: SliceHash(hash?),
                    position: messages()?,
                };
                session.withheld.push_back((position, withheld));
            }
            _ => return Err(UnfitRow("a session has another part")),
        }
        Ok(())
    }

    /// Restores a row of `session_index`.
    ///
    /// # Errors
    /// [`UnfitRow`] if no fold writes such a row.
    pub fn restore_index(&mut self, row: &[Value]) -> Result<(), UnfitRow> {
        let mut cells = RowCells::of(row);
        let kind = cells.word(&LOOKUP_KINDS, lookup_kind_word)?;
        let key = (kind, cells.next()?);
        self.index.insert(key, (cells.next()?, cells.next()?));
        Ok(())
    }

    /// Restores a row of `session_episodes`.
    ///
    /// # Errors
    /// [`UnfitRow`] if no fold writes such a row.
    pub fn restore_episode(&mut self, row: &[Value]) -> Result<(), UnfitRow> {
        let mut cells = RowCells::of(row);
        let (episode, session) = (cells.next()?, cells.next()?);
        self.episodes.insert(episode, session);
        self.episodes_of.insert((session, episode));
        Ok(())
    }

    /// Restores a row of `replies_under_way`.
    ///
    /// # Errors
    /// [`UnfitRow`] if no fold writes such a row.
    pub fn restore_under_way(&mut self, row: &[Value]) -> Result<(), UnfitRow> {
        let mut cells = RowCells::of(row);
        let (episode, attempts) = (cells.next()?, cells.next()?);
        if attempts == 0 {
            return Err(UnfitRow("a reply is under way without an attempt"));
        }
        self.under_way.insert(episode, attempts);
        Ok(())
    }

    /// The restored session that the next cell names.
    fn restored_session(&mut self, cells: &mut RowCells<'_>) -> Result<&mut Session, UnfitRow> {
        let session = self.sessions.get_mut(&cells.next()?);
        session.ok_or(UnfitRow("a row belongs to no session"))
    }
}

impl Session {
    fn notice_at(&mut self, position: u64) -> Result<&mut PendingNotice, UnfitRow> {
        let at = usize::try_from(position).ok();
        let notice = at.and_then(|at| self.notices.get_mut(at));
        notice.ok_or(UnfitRow("a part belongs to no notice"))
    }
}

/// The lists of a session in `session_parts`, in the order of their words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the table's description says what each is")]
pub enum SessionList {
    #[default]
    Ancestor,
    Injected,
    Notice,
    NoticeOther,
    NoticeShown,
    OpenUser,
    Point,
    Refused,
    Withheld,
}

impl SessionList {
    const ALL: [Self; 9] = [
        Self::Ancestor,
        Self::Injected,
        Self::Notice,
        Self::NoticeOther,
        Self::NoticeShown,
        Self::OpenUser,
        Self::Point,
        Self::Refused,
        Self::Withheld,
    ];

    /// Its word in the column `part`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ancestor => "ancestor",
            Self::Injected => "injected",
            Self::Notice => "notice",
            Self::NoticeOther => "notice_other",
            Self::NoticeShown => "notice_shown",
            Self::OpenUser => "open_user",
            Self::Point => "point",
            Self::Refused => "refused",
            Self::Withheld => "withheld",
        }
    }
}

/// An item of a session's lists.
#[derive(Default)]
pub(super) struct SessionListItem<'i> {
    part: SessionList,
    position: u64,
    entity: Option<Cow<'i, EntityId>>,
    hash: Option<[u8; 32]>,
    text: Option<ArtifactHash>,
    number: Option<u64>,
    until: Option<EpisodeId>,
    word: Option<&'static str>,
}

impl SessionListItem<'_> {
    pub(super) fn key(&self, id: SessionId) -> Vec<Value> {
        let empty = || [Value::from(""), Value::from("")];
        let [path, symbol] = self.entity.as_deref().map_or_else(empty, table::entity_key);
        Vec::from([
            Value::from(id.0),
            Value::from(self.part.word()),
            Value::from(self.position),
            path,
            symbol,
        ])
    }

    pub(super) fn row(&self, id: SessionId) -> Vec<Value> {
        let mut row = self.key(id);
        row.extend([
            Value::from(self.hash.as_ref()),
            Value::from(self.text.as_ref().map(|text| &text.0)),
            Value::from(self.number),
            Value::from(self.until.map(|until| until.0)),
            Value::from(self.word),
        ]);
        row
    }
}

pub(super) fn injected_item(number: u64, injected: &Injected) -> SessionListItem<'static> {
    SessionListItem {
        part: SessionList::Injected,
        position: number,
        hash: Some(injected.message.0),
        text: Some(injected.text),
        number: Some(injected.position.into()),
        word: Some(side_word(injected.side)),
        ..SessionListItem::default()
    }
}

pub(super) fn point_item(episode: EpisodeId, point: ConversationPoint) -> SessionListItem<'static> {
    SessionListItem {
        part: SessionList::Point,
        position: episode.0,
        hash: Some(point.transcript.0),
        number: Some(point.length.into()),
        ..SessionListItem::default()
    }
}

pub(super) fn withheld_item(number: u64, withheld: &Withheld) -> SessionListItem<'_> {
    SessionListItem {
        part: SessionList::Withheld,
        position: number,
        entity: Some(Cow::Borrowed(&withheld.entity)),
        hash: Some(withheld.slice.0),
        number: Some(withheld.position.into()),
        ..SessionListItem::default()
    }
}

fn row(id: SessionId, session: &Session) -> Vec<Value> {
    let hash = |hash: Option<TranscriptHash>| Value::from(hash.as_ref().map(|hash| &hash.0));
    let key = |key: Option<MessageKey>| Value::from(key.as_ref().map(|key| &key.0));
    let (prompt, prompt_messages) = session.last_prompt.unzip();
    let open = session.open.as_ref();
    Vec::from([
        Value::from(id.0),
        Value::from(session.name.as_deref().map(Value::text)),
        Value::from(session.length),
        Value::from(session.last_episode.0),
        Value::from(session.before_last.0),
        Value::from(session.plain),
        hash(session.head),
        hash(session.tail),
        key(session.reply),
        hash(prompt),
        Value::from(prompt_messages),
        Value::from(open.map(|open| open.episode.0)),
        hash(open.map(|open| open.transcript)),
        Value::from(open.map(|open| open.length)),
        key(open.and_then(|open| open.user_key)),
        Value::from(open.map(|open| open.in_flight)),
        Value::from(open.map(|open| open.in_tool_chain)),
        Value::from(session.composed_seq.0),
    ])
}

fn recent_rows(id: SessionId, session: &Session) -> Vec<Vec<Value>> {
    let mut rows: Vec<Vec<Value>> = Vec::new();
    let mut add = |speaker: &'static str, content: Option<&ArtifactHash>, messages: Option<u32>| {
        rows.push(Vec::from([
            Value::from(id.0),
            Value::from(rows.len() as u64),
            Value::from(speaker),
            Value::from(content.map(|content| &content.0)),
            Value::from(messages),
        ]));
    };
    for (exchange, messages) in &session.exchanges {
        add("exchange", None, Some(*messages));
        let user = exchange.user.iter();
        user.for_each(|content| add("user", Some(content), None));
        let assistant = exchange.assistant.iter();
        assistant.for_each(|content| add("assistant", Some(content), None));
    }
    rows
}

/// By key.
fn part_rows(id: SessionId, session: &Session) -> Vec<Vec<Value>> {
    let items = SessionList::ALL
        .into_iter()
        .flat_map(|part| part_items(session, part));
    items.map(|item| item.row(id)).collect()
}

/// A list of a session, by key.
fn part_items<'s>(session: &'s Session, part: SessionList) -> Vec<SessionListItem<'s>> {
    let at = |position| SessionListItem {
        part,
        position,
        ..SessionListItem::default()
    };
    let notices = (0..).zip(&session.notices);
    match part {
        SessionList::Ancestor => {
            let ancestors = (0..).zip(&session.ancestors);
            let item = |(position, it): (u64, &(SessionId, EpisodeId))| SessionListItem {
                number: Some(it.0.0),
                until: Some(it.1),
                ..at(position)
            };
            ancestors.map(item).collect()
        }
        SessionList::Injected => {
            let items = session.injected.iter();
            items
                .map(|(number, it)| injected_item(*number, it))
                .collect()
        }
        SessionList::Notice => {
            let item = |(position, PendingNotice { notice, .. }): (u64, &'s _)| SessionListItem {
                entity: notice.entity.as_ref().map(Cow::Borrowed),
                number: Some(notice.episode.0),
                word: Some(notice.reason.code()),
                ..at(position)
            };
            notices.map(item).collect()
        }
        SessionList::NoticeOther => {
            let item = |(position, pending): (u64, &'s PendingNotice)| {
                let other = pending.notice.other.as_ref()?;
                Some(SessionListItem {
                    entity: Some(Cow::Borrowed(other)),
                    ..at(position)
                })
            };
            notices.filter_map(item).collect()
        }
        SessionList::NoticeShown => {
            let shown = notices.filter(|(_, pending)| pending.was_shown);
            shown.map(|(position, _)| at(position)).collect()
        }
        SessionList::OpenUser => {
            let texts = session.open.iter().flat_map(|open| (0..).zip(&open.user));
            let item = |(position, text): (u64, &ArtifactHash)| SessionListItem {
                text: Some(*text),
                ..at(position)
            };
            texts.map(item).collect()
        }
        SessionList::Point => {
            let points = session.points.iter();
            points
                .map(|(episode, it)| point_item(*episode, *it))
                .collect()
        }
        SessionList::Refused => {
            let item = |(path, episode): (&RelPath, &EpisodeId)| SessionListItem {
                entity: Some(Cow::Owned(EntityId::file(path.clone()))),
                number: Some(episode.0),
                ..at(0)
            };
            session.refused.iter().map(item).collect()
        }
        SessionList::Withheld => {
            let items = session.withheld.iter();
            items
                .map(|(number, it)| withheld_item(*number, it))
                .collect()
        }
    }
}

pub(super) fn entity_key(id: SessionId, entity: &EntityId) -> Vec<Value> {
    let [path, symbol] = table::entity_key(entity);
    Vec::from([Value::from(id.0), path, symbol])
}

pub(super) fn entity_row(id: SessionId, entity: &EntityId, shown: ShownEntity) -> Vec<Value> {
    let mut row = entity_key(id, entity);
    row.extend([
        Value::from(shown.version.0),
        Value::from(shown.shown_seq.0),
        Value::from(shown.position),
    ]);
    row
}

pub(super) fn index_key((kind, hash): LookupKey) -> Vec<Value> {
    Vec::from([Value::from(lookup_kind_word(kind)), Value::from(&hash)])
}

pub(super) fn index_row(key: LookupKey, (session, messages): (SessionId, u32)) -> Vec<Value> {
    let mut row = index_key(key);
    row.extend([Value::from(session.0), Value::from(messages)]);
    row
}

pub(super) fn episode_row(episode: EpisodeId, session: SessionId) -> Vec<Value> {
    Vec::from([Value::from(episode.0), Value::from(session.0)])
}

pub(super) fn attempts_row(episode: EpisodeId, attempts: u32) -> Vec<Value> {
    Vec::from([Value::from(episode.0), Value::from(attempts)])
}
