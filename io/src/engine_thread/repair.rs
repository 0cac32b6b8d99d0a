//! A held reply whose code gate A refuses is asked for once more; the better of the two goes out (docs/repair.md).

use std::collections::BTreeSet;
use std::sync::Arc;

use tslp_core::entity::EntityId;
use tslp_core::message::Tools;
use tslp_decide::draft::{DraftAttempt, JudgedDraft};
use tslp_decide::reply::Reply;
use tslp_wire::chat::asked_again::asked_again;
use tslp_wire::chat::reply::ReplyDecoder;

use super::EngineThread;
use crate::channel::{ExchangeId, ResponseEnd, ToLoop};
use crate::config::settings::CodeRepair;

/// A reply that may be asked for once more.
pub(super) struct CodeRepairState {
    /// The request's body.
    body: Arc<Vec<u8>>,
    /// The first reply, while another one comes.
    first: Option<FirstReply>,
}

struct FirstReply {
    reply: Reply,
    decoder: ReplyDecoder,
    faults: usize,
    changed: BTreeSet<EntityId>,
}

impl CodeRepairState {
    pub(super) const fn new(body: Arc<Vec<u8>>) -> Self {
        Self { body, first: None }
    }

    /// Bytes that are kept of the first reply.
    pub(super) fn kept_bytes(&self) -> usize {
        let first = self.first.as_ref();
        first.map_or(0, |first| {
            first.reply.said_bytes() + first.decoder.kept_bytes()
        })
    }
}

impl EngineThread {
    /// Whether replies to a client with these tools are held until they were judged.
    pub(super) fn holds_replies(&self, offered: Tools) -> bool {
        match (self.wiring.code_repair, offered) {
            (CodeRepair::Off, _) | (CodeRepair::Chats, Tools::Offered) => false,
            (CodeRepair::Chats | CodeRepair::Writes, Tools::None) => true,
            (CodeRepair::Writes, Tools::Offered) => self.holds_client_calls(),
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
        let is_second = repair.first.is_some();
        if ending == ResponseEnd::ClientGone || ending == ResponseEnd::LedgerFailed {
            return Some(ending);
        }
        // One that was cut at its limit would be cut again.
        let is_whole =
            ending.is_success() && running.decoder.is_finished() && !running.decoder.was_cut();
        if !is_whole {
            return Some(match is_second {
                true => self.keep_first_reply(exchange),
                false => ending,
            });
        }
        self.record_text(exchange);
        let running = self.running.get(&exchange)?;
        let (repair, episode) = (running.repair.as_ref()?, running.episode);
        let nothing = BTreeSet::new();
        let first = repair.first.as_ref();
        let changed_first = first.map_or(&nothing, |first| &first.changed);
        let calls = running.decoder.tool_calls();
        let judged = self
            .engine
            .judge_draft(episode, (&running.reply.text, calls), changed_first);
        match first {
            None if judged.fault_count() == 0 => return Some(ending),
            None => {}
            Some(first) if judged.fault_count() < first.faults => return Some(ending),
            Some(_) => {
                self.refuse_draft(exchange, &judged, DraftAttempt::Second);
                return Some(self.keep_first_reply(exchange));
            }
        }
        let dialect = running.decoder.dialect();
        let Some(body) = asked_again(dialect, &repair.body, &judged.complaint()) else {
            return Some(ending);
        };
        let request = running.request_with(body);
        self.refuse_draft(exchange, &judged, DraftAttempt::First);
        let running = self.running.get_mut(&exchange)?;
        // At most two requests a turn.
        running.tools = None;
        let decoder = running.next_response();
        running.repair.as_mut()?.first = Some(FirstReply {
            reply: std::mem::take(&mut running.reply),
            decoder,
            faults: judged.fault_count(),
            changed: judged.changed,
        });
        self.wiring
            .to_loop
            .send(ToLoop::AskAgain { exchange, request });
        None
    }

    /// The first reply is the one, as it ended.
    fn keep_first_reply(&mut self, exchange: ExchangeId) -> ResponseEnd {
        if let Some(running) = self.running.get_mut(&exchange)
            && let Some(first) = running.repair.take().and_then(|repair| repair.first)
        {
            (running.reply, running.decoder) = (first.reply, first.decoder);
        }
        self.wiring.to_loop.send(ToLoop::KeepDraft(exchange));
        ResponseEnd::Complete { status: 200 }
    }

    fn refuse_draft(&mut self, exchange: ExchangeId, judged: &JudgedDraft, attempt: DraftAttempt) {
        let Some(running) = self.running.get(&exchange) else {
            return;
        };
        let at = self.wiring.clock.now();
        let reply = (&running.reply, running.decoder.tool_calls());
        let batch = self
            .engine
            .refuse_draft(at, running.episode, reply, (judged, attempt));
        self.commit_batch(batch);
    }
}
