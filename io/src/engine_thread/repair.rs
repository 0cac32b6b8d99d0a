//! A held reply whose code gate A refuses is asked for once more; the better of the two goes out (docs/repair.md).

use std::collections::BTreeSet;

use tslp_core::entity::EntityId;
use tslp_core::message::Tools;
use tslp_decide::judge::draft::{DraftAttempt, JudgedDraft};

use super::EngineThread;
use crate::channel::{ExchangeId, ResponseEnd};
use crate::config::settings::CodeRepair;

/// A reply that may be asked for once more: what was wrong with the first one, once there is another.
#[derive(Default)]
pub(super) struct CodeRepairState(Option<(usize, BTreeSet<EntityId>)>);

impl EngineThread {
    /// Whether replies to a client with these tools are held until they were judged.
    pub(super) fn holds_replies(&self, offered: Tools) -> bool {
        match (self.wiring.settings.code_repair, offered) {
            (CodeRepair::Off, _) | (CodeRepair::Chats, Tools::Offered | Tools::Reading) => false,
            (CodeRepair::Chats | CodeRepair::Writes, Tools::None) => true,
            (CodeRepair::Writes, Tools::Offered | Tools::Reading) => self.holds_client_calls(),
        }
    }

    /// A reply is over: how it ended, or `None` if another one was asked for in its place.
    pub(super) fn end_or_ask_again(
        &mut self,
        exchange: ExchangeId,
        ending: ResponseEnd,
    ) -> Option<ResponseEnd> {
        let Some(running) = self.running.get_mut(&exchange) else {
            return Some(ending);
        };
        let Some(repair) = &mut running.repair else {
            return Some(ending);
        };
        let is_second = repair.0.is_some();
        if ending == ResponseEnd::ClientGone || ending == ResponseEnd::LedgerFailed {
            return Some(ending);
        }
        // One that was cut at its limit would be cut again.
        let is_whole = ending.is_success() && running.read.is_finished && !running.read.was_cut();
        if !is_whole {
            return Some(match is_second {
                true => self.keep_first_reply(exchange),
                false => ending,
            });
        }
        self.record_text(exchange);
        let running = self.running.get(&exchange)?;
        let (first, episode) = (running.repair.as_ref()?.0.as_ref(), running.episode);
        let nothing = BTreeSet::new();
        let changed_first = first.map_or(&nothing, |(_, changed)| changed);
        let calls = running.tool_calls();
        let judged = self
            .engine
            .judge_draft(episode, (&running.reply.text, &calls), changed_first);
        match first {
            None if judged.fault_count() == 0 => return Some(ending),
            None => {}
            Some((faults, _)) if judged.fault_count() < *faults => return Some(ending),
            Some(_) => {
                self.refuse_draft(exchange, &judged, DraftAttempt::Second);
                return Some(self.keep_first_reply(exchange));
            }
        }
        self.refuse_draft(exchange, &judged, DraftAttempt::First);
        if !self.ask_again(exchange, &judged.complaint(), String::new()) {
            return Some(ending);
        }
        let running = self.running.get_mut(&exchange)?;
        running.repair.as_mut()?.0 = Some((judged.fault_count(), judged.changed));
        None
    }

    /// The first reply is the one, as it ended.
    fn keep_first_reply(&mut self, exchange: ExchangeId) -> ResponseEnd {
        self.take_first_reply(exchange);
        ResponseEnd::Complete { status: 200 }
    }

    fn refuse_draft(&mut self, exchange: ExchangeId, judged: &JudgedDraft, attempt: DraftAttempt) {
        let Some(running) = self.running.get(&exchange) else {
            return;
        };
        let at = self.wiring.clock.now();
        let calls = running.tool_calls();
        let reply = (&running.reply, &calls[..]);
        let batch = self
            .engine
            .refuse_draft(at, running.episode, reply, (judged, attempt));
        self.commit_batch(batch);
    }
}
