//! Commands that act on a running proxy, through its door.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::thread;

use serde_json::{Value, json};

use crate::harness::{
    Places, RING, RING_BETTER, RING_PUT, Tslp, eventually, failure, fenced, serving,
};
use crate::upstream::Upstream;

/// A line through the door, and its answer.
fn say(door: &mut UnixStream, line: &str) -> Value {
    writeln!(door, "{line}").unwrap();
    let mut answer = String::new();
    BufReader::new(door).read_line(&mut answer).unwrap();
    serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
}

/// An act through the door, as a program may ask for it, and its answer.
pub(crate) fn through_the_door(places: &Places, kind: &str, payload: &Value) -> Value {
    say(&mut knock(places), &line(kind, payload))
}

fn knock(places: &Places) -> UnixStream {
    UnixStream::connect(places.data.join("door")).unwrap()
}

fn line(kind: &str, payload: &Value) -> String {
    json!({
        "type": kind, "version": 1, "id": "a-7", "goal": "try it", "producer": "a test",
        "timestamp": "2026-01-31T12:00:00Z", "provenance": {}, "payload": payload,
    })
    .to_string()
}

/// What a command that acts says of its one target.
fn outcome(places: &Places, arguments: &[&str]) -> (i32, String) {
    let (code, json) = places.cli_json(arguments);
    let outcome = json["targets"][0]["outcome"].as_str();
    (code, outcome.unwrap_or_default().to_owned())
}

/// Every act is done by the proxy that runs.
#[test]
fn all_acts() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    places.write(
        "src/more/add.c",
        "int add(int a, int b) {\n    return a + b;\n}\n",
    );
    let tslp = Tslp::start(&places, &upstream);
    let done = |arguments: &[&str], expected: (i32, &str)| {
        let (code, said) = outcome(&places, arguments);
        assert_eq!((code, said.as_str()), expected, "{arguments:?}");
    };
    done(&["accept", RING_PUT], (0, "accepted"));
    // The prompt after it shows what was accepted, though the command ended before it came.
    tslp.say("explain `ring_put`");
    assert!(
        upstream
            .next()
            .text()
            .contains("r->slots[r->head] = value;")
    );
    done(&["accept", RING_PUT], (0, "true_already"));
    done(&["accept", "src/nope.c"], (1, "no_file"));
    let (code, summary) = places.cli_json(&["adopt", "src"]);
    assert_eq!(
        (code, &summary["files_adopted"]),
        (0, &json!(2)),
        "{summary}"
    );
    assert!(tslp.state().get("src/more/add.c::add").is_some());
    // Of a file that is gone the user says that it is to be.
    std::fs::remove_file(places.workspace.join("src/more/add.c")).unwrap();
    done(&["accept", "src/more/add.c"], (0, "deletion_accepted"));
    assert!(tslp.state().get("src/more/add.c::add").is_none());
    // What the model left code out of waits for the user's word.
    let elided = RING_BETTER.replace("    return 0;\n", "    // ... rest unchanged\n");
    upstream.will_say(fenced("src/ring.c", &elided));
    tslp.say("improve `ring_put`");
    done(&["confirm", RING_PUT], (1, "not_confirmable"));
    done(&["reject", RING_PUT], (0, "user_rejected"));
    done(&["reject", RING_PUT], (1, "nothing_to_do"));
    done(
        &["tool", "allow", "BUILD_EXEC", "for", "5m"],
        (0, "capability_granted"),
    );
    done(&["tool", "revoke", "BUILD_EXEC"], (0, "capability_revoked"));
    done(&["tool", "revoke", "BUILD_EXEC"], (1, "nothing_to_do"));
    done(&["tool", "allow", "FS_WRITE"], (1, "not_grantable"));
    done(&["stop"], (0, "agents_stopped"));
    let (_, guardian) = places.cli_json(&["status", "guard"]);
    assert_eq!(guardian["sessions"][0]["halt"], "agents_stopped");
    done(&["resume"], (0, "tools_resumed"));
    let (_, guardian) = places.cli_json(&["status", "guard"]);
    assert_eq!(guardian["sessions"], json!([]));
    tslp.stop();
    let (code, deep) = places.cli_json(&["verify", "--deep"]);
    assert_eq!(code, 0, "{deep}");
    // The same without a proxy.
    done(&["stop"], (0, "agents_stopped"));
    done(&["resume"], (0, "tools_resumed"));
    done(&["reject", RING_PUT], (1, "nothing_to_do"));
    let (code, deep) = places.cli_json(&["verify", "--deep"]);
    assert_eq!(code, 0, "{deep}");
}

#[test]
fn malformed_line() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    let mut door = knock(&places);
    let accept = line("accept", &json!({ "targets": [RING_PUT] }));
    let long = format!("\"{}\"", "x".repeat(60 << 10));
    for bad in [
        "",
        "{}",
        "accept src/ring.c",
        "\u{0}\u{1}",
        &long,
        &accept.replace("1,", "2,"),
    ] {
        let answer = say(&mut door, bad);
        assert_eq!(answer["type"], "refusal", "{bad}");
        assert_eq!(answer["escalate"]["escalate"], true, "{answer}");
    }
    let mut endless = knock(&places);
    endless.write_all(&vec![b'x'; 1 << 20]).unwrap();
    let mut answer = String::new();
    BufReader::new(&endless).read_line(&mut answer).unwrap();
    assert!(answer.contains("longer than 1048576 bytes"), "{answer}");
    assert!(tslp.state().as_object().unwrap().is_empty());
    // The connection that said nonsense still serves.
    let answer = say(&mut door, &accept);
    assert_eq!(
        (&answer["id"], &answer["escalate"]),
        (&json!("a-7"), &Value::Null),
        "{answer}"
    );
    assert!(tslp.state().get(RING_PUT).is_some());
}

#[test]
fn sixteen_connections() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let _tslp = Tslp::start(&places, &upstream);
    let status = line("status", &json!({}));
    let mut served: Vec<UnixStream> = (0..16).map(|_| knock(&places)).collect();
    for door in &mut served {
        assert_eq!(say(door, &status)["type"], "status.result");
    }
    let mut next = knock(&places);
    let mut answer = String::new();
    BufReader::new(&mut next).read_line(&mut answer).unwrap();
    assert!(answer.contains("too many connections"), "{answer}");
    drop(served);
    // Whoever only holds the proxy takes nobody's place.
    let mut holds = Vec::new();
    for _ in 0..20 {
        holds.push(eventually(|| {
            let mut door = knock(&places);
            let answer = say(&mut door, &line("hold", &json!({})));
            (answer["type"] == "hold.result").then_some(door)
        }));
    }
    eventually(|| (say(&mut knock(&places), &status)["type"] == "status.result").then_some(()));
}

#[test]
fn found_from_any_folder() {
    let (one, two, upstream) = (Places::new(), Places::new(), Upstream::start());
    let token = "a token of 16 or more";
    let token = token.replace(' ', "-");
    let serve = |places: &Places, arguments: &[&str]| {
        let mut command = places.command(&serving(&upstream.url));
        command.args(arguments).current_dir(&places.workspace);
        command
    };
    let first = Tslp::spawn(&one, serve(&one, &["--token", &token]));
    let second = Tslp::spawn(&two, serve(&two, &[]));
    for (places, proxy, key) in [(&one, &first, &*token), (&two, &second, "local")] {
        places.write("src/deep/ring.c", RING);
        let in_folder = |folder: &str, arguments: &[&str]| {
            let mut command = places.command(arguments);
            command.current_dir(places.workspace.join(folder));
            let output = command.output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            assert_eq!(output.status.code(), Some(0), "{text}{:?}", output.stderr);
            text
        };
        let connect = in_folder("src/deep", &["connect", "aider"]);
        assert!(
            connect.contains(&format!("OPENAI_API_KEY={key} ")),
            "{connect}"
        );
        assert!(
            connect.contains(&format!("http://{}/v1", proxy.address)),
            "{connect}"
        );
        assert!(in_folder("src/deep", &["accept", "ring.c"]).contains("true as it is on disk"));
        assert!(in_folder("src", &["state"]).contains("src/deep/ring.c::ring_put"));
        assert!(in_folder("src", &["doctor"]).contains(&upstream.url));
    }
}

#[test]
fn leftover_socket() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    Tslp::start(&places, &upstream).kill();
    assert!(places.data.join("door").exists());
    assert_eq!(
        outcome(&places, &["accept", RING_PUT]),
        (0, "accepted".into())
    );
    let tslp = Tslp::start(&places, &upstream);
    assert_eq!(
        outcome(&places, &["accept", RING_PUT]),
        (0, "true_already".into())
    );
    tslp.stop();
    assert!(!places.data.join("door").exists());
}

/// Acts come between prompts, however busy the proxy is.
#[test]
fn acts_between_prompts() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..10).for_each(|turn| drop(tslp.say(&format!("hello {turn}")))));
        }
        for turn in 0..8 {
            places.write("src/ring.c", if turn % 2 == 0 { RING_BETTER } else { RING });
            assert_eq!(
                outcome(&places, &["accept", RING_PUT]),
                (0, "accepted".into())
            );
        }
    });
    tslp.stop();
    let (code, deep) = places.cli_json(&["verify", "--deep"]);
    assert_eq!(code, 0, "{deep}");
}

#[test]
fn other_user() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let copy = places.path("tslp");
    std::fs::copy(env!("CARGO_BIN_EXE_tslp"), &copy).unwrap();
    let run = |command: &str| {
        let mut tried = std::process::Command::new(&copy);
        tried.arg(command).uid(65534).env_clear().current_dir("/");
        tried.arg("--workspace").arg(&places.workspace);
        tried.arg("--data-dir").arg(&places.data);
        failure(tried)
    };
    let open = |path: &Path, mode| {
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(path, permissions).unwrap();
    };
    open(places.path("").as_path(), 0o755);
    let (code, said) = run("stop");
    assert!(
        code == 4 && said.contains("another user's"),
        "{code} {said}"
    );
    // Even where the permissions would let them.
    open(&places.data, 0o755);
    open(&places.data.join("door"), 0o666);
    let (code, said) = run("stop");
    assert!(
        code == 4 && said.contains("another user's"),
        "{code} {said}"
    );
    tslp.stop();
}

/// What another user's program says to the port, a line each; `PROMPT` is a chat request with these words.
const ASKED_BY_OTHERS: [&str; 8] = [
    "GET /state",
    "GET /recent",
    "GET /doctor",
    "GET /metrics",
    "GET /v1/models",
    "PROMPT explain ring_put in src/ring.c",
    "PROMPT @tslp accept src/ring.c",
    "PROMPT @tslp stop",
];

/// Programs of another user are refused at the port unless they are allowed.
#[test]
fn port_of_one_user() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let say = |tslp: &Tslp, asked: &str, header: &str| {
        let (method, target, body) = match asked.split_once(' ').unwrap() {
            ("PROMPT", words) => (
                "POST",
                "/v1/chat/completions",
                format!(r#"{{"model":"m","messages":[{{"role":"user","content":"{words}"}}]}}"#),
            ),
            (method, target) => (method, target, String::new()),
        };
        let port = tslp.address.port();
        let request = format!(
            "{method} {target} HTTP/1.1\\r\\nHost: localhost:{port}\\r\\nConnection: close\\r\\n{header}Content-Length: {}\\r\\n\\r\\n{body}",
            body.len()
        );
        // The shell's own sockets: a real second user's process, whatever this machine has installed.
        let script =
            format!("exec 3<>/dev/tcp/127.0.0.1/{port}; printf '%b' '{request}' >&3; cat <&3");
        let mut other = std::process::Command::new("bash");
        let output = other.arg("-c").arg(script).uid(65534).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let tslp = Tslp::start(&places, &upstream);
    for asked in ASKED_BY_OTHERS {
        let answer = say(&tslp, asked, "");
        let status = if asked.starts_with("PROMPT") {
            400
        } else {
            403
        };
        let start = format!("HTTP/1.1 {status} ");
        assert!(answer.starts_with(&start), "{asked}: {answer}");
        for word in ["foreign_user", "65534", "allow", "token"] {
            assert!(answer.contains(word), "{asked}: {answer}");
        }
        assert!(!answer.contains("ring_put"), "{answer}");
    }
    let health = say(&tslp, "GET /health", "");
    assert!(health.starts_with("HTTP/1.1 200 "), "{health}");
    tslp.stop();
    let (_, listed) = places.cli_json(&["recent"]);
    assert_eq!(
        listed["episodes"],
        serde_json::json!([]),
        "nothing is recorded of it"
    );

    let token = "0123456789abcdef";
    for (flags, header) in [
        (["--allow", "65534"], String::new()),
        (["--allow", "any"], String::new()),
        (["--token", token], format!("x-tslp-token: {token}\\r\\n")),
    ] {
        let tslp = Tslp::with(&places, &upstream.url, &flags);
        let answer = say(&tslp, "GET /state", &header);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{flags:?} {answer}");
        tslp.stop();
    }
}

/// What answers in the proxy's place is reported, and nothing is done twice.
#[test]
fn answered_by_impostor() {
    let places = Places::new();
    places.write("src/ring.c", RING);
    std::fs::create_dir(&places.data).unwrap();
    let listener = UnixListener::bind(places.data.join("door")).unwrap();
    let answering = thread::spawn(move || drop(listener.accept().unwrap()));
    let (code, said) = failure(places.in_workspace(&["accept", RING_PUT]));
    assert!(
        code == 1 && said.contains("ended before it answered"),
        "{said}"
    );
    answering.join().unwrap();
    assert!(!places.data.join("ledger.db").exists());
}
