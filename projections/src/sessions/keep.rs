//! Sessions as rows and back.

use alloc::vec::Vec;

use tslp_core::entity::EntityId;
use tslp_core::event::{ContextCut, Injected, NoticeIssued, Withheld};
use tslp_core::hash::{MessageKey, SliceHash, TranscriptHash};
use tslp_core::ids::{EpisodeId, Seq, SessionId};
use tslp_core::reason::Reason;

use super::answers::{Exchange, PendingNotice};
use super::rows::{
    RecentContextRow, SessionEntityRow, SessionEpisodeRow, SessionIndexRow, SessionList,
    SessionPartRow, SessionRow, Speaker, UnderWayRow,
};
use super::{
    ConversationPoint, HYDRATION_ORDER_KEPT, PromptInProgress, Session, Sessions, ShownEntity, Turn,
};
use crate::row::{EventAt, Keeps, Key as _, UnfitRow};
use crate::table::Value;

impl Keeps<SessionRow> for Sessions {
    fn visit_rows(&self, visit: &mut dyn FnMut(SessionRow)) {
        let sessions = self.sessions.iter();
        let rows = sessions.map(|(id, session)| session_row(*id, session));
        rows.for_each(visit);
    }

    fn restore_row(&mut self, row: SessionRow, _: EventAt<'_>) -> Result<(), UnfitRow> {
        let last_prompt = match (row.prompt, row.prompt_messages) {
            (Some(prompt), Some(messages)) => Some((prompt, messages)),
            (None, None) => None,
            _ => return Err(UnfitRow("a prompt is there in part")),
        };
        let session = Session {
            name: row.name.clone(),
            length: row.messages,
            last_episode: row.last_episode,
            turn: Turn {
                from: row.turn,
                composed: row.turn_composed,
            },
            turn_before: Turn {
                from: row.turn_before,
                composed: row.turn_before_composed,
            },
            composed_seq: row.composed_seq,
            head: row.head,
            tail: row.tail,
            reply: row.reply,
            last_prompt,
            system: row.system,
            open: open_prompt(&row)?,
            is_subagent: row.is_subagent,
            ..Session::default()
        };
        self.sessions.insert(row.session, session);
        Ok(())
    }

    fn rows_beginning(&self, key: &[Value]) -> Vec<SessionRow> {
        let rows = self.touched(key).into_iter();
        rows.map(|(id, session)| session_row(id, session)).collect()
    }
}

impl Keeps<SessionEntityRow> for Sessions {
    fn visit_rows(&self, visit: &mut dyn FnMut(SessionEntityRow)) {
        let sessions = self.sessions.iter();
        let rows = sessions.flat_map(|(id, session)| entity_rows(*id, session));
        rows.for_each(visit);
    }

    /// After all rows of `sessions`, as with the next two.
    fn restore_row(&mut self, row: SessionEntityRow, _: EventAt<'_>) -> Result<(), UnfitRow> {
        let session = self.restored_session(row.session)?;
        let is_placed = |position| position < HYDRATION_ORDER_KEPT;
        if !row.position.is_none_or(is_placed) {
            return Err(UnfitRow("an entity's position is too large"));
        }
        let shown = ShownEntity {
            version: row.version,
            shown_seq: row.shown_seq,
            position: row.position,
        };
        session.entities.insert(row.entity, shown);
        Ok(())
    }

    fn rows_beginning(&self, key: &[Value]) -> Vec<SessionEntityRow> {
        let rows = self.touched(key).into_iter();
        rows.flat_map(|(id, session)| entity_rows(id, session))
            .collect()
    }
}

impl Keeps<RecentContextRow> for Sessions {
    fn visit_rows(&self, visit: &mut dyn FnMut(RecentContextRow)) {
        let sessions = self.sessions.iter();
        let rows = sessions.flat_map(|(id, session)| recent_rows(*id, session));
        rows.for_each(visit);
    }

    fn restore_row(&mut self, row: RecentContextRow, _: EventAt<'_>) -> Result<(), UnfitRow> {
        let exchanges = &mut self.restored_session(row.session)?.exchanges;
        let last = exchanges.back_mut().map(|(exchange, _)| exchange);
        match (row.speaker, row.content, row.messages, last) {
            (Speaker::Exchange, None, Some(messages), _) => {
                let exchange = Exchange {
                    user: Vec::new(),
                    assistant: Vec::new(),
                };
                exchanges.push_back((exchange, messages));
            }
            (Speaker::User, Some(content), None, Some(exchange)) => exchange.user.push(content),
            (Speaker::Assistant, Some(content), None, Some(exchange)) => {
                exchange.assistant.push(content);
            }
            _ => return Err(UnfitRow("a text belongs to no exchange")),
        }
        Ok(())
    }

    fn rows_beginning(&self, key: &[Value]) -> Vec<RecentContextRow> {
        let rows = self.touched(key).into_iter();
        rows.flat_map(|(id, session)| recent_rows(id, session))
            .collect()
    }
}

impl Keeps<SessionPartRow> for Sessions {
    fn visit_rows(&self, visit: &mut dyn FnMut(SessionPartRow)) {
        let sessions = self.sessions.iter();
        let rows = sessions.flat_map(|(id, session)| part_rows(*id, session));
        rows.for_each(visit);
    }

    fn restore_row(&mut self, row: SessionPartRow, _: EventAt<'_>) -> Result<(), UnfitRow> {
        let session = self.restored_session(row.session)?;
        let side = row.side();
        let entity = row.entity.ok_or(UnfitRow("a part has no entity"));
        let hash = row.hash.ok_or(UnfitRow("a part has no hash"));
        let text = row.text.ok_or(UnfitRow("a part has no text"));
        let number = row.number.ok_or(UnfitRow("a part has no number"));
        let messages =
            || u32::try_from(number?).map_err(|_| UnfitRow("a part's number is too large"));
        // Rows come in the order of their keys, so each list comes back in its own order, and a notice before what completes it.
        match row.part {
            SessionList::Ancestor => {
                let until = row.until.ok_or(UnfitRow("an ancestor has no end"))?;
                session.ancestors.push((SessionId(number?), until));
            }
            SessionList::Clear => match (row.position, &mut session.clear.cut) {
                (0, _) => session.clear.is_asked = true,
                (1, cut) => {
                    let begins = ContextCut {
                        position: messages()?,
                        message: hash.map(MessageKey)?,
                        reply: None,
                    };
                    *cut = Some((begins, Seq(0)));
                }
                (_, Some((cut, seq))) => {
                    *seq = Seq(number?);
                    cut.reply = row.hash.map(MessageKey);
                }
                (_, None) => return Err(UnfitRow("a clear has no place")),
            },
            SessionList::Injected => {
                let injected = Injected {
                    message: hash.map(MessageKey)?,
                    position: messages()?,
                    side: side.ok_or(UnfitRow("a text is on no side of a message"))?,
                    text: text?,
                };
                session.injected.push_back((row.position, injected));
            }
            SessionList::Notice => {
                let reason = row.word.as_deref().and_then(Reason::from_code);
                let notice = NoticeIssued {
                    episode: EpisodeId(number?),
                    session: row.session,
                    reason: reason.ok_or(UnfitRow("a notice has no reason"))?,
                    entity: entity.ok(),
                    other: None,
                };
                session.notices.push_back(PendingNotice {
                    notice,
                    was_shown: false,
                });
            }
            SessionList::NoticeOther => {
                session.notice_at(row.position)?.notice.other = Some(entity?);
            }
            SessionList::NoticeShown => session.notice_at(row.position)?.was_shown = true,
            SessionList::OpenUser => match &mut session.open {
                Some(open) => open.user.push(text?),
                None => return Err(UnfitRow("a text belongs to no open prompt")),
            },
            SessionList::Point => {
                let point = ConversationPoint {
                    transcript: hash.map(TranscriptHash)?,
                    length: messages()?,
                };
                session.points.insert(EpisodeId(row.position), point);
            }
            SessionList::Refused => {
                let refused = EpisodeId(number?);
                session.refused.insert(entity?.path, refused);
            }
            SessionList::Withheld => {
                let withheld = Withheld {
                    entity: entity?,
                    slice: SliceHash(hash?),
                    position: messages()?,
                };
                session.withheld.push_back((row.position, withheld));
            }
        }
        Ok(())
    }

    /// Of the whole session, or of one of its lists.
    fn rows_beginning(&self, key: &[Value]) -> Vec<SessionPartRow> {
        let (session, part) = key.split_at(1);
        let Some((id, session)) = self.touched(session) else {
            return Vec::new();
        };
        if part.is_empty() {
            return part_rows(id, session).collect();
        }
        let (part,) = <(SessionList,)>::from_touched(part);
        list_rows(id, session, part)
    }
}

impl Keeps<SessionIndexRow> for Sessions {
    fn visit_rows(&self, visit: &mut dyn FnMut(SessionIndexRow)) {
        let rows = self.index.iter();
        rows.map(|((sign, hash), (session, messages))| SessionIndexRow {
            sign: *sign,
            hash: *hash,
            session: *session,
            messages: *messages,
        })
        .for_each(visit);
    }

    fn restore_row(&mut self, row: SessionIndexRow, _: EventAt<'_>) -> Result<(), UnfitRow> {
        let key = (row.sign, row.hash);
        self.index.insert(key, (row.session, row.messages));
        Ok(())
    }
}

impl Keeps<SessionEpisodeRow> for Sessions {
    fn visit_rows(&self, visit: &mut dyn FnMut(SessionEpisodeRow)) {
        let rows = self.episodes.iter();
        rows.map(|(episode, session)| SessionEpisodeRow {
            episode: *episode,
            session: *session,
        })
        .for_each(visit);
    }

    fn restore_row(&mut self, row: SessionEpisodeRow, _: EventAt<'_>) -> Result<(), UnfitRow> {
        self.episodes.insert(row.episode, row.session);
        self.episodes_of.insert((row.session, row.episode));
        Ok(())
    }
}

impl Keeps<UnderWayRow> for Sessions {
    fn visit_rows(&self, visit: &mut dyn FnMut(UnderWayRow)) {
        let rows = self.under_way.iter();
        rows.map(|(episode, attempts)| UnderWayRow {
            episode: *episode,
            attempts: *attempts,
        })
        .for_each(visit);
    }

    fn restore_row(&mut self, row: UnderWayRow, _: EventAt<'_>) -> Result<(), UnfitRow> {
        if row.attempts == 0 {
            return Err(UnfitRow("a reply is under way without an attempt"));
        }
        self.under_way.insert(row.episode, row.attempts);
        Ok(())
    }
}

impl Sessions {
    fn restored_session(&mut self, id: SessionId) -> Result<&mut Session, UnfitRow> {
        let session = self.sessions.get_mut(&id);
        session.ok_or(UnfitRow("a row belongs to no session"))
    }

    /// The session with this key, if it is kept.
    fn touched(&self, key: &[Value]) -> Option<(SessionId, &Session)> {
        let (id,) = <(SessionId,)>::from_touched(key);
        Some((id, self.sessions.get(&id)?))
    }
}

impl Session {
    fn notice_at(&mut self, position: u64) -> Result<&mut PendingNotice, UnfitRow> {
        let at = usize::try_from(position).ok();
        let notice = at.and_then(|at| self.notices.get_mut(at));
        notice.ok_or(UnfitRow("a part belongs to no notice"))
    }
}

fn session_row(session: SessionId, state: &Session) -> SessionRow {
    let open = state.open.as_ref();
    SessionRow {
        session,
        name: state.name.clone(),
        messages: state.length,
        last_episode: state.last_episode,
        turn: state.turn.from,
        turn_composed: state.turn.composed,
        turn_before: state.turn_before.from,
        turn_before_composed: state.turn_before.composed,
        composed_seq: state.composed_seq,
        head: state.head,
        tail: state.tail,
        reply: state.reply,
        prompt: state.last_prompt.map(|(prompt, _)| prompt),
        prompt_messages: state.last_prompt.map(|(_, messages)| messages),
        system: state.system,
        open: open.map(|open| open.episode),
        open_transcript: open.map(|open| open.transcript),
        open_messages: open.map(|open| open.length),
        open_user: open.and_then(|open| open.user_key),
        in_flight: open.map(|open| open.in_flight),
        in_tool_chain: open.map(|open| open.in_tool_chain),
        is_subagent: state.is_subagent,
    }
}

fn open_prompt(row: &SessionRow) -> Result<Option<PromptInProgress>, UnfitRow> {
    let cells = (
        row.open,
        row.open_transcript,
        row.open_messages,
        row.in_flight,
        row.in_tool_chain,
    );
    match cells {
        (Some(episode), Some(transcript), Some(length), Some(in_flight), Some(in_tool_chain)) => {
            Ok(Some(PromptInProgress {
                episode,
                transcript,
                length,
                user_key: row.open_user,
                user: Vec::new(),
                in_flight,
                in_tool_chain,
            }))
        }
        (None, None, None, None, None) if row.open_user.is_none() => Ok(None),
        _ => Err(UnfitRow("an open prompt is there in part")),
    }
}

fn entity_rows(
    session: SessionId,
    state: &Session,
) -> impl Iterator<Item = SessionEntityRow> + use<'_> {
    let entities = state.entities.iter();
    entities.map(move |(entity, shown)| shown.row(session, entity))
}

impl ShownEntity {
    pub(super) fn row(self, session: SessionId, entity: &EntityId) -> SessionEntityRow {
        SessionEntityRow {
            session,
            entity: entity.clone(),
            version: self.version,
            shown_seq: self.shown_seq,
            position: self.position,
        }
    }
}

fn recent_rows(session: SessionId, state: &Session) -> Vec<RecentContextRow> {
    let mut rows = Vec::new();
    let mut add = |speaker, content, messages| {
        rows.push(RecentContextRow {
            session,
            position: rows.len() as u64,
            speaker,
            content,
            messages,
        });
    };
    for (exchange, messages) in &state.exchanges {
        add(Speaker::Exchange, None, Some(*messages));
        let user = exchange.user.iter();
        user.for_each(|content| add(Speaker::User, Some(*content), None));
        let assistant = exchange.assistant.iter();
        assistant.for_each(|content| add(Speaker::Assistant, Some(*content), None));
    }
    rows
}

/// By key.
fn part_rows(
    session: SessionId,
    state: &Session,
) -> impl Iterator<Item = SessionPartRow> + use<'_> {
    let lists = SessionList::ALL.iter();
    lists.flat_map(move |part| list_rows(session, state, *part))
}

/// The rows of one list, by key.
fn list_rows(session: SessionId, state: &Session, part: SessionList) -> Vec<SessionPartRow> {
    let at = |position| SessionPartRow::item(session, part, position);
    let notices = (0..).zip(&state.notices);
    match part {
        SessionList::Ancestor => {
            let ancestors = (0..).zip(&state.ancestors);
            let rows = ancestors.map(|(position, (ancestor, until))| SessionPartRow {
                number: Some(ancestor.0),
                until: Some(*until),
                ..at(position)
            });
            rows.collect()
        }
        SessionList::Clear => {
            let asked = state.clear.is_asked.then(|| at(0));
            let cut = state.clear.cut.into_iter().flat_map(|(cut, seq)| {
                let begins = SessionPartRow {
                    hash: Some(cut.message.0),
                    number: Some(cut.position.into()),
                    ..at(1)
                };
                let said = SessionPartRow {
                    hash: cut.reply.map(|reply| reply.0),
                    number: Some(seq.0),
                    ..at(2)
                };
                [begins, said]
            });
            asked.into_iter().chain(cut).collect()
        }
        SessionList::Injected => {
            let injected = state.injected.iter();
            injected
                .map(|(number, it)| SessionPartRow::injected(session, *number, it))
                .collect()
        }
        SessionList::Notice => {
            let rows = notices.map(|(position, PendingNotice { notice, .. })| SessionPartRow {
                entity: notice.entity.clone(),
                number: Some(notice.episode.0),
                word: Some(notice.reason.code().into()),
                ..at(position)
            });
            rows.collect()
        }
        SessionList::NoticeOther => {
            let rows = notices.filter_map(|(position, pending)| {
                Some(SessionPartRow {
                    entity: Some(pending.notice.other.clone()?),
                    ..at(position)
                })
            });
            rows.collect()
        }
        SessionList::NoticeShown => {
            let shown = notices.filter(|(_, pending)| pending.was_shown);
            shown.map(|(position, _)| at(position)).collect()
        }
        SessionList::OpenUser => {
            let texts = state.open.iter().flat_map(|open| (0..).zip(&open.user));
            let rows = texts.map(|(position, text)| SessionPartRow {
                text: Some(*text),
                ..at(position)
            });
            rows.collect()
        }
        SessionList::Point => {
            let points = state.points.iter();
            let rows = points.map(|(episode, point)| {
                SessionPartRow::point(session, *episode, point.transcript, point.length)
            });
            rows.collect()
        }
        SessionList::Refused => {
            let rows = state.refused.iter().map(|(path, episode)| SessionPartRow {
                entity: Some(EntityId::file(path.clone())),
                number: Some(episode.0),
                ..at(0)
            });
            rows.collect()
        }
        SessionList::Withheld => {
            let withheld = state.withheld.iter();
            withheld
                .map(|(number, it)| SessionPartRow::withheld(session, *number, it))
                .collect()
        }
    }
}
