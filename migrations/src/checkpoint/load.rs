//! From layouts to parts. Shapes are proven by then; meanings are checked here.

use rkyv::option::ArchivedOption;
use rkyv::vec::ArchivedVec;
use tslp_core::entity::Symbol;
use tslp_core::event::Event;
use tslp_core::extract::Proof;
use tslp_core::hash::{ArtifactHash, MessageKey, SliceHash, TranscriptHash};
use tslp_core::ids::{CaptureId, EpisodeId, Seq, SessionId, UnixMillis, VersionId};
use tslp_core::slice::{Figures, Span};
use tslp_core::view::{Divergence, Exchange, FormerVersion, PendingNotice};
use tslp_projections::audits::{Answer, Audit};
use tslp_projections::episodes::{self, Entry, Episode};
use tslp_projections::part::Part;
use tslp_projections::proposals::Proposed;
use tslp_projections::sessions::{Open, Point, Session};
use tslp_projections::state_map::{FileTruths, Truth};

use super::layout::{self, difference, proof};
use crate::decode::{Invalid, LAYOUTS};
use crate::v1::Load;
use crate::v1::load::{code, optional, path, range, reason, text};

/// No counter of a state comes near this; beyond it the next step might overflow.
const COUNT_MAX: u64 = 1 << 31;

fn list<T, C>(
    items: &ArchivedVec<T>,
    load: impl Fn(&T) -> Result<C, Invalid>,
) -> Result<Vec<C>, Invalid> {
    items.iter().map(load).collect()
}

fn count(number: u64) -> Result<u64, Invalid> {
    if number < COUNT_MAX {
        Ok(number)
    } else {
        Err(Invalid::Count(number))
    }
}

fn small(number: u32) -> Result<u32, Invalid> {
    count(number.into()).map(|_| number)
}

/// One of the words that are known.
fn word(
    what: &'static str,
    known: impl IntoIterator<Item = &'static str>,
    found: &str,
) -> Result<&'static str, Invalid> {
    let mut known = known.into_iter();
    known
        .find(|word| *word == found)
        .ok_or_else(|| Invalid::Word {
            what,
            word: found.to_owned(),
        })
}

fn artifacts(items: &ArchivedVec<[u8; 32]>) -> Vec<ArtifactHash> {
    items.iter().map(|hash| ArtifactHash(*hash)).collect()
}

fn transcript(hash: &ArchivedOption<[u8; 32]>) -> Option<TranscriptHash> {
    hash.as_ref().map(|hash| TranscriptHash(*hash))
}

fn message(key: &ArchivedOption<[u8; 32]>) -> Option<MessageKey> {
    key.as_ref().map(|key| MessageKey(*key))
}

impl Load for layout::ArchivedPart<'_> {
    type Core = Part;

    fn load(&self) -> Result<Part, Invalid> {
        Ok(match self {
            Self::Sources(items) => Part::Sources(list(items, |item| {
                Ok((ArtifactHash(item.0), small(item.1.to_native())?))
            })?),
            Self::Truths(items) => Part::Truths(list(items, Load::load)?),
            Self::Superseded(items) => Part::Superseded(list(items, |item| {
                Ok((item.0.load()?, list(&item.1, Load::load)?))
            })?),
            Self::Proposals(items) => Part::Proposals(list(items, Load::load)?),
            Self::ProposalOrder(items) => Part::ProposalOrder(list(items, |item| {
                let open = item.1.iter().map(|version| VersionId(version.to_native()));
                Ok((item.0.load()?, open.collect()))
            })?),
            Self::ProposalIds(capture, version) => Part::ProposalIds(
                CaptureId(capture.to_native()),
                VersionId(version.to_native()),
            ),
            Self::Tombstones(items) => Part::Tombstones(list(items, |item| {
                let (version, episode) = (item.1.to_native(), item.2.to_native());
                Ok((item.0.load()?, VersionId(version), EpisodeId(episode)))
            })?),
            Self::Disk(items) => Part::Disk(list(items, |look| {
                let seq = Seq(look.seq.to_native());
                Ok((path(&look.path)?, look.finding.load()?, seq))
            })?),
            Self::Differing(items) => Part::Differing(list(items, |item| {
                Ok((item.0.load()?, divergence(item.1)?))
            })?),
            Self::Acknowledged(items) => Part::Acknowledged(list(items, |item| {
                let seen = item.1.as_ref().map(|slice| SliceHash(*slice));
                Ok((item.0.load()?, seen))
            })?),
            Self::Sessions(items) => Part::Sessions(list(items, Load::load)?),
            Self::SessionNames(items) => Part::SessionNames(list(items, |item| {
                Ok((item.name.to_string(), SessionId(item.session.to_native())))
            })?),
            Self::SessionPoints(items) => Part::SessionPoints(list(items, |item| {
                let (id, length) = (item.1.to_native(), item.2.to_native());
                Ok((TranscriptHash(item.0), SessionId(id), length))
            })?),
            Self::SessionTails(items) => Part::SessionTails(list(items, |item| {
                Ok((TranscriptHash(item.0), SessionId(item.1.to_native())))
            })?),
            Self::SessionReplies(items) => Part::SessionReplies(list(items, |item| {
                Ok((MessageKey(item.0), SessionId(item.1.to_native())))
            })?),
            Self::SessionPrompts(items) => Part::SessionPrompts(list(items, |item| {
                Ok((TranscriptHash(item.0), SessionId(item.1.to_native())))
            })?),
            Self::SessionEpisodes(items) => Part::SessionEpisodes(list(items, |item| {
                Ok((EpisodeId(item.0.to_native()), SessionId(item.1.to_native())))
            })?),
            Self::UnderWay(items) => Part::UnderWay(list(items, |item| {
                Ok((EpisodeId(item.0.to_native()), small(item.1.to_native())?))
            })?),
            Self::SessionIds(session, episode) => {
                let session = SessionId(session.to_native());
                Part::SessionIds(session, EpisodeId(episode.to_native()))
            }
            Self::Episodes(items) => Part::Episodes(list(items, Load::load)?),
            Self::Audits(items) => Part::Audits(list(items, Load::load)?),
            Self::Anomalies(items) => Part::Anomalies(list(items, |item| {
                let names = LAYOUTS.iter().map(|(name, _)| *name);
                let event = word("event", names, &item.event)?;
                Ok((Seq(item.seq.to_native()), event))
            })?),
            Self::Rules(rules) => match rules.load()? {
                Event::RulesInForce(rules) => Part::Rules(Box::new(rules)),
                other => return Err(unexpected(&other)),
            },
        })
    }
}

fn unexpected(event: &Event) -> Invalid {
    Invalid::Word {
        what: "event of this kind",
        word: event.name().to_owned(),
    }
}

fn divergence(code: u8) -> Result<Option<Divergence>, Invalid> {
    Ok(match code {
        difference::ACKNOWLEDGED => None,
        difference::UNKNOWN => Some(Divergence::Unknown),
        difference::SUPERSEDED => Some(Divergence::Superseded),
        difference::UNREADABLE => Some(Divergence::Unreadable),
        code => {
            return Err(Invalid::Code {
                what: "difference",
                code: code.into(),
            });
        }
    })
}

fn found_by(code: u8) -> Result<Proof, Invalid> {
    match code {
        proof::PARTIAL_PATTERN => Ok(Proof::PartialPattern),
        proof::PATTERN => Ok(Proof::Pattern),
        proof::AST => Ok(Proof::Ast),
        code => Err(Invalid::Code {
            what: "proof",
            code: code.into(),
        }),
    }
}

impl Load for layout::ArchivedFileTruths<'_> {
    type Core = FileTruths;

    fn load(&self) -> Result<FileTruths, Invalid> {
        Ok(FileTruths {
            path: path(&self.path)?,
            truths: list(&self.truths, Load::load)?,
        })
    }
}

impl Load for layout::ArchivedTruth<'_> {
    type Core = Truth;

    fn load(&self) -> Result<Truth, Invalid> {
        let symbol = self.symbol.as_ref();
        Ok(Truth {
            symbol: symbol.map(|symbol| Symbol::new(symbol)),
            slice: SliceHash(self.slice),
            source: ArtifactHash(self.source),
            spans: list(&self.spans, |span| {
                let (start, end) = range(span.0.to_native(), span.1.to_native())?;
                Ok(Span { start, end })
            })?,
            figures: Figures {
                nodes: self.nodes.to_native(),
                tokens: self.tokens.to_native(),
            },
            origin: code(self.origin)?,
            proof: found_by(self.proof)?,
            version: VersionId(self.version.to_native()),
            episode: EpisodeId(self.episode.to_native()),
            seq: Seq(self.seq.to_native()),
            at: UnixMillis(self.at.to_native()),
        })
    }
}

impl Load for layout::ArchivedFormerVersion {
    type Core = FormerVersion;

    fn load(&self) -> Result<FormerVersion, Invalid> {
        Ok(FormerVersion {
            slice: SliceHash(self.slice),
            artifact: ArtifactHash(self.artifact),
            spans: list(&self.spans, |span| {
                let (start, end) = range(span.0.to_native(), span.1.to_native())?;
                Ok(Span { start, end })
            })?,
            origin: code(self.origin)?,
            episode: EpisodeId(self.episode.to_native()),
        })
    }
}

impl Load for layout::ArchivedProposed<'_> {
    type Core = Proposed;

    fn load(&self) -> Result<Proposed, Invalid> {
        Ok(Proposed {
            version: self.version.load()?,
            source: ArtifactHash(self.source),
            level: code(self.level)?,
            proof: found_by(self.proof)?,
            origin: code(self.origin)?,
            episode: EpisodeId(self.episode.to_native()),
            session: SessionId(self.session.to_native()),
            report: optional(&self.report)?,
            rename_of: optional(&self.rename_of)?,
        })
    }
}

impl Load for layout::ArchivedSession<'_> {
    type Core = (SessionId, Session);

    fn load(&self) -> Result<(SessionId, Session), Invalid> {
        let points = self.points.iter();
        let exchanges = self.exchanges.iter().map(|exchange| {
            let pair = Exchange {
                user: artifacts(&exchange.user),
                assistant: artifacts(&exchange.assistant),
            };
            (pair, exchange.length.to_native())
        });
        let notices = self.notices.iter().map(|pending| match pending.0.load()? {
            Event::NoticeIssued(notice) => Ok(PendingNotice {
                notice,
                was_shown: pending.1,
            }),
            other => Err(unexpected(&other)),
        });
        let session = Session {
            name: text(&self.name),
            plain: self.plain,
            length: self.length.to_native(),
            points: points
                .map(|point| Point {
                    transcript: TranscriptHash(point.0),
                    length: point.1.to_native(),
                    episode: EpisodeId(point.2.to_native()),
                })
                .collect(),
            head: transcript(&self.head),
            tail: transcript(&self.tail),
            reply: message(&self.reply),
            last_prompt: (self.last_prompt.as_ref())
                .map(|last| (TranscriptHash(last.0), last.1.to_native())),
            open: self.open.as_ref().map(|open| Open {
                episode: EpisodeId(open.episode.to_native()),
                transcript: TranscriptHash(open.transcript),
                length: open.length.to_native(),
                user_key: message(&open.user_key),
                user: artifacts(&open.user),
                in_flight: open.in_flight,
                in_tool_chain: open.in_tool_chain,
            }),
            last_episode: EpisodeId(self.last_episode.to_native()),
            before_last: EpisodeId(self.before_last.to_native()),
            exchanges: exchanges.collect(),
            hydration_order: list(&self.hydration_order, Load::load)?,
            shown: list(&self.shown, |shown| {
                Ok((shown.0.load()?, VersionId(shown.1.to_native())))
            })?,
            notices: notices.collect::<Result<_, _>>()?,
            last_shown: list(&self.last_shown, |shown| {
                Ok((shown.0.load()?, VersionId(shown.1.to_native())))
            })?
            .into_iter()
            .collect(),
            injected: list(&self.injected, Load::load)?.into(),
            withheld: list(&self.withheld, Load::load)?.into(),
            ancestors: list(&self.ancestors, |item| {
                Ok((SessionId(item.0.to_native()), EpisodeId(item.1.to_native())))
            })?,
            refused: list(&self.refused, |item| {
                Ok((path(&item.path)?, EpisodeId(item.episode.to_native())))
            })?
            .into_iter()
            .collect(),
        };
        Ok((SessionId(self.id.to_native()), session))
    }
}

impl Load for layout::ArchivedEpisode<'_> {
    type Core = (EpisodeId, Episode);

    fn load(&self) -> Result<(EpisodeId, Episode), Invalid> {
        let entries = self.entries.iter().map(|entry| {
            Ok(Entry {
                what: word(
                    "thing that happens",
                    episodes::WORDS.iter().copied(),
                    &entry.what,
                )?,
                entity: optional(&entry.entity)?,
                reason: reason(&entry.reason)?,
            })
        });
        let history = self.history.as_ref();
        let price = match optional(&self.price)? {
            None => None,
            Some(Event::PromptMeasured(price)) => Some(price),
            Some(other) => return Err(unexpected(&other)),
        };
        let episode = Episode {
            session: SessionId(self.session.to_native()),
            at: UnixMillis(self.at.to_native()),
            model: self.model.to_string(),
            outcome: optional(&self.outcome)?,
            history: history.map(|history| code(*history)).transpose()?,
            price,
            entries: entries.collect::<Result<_, Invalid>>()?,
            first: count(self.first.to_native())?,
        };
        Ok((EpisodeId(self.id.to_native()), episode))
    }
}

impl Load for layout::ArchivedAudit<'_> {
    type Core = (EpisodeId, VersionId, Audit);

    fn load(&self) -> Result<Self::Core, Invalid> {
        let audit = Audit {
            entity: self.entity.load()?,
            answer: match &self.answer {
                layout::ArchivedAnswer::Awaited => Answer::Awaited,
                layout::ArchivedAnswer::Given(status) => Answer::Given(code(*status)?),
                layout::ArchivedAnswer::None(outcome) => Answer::None(code(*outcome)?),
            },
        };
        let (episode, version) = (self.episode.to_native(), self.version.to_native());
        Ok((EpisodeId(episode), VersionId(version), audit))
    }
}
