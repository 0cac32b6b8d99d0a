//! The thread that scrubs the ledger of a running proxy, after its start and once a day.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tslp_store::ledger::InterruptHandle;
use tslp_store::scrub::Scrub;

use crate::channel::ToLoop;
use crate::main_loop::LoopHandle;

/// The pause between two scrubs.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A running scrub.
pub struct ScrubThread {
    is_over: Arc<AtomicBool>,
    interrupt: InterruptHandle,
    thread: JoinHandle<()>,
}

impl ScrubThread {
    /// Starts at once; a flaw is reported to the network loop.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn spawn(mut scrub: Scrub, to_loop: LoopHandle) -> io::Result<Self> {
        scrub.claim_pages();
        let interrupt = scrub.reader().interrupt_handle();
        let is_over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&is_over);
        let thread = thread::Builder::new().name("scrub".into()).spawn(move || {
            step_back();
            loop {
                let mut begun = Instant::now();
                // It rests as long as it has worked: prompts need the disk and the processor more.
                let course = || {
                    thread::park_timeout(begun.elapsed());
                    begun = Instant::now();
                    if seen.load(Relaxed) {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    }
                };
                match scrub.run_checks(course) {
                    Ok(ControlFlow::Continue(())) => {}
                    Ok(ControlFlow::Break(())) => return,
                    Err(flaw) => {
                        let message = flaw.to_string();
                        return to_loop.send(ToLoop::LedgerFailed { message });
                    }
                }
                thread::park_timeout(DAY);
                // An empty ledger has no course to ask.
                if seen.load(Relaxed) {
                    return;
                }
            }
        })?;
        Ok(Self {
            is_over,
            interrupt,
            thread,
        })
    }

    /// Interrupts the scrub and waits for its thread.
    pub fn stop_and_join(self) {
        self.is_over.store(true, Relaxed);
        self.interrupt.interrupt();
        self.thread.thread().unpark();
        if self.thread.join().is_err() {
            tracing::error!("the scrub ended by a panic");
        }
    }
}

/// Gives this thread the processor's lowest priority.
fn step_back() {
    // Elsewhere the call would mean the whole process.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, 19) {
        tracing::debug!(%error, "the scrub runs at the priority of the rest");
    }
}
