//! Knows the pieces of sent prompts that are on record already, so that each prompt adds only its new ones to the ledger.

use std::collections::VecDeque;
use std::ops::Range;

use tslp_core::event::PromptBase;
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, SessionId};
use tslp_core::outgoing::{SentPiece, SentPrompt};
use tslp_core::recent_map::RecentMap;

use super::body_walk::MessageHash;
use super::template::{KnownText, json_template};

/// Sessions whose last prompt the next one is compared with. The first prompt of another one names all its messages.
const SESSIONS_MAX: usize = 32;

/// Messages whose templates are remembered, twice: in the generation that is filling and in the one before. 64 bytes each.
const GENERATION_PIECES: usize = 4096;

/// Marks the messages' position in a frame; the byte occurs in no UTF-8 text.
const MESSAGES: u8 = 0xfe;

/// A message in a request body that went to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentMessage {
    /// Stands for its JSON: the hash of that, or of what it was made of.
    pub key: MessageHash,
    /// The indices of the client's messages that it holds.
    pub messages: Range<usize>,
    /// The position of its JSON in the body.
    pub bytes: Range<usize>,
}

/// A bounded cache of recorded pieces. Empty after a restart: then a prompt names all its messages.
#[derive(Debug)]
pub struct SentPrompts {
    /// Oldest first.
    sessions: VecDeque<(SessionId, LastSent)>,
    /// The template of each piece, by the hash of its JSON.
    templates: RecentMap<[u8; 32], ArtifactHash>,
}

#[derive(Debug)]
struct LastSent {
    episode: EpisodeId,
    messages: Vec<ArtifactHash>,
    /// The pieces of its reply's text.
    reply: Vec<ArtifactHash>,
}

impl Default for SentPrompts {
    fn default() -> Self {
        Self {
            sessions: VecDeque::new(),
            templates: RecentMap::new(GENERATION_PIECES),
        }
    }
}

impl SentPrompts {
    /// Divides a sent request body into pieces to record: its frame and its messages. `known` returns the Vault's texts in some
    /// of the messages; it is called only for messages that weren't sent before.
    pub fn record_prompt<'t>(
        &mut self,
        session: SessionId,
        episode: EpisodeId,
        body: &str,
        sent: &[SentMessage],
        mut known: impl FnMut(Range<usize>) -> Vec<KnownText<'t>>,
    ) -> SentPrompt {
        let last = self.take_last(session);
        let start = sent.first().map_or(0, |first| first.bytes.start);
        let end = sent.last().map_or(start, |last| last.bytes.end);
        let frame = self.frame_piece(&body[..start], &body[end..]);
        let mut messages = Vec::with_capacity(sent.len());
        let mut hashes = Vec::with_capacity(sent.len());
        let mut from = start;
        for SentMessage {
            key,
            messages: held,
            bytes,
        } in sent
        {
            // With what separates it from the one before. A long conversation isn't hashed again: its messages were.
            debug_assert!(from <= bytes.start, "messages are in the body's order");
            let separator = &body[from..bytes.start];
            let json = &body[from..bytes.end];
            from = bytes.end;
            let key = key_of(&[separator.as_bytes(), key]);
            let (hash, piece) = self.keyed_piece(key, || json_template(json, &known(held.clone())));
            hashes.push(hash);
            messages.push(piece);
        }
        let base = last.and_then(|last| {
            let same = last.messages.iter().zip(&hashes);
            let kept = same.take_while(|(one, other)| one == other).count();
            (kept > 0).then_some((last.episode, kept))
        });
        let kept = base.map_or(0, |(_, kept)| kept);
        debug_assert!(
            self.sessions.len() < SESSIONS_MAX,
            "`take_last` has made room"
        );
        self.sessions.push_back((
            session,
            LastSent {
                episode,
                messages: hashes,
                reply: Vec::new(),
            },
        ));
        SentPrompt {
            episode,
            frame,
            base: base.map(|(episode, kept)| PromptBase {
                episode,
                messages: u32::try_from(kept)
                    .expect("a body of at most some MiB has fewer messages"),
            }),
            messages: messages.split_off(kept),
        }
    }

    /// The pieces of the text of the session's last reply.
    #[must_use]
    pub fn last_reply(&self, session: SessionId) -> &[ArtifactHash] {
        let mut sessions = self.sessions.iter();
        let last = sessions.find(|(known, _)| *known == session);
        last.map_or(&[], |(_, last)| &last.reply)
    }

    /// Remembers the segments in which an episode's reply was recorded: the next prompt usually repeats its text.
    pub fn record_reply_segments(&mut self, episode: EpisodeId, segments: &[ArtifactHash]) {
        let mut sessions = self.sessions.iter_mut();
        if let Some((_, last)) = sessions.find(|(_, last)| last.episode == episode) {
            last.reply = segments.to_vec();
        }
    }

    fn take_last(&mut self, session: SessionId) -> Option<LastSent> {
        let known = self
            .sessions
            .iter()
            .position(|(known, _)| *known == session);
        if let Some(at) = known {
            return self.sessions.remove(at).map(|(_, last)| last);
        }
        // Each prompt puts its session at the end, so the first one has been quiet for the longest time.
        if self.sessions.len() == SESSIONS_MAX {
            self.sessions.pop_front();
        }
        None
    }

    fn frame_piece(&mut self, before: &str, after: &str) -> SentPiece {
        let key = key_of(&[before.as_bytes(), &[MESSAGES], after.as_bytes()]);
        let make = || {
            let mut frame = json_template(before, &[]);
            frame.push(MESSAGES);
            frame.extend_from_slice(&json_template(after, &[]));
            frame
        };
        self.keyed_piece(key, make).1
    }

    /// The piece with this key, made only if it isn't known.
    fn keyed_piece(
        &mut self,
        key: [u8; 32],
        make: impl FnOnce() -> Vec<u8>,
    ) -> (ArtifactHash, SentPiece) {
        if let Some(hash) = self.templates.get(&key) {
            return (*hash, SentPiece::OnRecord(*hash));
        }
        let made = make();
        let hash = ArtifactHash::of(&made);
        self.templates.insert(key, hash, 1);
        (hash, SentPiece::New(made))
    }
}

fn key_of(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    *hasher.finalize().as_bytes()
}

/// The bytes before and after a frame's messages; `None` if it is no frame.
#[must_use]
pub fn frame_halves(frame: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = frame.iter().position(|byte| *byte == MESSAGES)?;
    Some((&frame[..at], &frame[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::body_walk::message_hash;

    fn body(messages: &[&str]) -> (String, Vec<SentMessage>) {
        let mut body = String::from("{\"messages\":[");
        let mut sent = Vec::new();
        for (index, json) in messages.iter().enumerate() {
            if index > 0 {
                body.push(',');
            }
            sent.push(SentMessage {
                key: message_hash(json.as_bytes()),
                messages: index..index + 1,
                bytes: body.len()..body.len() + json.len(),
            });
            body.push_str(json);
        }
        (body + "]}", sent)
    }

    /// Records prompts of sessions; each says which messages are made anew, and what it begins like.
    #[test]
    fn new_messages_only() {
        let mut sent = SentPrompts::default();
        let mut episode = 0;
        let mut check = |session, messages: &[&str], made: &[&str], base: Option<(u64, u32)>| {
            episode += 1;
            let mut asked = Vec::new();
            let (body, ranges) = body(messages);
            let (session, episode) = (SessionId(session), EpisodeId(episode));
            let prompt = sent.record_prompt(session, episode, &body, &ranges, |held| {
                asked.extend(held.map(|index| messages[index]));
                Vec::new()
            });
            assert_eq!(asked, made);
            let found = prompt.base.map(|base| (base.episode.0, base.messages));
            assert_eq!(found, base);
            let kept = base.map_or(0, |(_, kept)| kept as usize);
            assert_eq!(prompt.messages.len(), messages.len() - kept);
            let is_first = episode == EpisodeId(1);
            assert_eq!(matches!(prompt.frame, SentPiece::New(_)), is_first);
        };
        check(1, &["a", "b"], &["a", "b"], None);
        check(1, &["a", "b", "c"], &["c"], Some((1, 2)));
        // Another session: nothing is stored again, and all is named.
        check(2, &["a", "b", "c"], &[], None);
        check(1, &["a", "x", "c"], &["x"], Some((2, 1)));
        check(1, &["y"], &["y"], None);
        check(2, &["a", "b", "c"], &[], Some((3, 3)));
    }

    #[test]
    fn old_sessions() {
        let mut sent = SentPrompts::default();
        for session in 0..=SESSIONS_MAX as u64 {
            let (body, ranges) = body(&["a"]);
            let nothing = |_| Vec::new();
            let (known, episode) = (SessionId(session), EpisodeId(session));
            let _ = sent.record_prompt(known, episode, &body, &ranges, nothing);
            let reply = [ArtifactHash([1; 32])];
            sent.record_reply_segments(EpisodeId(session), &reply);
            assert_eq!(sent.last_reply(SessionId(session)), reply);
        }
        assert_eq!(sent.sessions.len(), SESSIONS_MAX);
        assert!(sent.last_reply(SessionId(0)).is_empty());
    }
}
