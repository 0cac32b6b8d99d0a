//! The line at a reply's end by which the user hears what isn't as it looks: in a chat that something they named is STALE or was
//! refused, since they see an invented answer otherwise; at the end of an agent's turn which of its changes were refused, since its
//! client shows them as done.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::iter;

use tslp_core::artifact::Origin;
use tslp_core::delimiter;
use tslp_core::entity::EntityId;
use tslp_core::event::{Event, PlaceKind};
use tslp_core::extract::Grammars;
use tslp_core::gate;
use tslp_core::ids::{EpisodeId, SessionId};
use tslp_core::measure::{self, MeasuredCode};
use tslp_core::path::RelPath;
use tslp_core::reason::{Reason, ReasonClass};
use tslp_core::record::RecordStanding;
use tslp_core::slice::Span;
use tslp_projections::proposals::Proposal;
use tslp_projections::stale::Divergence;
use tslp_projections::state::StateView;

use crate::judge::found_code;
use crate::judge::lost::{self, LostCode};
use crate::observe;
use crate::wording::notice;

/// What the user hears of tools, budgets and loops.
#[must_use]
pub const fn about_work(reason: Reason) -> Option<&'static str> {
    Some(match reason {
        Reason::ToolNotRun => {
            "The model asks for a tool, and nothing was run: `tool` fences run for a client without tools of its own, where `tools.run` is on."
        }
        Reason::BudgetNearlyUsed => {
            "Nine tenths of a budget are used: `tslp status guard` has the figures, `tslp resume` gives as much again."
        }
        Reason::AgentBudgetUsed => {
            "A budget is used up, and a prompt was not sent: `tslp resume` gives as much again."
        }
        Reason::WindowExceeded => {
            "A prompt was longer than what its model reads, and was not sent: `tslp recent` has the figures."
        }
        Reason::DecisionsUngrounded => {
            "The conversation was not cleared: decisions lack evidence, which `tslp status notes` lists."
        }
        Reason::CallRepeated => {
            "The model has made the same call three times, with the same result each time."
        }
        Reason::ManyFilesChanged => {
            "Many files were changed by other hands while an agent was at work; the model is told to ask what happened."
        }
        Reason::FileRewritten => {
            "The model has written a file again and again, and nothing of it was accepted: `tslp recent` says why."
        }
        _ => return None,
    })
}

const UNLINKED_PART: &str = "Some code of this reply is not taken: nothing says which file it belongs to. A path on the line above it does.";

/// What is said of a path that isn't known to be a file of the workspace.
#[must_use]
pub fn not_beneath(theirs: &str, root: &str) -> String {
    format!("{theirs} isn't beneath {root}, which tslp serves: its edit is not judged.")
}

const REPEATED_BLOCKS: &str = "The lines around `[CURRENT STATE` in this reply are tslp's own words, which the model repeated.";

/// Lines of a file that the line quotes.
const FILE_LINES_SHOWN_MAX: usize = 3;

/// Most characters of each.
const FILE_LINE_CHARS_MAX: usize = 120;

/// What the user of a conversation has to hear with a reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserNews {
    /// Why the entities' true code wasn't shown to the model.
    withheld: BTreeMap<EntityId, Reason>,
    /// Why what the reply makes of the entities isn't taken over, and whether the user may confirm it.
    refused: BTreeMap<EntityId, (Reason, bool)>,
    /// What there is to say of the model's window, else of tools, budgets and loops.
    pub about_work: Option<String>,
    /// Whether code of the reply is in no known file.
    has_unlinked: bool,
    /// Whether code of the reply is in a known file, or may be in several.
    is_about_known_code: bool,
    /// Whether the client has the reply with what it repeats of our blocks.
    repeats_blocks: bool,
}

impl UserNews {
    /// Takes in an event of the prompt or of its reply. `root` is the workspace's.
    pub fn add(&mut self, event: &Event, root: &str) {
        match event {
            Event::PromptComposed(composed) => {
                let kept_out = composed.dropped.iter();
                // Who pasted what contradicts it knows.
                let is_news = |reason: Reason| {
                    reason.is(ReasonClass::Divergence) && reason != Reason::Contradicted
                };
                let kept_out = kept_out.filter(|dropped| is_news(dropped.reason));
                self.withheld
                    .extend(kept_out.map(|it| (it.entity.clone(), it.reason)));
            }
            Event::PromotionRefused(refused) => {
                let report = &refused.report;
                let reason = report.conclusion.unwrap_or(Reason::GrantMissing);
                let refusal = (reason, report.is_left_to_user());
                self.refused.insert(refused.entity.clone(), refusal);
            }
            // Where nothing is known of a project, code without a path is an example.
            Event::ArtifactResolved(resolved) => {
                self.is_about_known_code |=
                    !resolved.versions.is_empty() || resolved.reason == Reason::SeveralCandidates;
            }
            Event::NoticeIssued(notice) if notice.reason == Reason::Unlinked => {
                self.has_unlinked = true;
            }
            Event::NoticeIssued(notice) => {
                let about_work = about_work(notice.reason).map(Into::into);
                self.about_work = about_work.or(self.about_work.take());
            }
            Event::RecordChanged(record) if record.standing == RecordStanding::Proposed => {
                self.about_work = Some(format!(
                    "The model proposes to keep: #{key}, {}. `@tslp accept #{key}` keeps it, `@tslp reject #{key}` drops it.",
                    record.statement.trim_end_matches('.'),
                    key = record.key
                ));
            }
            Event::PathResolved(resolved) if resolved.file.is_none() => {
                self.about_work = Some(not_beneath(&resolved.theirs, root));
            }
            Event::WindowExceeded(exceeded) => self.about_work = Some(exceeded.sentence()),
            _ => {}
        }
    }

    /// What follows is of the reply. `repeats_blocks`: the client has it with what it repeats of our blocks.
    pub fn begin_reply(&mut self, repeats_blocks: bool) {
        self.repeats_blocks = repeats_blocks;
        // What the prompt's step refused is on disk.
        for entity in core::mem::take(&mut self.refused).into_keys() {
            self.withheld.insert(entity, Reason::DiskHoldsRefused);
        }
        // What was pasted has its own notice.
        self.has_unlinked = false;
        self.is_about_known_code = false;
    }

    /// The entity that the line is about, if it was refused and its file holds other code.
    #[must_use]
    pub fn contradicted(&self) -> Option<&EntityId> {
        let (entity, reason, _) = self.first_refused()?;
        is_of_other_code(reason).then_some(entity)
    }

    /// The first entity of which code was refused, why, and whether the user may confirm it. That its file holds other code says more than
    /// that the model wasn't shown it.
    fn first_refused(&self) -> Option<(&EntityId, Reason, bool)> {
        let (entity, &(reason, can_be_confirmed)) = self.refused.iter().next()?;
        let withheld = self.withheld.get(entity).copied();
        let reason = withheld
            .filter(|it| is_of_other_code(*it))
            .unwrap_or(reason);
        Some((entity, reason, can_be_confirmed))
    }

    /// The line, with what comes before it; `None` if there is nothing to say. `held` is the text of the [contradicted](Self::contradicted)
    /// entity's file, `reply` the reply's episode.
    #[must_use]
    pub fn line(
        &self,
        view: &StateView<'_>,
        grammars: &dyn Grammars,
        (held, reply): (Option<&str>, Option<EpisodeId>),
    ) -> Option<String> {
        let refused = self.first_refused();
        let withheld = self.withheld.iter().next();
        let (entity, said) = match (refused, withheld) {
            (Some((entity, reason, can_be_confirmed)), _) => {
                let lines = held.and_then(|text| lines_lacked(view, grammars, entity, text));
                let held =
                    lines.map(|it| format!(": your file has {it}, and the reply doesn't. It"));
                let (why, can) = (
                    refusal_text(reason),
                    refusal_remedy(reason, can_be_confirmed),
                );
                let held = held.unwrap_or_default();
                (entity, format!("{entity}{held} {why}. {can}."))
            }
            (None, Some((entity, Reason::DiskHoldsRefused))) => {
                let held = refused_on_disk(view, &entity.path)
                    .filter(|it| it.entity == *entity)
                    .or_else(|| view.proposals_for(entity).pop())?;
                (entity, refusal_of(view, grammars, &held)?)
            }
            (None, Some((entity, reason))) => {
                let said = match reason {
                    Reason::FileGone => {
                        "doesn't exist any more: its file was deleted. `@tslp accept ENTITY` says that it is to be gone"
                    }
                    Reason::DiskUnreadable => {
                        "could not be read, so the model was not shown it. `tslp why ENTITY` says more"
                    }
                    _ => {
                        "is STALE: your file holds code that the model was not shown. `@tslp accept ENTITY` takes what the file holds"
                    }
                };
                (entity, format!("{entity} {said}."))
            }
            (None, None) => {
                let said = match (
                    self.has_unlinked && self.is_about_known_code,
                    self.repeats_blocks,
                ) {
                    (true, _) => Some(UNLINKED_PART),
                    (_, true) => Some(REPEATED_BLOCKS),
                    _ => None,
                };
                let taken = reply.and_then(|reply| deletion(view, reply, &|it| it == reply));
                let said = taken.as_deref().or(self.about_work.as_deref()).or(said);
                return said.map(delimiter::user_line);
            }
        };
        let others = self.refused.keys().chain(self.withheld.keys());
        let others = others.filter(|other| *other != entity).count();
        let more = match others {
            0 => String::new(),
            count => format!(" The same goes for {count} more: `tslp recent` lists them."),
        };
        let said = said.replace("ENTITY", &format!("{entity}"));
        Some(delimiter::user_line(&format!("{said}{more}")))
    }
}

/// Lines that an entity has in this text of its file and not in what was last proposed of it: those that the true version lacks as well, if
/// there are any, as they are the user's edit.
fn lines_lacked(
    view: &StateView<'_>,
    grammars: &dyn Grammars,
    entity: &EntityId,
    text: &str,
) -> Option<String> {
    let found = found_code::code_of_file(grammars, entity.path.clone(), text);
    let code = |artifact, spans: &[Span]| {
        let code = view.artifact_slices(artifact, spans).unwrap_or_default();
        String::from_utf8_lossy(&code).into_owned()
    };
    let (held, proposed) = (found.code_of(entity)?, view.proposals_for(entity).pop()?);
    let proposed = code(proposed.artifact, &proposed.spans);
    let truth = view.current_version(entity);
    let truth = truth.map_or_else(String::new, |it| code(it.artifact, &it.spans));
    let edited = lost::missing_lines(&held, &[&*proposed, "\n", &truth].concat());
    let (lines, more) = match edited.0.is_empty() {
        true => lost::missing_lines(&held, &proposed),
        false => edited,
    };
    quoted_lines(&lines, more)
}

/// The first lines of code, quoted, and how many more there are; `None` without lines.
fn quoted_lines(lines: &[String], more: usize) -> Option<String> {
    let shown = lines.iter().take(FILE_LINES_SHOWN_MAX);
    let shown = shown.map(|it| it.trim().replace('`', "'"));
    let shown = shown.map(|it| it.chars().take(FILE_LINE_CHARS_MAX).collect::<String>());
    let shown: Vec<String> = shown.map(|it| format!("`{it}`")).collect();
    let more = match more + lines.len() - shown.len() {
        0 => String::new(),
        1 => String::from(" and one more line"),
        more => format!(" and {more} more lines"),
    };
    (!shown.is_empty()).then(|| shown.join(", ") + &more)
}

/// The line at the end of an agent's turn: changes of the user's last turn, a subagent's too, that were refused and that nothing has mended
/// since, and its edits of which no file could be told. `None` where there are none, and in a subagent's conversation, whose last text is a
/// call's result.
#[must_use]
pub fn turn_line(
    view: &StateView<'_>,
    grammars: &dyn Grammars,
    (session, root): (SessionId, &str),
) -> Option<String> {
    let sessions = view.state.sessions();
    let turn = sessions.users_turn(session)?;
    // Of this conversation, or of one that it goes on from, or of a subagent's.
    let is_of_turn = |of: SessionId, episode: EpisodeId| {
        let is_own = sessions.reply_position(session, episode).is_some();
        is_own || of == session || sessions.users_turn(of).is_none()
    };
    let mut refused = view.refused_since(turn);
    refused.retain(|it| is_of_turn(it.session, it.episode));
    gate::tell_once(&mut refused, |it| (&it.entity, it.report.as_ref()));
    // Of several for one entity the last.
    let refused = refused.into_iter().map(|it| (it.entity.clone(), it));
    let refused: BTreeMap<EntityId, Proposal> = refused.collect();
    let is_on_disk = |entity: &EntityId| view.divergence(entity) == Some(Divergence::Refused);
    let first = refused.values().find(|it| is_on_disk(&it.entity));
    let first = first.or_else(|| refused.values().next());
    let refusal = first.and_then(|it| refusal_of(view, grammars, it));
    let more = match refused.len() {
        0 | 1 => None,
        count => Some(format!(
            "{} more refused: `tslp recent` lists them.",
            count - 1
        )),
    };
    let unseen = view.state.places().rows().filter(|row| {
        let is_new = row.place == PlaceKind::Unseen && row.episode >= turn;
        is_new && is_of_turn(row.session, row.episode)
    });
    let unseen = unseen.max_by_key(|row| row.episode);
    let unseen = unseen.map(|row| not_beneath(&row.theirs, root));
    let is_own = |episode| sessions.reply_position(session, episode).is_some();
    let taken = deletion(view, turn, &is_own);
    let said: Vec<String> = [refusal, more, taken, unseen]
        .into_iter()
        .flatten()
        .collect();
    (!said.is_empty()).then(|| delimiter::user_line(&said.join(" ")))
}

/// What the model's changes took away in episodes of `is_own` since one, and was taken: of the first definition, with the way back.
fn deletion(
    view: &StateView<'_>,
    since: EpisodeId,
    is_own: &dyn Fn(EpisodeId) -> bool,
) -> Option<String> {
    let ended = view.state.state_map().ended_by_model(since);
    let mut deleted = ended.filter_map(|(entity, former)| {
        entity.symbol.as_ref().filter(|_| is_own(former.ended))?;
        let before = view.artifact_slices(former.artifact, &former.spans)?;
        let before = String::from_utf8_lossy(&before).into_owned();
        let now = view.current_version(entity);
        let after = match &now {
            Some(now) => view.artifact_slices(now.artifact, &now.spans)?,
            None => {
                let left = view.state.state_map().entities_in(&entity.path);
                let left = left.iter().filter_map(|it| view.current_version(it));
                let left = left.filter_map(|it| view.artifact_slices(it.artifact, &it.spans));
                left.collect::<Vec<_>>().concat()
            }
        };
        let after = String::from_utf8_lossy(&after).into_owned();
        let (lines, more) = lost::missing_lines(&before, &after);
        let is_taken_away = match now {
            Some(now) if now.origin == Origin::User => false,
            Some(_) => {
                measure::is_deletion(MeasuredCode::bare(&before), MeasuredCode::bare(&after))
            }
            // A definition with another name lacks its head alone.
            None => lines.len() + more > 1,
        };
        let lines = quoted_lines(&lines, more).filter(|_| is_taken_away)?;
        Some(format!(
            "{entity} lost {lines}, and that was taken: `tslp undo {}` prints the way back.",
            entity.path
        ))
    });
    let first = deleted.next()?;
    Some(match deleted.count() {
        0 => first,
        more => format!("{first} So did {more} more: `tslp recent` lists them."),
    })
}

/// What a file holds that was refused, as the log has it.
#[must_use]
pub fn loss_on_disk(
    view: &StateView<'_>,
    grammars: &dyn Grammars,
    path: &RelPath,
) -> Option<String> {
    refusal_of(view, grammars, &refused_on_disk(view, path)?)
}

/// The refused change that a file holds as it was last seen: of the whole file, if there is one, since that is one change, whatever it did to
/// the symbols.
fn refused_on_disk(view: &StateView<'_>, path: &RelPath) -> Option<Proposal> {
    let symbols = view.state.state_map().entities_in(path).into_iter();
    let entities = iter::once(EntityId::file(path.clone())).chain(symbols);
    let mut held = entities.filter(|it| view.divergence(it) == Some(Divergence::Refused));
    held.find_map(|entity| {
        let proposals = view.proposals_for(&entity);
        let on_disk = observe::slice_on_disk(view, &entity);
        let holds = |it: &&Proposal| Some(it.slice) == on_disk;
        proposals.iter().rfind(holds).or(proposals.last()).cloned()
    })
}

/// What was refused and why, the way back, and how to keep it.
fn refusal_of(view: &StateView<'_>, grammars: &dyn Grammars, refused: &Proposal) -> Option<String> {
    let (entity, report) = (&refused.entity, refused.report.as_ref()?);
    let lost = LostCode::of_proposal(view, grammars, entity, refused);
    let lost = lost.filter(|_| {
        refused
            .refused_for()
            .is_some_and(|it| it.is(ReasonClass::LostCode))
    });
    let lost = lost.and_then(|lost| match lost.symbols.is_empty() {
        true => quoted_lines(&lost.lines, lost.more_lines),
        false => quoted_lines(&lost.symbols, 0),
    });
    let why = match lost {
        Some(lost) => format!("lost {lost}, so the change was refused."),
        None => format!(
            "was changed, and that was refused. {}.",
            refused.refused_for()?.meaning()
        ),
    };
    let path = &entity.path;
    let undo = match view.divergence(entity) == Some(Divergence::Refused) {
        true => format!(" Your file holds it: `tslp undo {path}` prints the way back"),
        false => format!(" `tslp why {entity}` says more"),
    };
    let confirm = match report.is_left_to_user() {
        true => format!(", `@tslp confirm {entity}` keeps it"),
        false => String::new(),
    };
    Some(format!("{entity} {why}{undo}{confirm}."))
}

/// Whether something is refused or withheld because its file holds other code.
const fn is_of_other_code(reason: Reason) -> bool {
    matches!(reason, Reason::Stale | Reason::DiskHoldsSuperseded)
}

fn refusal_text(reason: Reason) -> String {
    let why = match is_of_other_code(reason) {
        true => Some("your file holds other code"),
        false => notice::why_in("refused", reason),
    };
    let why = why.map_or_else(String::new, |why| format!(": {why}"));
    format!("is not taken from this reply{why}")
}

fn refusal_remedy(reason: Reason, can_be_confirmed: bool) -> &'static str {
    match reason {
        _ if is_of_other_code(reason) && !can_be_confirmed => {
            "`@tslp accept ENTITY` takes what the file holds"
        }
        _ if is_of_other_code(reason) => {
            "`@tslp accept ENTITY` takes what the file holds, `@tslp confirm ENTITY` the reply's code"
        }
        _ if can_be_confirmed => {
            "Don't save it before you have looked; `@tslp confirm ENTITY` takes it as it is, and asking again shows the model what is missing"
        }
        _ if reason.is(ReasonClass::LostCode) => {
            "Don't save it before you have looked; asking again shows the model what is missing"
        }
        _ => "`tslp why ENTITY` says why",
    }
}
