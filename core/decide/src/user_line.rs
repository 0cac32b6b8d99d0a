//! The line at a reply's end by which the user hears what isn't as it looks: in a chat that something they named is STALE or was
//! refused, since they see an invented answer otherwise; at the end of an agent's turn which of its changes were refused, since its
//! client shows them as done.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use tslp_core::delimiter;
use tslp_core::entity::EntityId;
use tslp_core::event::Event;
use tslp_core::extract::Grammars;
use tslp_core::gate;
use tslp_core::ids::SessionId;
use tslp_core::reason::{Reason, ReasonClass};
use tslp_core::record::RecordStanding;
use tslp_projections::proposals::Proposal;
use tslp_projections::stale::Divergence;
use tslp_projections::state::StateView;

use super::lost::LostCode;
use super::notice;

/// What the user hears of tools, budgets and loops.
#[must_use]
pub const fn about_work(reason: Reason) -> Option<&'static str> {
    Some(match reason {
        Reason::ToolNotRun => {
            "The model asks for a tool, and nothing was run: `tool` fences run for a client without tools of its own, where `tools.run` is on."
        }
        Reason::BudgetNearlyUsed => {
            "Nine tenths of a budget are used: `tslp guardian status` has the figures, `tslp resume` gives as much again."
        }
        Reason::AgentBudgetUsed => {
            "A budget is used up, and a prompt was not sent: `tslp resume` gives as much again."
        }
        Reason::WindowExceeded => {
            "A prompt was longer than what its model reads, and was not sent: `tslp recent` has the figures."
        }
        Reason::DecisionsUngrounded => {
            "The conversation was not cleared: decisions lack evidence, which `tslp records` lists."
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
pub const NOT_BENEATH_ROOT: &str = "isn't beneath the folder that tslp serves: its edit is not judged. `tslp doctor` names the folder.";

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
    about_work: Option<String>,
    /// What the file has of the first refused entity that the reply lacks, or has lost of the first one that was refused before: lines,
    /// and how many more there are.
    lines: (Vec<String>, usize),
    /// Whether code of the reply is in no known file.
    has_unlinked: bool,
    /// Whether code of the reply is in a known file, or may be in several.
    is_about_known_code: bool,
    /// Whether the client has the reply with what it repeats of our blocks.
    repeats_blocks: bool,
}

impl UserNews {
    /// Takes in an event of the prompt or of its reply.
    pub fn add(&mut self, event: &Event) {
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
                let theirs = &resolved.theirs;
                self.about_work = Some(format!("{theirs} {NOT_BENEATH_ROOT}"));
            }
            Event::WindowExceeded(exceeded) => self.about_work = Some(exceeded.sentence()),
            _ => {}
        }
    }

    /// What there is to say of tools.
    pub fn tell_of_work(&mut self, told: String) {
        self.about_work = Some(told);
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

    /// The entity that the line is about, if its file holds a change that was refused.
    #[must_use]
    pub fn lost(&self) -> Option<&EntityId> {
        let first = self.withheld.iter().next();
        let (entity, _) = first.filter(|(_, why)| **why == Reason::DiskHoldsRefused)?;
        self.refused.is_empty().then_some(entity)
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

    /// What the file of the [contradicted](Self::contradicted) entity holds that the reply lacks, or that of the [lost](Self::lost) one
    /// doesn't hold any more: lines, and how many more there are.
    pub fn add_lines(&mut self, lines: (Vec<String>, usize)) {
        self.lines = lines;
    }

    /// Those lines; `None` if there are none.
    fn lines_text(&self) -> Option<String> {
        let (lines, more) = &self.lines;
        quoted_lines(lines, *more)
    }

    /// The line, with what comes before it; `None` if there is nothing to say.
    #[must_use]
    pub fn line(&self) -> Option<String> {
        let (entity, why, can) = match self.first_refused() {
            Some((entity, reason, can_be_confirmed)) => {
                let remedy = refusal_remedy(reason, can_be_confirmed);
                (entity, refusal_text(reason), remedy)
            }
            None => {
                let Some((entity, reason)) = self.withheld.iter().next() else {
                    let said = match (
                        self.has_unlinked && self.is_about_known_code,
                        self.repeats_blocks,
                    ) {
                        (true, _) => Some(UNLINKED_PART),
                        (_, true) => Some(REPEATED_BLOCKS),
                        _ => None,
                    };
                    let said = self.about_work.as_deref().or(said);
                    return said.map(delimiter::user_line);
                };
                let why = match reason {
                    Reason::FileGone => "doesn't exist any more: its file was deleted",
                    Reason::DiskHoldsRefused => {
                        "is changed in your file, and the change was refused, since it lost code"
                    }
                    Reason::DiskUnreadable => "could not be read, so the model was not shown it",
                    _ => "is STALE: your file holds code that the model was not shown",
                };
                let can = match reason {
                    Reason::DiskHoldsRefused => {
                        "`tslp undo FILE` prints the way back, `@tslp confirm ENTITY` keeps it"
                    }
                    Reason::FileGone => "`@tslp accept ENTITY` says that it is to be gone",
                    Reason::DiskUnreadable => "`tslp why ENTITY` says more",
                    _ => "`@tslp accept ENTITY` takes what the file holds",
                };
                (entity, String::from(why), can)
            }
        };
        let others = self.refused.keys().chain(self.withheld.keys());
        let others = others.filter(|other| *other != entity).count();
        let more = match others {
            0 => String::new(),
            count => format!(" The same goes for {count} more: `tslp recent` lists them."),
        };
        let can = can.replace("ENTITY", &format!("{entity}"));
        let can = can.replace("FILE", entity.path.as_str());
        let (held, lost) = match (self.lines_text(), self.lost()) {
            (Some(lines), None) => {
                let held = format!(": your file has {lines}, and the reply doesn't. It");
                (held, String::new())
            }
            (Some(lines), Some(_)) => (String::new(), format!(": {lines}")),
            (None, _) => Default::default(),
        };
        Some(delimiter::user_line(&format!(
            "{entity}{held} {why}{lost}. {can}.{more}"
        )))
    }
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
/// since. `None` where there are none, and in a subagent's conversation, whose last text is a call's result.
#[must_use]
pub fn turn_line(
    view: &StateView<'_>,
    grammars: &dyn Grammars,
    session: SessionId,
) -> Option<String> {
    let sessions = view.state.sessions();
    let turn = sessions.users_turn(session)?;
    // Of this conversation, or of one that it goes on from, or of a subagent's.
    let is_of_turn = |it: &Proposal| {
        let is_own = sessions.reply_position(session, it.episode).is_some();
        is_own || it.session == session || sessions.users_turn(it.session).is_none()
    };
    let mut refused = view.refused_since(turn);
    refused.retain(is_of_turn);
    gate::tell_once(&mut refused, |it| (&it.entity, it.report.as_ref()));
    // Of several for one entity the last.
    let refused = refused.into_iter().map(|it| (it.entity.clone(), it));
    let refused: BTreeMap<EntityId, Proposal> = refused.collect();
    let is_on_disk = |entity: &EntityId| view.divergence(entity) == Some(Divergence::Refused);
    let first = refused.values().find(|it| is_on_disk(&it.entity));
    let first = first.or_else(|| refused.values().next())?;
    let (entity, report) = (&first.entity, first.report.as_ref()?);
    let lost = LostCode::of_proposal(view, grammars, entity, first);
    let lost = lost.filter(|_| {
        first
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
            first.refused_for()?.meaning()
        ),
    };
    let path = &entity.path;
    let undo = match is_on_disk(entity) {
        true => format!(" Your file holds it: `tslp undo {path}` prints the way back"),
        false => format!(" `tslp why {entity}` says more"),
    };
    let confirm = match report.is_left_to_user() {
        true => format!(", `@tslp confirm {entity}` keeps it"),
        false => String::new(),
    };
    let more = match refused.len() - 1 {
        0 => String::new(),
        count => format!(" {count} more refused: `tslp recent` lists them."),
    };
    Some(delimiter::user_line(&format!(
        "{entity} {why}{undo}{confirm}.{more}"
    )))
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
