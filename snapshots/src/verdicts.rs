//! The engine's decisions, event by event, for people.

use std::fmt::{Display, Write as _};

use tslp_core::artifact::Transition;
use tslp_core::event::{AuthorFound, Event, Recorded, ReplyOutcome};
use tslp_core::gate::GateReport;
use tslp_core::ids::{EpisodeId, VersionId};

/// The detail in which a story is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Decisions only, each in a line.
    #[default]
    Decisions,
    /// Also all rules of the gates, all texts that went to the model, and all tables.
    Everything,
}

/// One line for each capture with its resolution, each directive, notice and audit, and each step of the state machine. A rule
/// of the gates is shown with what it saw and what it needs, and marked with `!` if it isn't met. Among decisions alone, a rule
/// that is met and counts nothing is left out, but for the one that lets disk differ.
#[must_use]
pub fn listing<'r>(events: impl IntoIterator<Item = &'r Recorded>, detail: Detail) -> String {
    let mut listing = EventListing {
        detail,
        text: String::new(),
        episode: None,
        moved: None,
    };
    for recorded in events {
        listing.add_event(recorded);
    }
    listing.finish_moves();
    listing.text
}

/// Versions that take the same step for the same reason.
struct MovedVersions {
    episode: EpisodeId,
    versions: Vec<VersionId>,
    step: String,
}

struct EventListing {
    detail: Detail,
    text: String,
    /// The episode of the lines above, where steps of the state machine need not name it.
    episode: Option<EpisodeId>,
    moved: Option<MovedVersions>,
}

impl EventListing {
    fn add_event(&mut self, recorded: &Recorded) {
        let event = &recorded.event;
        match event {
            Event::Transitioned(_) | Event::VersionsPromoted(_) => {
                for moved in event.transitions() {
                    let rules = self.rules_text(moved.report.as_ref());
                    let step = format!(
                        "{} {}{rules}",
                        transition_text(moved.transition),
                        moved.cause
                    );
                    self.add_step(recorded.episode, moved.version, step);
                }
                return;
            }
            Event::PromotionRefused(refused) => {
                let conclusion = refused.report.conclusion;
                let conclusion = conclusion.map_or("-", tslp_core::reason::Reason::code);
                let known = refused.rename_of.as_ref();
                let known = known.map_or_else(String::new, |known| format!(", {known}"));
                let rules = self.rules_text(Some(&refused.report));
                let step = format!("stays PROPOSED {conclusion}{known}{rules}");
                return self.add_step(recorded.episode, refused.version, step);
            }
            _ => self.finish_moves(),
        }
        match event {
            Event::ArtifactCaptured(captured) => {
                let path = captured.path.as_ref().map_or("-", |path| path.as_str());
                self.begin_line(
                    recorded.episode,
                    format_args!(
                        "{} by the {:?}: {} {:?} {path}, {:?}; ",
                        captured.capture,
                        captured.origin,
                        captured.format.as_str(),
                        captured.evidence,
                        captured.completeness
                    ),
                );
            }
            Event::ArtifactResolved(resolved) => {
                let (level, reason) = (resolved.level.as_str(), resolved.reason);
                self.end_line(format_args!("{level} {reason} {:?}", resolved.extent));
                let versions = resolved.versions.iter();
                let versions: Vec<String> = versions
                    .map(|version| {
                        format!("{} {} {:.8}", version.id, version.entity, version.slice)
                    })
                    .collect();
                if !versions.is_empty() {
                    self.end_line(format_args!("   {}", versions.join(", ")));
                }
            }
            Event::DirectiveGiven(given) => {
                let (verb, target) = (given.verb.as_str(), &given.target);
                self.begin_line(
                    recorded.episode,
                    format_args!("directive {verb} {target:?}\n"),
                );
            }
            Event::RecordChanged(record) => {
                let (key, standing, cause) = (&record.key, record.standing, record.cause);
                let author = record.author;
                self.begin_line(
                    recorded.episode,
                    format_args!("record #{key} {standing} by the {author}: {cause}\n"),
                );
            }
            Event::AuthorFound(found) => {
                let opens = if found.opens_subagent {
                    ", a subagent's orders"
                } else {
                    ""
                };
                let AuthorFound {
                    lines,
                    of,
                    author,
                    said_in,
                    ..
                } = found;
                self.begin_line(
                    recorded.episode,
                    format_args!("{lines} of {of} lines by the {author} in {said_in}{opens}\n"),
                );
            }
            Event::NoticeIssued(issued) => {
                let about = [&issued.entity, &issued.other];
                let about = about.into_iter().flatten();
                let about: String = about.map(|entity| format!(" {entity}")).collect();
                let (session, reason) = (issued.session, issued.reason);
                self.begin_line(
                    recorded.episode,
                    format_args!("notice for {session}: {reason}{about}\n"),
                );
            }
            Event::ReplyEnded(ended) => {
                let finish = ended.finish_reason.as_deref().unwrap_or("-");
                if (ended.outcome, finish) != (ReplyOutcome::Completed, "stop") {
                    self.begin_line(
                        recorded.episode,
                        format_args!("reply ended: {:?}, {finish}\n", ended.outcome),
                    );
                }
            }
            Event::AuditAsked(asked) => {
                let about = asked.about.iter();
                let about: String = about.map(|it| format!(" {}", it.version)).collect();
                self.begin_line(recorded.episode, format_args!("audit of{about}\n"));
            }
            Event::AuditAnswered(answered) => {
                let verdicts = answered.verdicts.iter();
                let verdicts: String = verdicts
                    .map(|it| format!(", {} {}", it.version, it.status.as_str()))
                    .collect();
                self.begin_line(
                    recorded.episode,
                    format_args!("audit {}{verdicts}\n", answered.outcome.as_str()),
                );
            }
            _ => {}
        }
    }

    fn begin_line(&mut self, episode: EpisodeId, what: impl Display) {
        self.episode = Some(episode);
        let _ = write!(self.text, "{episode} {what}");
    }

    fn end_line(&mut self, what: impl Display) {
        let _ = writeln!(self.text, "{what}");
    }

    fn add_step(&mut self, episode: EpisodeId, version: VersionId, step: String) {
        match &mut self.moved {
            Some(moved) if moved.step == step && moved.episode == episode => {
                moved.versions.push(version);
            }
            _ => {
                self.finish_moves();
                self.moved = Some(MovedVersions {
                    episode,
                    versions: vec![version],
                    step,
                });
            }
        }
    }

    fn finish_moves(&mut self) {
        let Some(moved) = self.moved.take() else {
            return;
        };
        let versions: Vec<String> = moved.versions.iter().map(VersionId::to_string).collect();
        let step = format!("{} {}\n", versions.join(" "), moved.step);
        if self.episode == Some(moved.episode) {
            let _ = write!(self.text, "   {step}");
        } else {
            self.begin_line(moved.episode, step);
        }
    }

    fn rules_text(&self, report: Option<&GateReport>) -> String {
        let verdicts = report.map_or(&[][..], |report| &report.verdicts);
        let is_shown = |it: &&tslp_core::gate::Verdict| {
            let is_news = it.rule == tslp_core::reason::Reason::PartsChanged;
            self.detail == Detail::Everything || !it.met || it.seen > 1 || is_news
        };
        let rules: String = verdicts
            .iter()
            .filter(is_shown)
            .map(|it| {
                let mark = if it.met { "" } else { "!" };
                format!(" {mark}{} {}/{}", it.rule, it.seen, it.needed)
            })
            .collect();
        if rules.is_empty() {
            rules
        } else {
            format!(":{rules}")
        }
    }
}

const fn transition_text(transition: Transition) -> &'static str {
    match transition {
        Transition::Promote => "PROPOSED -> AUTHORITATIVE",
        Transition::Discard => "PROPOSED -> TOMBSTONED",
        Transition::Supersede => "AUTHORITATIVE -> SUPERSEDED",
        Transition::Remove => "AUTHORITATIVE -> TOMBSTONED",
    }
}
