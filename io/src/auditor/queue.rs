//! Audits that wait until no client needs the model: which begins next, and which are called off.

use std::collections::VecDeque;
use std::fmt;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tslp_core::audit::AuditQuestion;
use tslp_core::ids::EpisodeId;

use crate::config::secret::Secret;

/// Audits that may wait; they wait only while replies of other conversations are under way.
const WAITING_MAX: usize = 16;

/// A question, and all that is needed to ask it.
#[derive(Debug)]
pub struct Audit {
    /// The episode whose reply is audited.
    pub episode: EpisodeId,
    /// The moment at which that reply ended; a later request calls the audit off.
    pub since: RequestMark,
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

/// A moment in the order of requests: the number of requests that had come in before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestMark(u64);

/// A task for the auditor's thread.
#[derive(Debug)]
pub enum AuditorTask {
    /// Ask this question.
    Ask(Audit),
    /// Report that these audits were called off before they began.
    Report(Vec<EpisodeId>),
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
    /// Requests for the model so far.
    requests: u64,
    /// Those whose response isn't over.
    in_flight: usize,
    waiting: VecDeque<Audit>,
    /// Called off, and not reported.
    called_off: Vec<EpisodeId>,
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
    CalledOff,
}

impl QueueState {
    /// Reports go first; an audit begins once no request is under way.
    fn next_task(&mut self) -> Option<AuditorTask> {
        if !self.called_off.is_empty() {
            return Some(AuditorTask::Report(std::mem::take(&mut self.called_off)));
        }
        if self.closed || self.in_flight > 0 {
            return None;
        }
        let audit = self.waiting.pop_front()?;
        self.running = RunningAudit::Begun;
        Some(AuditorTask::Ask(audit))
    }

    /// Whether the auditor, which waits, has something to do. Each prompt asks, and waking a thread in vain delays it.
    fn is_awaited(&self) -> bool {
        let is_due = self.in_flight == 0 && !self.waiting.is_empty();
        self.closed || !self.called_off.is_empty() || is_due
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
    /// A client's request for the model comes in: every audit gives way to it, at once.
    #[must_use]
    pub fn begin_request(&self) -> InUse {
        let mut state = self.lock();
        state.requests += 1;
        state.in_flight += 1;
        self.call_off(state);
        InUse(self.clone())
    }

    /// Marks this moment, for comparison with later requests.
    #[must_use]
    pub fn mark_now(&self) -> RequestMark {
        RequestMark(self.lock().requests)
    }

    /// Ends the queue: nothing is asked any more.
    pub fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        self.call_off(state);
    }

    /// Takes an audit that no request has come before. It begins once no request is under way.
    ///
    /// # Errors
    /// If it is called off already.
    pub fn ask(&self, audit: Audit) -> Result<(), CalledOff> {
        let mut state = self.lock();
        let is_overtaken = audit.since != RequestMark(state.requests);
        if state.closed || is_overtaken || state.waiting.len() >= WAITING_MAX {
            return Err(CalledOff);
        }
        state.waiting.push_back(audit);
        self.wake(&state);
        Ok(())
    }

    /// Waits for something to do; nothing once the queue is closed.
    pub(super) fn next(&self) -> Option<AuditorTask> {
        let mut state = self.lock();
        loop {
            if let Some(task) = state.next_task() {
                return Some(task);
            }
            if state.closed {
                return None;
            }
            let waited = self.0.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Something to do, if there is anything.
    #[must_use]
    pub fn try_next(&self) -> Option<AuditorTask> {
        self.lock().next_task()
    }

    /// Keeps the running audit's connection, to close it when the audit is called off: that wakes the auditor from its read.
    ///
    /// # Errors
    /// If it is called off already.
    pub(super) fn keep_stream_to_cancel(&self, stream: TcpStream) -> Result<(), CalledOff> {
        let mut state = self.lock();
        match state.running {
            RunningAudit::Begun => {
                state.running = RunningAudit::Talking(stream);
                Ok(())
            }
            RunningAudit::None | RunningAudit::Talking(_) | RunningAudit::CalledOff => {
                Err(CalledOff)
            }
        }
    }

    /// Ends the running audit.
    ///
    /// # Errors
    /// If it was called off.
    pub fn end_audit(&self) -> Result<(), CalledOff> {
        let ended = std::mem::take(&mut self.lock().running);
        match ended {
            RunningAudit::CalledOff => Err(CalledOff),
            RunningAudit::None | RunningAudit::Begun | RunningAudit::Talking(_) => Ok(()),
        }
    }

    fn wake(&self, state: &QueueState) {
        if state.is_awaited() {
            self.0.changed.notify_all();
        }
    }

    fn call_off(&self, mut state: MutexGuard<'_, QueueState>) {
        let waiting = std::mem::take(&mut state.waiting);
        let episodes = waiting.into_iter().map(|audit| audit.episode);
        state.called_off.extend(episodes);
        let running = match state.running {
            RunningAudit::None => None,
            RunningAudit::Begun | RunningAudit::Talking(_) | RunningAudit::CalledOff => Some(
                std::mem::replace(&mut state.running, RunningAudit::CalledOff),
            ),
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
#[error("it was called off")]
pub struct CalledOff;

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::TcpListener;

    use super::*;

    fn audit(episode: u64, since: RequestMark) -> Audit {
        Audit {
            episode: EpisodeId(episode),
            since,
            question: AuditQuestion {
                system: String::new(),
                user: String::new(),
            },
            addressee: AuditedModel::default(),
        }
    }

    fn check_next(queue: &AuditQueue, expected: &str) {
        let task = match queue.next() {
            Some(AuditorTask::Ask(audit)) => format!("ask {}", audit.episode),
            Some(AuditorTask::Report(episodes)) => format!("report {episodes:?}"),
            None => "over".into(),
        };
        assert_eq!(task, expected);
    }

    #[test]
    fn an_audit_waits_for_replies_under_way_and_gives_way_to_new_requests() {
        let queue = AuditQueue::default();
        let (first, other) = (queue.begin_request(), queue.begin_request());
        drop(first);
        queue.ask(audit(1, queue.mark_now())).unwrap();
        drop(other);
        check_next(&queue, "ask e1");
        assert_eq!(queue.end_audit(), Ok(()));

        let since = queue.mark_now();
        queue.ask(audit(2, since)).unwrap();
        let newer = queue.begin_request();
        check_next(&queue, "report [EpisodeId(2)]");
        assert_eq!(queue.ask(audit(3, since)), Err(CalledOff));
        drop(newer);
        assert_eq!(queue.ask(audit(3, since)), Err(CalledOff));
    }

    #[test]
    fn a_running_audits_connection_is_closed_by_a_request() {
        let queue = AuditQueue::default();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut theirs, _) = listener.accept().unwrap();
        queue.ask(audit(1, queue.mark_now())).unwrap();
        check_next(&queue, "ask e1");
        queue
            .keep_stream_to_cancel(ours.try_clone().unwrap())
            .unwrap();
        drop(queue.begin_request());
        assert_eq!(theirs.read(&mut [0]).unwrap(), 0);
        assert_eq!((&ours).read(&mut [0]).unwrap(), 0);
        assert_eq!(queue.end_audit(), Err(CalledOff));
        assert_eq!(queue.end_audit(), Ok(()));
    }

    #[test]
    fn an_audit_that_is_called_off_while_it_connects_never_talks() {
        let queue = AuditQueue::default();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        queue.ask(audit(1, queue.mark_now())).unwrap();
        check_next(&queue, "ask e1");
        queue.close();
        assert_eq!(queue.keep_stream_to_cancel(stream), Err(CalledOff));
        assert_eq!(queue.end_audit(), Err(CalledOff));
        check_next(&queue, "over");
    }

    #[test]
    fn audits_that_wait_are_bounded_and_reported_when_the_queue_closes() {
        let queue = AuditQueue::default();
        let busy = queue.begin_request();
        let since = queue.mark_now();
        for episode in 0..WAITING_MAX as u64 {
            queue.ask(audit(episode, since)).unwrap();
        }
        assert_eq!(queue.ask(audit(99, since)), Err(CalledOff));
        queue.close();
        let Some(AuditorTask::Report(episodes)) = queue.next() else {
            panic!("what waited is reported");
        };
        assert_eq!(episodes.len(), WAITING_MAX);
        check_next(&queue, "over");
        drop(busy);
    }
}
