//! Sessions as rows and back.

use alloc::vec::Vec;

use tslp_core::ids::SessionId;

use super::rows::{SessionEpisodeRow, SessionIndexRow, SessionRow, UnderWayRow};
use super::{HYDRATION_ORDER_KEPT, Sessions};
use crate::row::{EventAt, Keeps, Key as _, UnfitRow};
use crate::table::Value;

impl Keeps<SessionRow> for Sessions {
    fn visit_rows(&self, visit: &mut dyn FnMut(SessionRow)) {
        let ids = self.sessions.keys();
        ids.filter_map(|id| self.row(*id)).for_each(visit);
    }

    fn restore_row(&mut self, row: SessionRow, _: EventAt<'_>) -> Result<(), UnfitRow> {
        let mut shown = row.state.entities.values();
        if shown.any(|it| it.position.is_some_and(|at| at >= HYDRATION_ORDER_KEPT)) {
            return Err(UnfitRow("an entity's position is too large"));
        }
        self.sessions.insert(row.session, row.state);
        Ok(())
    }

    fn rows_beginning(&self, key: &[Value]) -> Vec<SessionRow> {
        let (id,) = <(SessionId,)>::from_touched(key);
        self.row(id).into_iter().collect()
    }
}

impl Sessions {
    fn row(&self, session: SessionId) -> Option<SessionRow> {
        let state = self.sessions.get(&session)?.clone();
        Some(SessionRow { session, state })
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
