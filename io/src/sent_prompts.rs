//! Reassembles from the ledger the request body that the model received in an episode.

use std::ops::ControlFlow;

use tslp_core::event::{Event, EventKind, PromptSent};
use tslp_core::hash::ArtifactHash;
use tslp_core::ids::{EpisodeId, Seq};
use tslp_projections::episodes::EpisodeRow;

use tslp_store::ledger::{LedgerError, LedgerReader};
use tslp_wire::chat::sent::frame_halves;
use tslp_wire::chat::template::{TemplateError, expand_template};

/// The reason why a prompt can't be shown, for the person who asks.
#[derive(Debug, thiserror::Error)]
pub enum NotShown {
    /// There is no such episode.
    #[error("there is no episode {asked}: {}", last_episode_words(*.last))]
    Unknown {
        /// The one that was asked for.
        asked: EpisodeId,
        /// The last one.
        last: Option<EpisodeId>,
    },
    /// A request outside of the conversations.
    #[error(
        "{0} was a request of the client's own, such as for a title: it went to the model as it came, and isn't on record, \
         because the texts in it are those of a conversation that is"
    )]
    SideRequest(EpisodeId),
    /// The prompt is on record, what was sent isn't.
    #[error(
        "what was sent in {0} isn't on record: a tslp that didn't record prompts yet sent it, or the proxy was stopped before \
         it could; `tslp log --episode` prints what is on record"
    )]
    NotRecorded(EpisodeId),
    /// The recorded pieces can't be reassembled.
    #[error("what was sent in {episode} can't be put together: {detail}; run `tslp verify`")]
    Damaged {
        /// The episode.
        episode: EpisodeId,
        /// The defect.
        detail: String,
    },
    /// The ledger can't be read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

fn last_episode_words(last: Option<EpisodeId>) -> String {
    last.map_or_else(
        || "there is none yet".to_owned(),
        |last| format!("the last is {last}; `tslp recent` lists them"),
    )
}

/// A prompt that was sent, as it was sent.
#[derive(Debug)]
pub struct SentBody {
    /// Its episode.
    pub episode: EpisodeId,
    /// The request's body.
    pub body: Vec<u8>,
    /// Texts of tslp's own that its conversation was given, the last ones.
    pub own_texts: Vec<ArtifactHash>,
}

/// Most texts of tslp's own that are collected.
const OWN_TEXTS_MAX: usize = 256;

/// The last prompt that was sent in an episode.
///
/// # Errors
/// See [`NotShown`].
pub fn sent_in(reader: &LedgerReader, episode: EpisodeId) -> Result<SentBody, NotShown> {
    if let Some(sent) = last_sent(reader, Some(episode))? {
        return Ok(sent);
    }
    let kinds = [EventKind::PromptReceived, EventKind::SideRequestReceived];
    let (mut last, mut found) = (None, None);
    reader.read_back(&kinds, Seq(1)..=Seq(u64::MAX), &mut |_, at, event| {
        last.get_or_insert(at);
        found = (at == episode).then_some(event);
        match found {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    })?;
    Err(match found {
        Some(Event::SideRequestReceived(_)) => NotShown::SideRequest(episode),
        Some(_) => NotShown::NotRecorded(episode),
        None => NotShown::Unknown {
            asked: episode,
            last,
        },
    })
}

/// The last prompt that was sent and is durable: of all, or in an episode. Reads its conversation's turns, as long as their places are on
/// record; what is older is searched for.
///
/// # Errors
/// See [`NotShown`].
pub fn last_sent(
    reader: &LedgerReader,
    asked: Option<EpisodeId>,
) -> Result<Option<SentBody>, NotShown> {
    let kinds = [EventKind::PromptSent, EventKind::PromptAmended];
    let mut chain: Vec<(Seq, EpisodeId, PromptSent)> = Vec::new();
    let mut own_texts = Vec::new();
    let mut wanted = asked;
    loop {
        let row = wanted.map(|episode| reader.find_row::<EpisodeRow>((episode,)));
        let row = row.transpose()?.flatten();
        let before = chain
            .last()
            .map_or(Seq(u64::MAX), |(seq, ..)| Seq(seq.0 - 1));
        let between = match &row {
            Some(row) => row.seq..=row.until.min(before),
            None => Seq(1)..=before,
        };
        let mut found = None;
        reader.read_back(&kinds, between, &mut |seq, episode, event| {
            match event {
                Event::PromptSent(sent)
                    if found.is_none() && wanted.is_none_or(|wanted| wanted == episode) =>
                {
                    found = Some((seq, episode, sent));
                }
                Event::PromptAmended(amended) if own_texts.len() < OWN_TEXTS_MAX => {
                    own_texts.extend(amended.injected.map(|injected| injected.text));
                }
                _ => {}
            }
            match row.is_none() && found.is_some() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        let Some(found) = found else {
            break;
        };
        wanted = found.2.base.map(|base| base.episode);
        chain.push(found);
        if wanted.is_none() {
            break;
        }
    }
    let Some((_, episode, _)) = chain.first() else {
        return Ok(None);
    };
    let episode = *episode;
    let chain: Vec<&PromptSent> = chain.iter().map(|(.., sent)| sent).collect();
    let body = put_together(episode, &chain, &mut |artifact| reader.artifact(artifact))?;
    Ok(Some(SentBody {
        episode,
        body,
        own_texts,
    }))
}

/// The first of these prompts, each of which begins like the one after it.
///
/// # Errors
/// [`NotShown::Damaged`] if a piece of it is missing, and what `look_up` fails with.
pub fn put_together(
    episode: EpisodeId,
    chain: &[&PromptSent],
    look_up: &mut dyn FnMut(ArtifactHash) -> Result<Option<Vec<u8>>, LedgerError>,
) -> Result<Vec<u8>, NotShown> {
    assert!(
        !chain.is_empty(),
        "a prompt is put together from itself at least"
    );
    let newest = chain[0];
    let damaged = |detail: String| NotShown::Damaged { episode, detail };
    let messages = message_hashes(chain)
        .ok_or_else(|| damaged("the prompt that it begins like is missing".to_owned()))?;
    let mut failure = None;
    let mut find = |artifact: ArtifactHash| {
        look_up(artifact).unwrap_or_else(|error| {
            failure.get_or_insert(error);
            None
        })
    };
    let body = || -> Result<Vec<u8>, TemplateError> {
        let missing = TemplateError::Missing;
        let frame = find(newest.frame).ok_or(missing(newest.frame))?;
        let (before, after) = frame_halves(&frame).ok_or(TemplateError::Malformed)?;
        let mut body = expand_template(before, &mut find)?;
        for message in messages {
            let template = find(message).ok_or(missing(message))?;
            body.extend_from_slice(&expand_template(&template, &mut find)?);
        }
        body.extend_from_slice(&expand_template(after, &mut find)?);
        Ok(body)
    };
    let body = body();
    match (body, failure) {
        (_, Some(error)) => Err(error.into()),
        (Ok(body), None) => Ok(body),
        (Err(error), None) => Err(damaged(error.to_string())),
    }
}

/// All messages of the first of these prompts; `None` if one before it is missing.
fn message_hashes(chain: &[&PromptSent]) -> Option<Vec<ArtifactHash>> {
    let mut pieces: Vec<&[ArtifactHash]> = Vec::new();
    let mut wanted = None;
    for sent in chain {
        let from = sent.base.map_or(0, |base| base.messages as usize);
        match wanted {
            None => pieces.push(&sent.messages),
            Some(wanted) if wanted > from => pieces.push(sent.messages.get(..wanted - from)?),
            Some(_) => {}
        }
        wanted = Some(wanted.map_or(from, |wanted: usize| wanted.min(from)));
    }
    (wanted == Some(0)).then(|| pieces.into_iter().rev().flatten().copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tslp_core::event::PromptBase;

    fn sent(episode: u64, base: Option<(u64, u32)>, messages: &[u8]) -> (EpisodeId, PromptSent) {
        let sent = PromptSent {
            frame: ArtifactHash([0; 32]),
            base: base.map(|(episode, messages)| PromptBase {
                episode: EpisodeId(episode),
                messages,
            }),
            messages: messages
                .iter()
                .map(|byte| ArtifactHash([*byte; 32]))
                .collect(),
        };
        (EpisodeId(episode), sent)
    }

    fn check(prompts: &[(EpisodeId, PromptSent)], expected: Option<&[u8]>) {
        let next = |at: &usize| {
            let base = prompts[*at].1.base?;
            let mut before = prompts[..*at].iter();
            before.rposition(|(episode, _)| *episode == base.episode)
        };
        let chain = std::iter::successors(Some(prompts.len() - 1), next);
        let chain: Vec<&PromptSent> = chain.map(|at| &prompts[at].1).collect();
        let found =
            message_hashes(&chain).map(|found| found.iter().map(|hash| hash.0[0]).collect());
        assert_eq!(found, expected.map(<[u8]>::to_vec), "{prompts:?}");
    }

    /// A prompt is what its bases say, followed by what is new.
    #[test]
    fn bases_and_additions() {
        let first = sent(1, None, &[1, 2, 3]);
        let second = sent(2, Some((1, 3)), &[4, 5]);
        check(core::slice::from_ref(&first), Some(&[1, 2, 3]));
        check(&[first.clone(), second.clone()], Some(&[1, 2, 3, 4, 5]));
        let third = sent(3, Some((2, 4)), &[6]);
        check(
            &[first.clone(), second.clone(), third],
            Some(&[1, 2, 3, 4, 6]),
        );
        let branch = sent(3, Some((2, 1)), &[7]);
        check(&[first.clone(), second.clone(), branch], Some(&[1, 7]));
        // The same episode again goes on from the last time.
        let again = sent(2, Some((2, 5)), &[]);
        check(&[first.clone(), second, again], Some(&[1, 2, 3, 4, 5]));
        check(&[sent(2, Some((1, 3)), &[4])], None);
        check(&[first, sent(2, Some((1, 4)), &[4])], None);
    }
}
