//! The scrub of a running proxy, on a thread of its own.

use std::io;
use std::thread::{self, JoinHandle};

use super::{Course, Scrub};
use crate::auditor::queue::AuditQueue;
use crate::channel::ToLoop;
use crate::ledger::InterruptHandle;
use crate::main_loop::LoopHandle;

/// The scrub's thread.
pub struct Scrubbing {
    interrupt: InterruptHandle,
    thread: JoinHandle<()>,
}

impl Scrubbing {
    /// It works while no request is under way, and tells the network loop of a flaw.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn spawn(scrub: Scrub, requests: AuditQueue, to_loop: LoopHandle) -> io::Result<Self> {
        let interrupt = scrub.reader().interrupt_handle();
        let pause = move || match requests.wait_unused() {
            true => Course::On,
            false => Course::Over,
        };
        let thread = thread::Builder::new().name("scrub".into()).spawn(move || {
            if let Err(flaw) = scrub.run(pause) {
                to_loop.send(ToLoop::LedgerFailed {
                    message: flaw.to_string(),
                });
            }
        })?;
        Ok(Self { interrupt, thread })
    }

    /// Nobody waits for its verdict any more.
    pub fn end(self) {
        self.interrupt.interrupt();
        if self.thread.join().is_err() {
            tracing::error!("the scrub ended by a panic");
        }
    }
}
