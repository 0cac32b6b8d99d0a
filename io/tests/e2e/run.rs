//! `tslp run`: a client through a proxy that is there for as long as somebody uses it.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::full_disk::{can_mount, in_namespace};
use crate::harness::{CHAT, JSON, Places, RING, Tslp, eventually, prompt, serving};
use tslp_scripted::{Answer, Server};

use crate::upstream::Upstream;

/// A client that says what it was given, and ends with code 7 once something comes out of a pipe.
const CLIENT: &str = "#!/bin/sh
echo \"$OPENAI_API_BASE $OPENAI_API_KEY $*\"
read -r _ < \"$PIPE\"
exit 7
";

struct Run {
    places: Places,
    upstream: Upstream,
}

impl Run {
    fn new() -> Self {
        let (places, upstream) = (Places::new(), Upstream::start());
        std::fs::create_dir(places.path("bin")).unwrap();
        let client = places.path("bin/aider");
        std::fs::write(&client, CLIENT).unwrap();
        std::fs::set_permissions(&client, PermissionsExt::from_mode(0o755)).unwrap();
        let made = Command::new("mkfifo").arg(places.path("pipe")).status();
        assert!(made.unwrap().success());
        std::fs::create_dir(places.workspace.join(".git")).unwrap();
        Self { places, upstream }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        self.through(&self.upstream.url, arguments)
    }

    /// In a folder of the project.
    fn through(&self, upstream: &str, arguments: &[&str]) -> Command {
        let mut command = self.places.command(&["run", "--upstream", upstream]);
        let path = format!("{}:/usr/bin:/bin", self.places.path("bin").display());
        command.args(arguments).env("PATH", path);
        command.env("PIPE", self.places.path("pipe"));
        command.current_dir(self.places.workspace.join("src"));
        command
    }

    fn start(&self, arguments: &[&str]) -> (Child, String) {
        use std::io::{BufRead as _, BufReader};
        let mut child = self
            .command(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        said.read_line(&mut line).unwrap();
        (child, line)
    }

    /// Ends the client that waits.
    fn end_client(&self) {
        std::fs::write(self.places.path("pipe"), "\n").unwrap();
    }

    fn data_dir(&self) -> PathBuf {
        let all = self.places.path("home/.local/share/tslp");
        let mut folders = std::fs::read_dir(all).unwrap();
        folders.next().unwrap().unwrap().path()
    }

    fn is_gone(&self) {
        let door = self.data_dir().join("door");
        eventually(|| (!door.exists()).then_some(()));
    }
}

/// All files beneath a folder, and their texts.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.insert(path.clone(), std::fs::read(path).unwrap());
        }
    }
    found
}

/// A client runs as if it were called directly; the proxy ends with the last one.
#[test]
fn like_a_direct_call() {
    let run = Run::new();
    let before = files(&run.places.workspace);
    let (mut one, said) = run.start(&["aider", "--yes", "a file.c"]);
    let (base, rest) = said.split_once(' ').unwrap();
    let models = run.data_dir().join("clients/aider/models.json");
    let window = format!("--model-metadata-file {}", models.display());
    assert_eq!(
        rest,
        format!("local --model openai/m {window} --yes a file.c\n")
    );
    assert!(
        base.starts_with("http://127.0.0.1:") && base.ends_with("/v1"),
        "{said}"
    );
    // A second one uses the same proxy.
    let (mut two, said) = run.start(&["aider", "--model", "openai/other"]);
    assert_eq!(
        said,
        format!("{base} local {window} --model openai/other\n")
    );
    // Another server would be no server of theirs.
    let elsewhere = run.through("http://127.0.0.1:1", &["aider", "--model", "m"]);
    let refused = { elsewhere }.output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_ne!(refused.status.code(), Some(0), "{said}");
    assert!(
        said.contains("runs already") && said.contains(&run.upstream.url),
        "{said}"
    );
    // Not SIGINT: where the tests are run in the background of a shell, it is ignored from the start, as the shell wants it.
    kill_process(Pid::from_child(&one), Signal::TERM).unwrap();
    assert_eq!(
        one.wait().unwrap().code(),
        None,
        "it dies of the signal, as the client does"
    );
    assert!(
        run.data_dir().join("door").exists(),
        "the other one still uses it"
    );
    run.end_client();
    assert_eq!(two.wait().unwrap().code(), Some(7));
    run.is_gone();
    assert_eq!(files(&run.places.workspace), before);
    let kept = files(&run.places.path("home"));
    assert!(
        kept.keys().all(|path| path.starts_with(run.data_dir())),
        "{kept:?}"
    );
    // Another time it begins anew, and finds the ledger.
    let (mut again, _) = run.start(&["aider"]);
    run.end_client();
    assert_eq!(again.wait().unwrap().code(), Some(7));
    run.is_gone();
}

#[test]
fn demo_model_line() {
    let run = Run::new();
    for (upstream, says_so) in [(&*run.upstream.url, false), ("demo", true)] {
        let mut command = run.through(upstream, &["aider", "--model", "m"]);
        let client = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn();
        run.end_client();
        let said = client.unwrap().wait_with_output().unwrap().stderr;
        let said = String::from_utf8(said).unwrap();
        assert_eq!(said.contains("demo model answers"), says_so, "{said}");
        run.is_gone();
    }
}

/// A command in a folder of a project means the project.
#[test]
fn from_a_subfolder() {
    let run = Run::new();
    run.places.write("src/ring.c", RING);
    let mut accept = run.places.command(&["accept", "ring.c"]);
    let accepted = accept
        .current_dir(run.places.workspace.join("src"))
        .output();
    assert_eq!(accepted.unwrap().status.code(), Some(0));
    for folder in ["", "src"] {
        for arguments in [
            &["state"][..],
            &["state", "src"],
            &["why", "src/ring.c::ring_put"],
        ] {
            let mut command = run.places.command(arguments);
            command.current_dir(run.places.workspace.join(folder));
            let said = command.output().unwrap();
            let text = String::from_utf8_lossy(&said.stdout);
            assert!(
                text.contains("src/ring.c::ring_put"),
                "{arguments:?} in {folder}: {said:?}"
            );
        }
    }
    let mut here = run.places.command(&["why", "ring.c::ring_put"]);
    let said = here
        .current_dir(run.places.workspace.join("src"))
        .output()
        .unwrap();
    assert_eq!(said.status.code(), Some(0), "{said:?}");
}

/// What cannot be run says what to do instead and leaves nothing behind.
#[test]
fn nothing_left_behind() {
    let run = Run::new();
    for (arguments, code, words) in [
        (
            ["nosuch", "x"],
            1,
            "there is no program `nosuch` on your PATH",
        ),
        (["curl", "x"], 2, "curl can't be run for one time"),
    ] {
        let output = run.command(&arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        assert!(
            String::from_utf8_lossy(&output.stderr).contains(words),
            "{output:?}"
        );
    }
    assert!(files(&run.places.path("home")).is_empty());
    // The reason why the proxy doesn't start is the user's to read.
    let mut command = run.command(&["aider"]);
    command.env("TSLP_LISTEN", "127.0.0.1:0").arg("x");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let mut command = run
        .places
        .command(&["run", "--listen", &address, "sh", "-c", "exit 0"]);
    command
        .env("PATH", "/usr/bin:/bin")
        .current_dir(&run.places.workspace);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("another process has that port"), "{said}");
}

/// A project with an empty ledger changes nothing beneath it; a used one counts where git has no root nearer by.
#[test]
fn which_project() {
    let (places, upstream) = (Places::new(), Upstream::start());
    for folder in ["parent/plain/deep", "parent/tree"] {
        std::fs::create_dir_all(places.path(folder)).unwrap();
    }
    std::fs::write(places.path("parent/tree/.git"), "gitdir: elsewhere").unwrap();
    // The exit code, and what is said of the workspace.
    let means = |folder: &str, arguments: &[&str]| {
        let mut command = places.command(arguments);
        let output = command.current_dir(places.path(folder)).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let lines = said.lines().filter(|it| it.contains("tslp: workspace "));
        let lines: Vec<String> = lines.map(str::to_owned).collect();
        assert!(lines.len() <= 1, "{said}");
        lines.into_iter().next().unwrap_or_default()
    };
    let serve = |is_used: bool| {
        let mut command = places.command(&serving(&upstream.url));
        command.current_dir(places.path("parent"));
        let tslp = Tslp::spawn(&places, command);
        // While a proxy runs, the folder that it serves is meant, used or not.
        assert_ne!(means("parent/plain", &["status"]), "");
        assert_eq!(means("parent/tree", &["status"]), "");
        if is_used {
            tslp.say("hello");
            upstream.next();
        }
        tslp.stop();
    };
    serve(false);
    for arguments in [&["status"][..], &["recent", "--json"]] {
        assert_eq!(means("parent/plain/deep", arguments), "");
    }
    serve(true);
    let parent = places.path("parent").canonicalize().unwrap();
    for arguments in [&["status"][..], &["recent", "--json"], &["doctor"]] {
        let said = means("parent/plain/deep", arguments);
        let expected = format!("tslp: workspace {} (", parent.display());
        assert!(said.starts_with(&expected), "{said}");
        assert_eq!(means("parent/tree", arguments), "");
    }
    let named = ["status", "--workspace", ".."];
    assert_eq!(means("parent/plain/deep", &named), "", "it was named");
}

/// The exit code, the client's standard output, and all of standard error.
fn ended(mut command: Command) -> (Option<i32>, String, String) {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (output.status.code(), stdout, stderr)
}

/// A server that gives no model: which it is, what it answered, what to do.
#[test]
fn no_model() {
    let run = Run::new();
    let check = |url: &str, words: &[&str]| {
        let (code, _, said) = ended(run.through(url, &["aider"]));
        assert_eq!(code, Some(1), "{said}");
        let last = said.lines().last().unwrap_or_default();
        for words in [&[url], words].concat() {
            assert!(last.contains(words), "{words} in {said}");
        }
        run.is_gone();
    };
    check("http://127.0.0.1:1", &["refused", "start it"]);
    for (status, body, words) in [
        (401, "{}", &["status 401", "set its key", "OPENAI_API_KEY"]),
        (403, "{}", &["status 403", "set its key", "OPENAI_API_KEY"]),
        (404, "{}", &["status 404", "--model NAME", "--upstream URL"]),
        (
            200,
            r#"{"data":[]}"#,
            &["lists none", "ollama pull", "--model NAME"],
        ),
    ] {
        let answer = move |_| Answer::Plain(status, "application/json", body.into());
        let server = Server::start(answer).unwrap();
        check(&server.url(), words);
    }
}

/// The user's own key goes to a server that wants one, and `local` to others.
#[test]
fn own_key() {
    let run = Run::new();
    let wants_key = |request: tslp_scripted::Request| match request.head.contains("Bearer sk-own") {
        true => Answer::json(200, &json!({"data": [{"id": "m"}]})),
        false => Answer::json(401, &json!({})),
    };
    let server = Server::start(wants_key).unwrap();
    for (key, client) in [("sk-own", "sk-own"), ("", "local")] {
        let url = if key.is_empty() {
            &run.upstream.url
        } else {
            &server.url()
        };
        let mut command = run.through(url, &["aider"]);
        command.env("OPENAI_API_KEY", key).stdout(Stdio::piped());
        let child = command.spawn().unwrap();
        run.end_client();
        let said = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
        let given = said.split(' ').nth(1);
        assert_eq!(given, Some(client), "{said}");
        run.is_gone();
    }
}

/// A proxy that is killed comes back at its port, and goes on from its ledger; one that is asked to stop doesn't.
#[test]
fn killed_proxy() {
    let run = Run::new();
    let (mut client, said) = run.start(&["aider"]);
    let base = said.split(' ').next().unwrap();
    let address: std::net::SocketAddr = base["http://".len()..]
        .trim_end_matches("/v1")
        .parse()
        .unwrap();
    let pid = || {
        let door = tslp_io::door::client::DoorClient::connect(&run.data_dir());
        let status = door
            .ok()
            .flatten()?
            .ask("status", "find its process", json!({}))
            .ok()?;
        assert_eq!(status["address"], address.to_string());
        Pid::from_raw(i32::try_from(status["pid"].as_i64()?).unwrap())
    };
    let ask = |text: &str| {
        let mut connection = tslp_scripted::Connection::connect(address);
        let body = prompt(text).to_string();
        connection.send("POST", CHAT, &[JSON], body.as_bytes());
        connection.response().status()
    };
    run.upstream.will_say("one");
    assert_eq!(ask("one"), 200);
    let first = pid().unwrap();
    kill_process(first, Signal::KILL).unwrap();
    let second = eventually(|| pid().filter(|pid| *pid != first));
    run.upstream.will_say("two");
    assert_eq!(ask("two"), 200);
    kill_process(second, Signal::TERM).unwrap();
    run.is_gone();
    run.end_client();
    assert_eq!(client.wait().unwrap().code(), Some(7));
    assert!(pid().is_none());
}

/// The cause why no proxy starts is said where no log could be written, with room for a lock and without.
#[test]
fn no_room() {
    let run = Run::new();
    std::fs::create_dir(&run.places.data).unwrap();
    if !can_mount(&run.places) {
        return;
    }
    for (ballast, words) in [("56k", "data directory"), ("64k", "has room")] {
        let full = format!(
            "mount -t tmpfs -o size=64k,mode=700 none \"$DATA\" && \
             head -c {ballast} /dev/zero > \"$DATA/ballast\" && exec \"$0\" \"$@\""
        );
        let asked = run.places.in_workspace(&["run", "--upstream", "demo"]);
        let mut command = in_namespace(&run.places, &full);
        command.arg(asked.get_program()).args(asked.get_args());
        command.arg("sh");
        let (code, _, said) = ended(command);
        assert_eq!(code, Some(1), "{said}");
        for words in ["No space left", words] {
            assert!(said.contains(words), "{words} in {said}");
        }
    }
}
