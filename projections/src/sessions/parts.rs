//! Sessions as plain data and back.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::ops::ControlFlow;

use tslp_core::ids::SessionId;

use super::{Session, Sessions};
use crate::part::{self, Part, Unfit, Visit};

impl Sessions {
    /// All of it as plain data.
    pub fn parts(&self, visit: Visit<'_>) -> ControlFlow<()> {
        visit(Part::SessionIds(self.last_session, self.last_episode))?;
        let sessions = self.sessions.iter();
        part::emit(
            sessions.map(|(id, session)| (*id, session.clone())),
            |(_, session)| session.points.len() + session.hydration_order.len(),
            Part::Sessions,
            visit,
        )?;
        let names = self.names.iter();
        let names = names.map(|(name, id)| (name.clone(), *id));
        part::emit(names, part::plain, Part::SessionNames, visit)?;
        let points = self.points.iter();
        let points = points.map(|(point, (id, length))| (*point, *id, *length));
        part::emit(points, part::plain, Part::SessionPoints, visit)?;
        part::emit(pairs(&self.tails), part::plain, Part::SessionTails, visit)?;
        part::emit(
            pairs(&self.replies),
            part::plain,
            Part::SessionReplies,
            visit,
        )?;
        part::emit(
            pairs(&self.prompts),
            part::plain,
            Part::SessionPrompts,
            visit,
        )?;
        part::emit(
            pairs(&self.episodes),
            part::plain,
            Part::SessionEpisodes,
            visit,
        )?;
        part::emit(pairs(&self.under_way), part::plain, Part::UnderWay, visit)
    }

    /// Takes back one of its parts; any other is given back.
    ///
    /// # Errors
    /// When something stands in it twice, or can't be.
    pub fn restore(&mut self, part: Part) -> Result<Option<Part>, Unfit> {
        match part {
            Part::SessionIds(session, episode) => {
                (self.last_session, self.last_episode) = (session, episode);
            }
            Part::Sessions(sessions) => self.restore_sessions(sessions)?,
            Part::SessionNames(names) => {
                part::fill(
                    &mut self.names,
                    names,
                    "a session's name stands there twice",
                )?;
            }
            Part::SessionPoints(points) => {
                let points = points.into_iter();
                part::fill(
                    &mut self.points,
                    points.map(|(point, id, length)| (point, (id, length))),
                    "a conversation stands there twice",
                )?;
            }
            Part::SessionTails(tails) => part::fill(&mut self.tails, tails, TWICE)?,
            Part::SessionReplies(replies) => part::fill(&mut self.replies, replies, TWICE)?,
            Part::SessionPrompts(prompts) => part::fill(&mut self.prompts, prompts, TWICE)?,
            Part::SessionEpisodes(episodes) => {
                let owned = episodes
                    .iter()
                    .map(|(episode, session)| (*session, *episode));
                self.episodes_of.extend(owned);
                part::fill(&mut self.episodes, episodes, TWICE)?;
            }
            Part::UnderWay(attempts) => {
                if attempts.iter().any(|(_, count)| *count == 0) {
                    return Err(Unfit("a reply is under way without an attempt"));
                }
                part::fill(&mut self.under_way, attempts, TWICE)?;
            }
            other => return Ok(Some(other)),
        }
        Ok(None)
    }

    fn restore_sessions(&mut self, sessions: Vec<(SessionId, Session)>) -> Result<(), Unfit> {
        part::fill(&mut self.sessions, sessions, "a session stands there twice")
    }
}

const TWICE: &str = "a session's index has something twice";

fn pairs<K: Clone, V: Copy>(map: &BTreeMap<K, V>) -> impl Iterator<Item = (K, V)> {
    map.iter().map(|(key, value)| (key.clone(), *value))
}
