//! The line at a reply's end by which the user of a chat hears that something they named is STALE or was refused: they don't look
//! at the proxy's pages, and see an invented answer otherwise.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;

use tslp_core::delimiter;
use tslp_core::entity::EntityId;
use tslp_core::event::Event;
use tslp_core::reason::Reason;
use tslp_core::record::RecordStanding;

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

/// What the user of a conversation has to hear with a reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserNews {
    /// Why the entities' true code wasn't shown to the model.
    withheld: BTreeMap<EntityId, Reason>,
    /// Why what the reply makes of the entities isn't taken over, and whether the user may confirm it.
    refused: BTreeMap<EntityId, (Reason, bool)>,
    /// What there is to say of the model's window, else of tools, budgets and loops.
    about_work: Option<String>,
}

impl UserNews {
    /// Takes in an event of the prompt or of its reply.
    pub fn add(&mut self, event: &Event) {
        match event {
            Event::PromptComposed(composed) => {
                let kept_out = composed.dropped.iter();
                // Who pasted what contradicts it knows.
                let is_news =
                    |reason: Reason| reason.is_divergence() && reason != Reason::Contradicted;
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
            Event::WindowExceeded(exceeded) => self.about_work = Some(exceeded.sentence()),
            _ => {}
        }
    }

    /// The line, with what comes before it; `None` if there is nothing to say.
    #[must_use]
    pub fn line(&self) -> Option<String> {
        let (entity, why, can) = match self.refused.iter().next() {
            Some((entity, &(reason, can_be_confirmed))) => {
                let remedy = refusal_remedy(reason, can_be_confirmed);
                (entity, refusal_text(reason), remedy)
            }
            None => {
                let Some((entity, reason)) = self.withheld.iter().next() else {
                    return self.about_work.as_deref().map(delimiter::user_line);
                };
                let why = match reason {
                    Reason::FileGone => "doesn't exist any more: its file was deleted",
                    Reason::DiskHoldsRefused => {
                        "in your file is the change that was refused, since it lost code"
                    }
                    Reason::DiskUnreadable => "could not be read, so the model was not shown it",
                    _ => "is STALE: your file holds code that the model was not shown",
                };
                let can = match reason {
                    Reason::DiskHoldsRefused => {
                        "`tslp undo FILE` prints the way back, `@tslp accept ENTITY` keeps it"
                    }
                    Reason::FileGone => "`@tslp accept ENTITY` says that it is to be gone",
                    Reason::DiskUnreadable => "`tslp why ENTITY` says more",
                    _ => "`@tslp accept ENTITY` takes what the file holds",
                };
                (entity, why, can)
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
        Some(delimiter::user_line(&format!(
            "{entity} {why}. {can}.{more}"
        )))
    }
}

fn refusal_text(reason: Reason) -> &'static str {
    match reason {
        Reason::Stale | Reason::DiskHoldsSuperseded => {
            "is not taken from this reply: your file holds other code"
        }
        Reason::BaseUnacknowledged => {
            "is not taken from this reply: the model was not shown what it replaces"
        }
        Reason::SpecBroken => "is not taken from this reply: it breaks your rules for code",
        _ if reason.is_lost_code() => "is not taken from this reply: it lost code that was there",
        _ => "is not taken from this reply",
    }
}

fn refusal_remedy(reason: Reason, can_be_confirmed: bool) -> &'static str {
    match reason {
        Reason::Stale | Reason::DiskHoldsSuperseded => {
            "`@tslp accept ENTITY` takes what the file holds, `@tslp confirm ENTITY` the reply's code"
        }
        _ if can_be_confirmed => {
            "Don't save it before you have looked; `@tslp confirm ENTITY` takes it as it is, and asking again shows the model what is missing"
        }
        _ if reason.is_lost_code() => {
            "Don't save it before you have looked; asking again shows the model what is missing"
        }
        _ => "`tslp why ENTITY` says why",
    }
}
