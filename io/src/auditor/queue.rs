//! Audits that wait until no client needs the model: which is asked next, and which is put off.

use std::collections::VecDeque;
use std::fmt;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tslp_core::audit::AuditQuestion;
use tslp_core::ids::EpisodeId;

use crate::config::secret::Secret;

/// Audits that may wait: an agent's steps follow one another without a pause, and each may have one.
const WAITING_MAX: usize = 16;

/// A question, and all that is needed to ask it.
#[derive(Debug)]
pub struct Audit {
    /// The episode whose reply is audited.
    pub episode: EpisodeId,
    /// The question for the model.
    pub question: AuditQuestion,
    /// The model, and how to speak to it.
    pub addressee: AuditedModel,
}

/// The model of the audited request, and how the request reached it.
#[derive(Clone, Debug, Default)]
pub struct AuditedModel {
    /// The JSON text of the request's `model`, if it had one.
    pub model: Option<String>,
    /// The value of the client's `Authorization` header, if it wasn't for the proxy.
    pub authorization: Option<Secret>,
}

impl AuditedModel {
    /// The model's name; empty if the request names none.
    #[must_use]
    pub fn name(&self) -> String {
        let named = self.model.as_deref();
        let name = named.and_then(|json| serde_json::from_str(json).ok());
        name.unwrap_or_default()
    }
}

/// Shared by the network loop, the engine, the auditor and the scrub. Nobody does I/O while holding its lock.
#[derive(Clone, Default)]
pub struct AuditQueue(Arc<SharedQueue>);

#[derive(Default)]
struct SharedQueue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

#[derive(Default)]
struct QueueState {
    /// Requests for the model whose response isn't over.
    in_flight: usize,
    /// Whether the last reply called a tool, so that its client is about to come back with the result.
    between_steps: bool,
    waiting: VecDeque<Audit>,
    running: RunningAudit,
    closed: bool,
}

/// The one audit that has begun.
#[derive(Default)]
enum RunningAudit {
    #[default]
    None,
    /// It has no connection yet.
    Begun,
    /// Closing this ends it.
    Talking(TcpStream),
    PutOff,
}

impl QueueState {
    const fn is_model_free(&self) -> bool {
        self.in_flight == 0 && !self.between_steps && !self.closed
    }

    fn begin_next(&mut self) -> Option<Audit> {
        let audit = self.is_model_free().then(|| self.waiting.pop_front())??;
        self.running = RunningAudit::Begun;
        Some(audit)
    }
}

/// A client's request for the model; it lasts until this is dropped.
pub struct InUse(AuditQueue);

impl Drop for InUse {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        debug_assert!(state.in_flight > 0, "each request was counted");
        state.in_flight -= 1;
        self.0.wake(&state);
    }
}

impl fmt::Debug for InUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InUse")
    }
}

impl fmt::Debug for AuditQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AuditQueue")
    }
}

impl AuditQueue {
    /// A client's request for the model comes in: the audit under way gives way to it, at once, and is asked again later.
    #[must_use]
    pub fn begin_request(&self) -> InUse {
        let mut state = self.lock();
        state.in_flight += 1;
        self.put_off_running(state);
        InUse(self.clone())
    }

    /// A reply has ended. After one that called a tool its client is back in a moment: an audit in between would only be broken off,
    /// and cost the model server its memory of the conversation.
    pub fn note_reply_end(&self, called_tool: bool) {
        let mut state = self.lock();
        state.between_steps = called_tool;
        self.wake(&state);
    }

    /// Ends the queue: nothing is asked any more, and the next start records what has no answer.
    pub fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        self.put_off_running(state);
    }

    /// Takes an audit, which begins once the model is free. If too many wait, the oldest is dropped and its episode returned.
    pub fn ask(&self, audit: Audit) -> Option<EpisodeId> {
        let mut state = self.lock();
        let is_full = state.waiting.len() >= WAITING_MAX;
        let dropped = is_full.then(|| state.waiting.pop_front()).flatten();
        state.waiting.push_back(audit);
        self.wake(&state);
        dropped.map(|audit| audit.episode)
    }

    /// Waits for an audit to ask; nothing once the queue is closed.
    pub(super) fn next(&self) -> Option<Audit> {
        let mut state = self.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(audit) = state.begin_next() {
                return Some(audit);
            }
            let waited = self.0.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// An audit to ask now, if there is one.
    #[must_use]
    pub fn try_next(&self) -> Option<Audit> {
        self.lock().begin_next()
    }

    /// Keeps the running audit's connection, to close it when the audit is put off: that wakes the auditor from its read.
    ///
    /// # Errors
    /// If it is put off already.
    pub(super) fn keep_stream_to_cancel(&self, stream: TcpStream) -> Result<(), PutOff> {
        let mut state = self.lock();
        match state.running {
            RunningAudit::Begun => {
                state.running = RunningAudit::Talking(stream);
                Ok(())
            }
            RunningAudit::None | RunningAudit::Talking(_) | RunningAudit::PutOff => Err(PutOff),
        }
    }

    /// Ends the running audit.
    ///
    /// # Errors
    /// If it was put off.
    pub fn end_audit(&self) -> Result<(), PutOff> {
        let ended = std::mem::take(&mut self.lock().running);
        match ended {
            RunningAudit::PutOff => Err(PutOff),
            RunningAudit::None | RunningAudit::Begun | RunningAudit::Talking(_) => Ok(()),
        }
    }

    /// Takes back an audit that was broken off; it is the next one.
    pub fn ask_again(&self, audit: Audit) {
        let mut state = self.lock();
        state.waiting.push_front(audit);
        self.wake(&state);
    }

    /// Wakes the auditor if it has something to do: each prompt asks, and waking a thread in vain delays it.
    fn wake(&self, state: &QueueState) {
        if state.closed || state.is_model_free() && !state.waiting.is_empty() {
            self.0.changed.notify_all();
        }
    }

    fn put_off_running(&self, mut state: MutexGuard<'_, QueueState>) {
        let running = match state.running {
            RunningAudit::None => None,
            RunningAudit::Begun | RunningAudit::Talking(_) | RunningAudit::PutOff => {
                Some(std::mem::replace(&mut state.running, RunningAudit::PutOff))
            }
        };
        self.wake(&state);
        // Nobody waits for a system call with the lock held.
        drop(state);
        if let Some(RunningAudit::Talking(stream)) = running {
            // That is what stops a model. An error means that the server was quicker.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        let state = self.0.state.lock();
        state.unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request needed the model, or nothing is asked any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it was put off")]
pub struct PutOff;

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpListener;

    use super::*;

    fn audit(episode: u64) -> Audit {
        Audit {
            episode: EpisodeId(episode),
            question: AuditQuestion {
                system: String::new(),
                user: String::new(),
            },
            addressee: AuditedModel::default(),
        }
    }

    #[track_caller]
    fn check_next(queue: &AuditQueue, expected: Option<u64>) -> Option<Audit> {
        let next = queue.try_next();
        let episode = next.as_ref().map(|audit| audit.episode.0);
        assert_eq!(episode, expected);
        next
    }

    /// An audit waits for replies under way and for an agent's next step.
    #[test]
    fn waits_for_replies() {
        let queue = AuditQueue::default();
        let (first, other) = (queue.begin_request(), queue.begin_request());
        drop(first);
        assert_eq!(queue.ask(audit(1)), None);
        check_next(&queue, None);
        queue.note_reply_end(true);
        drop(other);
        check_next(&queue, None);
        let step = queue.begin_request();
        queue.note_reply_end(false);
        check_next(&queue, None);
        drop(step);
        check_next(&queue, Some(1));
        assert_eq!(queue.end_audit(), Ok(()));
    }

    /// An audit that a request breaks off is the next one to be asked again.
    #[test]
    fn broken_off_first() {
        let queue = AuditQueue::default();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut theirs, _) = listener.accept().unwrap();
        queue.ask(audit(1));
        queue.ask(audit(2));
        let begun = check_next(&queue, Some(1)).unwrap();
        queue
            .keep_stream_to_cancel(ours.try_clone().unwrap())
            .unwrap();
        let request = queue.begin_request();
        assert_eq!(theirs.read(&mut [0]).unwrap(), 0);
        assert_eq!((&ours).read(&mut [0]).unwrap(), 0);
        assert_eq!(queue.end_audit(), Err(PutOff));
        assert_eq!(queue.end_audit(), Ok(()));
        queue.ask_again(begun);
        check_next(&queue, None);
        drop(request);
        check_next(&queue, Some(1));
    }

    /// An audit that is put off while it connects never sends anything.
    #[test]
    fn off_while_connecting() {
        let queue = AuditQueue::default();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        queue.ask(audit(1));
        check_next(&queue, Some(1));
        queue.close();
        assert_eq!(queue.keep_stream_to_cancel(stream), Err(PutOff));
        assert_eq!(queue.end_audit(), Err(PutOff));
        assert!(queue.next().is_none());
    }

    #[test]
    fn bounded_waiting() {
        let queue = AuditQueue::default();
        for episode in 0..WAITING_MAX as u64 {
            assert_eq!(queue.ask(audit(episode)), None);
        }
        assert_eq!(queue.ask(audit(99)), Some(EpisodeId(0)));
        check_next(&queue, Some(1));
    }
}
