//! The side of the door where the proxy answers. A thread takes connections, another one for each reads its lines; what they ask
//! for is done by the engine, and answered when it is durable.

use std::fs::Permissions;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::message::{self, DoorRequest, Malformed};
use super::{LINE_BYTES_MAX, is_own_user, socket_path};
use crate::acts::{Act, ActResult};

/// Connections that are served at one time; those that only hold a proxy are counted apart.
const CONNECTIONS_MAX: usize = 16;

/// Connections that may hold a proxy.
const HOLDS_MAX: usize = 256;

/// Time after which a proxy that somebody was to hold is let go if nobody does.
const FIRST_HOLD_TIME: Duration = Duration::from_secs(30);

/// Time between two looks of who holds the door whether it is closed.
const LOOK_TIME: Duration = Duration::from_millis(500);

/// Longest wait for a whole line.
const LINE_TIME: Duration = Duration::from_secs(5);

/// What the door asks of the proxy behind it. Errors are for people.
pub trait DoorKeeper: Send + Sync + 'static {
    /// The payload of `status`.
    fn status(&self) -> Value;

    /// Does it, and returns once it is durable.
    ///
    /// # Errors
    /// If nothing can be done now.
    fn act(&self, act: Act) -> Result<Vec<ActResult>, String>;

    /// Adopts files and folders, named from the workspace's root, until `is_wanted` says no. Returns once it is durable.
    ///
    /// # Errors
    /// If it can't be done; what was adopted before counts.
    fn adopt(&self, targets: &[String], is_wanted: &dyn Fn() -> bool) -> Result<Value, String>;

    /// Nobody holds the proxy any more. Whether it ends for that.
    fn no_longer_held(&self) -> bool;
}

/// An open door.
pub struct Door {
    path: PathBuf,
    shared: Arc<DoorShared>,
    thread: JoinHandle<()>,
}

struct DoorShared {
    keeper: Box<dyn DoorKeeper>,
    is_closing: AtomicBool,
    connections: AtomicUsize,
    holds: AtomicUsize,
}

impl DoorShared {
    fn let_go(&self) {
        // From then on nobody comes in: whoever would hold it now had better start another one.
        if self.keeper.no_longer_held() {
            self.is_closing.store(true, Ordering::Release);
        }
    }
}

impl Door {
    /// Opens the door of this data directory, whose lock the caller holds: what a killed proxy has left there is removed.
    ///
    /// # Errors
    /// If there is no place for the socket, or the system refuses one.
    pub fn open(data_dir: &Path, keeper: impl DoorKeeper) -> io::Result<Self> {
        let path = socket_path(data_dir).ok_or_else(|| {
            io::Error::other("the path of the data directory is too long for a socket, and XDG_RUNTIME_DIR names no folder for it")
        })?;
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(&path)?;
        std::fs::set_permissions(&path, Permissions::from_mode(0o600))?;
        let shared = Arc::new(DoorShared {
            keeper: Box::new(keeper),
            is_closing: AtomicBool::new(false),
            connections: AtomicUsize::new(0),
            holds: AtomicUsize::new(0),
        });
        let unheld = Arc::downgrade(&shared);
        thread::Builder::new().name("door".into()).spawn(move || {
            thread::sleep(FIRST_HOLD_TIME);
            let shared = unheld.upgrade();
            // Whoever started it may have died before they could hold it.
            if let Some(shared) = shared.filter(|it| it.holds.load(Ordering::Acquire) == 0) {
                shared.let_go();
            }
        })?;
        let thread = {
            let shared = Arc::clone(&shared);
            let work = move || take_connections(&listener, &shared);
            thread::Builder::new().name("door".into()).spawn(work)?
        };
        Ok(Self {
            path,
            shared,
            thread,
        })
    }

    /// Closes the door and removes its socket. What is being done is still done.
    pub fn close(self) {
        self.shared.is_closing.store(true, Ordering::Release);
        // It waits for a connection, and would notice nothing else. If none can be made, somebody has removed the socket, and
        // nobody will come by it.
        let woken = UnixStream::connect(&self.path).is_ok();
        // A socket that isn't there any more is no failure.
        let _ = std::fs::remove_file(&self.path);
        if woken && self.thread.join().is_err() {
            tracing::error!(name = "door", "a thread panicked");
        }
    }
}

fn take_connections(listener: &UnixListener, shared: &Arc<DoorShared>) {
    for stream in listener.incoming() {
        if shared.is_closing.load(Ordering::Acquire) {
            return;
        }
        match stream {
            Ok(stream) => begin_connection(stream, shared),
            Err(error) => {
                tracing::warn!(%error, "a connection to the door failed");
                // Without file descriptors it would fail again at once.
                thread::sleep(Duration::from_millis(100));
            }
        }
    }
}

fn begin_connection(mut stream: UnixStream, shared: &Arc<DoorShared>) {
    let refuse = |stream: &mut UnixStream, why: &str| {
        let malformed = Malformed {
            id: String::new(),
            why: why.to_owned(),
        };
        // Whoever is refused may have gone already.
        let _ = writeln!(stream, "{}", message::refusal_line(&malformed));
    };
    // A peer that doesn't read must not hold the thread that takes connections.
    if stream.set_write_timeout(Some(LINE_TIME)).is_err() {
        return;
    }
    if !is_own_user(&stream) {
        return refuse(&mut stream, "this proxy is another user's");
    }
    let Some(slot) = Slot::take(&shared.connections, CONNECTIONS_MAX, shared) else {
        return refuse(&mut stream, "too many connections at once: try again");
    };
    let work = move || serve_connection(stream, slot);
    if let Err(error) = thread::Builder::new().name("door".into()).spawn(work) {
        tracing::warn!(%error, "a connection to the door can't be served");
    }
}

/// One of a bounded number of places; given back when dropped.
struct Slot {
    shared: Arc<DoorShared>,
    is_hold: bool,
}

impl Slot {
    fn take(counter: &AtomicUsize, most: usize, shared: &Arc<DoorShared>) -> Option<Self> {
        let add = |taken: usize| (taken < most).then_some(taken + 1);
        counter
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, add)
            .ok()?;
        Some(Self {
            shared: Arc::clone(shared),
            is_hold: std::ptr::eq(counter, &raw const shared.holds),
        })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if !self.is_hold {
            self.shared.connections.fetch_sub(1, Ordering::AcqRel);
        } else if self.shared.holds.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.shared.let_go();
        }
    }
}

fn serve_connection(mut stream: UnixStream, slot: Slot) {
    let shared = Arc::clone(&slot.shared);
    let mut unread = Vec::new();
    loop {
        let (answer, goes_on) = match next_line(&mut stream, &mut unread) {
            Ok(Some(line)) => match message::read_line(&line) {
                Ok(asked) if asked.request == DoorRequest::Hold => {
                    let Some(hold) = Slot::take(&shared.holds, HOLDS_MAX, &shared) else {
                        return;
                    };
                    let answer =
                        message::answer_line(&asked, json!({}), json!({"held": true}), None);
                    drop(slot);
                    wait_for_end(&mut stream, &answer, &shared.is_closing);
                    return drop(hold);
                }
                Ok(asked) => {
                    let answer = answer_to(&*shared.keeper, &asked, &|| is_connected(&stream));
                    (answer, true)
                }
                Err(malformed) => (message::refusal_line(&malformed), true),
            },
            Ok(None) => return,
            Err(why) => {
                let malformed = Malformed {
                    id: String::new(),
                    why,
                };
                (message::refusal_line(&malformed), false)
            }
        };
        // What was done is done; a client that has gone finds it on record.
        if writeln!(stream, "{answer}").is_err() || !goes_on {
            return;
        }
    }
}

/// The answer to a line that was read, for somebody who may go away meanwhile.
pub fn answer_to(
    keeper: &dyn DoorKeeper,
    asked: &message::Asked,
    is_wanted: &dyn Fn() -> bool,
) -> String {
    let done = match asked.request.clone() {
        DoorRequest::Status | DoorRequest::Hold => Ok((keeper.status(), None)),
        DoorRequest::Act(act) => keeper.act(act).map(|results| {
            let undone = results.iter().find(|result| !result.is_done);
            let undone = undone.map(|result| format!("{}: {}", result.target, result.words));
            (json!({ "results": results }), undone)
        }),
        DoorRequest::Adopt(targets) => {
            let adopted = keeper.adopt(&targets, is_wanted);
            adopted.map(|payload| (payload, None))
        }
    };
    match done {
        Ok((payload, problem)) => {
            message::answer_line(asked, json!({}), payload, problem.as_deref())
        }
        Err(problem) => message::answer_line(asked, json!({}), json!({}), Some(&problem)),
    }
}

/// Whether the other end still waits for an answer.
fn is_connected(stream: &UnixStream) -> bool {
    use rustix::net::{RecvFlags, recv};
    let mut byte = [0];
    let seen = recv(stream, &mut byte, RecvFlags::PEEK | RecvFlags::DONTWAIT);
    !matches!(seen, Ok((_, 0)))
}

/// Answers, and waits until the other end closes the connection, or the door is closed: who holds it comes to the next one then.
fn wait_for_end(stream: &mut UnixStream, answer: &str, is_closing: &AtomicBool) {
    if writeln!(stream, "{answer}").is_err() || stream.set_read_timeout(Some(LOOK_TIME)).is_err() {
        return;
    }
    let mut dropped = [0; 64];
    while !is_closing.load(Ordering::Acquire) {
        match stream.read(&mut dropped) {
            Ok(1..) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Ok(0) | Err(_) => return,
        }
    }
}

/// The next line, without its end; `None` if the connection is over, or idle. Errors are for people.
fn next_line(stream: &mut UnixStream, unread: &mut Vec<u8>) -> Result<Option<Vec<u8>>, String> {
    let until = Instant::now() + LINE_TIME;
    loop {
        if let Some(end) = unread.iter().position(|byte| *byte == b'\n') {
            let mut line: Vec<u8> = unread.drain(..=end).collect();
            line.pop();
            return Ok(Some(line));
        }
        if unread.len() >= LINE_BYTES_MAX {
            return Err(format!("the line is longer than {LINE_BYTES_MAX} bytes"));
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let seconds = LINE_TIME.as_secs();
            return match unread.is_empty() {
                true => Ok(None),
                false => Err(format!("the line took longer than {seconds} s")),
            };
        }
        let mut piece = [0; 4096];
        let set = stream.set_read_timeout(Some(left));
        match set.and_then(|()| stream.read(&mut piece)) {
            Ok(0) if unread.is_empty() => return Ok(None),
            Ok(0) => return Err("the line has no end".into()),
            Ok(read) => unread.extend_from_slice(&piece[..read]),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock
                        | io::ErrorKind::TimedOut
                        | io::ErrorKind::Interrupted
                ) => {}
            Err(_) => return Ok(None),
        }
    }
}
