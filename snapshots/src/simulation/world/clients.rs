//! The steps of clients, and checks of the responses that they got.

use tslp_core::ids::EpisodeId;
use tslp_wire::chat::reply_pipe::SIGN_OF_LIFE;

use super::World;
use crate::simulation::client::{FinishedResponse, Request, WindowStep};
use crate::simulation::http::{self, Framing};
use crate::simulation::upstream::{CALL_FIELD, ResponseTrouble, UpstreamCall};

impl World<'_> {
    pub(super) fn step_client(&mut self) {
        let at = self.chance.below(self.windows.len());
        self.step_window(at);
    }

    pub(super) fn step_window(&mut self, at: usize) {
        let Some(process) = &self.process else { return };
        let network = process.network.clone();
        let window = &mut self.windows[at];
        let done = window.step(&network, &mut self.chance, &mut self.ticket, self.is_calm);
        match done {
            WindowStep::Idle | WindowStep::Busy => {}
            WindowStep::Asked(kind) => {
                self.growth.occasions += 1;
                self.growth.new_bytes += 700;
                self.count_one(kind);
                self.trace(&format!("client {at} {kind}"));
            }
            WindowStep::FinishedResponse(finished) => self.check_finished(*finished),
        }
    }

    pub(super) fn check_finished(&mut self, finished: FinishedResponse) {
        let status = finished.response.as_ref().map_or(0, http::Message::status);
        let bytes = finished
            .response
            .as_ref()
            .map_or(0, |response| response.body.len());
        self.trace(&format!(
            "client {} got {status} {bytes} left {}",
            finished.window, finished.has_left
        ));
        let number = finished
            .response
            .as_ref()
            .and_then(|response| response.field(CALL_FIELD))
            .and_then(|number| number.parse::<usize>().ok());
        match number {
            Some(number) => self.check_relayed(&finished, number),
            None => self.check_own_response(&finished, status),
        }
    }

    /// Checks a response that came from the model server.
    pub(super) fn check_relayed(&mut self, finished: &FinishedResponse, number: usize) {
        let Some(response) = &finished.response else {
            return;
        };
        let call = self.upstream.calls[number].clone();
        assert_eq!(
            response.status(),
            call.status,
            "another status than the model server's"
        );
        check_body(response, &call, finished.has_left);
        let window = &mut self.windows[finished.window];
        let Request::Chat { ticket } = &finished.request else {
            self.counters
                .entry("relayed")
                .and_modify(|count| *count += 1)
                .or_insert(1);
            return;
        };
        let asked = String::from_utf8_lossy(&call.asked);
        assert!(
            asked.contains(ticket.as_str()),
            "the answer to another prompt than {ticket}"
        );
        let is_proper = response.complete.is_some() && call.trouble == ResponseTrouble::None;
        match &call.speech {
            Some(speech) if is_proper => window.add_reply(&speech.text, speech.call.as_ref()),
            Some(speech) => {
                let end = speech.text.len().min(40);
                let end = (0..=end).rev().find(|at| speech.text.is_char_boundary(*at));
                window.handle_failed_reply(&mut self.chance, &speech.text[..end.unwrap_or(0)]);
            }
            None => window.handle_failed_reply(&mut self.chance, ""),
        }
        self.acknowledged.insert(ticket.clone());
        self.count_one(match (is_proper, finished.has_left) {
            (true, _) => "answers",
            (false, true) => "answers left by the client",
            (false, false) => "answers broken off",
        });
    }

    /// Checks a response of the proxy's own, or the lack of one.
    pub(super) fn check_own_response(&mut self, finished: &FinishedResponse, status: u16) {
        if let Some(response) = &finished.response
            && response.complete.is_some()
        {
            match &finished.request {
                _ if status == 408 => {}
                Request::Health => assert_eq!(status, 200, "/health"),
                Request::Nonsense => assert!(
                    (400..500).contains(&status) || status == 503,
                    "{status} for nonsense"
                ),
                Request::Chat { .. } | Request::Relay => assert!(
                    status >= 400,
                    "{status} that no model server gave: {}",
                    String::from_utf8_lossy(&response.body)
                ),
            }
            let told = String::from_utf8_lossy(&response.body);
            let (is_of_ledger, is_of_server) =
                (told.contains("ledger_failed"), told.contains("\"upstream_"));
            self.count_one(match status {
                200 => "healthy",
                408 => "too slow",
                _ if is_of_ledger => "refused for the ledger",
                400..=499 if !is_of_server => "refused as bad",
                _ => "refused for the model server",
            });
        } else {
            self.count_one("answers that never came");
        }
        if let Request::Chat { .. } = finished.request {
            self.windows[finished.window].handle_failed_reply(&mut self.chance, "");
        }
    }

    /// No byte of a reply is out before its prompt is durable.
    pub(super) fn check_durable_before_reply(&self) {
        for window in &self.windows {
            let Some(response) =
                http::read_message(window.received_bytes(), Framing::Response, false)
            else {
                continue;
            };
            let Some(episode) = response.field("x-tslp-episode") else {
                continue;
            };
            let episode = episode.trim_start_matches('e').parse().map(EpisodeId);
            let Ok(episode) = episode else {
                panic!("an episode called {episode:?}");
            };
            let Some(prompt) = self.witness.prompt_of(episode) else {
                panic!("a reply of {episode}, which the ledger doesn't know");
            };
            assert!(
                prompt <= self.witness.announced_position(),
                "a byte of {episode}'s reply is out, but its prompt at {prompt} is not durable"
            );
        }
    }
}

/// The client got what the model server sent, byte for byte but for signs of life, and its response is complete only if the server sent all of it.
fn check_body(response: &http::Message, call: &UpstreamCall, has_left: bool) {
    let mut body = response.body.clone();
    let sign = |body: &[u8]| {
        body.windows(SIGN_OF_LIFE.len())
            .position(|it| it == SIGN_OF_LIFE)
    };
    while let Some(at) = sign(&body) {
        body.drain(at..at + SIGN_OF_LIFE.len());
    }
    if response.complete.is_some() && !has_left {
        assert!(
            call.is_over,
            "an answer passes for whole that the model server broke off"
        );
        assert_eq!(body, call.body, "not what the model server sent");
        return;
    }
    let common = body
        .iter()
        .zip(&call.body)
        .take_while(|(got, sent)| got == sent)
        .count();
    // A response that broke off ends with an error event, which may be cut, too.
    let told = b"\n\ndata: {\"error\"";
    let is_told = (0..=common).any(|from| {
        let end = &body[from..];
        end.starts_with(told) || told.starts_with(end) || SIGN_OF_LIFE.starts_with(end)
    });
    assert!(
        common == body.len() || is_told,
        "something else than what the model server sent: {:?} after {common} bytes",
        String::from_utf8_lossy(&body[common..])
    );
}
