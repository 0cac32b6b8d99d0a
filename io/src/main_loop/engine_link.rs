//! The loop's way to the engine.

use std::collections::VecDeque;

use crossbeam_channel::{Sender, TrySendError};

use crate::channel::ToEngine;

/// Messages to the engine, in order. The loop never waits for the engine: what a full channel doesn't take is queued.
#[derive(Debug)]
pub(super) struct EngineLink {
    sender: Sender<ToEngine>,
    queue: VecDeque<ToEngine>,
    /// Clients whose model server isn't read while the queue isn't empty.
    waiting_clients: Vec<usize>,
    is_gone: bool,
}

impl EngineLink {
    pub(super) const fn new(sender: Sender<ToEngine>) -> Self {
        Self {
            sender,
            queue: VecDeque::new(),
            waiting_clients: Vec::new(),
            is_gone: false,
        }
    }

    /// Hands a message over, after all that were sent before.
    pub(super) fn send(&mut self, message: ToEngine) {
        // By way of the queue even when the channel has room: no message overtakes another.
        self.queue.push_back(message);
        self.pump();
    }

    /// Hands over as many queued messages as the channel takes.
    pub(super) fn pump(&mut self) {
        while let Some(message) = self.queue.pop_front() {
            match self.sender.try_send(message) {
                Ok(()) => {}
                Err(TrySendError::Full(message)) => return self.queue.push_front(message),
                // The engine's thread has ended; `serve_engine_link` refuses all chat from now on.
                Err(TrySendError::Disconnected(_)) => {
                    self.queue.clear();
                    self.is_gone = true;
                }
            }
        }
    }

    /// Whether a message found that the engine's thread has ended.
    pub(super) const fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// Whether messages wait because the channel is full.
    pub(super) fn is_backlogged(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Notes a client to be driven again once nothing waits any more.
    pub(super) fn add_waiting_client(&mut self, key: usize) {
        if !self.waiting_clients.contains(&key) {
            self.waiting_clients.push(key);
        }
    }

    /// The clients that can go on.
    pub(super) fn take_ready_clients(&mut self) -> Vec<usize> {
        if self.is_backlogged() {
            return Vec::new();
        }
        std::mem::take(&mut self.waiting_clients)
    }
}
