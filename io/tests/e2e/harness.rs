//! The `tslp` process with folders of its own, and a conversation with it.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::upstream::Upstream;
use tslp_scripted::{Connection, Response};

/// Bound on every wait; only a failing test reaches it, however busy the machine is.
pub(crate) const PATIENCE: Duration = Duration::from_secs(180);

/// A function with its file's path in the fence's info string, as people paste it.
pub(crate) const RING: &str = "int ring_put(struct ring *r, int value) {\n    r->slots[r->head] = value;\n    r->head = (r->head + 1) % r->size;\n    return 0;\n}\n";
/// The same function as a model improves it.
pub(crate) const RING_BETTER: &str = "int ring_put(struct ring *r, int value) {\n    if (r->count == r->size) return -1;\n    r->slots[r->head] = value;\n    r->head = (r->head + 1) % r->size;\n    r->count += 1;\n    return 0;\n}\n";
/// Its entity.
pub(crate) const RING_PUT: &str = "src/ring.c::ring_put";

/// Code in a fence that names its file.
pub(crate) fn fenced(path: &str, code: &str) -> String {
    format!("```c:{path}\n{code}```\n")
}

/// A message of the user's.
pub(crate) fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

/// A request of one prompt.
pub(crate) fn prompt(text: &str) -> Value {
    json!({"model": "m", "messages": [user(text)]})
}

/// The law's template (spec §8.2).
pub(crate) fn state_block(entity: &str, artifact: &str, code: &str) -> String {
    format!(
        "[CURRENT STATE: AUTHORITATIVE]\nEntity: {entity}\nArtifact: {artifact:.12}\nSource: Confirmed via AST\n\n```c\n{}\n```\n[END CURRENT STATE]",
        code.trim_end()
    )
}

/// A workspace, a data directory and a home that outlive a process.
pub(crate) struct Places {
    dir: TempDir,
    pub(crate) workspace: PathBuf,
    pub(crate) data: PathBuf,
}

impl Places {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (workspace, data) = (root.join("workspace"), root.join("data"));
        std::fs::create_dir_all(workspace.join("src")).unwrap();
        std::fs::create_dir(root.join("home")).unwrap();
        Self {
            dir,
            workspace,
            data,
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file of the project, as the user's editor does.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let file = self.workspace.join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    /// `tslp` with these arguments and nothing from this process's surroundings.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tslp"));
        command
            .args(arguments)
            .env_clear()
            .env("HOME", self.path("home"))
            .current_dir(self.path("home"));
        command
    }

    /// `command` with the folders named.
    pub(crate) fn in_workspace(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(arguments);
        command
            // A busy machine isn't a file system that hangs.
            .env("TSLP_ETV_TIMEOUT_MS", "10000")
            .arg("--workspace")
            .arg(&self.workspace)
            .arg("--data-dir")
            .arg(&self.data);
        command
    }

    /// What `tslp ARGUMENTS --json` prints for this workspace.
    pub(crate) fn cli_json(&self, arguments: &[&str]) -> (i32, Value) {
        let output = self.in_workspace(arguments).arg("--json").output().unwrap();
        let json = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {output:?}"));
        (output.status.code().unwrap(), json)
    }

    /// Each decision on record is made again as it was.
    #[track_caller]
    pub(crate) fn verify_deep(&self) {
        let (code, page) = self.cli_json(&["verify", "--deep"]);
        let differences = &page["deep"]["differences"];
        assert_eq!((code, differences), (0, &json!([])), "{page:#}");
    }
}

/// The exit code and standard error of a process that is to end without serving.
pub(crate) fn failure(mut command: Command) -> (i32, String) {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + PATIENCE;
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > deadline {
            child.kill().unwrap();
        }
        thread::yield_now();
    }
    let Output {
        status,
        stdout,
        stderr,
    } = child.wait_with_output().unwrap();
    let (stdout, stderr) = [stdout, stderr]
        .map(|bytes| String::from_utf8(bytes).unwrap())
        .into();
    assert_eq!(stdout, "", "nothing is served: {stderr}");
    (status.code().unwrap(), stderr)
}

/// The arguments of a proxy in front of this upstream, on any free port.
pub(crate) fn serving(upstream_url: &str) -> [&str; 5] {
    [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--upstream",
        upstream_url,
    ]
}

/// A running proxy.
pub(crate) struct Tslp<'p> {
    pub(crate) places: &'p Places,
    pub(crate) address: SocketAddr,
    child: Child,
    stdout: Option<JoinHandle<String>>,
}

impl<'p> Tslp<'p> {
    pub(crate) fn start(places: &'p Places, upstream: &Upstream) -> Self {
        Self::with(places, &upstream.url, &[])
    }

    pub(crate) fn with(places: &'p Places, upstream_url: &str, arguments: &[&str]) -> Self {
        let mut command = places.in_workspace(&serving(upstream_url));
        command.args(arguments);
        Self::spawn(places, command)
    }

    /// A command that serves.
    pub(crate) fn spawn(places: &'p Places, command: Command) -> Self {
        Self::spawn_by(places, command, |command| command.spawn().unwrap())
    }

    /// A command that serves, started in a way of its own.
    pub(crate) fn spawn_by(
        places: &'p Places,
        mut command: Command,
        start: impl FnOnce(&mut Command) -> Child,
    ) -> Self {
        let log = File::options()
            .create(true)
            .append(true)
            .open(places.path("log"))
            .unwrap();
        command
            .env("TSLP_LOG", "info")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log);
        let mut child = start(&mut command);
        let mut reader = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        reader.read_line(&mut first).unwrap();
        let address = first
            .strip_prefix("listening on http://")
            .and_then(|rest| rest.strip_suffix('\n'))
            .and_then(|address| address.parse().ok())
            .unwrap_or_else(|| {
                let _ = child.kill();
                let log = std::fs::read_to_string(places.path("log"));
                panic!("the first line is {first:?}; the log: {log:?}")
            });
        let stdout = thread::spawn(move || {
            let mut rest = String::new();
            let _ = reader.read_to_string(&mut rest);
            rest
        });
        Self {
            places,
            address,
            child,
            stdout: Some(stdout),
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn client(&self) -> Connection {
        Connection::connect(self.address)
    }

    pub(crate) fn request(
        &self,
        method: &str,
        path: &str,
        fields: &[(&str, &str)],
        body: &[u8],
    ) -> Response {
        let mut client = self.client();
        client.send(method, path, fields, body);
        client.response()
    }

    pub(crate) fn get(&self, path: &str) -> Response {
        self.request("GET", path, &[], b"")
    }

    pub(crate) fn page(&self, path: &str) -> Value {
        let response = self.get(path);
        assert_eq!(response.status(), 200, "{path}: {response:?}");
        response.json()
    }

    /// A chat request that isn't answered yet.
    pub(crate) fn asking(&self, request: &Value) -> Connection {
        let mut client = self.client();
        let body = request.to_string();
        client.send("POST", CHAT, &[JSON], body.as_bytes());
        client
    }

    /// A chat request with more header fields; returns when the engine is done with the reply.
    pub(crate) fn chat_with(&self, fields: &[(&str, &str)], request: &Value) -> Response {
        let fields: Vec<(&str, &str)> = [&[JSON], fields].concat();
        let body = request.to_string();
        let response = self.request("POST", CHAT, &fields, body.as_bytes());
        if response.header("x-tslp-episode").is_some() {
            self.ended(response.episode());
        }
        response
    }

    pub(crate) fn chat(&self, request: &Value) -> Response {
        self.chat_with(&[], request)
    }

    /// Asks in a conversation of its own.
    pub(crate) fn say(&self, text: &str) -> Response {
        let response = self.chat(&prompt(text));
        assert_eq!(response.status(), 200, "{response:?}");
        response
    }

    /// Waits until the episode's reply is recorded and decided about; gives its entry of `/recent`.
    pub(crate) fn ended(&self, episode: u64) -> Value {
        eventually(|| {
            let recent = self.page("/recent?limit=64");
            let episodes = recent["episodes"].as_array().unwrap();
            let found = episodes.iter().find(|found| found["episode_id"] == episode);
            found.filter(|found| !found["outcome"].is_null()).cloned()
        })
    }

    /// Waits until the head anchor has followed the last commit; from then on the pages stand still.
    pub(crate) fn at_rest(&self) {
        eventually(|| {
            let doctor = self.page("/doctor");
            let detail = |name: &str| {
                let checks = doctor["checks"].as_array()?;
                let check = checks.iter().find(|check| check["check"] == name)?;
                check["detail"].as_str().map(str::to_owned)
            };
            let events = detail("events")?.split(',').next()?.to_owned();
            let anchored = detail("head anchor")?.ends_with(&format!("#{events}"));
            let scrubbed = detail("scrub")?.ends_with("sound");
            (anchored && scrubbed).then_some(())
        });
    }

    /// The entry of `/recent` for the last episode.
    pub(crate) fn last_episode(&self) -> Value {
        self.page("/recent?limit=1")["episodes"][0].clone()
    }

    pub(crate) fn state(&self) -> Value {
        self.page("/state")["entities"].clone()
    }

    /// The hash that `/state` shows for an entity.
    pub(crate) fn artifact(&self, entity: &str) -> String {
        let state = self.state();
        let artifact = state[entity]["artifact"].as_str();
        artifact
            .unwrap_or_else(|| panic!("{entity} is in {state}"))
            .to_owned()
    }

    /// Asks it to stop, without waiting.
    pub(crate) fn terminate(&self) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, Signal::TERM).unwrap();
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        eventually(|| self.child.try_wait().unwrap())
    }

    /// Stops it properly; gives what it printed after its first line.
    pub(crate) fn stop(self) -> String {
        self.stop_with(0)
    }

    /// The same, with the exit code that is expected.
    pub(crate) fn stop_with(mut self, code: i32) -> String {
        self.terminate();
        let status = self.wait();
        assert_eq!(status.code(), Some(code), "{}", self.log());
        self.stdout.take().unwrap().join().unwrap()
    }

    /// Ends it as a power cut would.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// The process's number.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.places.path("log")).unwrap()
    }
}

impl Drop for Tslp<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        #[expect(clippy::print_stderr, reason = "what a failing test leaves to read")]
        if thread::panicking() {
            eprintln!("the proxy's log:\n{}", self.log());
        }
    }
}

pub(crate) const CHAT: &str = "/v1/chat/completions";
pub(crate) const JSON: (&str, &str) = ("Content-Type", "application/json");

/// A conversation as a client keeps it: every request holds all of it.
pub(crate) struct Talk<'t> {
    tslp: &'t Tslp<'t>,
    pub(crate) messages: Vec<Value>,
}

impl<'t> Talk<'t> {
    pub(crate) fn new(tslp: &'t Tslp<'t>) -> Self {
        Self {
            tslp,
            messages: Vec::new(),
        }
    }

    pub(crate) fn with_system(mut self, text: &str) -> Self {
        self.messages
            .push(json!({"role": "system", "content": text}));
        self
    }

    /// The request that the next prompt makes.
    pub(crate) fn request(&self, text: &str) -> Value {
        let mut messages = self.messages.clone();
        messages.push(user(text));
        json!({"model": "m", "messages": messages, "stream": true})
    }

    pub(crate) fn ask(&mut self, text: &str) -> Response {
        let response = self.tslp.chat(&self.request(text));
        assert_eq!(response.status(), 200, "{response:?}");
        self.messages.push(user(text));
        self.messages
            .push(json!({"role": "assistant", "content": response.said()}));
        response
    }
}

/// Looks again and again until there is something.
pub(crate) fn eventually<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < deadline, "it didn't happen");
        thread::yield_now();
    }
}
