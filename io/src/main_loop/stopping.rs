//! What `tslp stop` does to the replies under way and to the requests that come.

use tslp_wire::http::error::Refusal;
use tslp_wire::http::head::{LAST_CHUNK, ResponseFraming};

use super::MainLoop;
use super::client::{Client, Downstream, ExchangeStage};
use super::rounds::write_body;
use crate::channel::ResponseEnd;

/// What a reply that is cut says at its end.
const SAID: &str = "\n\n[tslp] Stopped by the user (`tslp stop`).";

/// The answer to a chat request meanwhile: of a status that no client sends again.
pub(super) fn refusal() -> Refusal {
    let message = "the user has stopped all agents (`tslp stop`); `tslp resume` in a terminal lets them go on";
    Refusal::new("agents_stopped", message)
}

impl MainLoop {
    /// The user has stopped all agents, or lets them go on.
    pub(super) fn stop_agents(&mut self, is_stopped: bool) {
        self.is_stopped = is_stopped;
        if is_stopped {
            for key in self.connections.clients_with_exchange() {
                self.with_client(key, |main_loop, client| main_loop.stop_reply(client));
            }
        }
    }

    /// Ends a chat exchange: with the refusal if no byte of a response is out, else as its dialect ends a reply.
    fn stop_reply(&mut self, client: &mut Client) {
        let is_gated = client.is_gated();
        let Some(exchange) = client.exchange.as_deref_mut() else {
            return;
        };
        if exchange.dialect.is_none() {
            return;
        }
        let call = match &mut exchange.stage {
            ExchangeStage::Composing { .. } | ExchangeStage::Collecting(_) => {
                return self.refuse_and_close(client, &refusal());
            }
            ExchangeStage::Upstream(call) => call,
            ExchangeStage::Routing
            | ExchangeStage::Diagnosing
            | ExchangeStage::Listening { .. } => return,
        };
        let downstream = call.downstream;
        // What was held shows what its end belongs to, and nothing is waited for any more.
        let held = call.open_reply().map(|reply| {
            reply.pipe.forget_draft();
            (reply.pipe.release(), reply.pipe.stopped_stream(SAID))
        });
        let (waited, ending) = held.unwrap_or_default();
        if is_gated {
            client.out.discard();
            if let Some(reply) = client.chat() {
                reply.is_gated = false;
            }
        }
        if is_gated || downstream == Downstream::Waiting {
            return self.replace_response(client, &refusal(), ResponseEnd::ClientGone);
        }
        let (Downstream::Streaming { framing, form, .. }, Some(ending)) = (downstream, ending)
        else {
            return self.response_broke(client, &refusal());
        };
        if !form.is_stream() {
            return self.response_broke(client, &refusal());
        }
        let out = [&waited, form.gap(), &ending].concat();
        write_body(&mut client.out, downstream, &out);
        if framing == ResponseFraming::Chunked {
            client.out.buffer().extend_from_slice(LAST_CHUNK);
        }
        self.end_call(client, ResponseEnd::ClientGone);
    }
}
