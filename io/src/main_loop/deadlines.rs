//! Deadlines of client connections, by the monotonic clock.

use std::time::Duration;

use tslp_wire::http::error::Refusal;
use tslp_wire::http::server_connection::ExpectedPart;

use super::MainLoop;
use super::client::{
    ArmedDeadline, CallConnection, Client, ClientStage, Downstream, ExchangeStage, LinkStage,
    Upload, UpstreamCall, WaitFor,
};
use crate::upstream::connection::ReceivedSoFar;

/// Time for which leftovers on a closed connection are read.
const LINGER: Duration = Duration::from_secs(2);

/// Time for which a stream's last events wait for its end, which some servers never send.
const LAST_PIECE: Duration = Duration::from_millis(200);

/// `Retry-After` for a request that found no memory.
const RETRY_AFTER_SECONDS: &str = "5";

/// Time limit of a whole chat request's body, as a multiple of the idle limit: it holds memory that others wait for.
pub(super) const WHOLE_BODY_IDLE_TIMES: u32 = 10;

impl MainLoop {
    /// Sets the client's deadline to what it waits for now.
    pub(super) fn rearm_deadline(&mut self, client: &mut Client) {
        let Some((due, limit)) = self.awaited_deadline(client) else {
            client.due = None;
            return;
        };
        let armed = ArmedDeadline {
            due,
            at: self.now + limit,
            request: client.requests,
            moves: client.moves,
        };
        // A wait keeps its deadline however often something else happens; only bytes that move renew those of a transfer.
        let stays = client.due.is_some_and(|old| {
            old.due == due
                && old.request == armed.request
                && (!due.is_renewed() || old.moves == armed.moves)
        });
        if stays {
            return;
        }
        self.connections.arm_deadline(client, armed);
    }

    fn awaited_deadline(&self, client: &Client) -> Option<(WaitFor, Duration)> {
        let limits = &self.config.timeouts;
        match client.stage {
            ClientStage::Over => return None,
            ClientStage::Lingering => return Some((WaitFor::Linger, LINGER)),
            ClientStage::Open | ClientStage::Finishing if !client.out.released().is_empty() => {
                return Some((WaitFor::Write, limits.write_stall));
            }
            ClientStage::Open | ClientStage::Finishing => {}
        }
        match client.exchange.as_deref().map(|exchange| &exchange.stage) {
            None => match client.http.expected_part() {
                ExpectedPart::Request => Some((WaitFor::KeepAlive, limits.keep_alive)),
                _ => Some((WaitFor::Head, limits.head)),
            },
            Some(ExchangeStage::Collecting(_)) if client.waits_for_room() => {
                Some((WaitFor::MemoryRoom, limits.body_idle))
            }
            Some(ExchangeStage::Collecting(collecting)) => {
                let left = collecting.whole_by.saturating_duration_since(self.now);
                Some((WaitFor::Body, limits.body_idle.min(left)))
            }
            Some(
                ExchangeStage::Routing
                | ExchangeStage::Composing { .. }
                | ExchangeStage::Diagnosing
                | ExchangeStage::Listening { .. },
            ) => None,
            Some(ExchangeStage::Upstream(call)) => self.awaited_of_call(client, call),
        }
    }

    fn awaited_of_call(&self, client: &Client, call: &UpstreamCall) -> Option<(WaitFor, Duration)> {
        let limits = &self.config.timeouts;
        if let Some(reply) = &call.chat
            && reply.pipe.is_ending()
            && !reply.is_over
        {
            return Some((WaitFor::LastPiece, LAST_PIECE));
        }
        // Whoever waits for durability, for room or for the engine doesn't wait for the upstream.
        if call.waits_for_engine()
            || call.downstream == Downstream::Done
            || client.out.len() >= self.buffered_bytes_max()
        {
            return None;
        }
        let link = match call.connection {
            CallConnection::Linked(key) => self.connections.link(key),
            CallConnection::Resolving | CallConnection::Off => None,
        };
        match link.map(|link| &link.stage) {
            None | Some(LinkStage::Connecting(_)) => Some((WaitFor::Connect, limits.connect)),
            Some(LinkStage::Open) if call.request.rest_len() > 0 => {
                Some((WaitFor::Upload, limits.upstream_idle))
            }
            Some(LinkStage::Open) => match (call.upload, call.reader.received_so_far()) {
                (Upload::Length | Upload::Chunked(_), _) => Some((WaitFor::Body, limits.body_idle)),
                (_, ReceivedSoFar::Nothing) => Some((WaitFor::FirstByte, limits.first_byte)),
                (_, ReceivedSoFar::Bytes | ReceivedSoFar::Head) => {
                    // What tslp itself tells the client meanwhile doesn't count.
                    let silent = call.heard.map(|at| self.now.saturating_duration_since(at));
                    let left = limits
                        .upstream_idle
                        .saturating_sub(silent.unwrap_or_default());
                    Some((WaitFor::UpstreamIdle, left))
                }
            },
        }
    }

    /// Ends what has waited too long, and closes expired pooled connections.
    pub(super) fn fire_timers(&mut self) {
        self.connections.close_expired_links(self.now);
        if self.accept_retry.is_some_and(|at| at <= self.now) {
            self.accept();
        }
        self.hand_over_replies(self.now);
        self.comment_to_waiting();
        let next_deadline = self.connections.next_deadline();
        if next_deadline.is_none_or(|next| next > self.now) {
            return;
        }
        for key in self.connections.clients_past_deadline(self.now) {
            self.expire_deadline(key);
        }
        self.connections.recompute_deadline();
    }

    fn expire_deadline(&mut self, key: usize) {
        self.with_client(key, |main_loop, client| {
            // Taken, so that what the client waits for next is armed anew.
            if let Some(armed) = client.due.take() {
                tracing::debug!(key, due = ?armed.due, "a deadline has passed");
                main_loop.give_up(key, client, armed.due);
            }
        });
    }

    fn give_up(&mut self, key: usize, client: &mut Client, due: WaitFor) {
        let url = &self.connections.server(client.server()).config.url;
        let limits = &self.config.timeouts;
        match due {
            WaitFor::KeepAlive | WaitFor::Write | WaitFor::Linger => {
                client.stage = ClientStage::Over
            }
            WaitFor::Head => self.refuse_and_close(
                client,
                &Refusal::new("head_timeout", "the request's head took too long"),
            ),
            WaitFor::Body => self.refuse_and_close(
                client,
                &Refusal::new("body_timeout", "the request's body took too long"),
            ),
            WaitFor::MemoryRoom => {
                let message = format!(
                    "tslp holds as many requests as it has memory for, and had none for this one within {} s; send it again in a moment",
                    limits.body_idle.as_secs()
                );
                let refusal = Refusal::new("no_memory_now", message);
                self.refuse_and_close(
                    client,
                    &refusal.with_header("retry-after", RETRY_AFTER_SECONDS),
                );
            }
            WaitFor::Connect => {
                let reason = format!("no connection within {} s", limits.connect.as_secs());
                self.call_unreachable(client, &reason);
            }
            WaitFor::FirstByte => {
                let message = format!(
                    "the model server at {url} sent no byte of a response within {} s; if the model takes that long, raise `http.first_byte_seconds`",
                    limits.first_byte.as_secs()
                );
                self.call_refused(
                    client,
                    &Refusal::new("upstream_first_byte_timeout", message),
                );
            }
            WaitFor::Upload | WaitFor::UpstreamIdle => {
                let reason = format!(
                    "it was silent for {} s (`http.idle_seconds`)",
                    limits.upstream_idle.as_secs()
                );
                self.call_broke(key, client, &reason);
            }
            WaitFor::LastPiece => self.last_piece_waited(client),
        }
    }
}
