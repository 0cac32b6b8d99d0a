//! How the process begins and ends, and how it says that it can't.

use std::net::TcpListener;

use crate::harness::{Places, RING, RING_PUT, Tslp, failure, fenced, prompt};
use crate::upstream::{Answer, Step, Upstream, barrier, event, events};

/// The exit code, and all of these words on standard error.
fn check(places: &Places, arguments: &[&str], code: i32, words: &[&str]) {
    let (found, said) = failure(places.command(arguments));
    assert_eq!(found, code, "{arguments:?}: {said}");
    for word in words {
        assert!(said.contains(word), "{word:?}: {said}");
    }
}

/// The first line says where it listens, and the next ones what it serves.
#[test]
fn first_lines() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    assert_ne!(tslp.address.port(), 0);
    assert_eq!(tslp.get("/health").status(), 200);
    let printed = tslp.stop();
    assert!(printed.contains(&upstream.url), "{printed}");
    let workspace = places.workspace.to_str().unwrap();
    assert!(printed.contains(workspace), "{printed}");
}

#[test]
fn without_a_model() {
    let places = Places::new();
    let tslp = Tslp::with(&places, "demo", &[]);
    let said = tslp.say(&fenced("src/ring.c", RING)).said();
    assert!(!said.is_empty());
    let said = tslp.say("improve `ring_put`").said();
    assert!(said.contains("checked by the demo model"), "{said}");
    assert_eq!(tslp.state()[RING_PUT]["origin"], "model");
    assert!(tslp.stop().contains("DEMO"));
}

#[test]
fn port_in_use() {
    let places = Places::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let arguments = ["serve", "--listen", &address, "--upstream", "demo"];
    let (code, said) = failure(places.in_workspace(&arguments));
    assert_eq!(code, 4, "{said}");
    assert!(
        said.contains(&address) && said.contains("--listen"),
        "{said}"
    );
}

#[test]
fn unusable_folders() {
    let places = Places::new();
    let name = |path: std::path::PathBuf| path.to_str().unwrap().to_owned();
    let workspace = name(places.workspace.clone());
    let data = name(places.data.clone());
    let gone = name(places.path("gone"));
    let file = name(places.path("file"));
    let under_file = name(places.path("file/data"));
    let inside = name(places.workspace.join("data"));
    std::fs::write(&file, "").unwrap();
    let serve = |workspace: &str, data: &str, code, words: &[&str]| {
        let arguments = [
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--upstream",
            "demo",
            "--workspace",
            workspace,
            "--data-dir",
            data,
        ];
        check(&places, &arguments, code, words);
    };
    serve(&gone, &data, 2, &[&gone, "doesn't exist", "--workspace"]);
    serve(&file, &data, 2, &["is not a folder", "--workspace"]);
    serve(
        &workspace,
        &inside,
        2,
        &["holds the data directory", "--data-dir"],
    );
    serve(&workspace, &under_file, 2, &["can't be used", "--data-dir"]);
    // Nobody, not even root, can make a folder here.
    serve(
        &workspace,
        "/proc/tslp",
        1,
        &["can't be used", "--data-dir"],
    );
    assert!(!places.data.exists());
}

#[test]
fn invalid_settings() {
    let places = Places::new();
    check(
        &places,
        &["serve", "--upstraem", "demo"],
        2,
        &["--upstraem", "--upstream"],
    );
    check(&places, &["srve"], 2, &["srve"]);
    check(&places, &["--upstream", "ftp://x"], 2, &["--upstream"]);
    check(&places, &["--listen", "0.0.0.0:0"], 2, &["token"]);
    let file = places.path("tslp.toml");
    let configured = |text: &str, words: &[&str]| {
        std::fs::write(&file, text).unwrap();
        check(
            &places,
            &["serve", "--config", file.to_str().unwrap()],
            2,
            words,
        );
    };
    configured(
        "listen = \"127.0.0.1:0\"\nupstreem = \"demo\"\n",
        &["tslp.toml:2", "`upstream`"],
    );
    configured("debug = 7\n", &["tslp.toml:1", "`debug`"]);
    configured("debug =\n", &["tslp.toml:1"]);
    check(
        &places,
        &["serve", "--config", "nowhere.toml"],
        2,
        &["nowhere.toml"],
    );
    let mut command = places.command(&["serve"]);
    command.env("TSLP_PROFILE", "loose");
    let (code, said) = failure(command);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("TSLP_PROFILE"), "{said}");
}

/// A stream under way ends before the process does.
#[test]
fn stream_ends_first() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let mut tslp = Tslp::start(&places, &upstream);
    let (go_on, wait) = barrier();
    let text = fenced("src/ring.c", RING);
    let mut steps = vec![Step::Chunk(event("Here it is:\n\n")), wait];
    steps.extend(events(&text).into_iter().map(Step::Chunk));
    upstream.will(Answer::Steps(steps));
    let mut client = tslp.asking(&prompt("write ring_put"));
    client.until("Here it is");
    tslp.terminate();
    // No new connection is answered any more; the one under way is.
    let address = tslp.address;
    crate::harness::eventually(|| std::net::TcpStream::connect(address).is_err().then_some(()));
    go_on.send(()).unwrap();
    let response = client.response();
    assert!(response.whole);
    assert!(response.text().ends_with("data: [DONE]\n\n"));
    assert_eq!(tslp.wait().code(), Some(0), "{}", tslp.log());
    drop(tslp);
    let (_, recent) = places.cli_json(&["recent"]);
    assert_eq!(recent["episodes"][0]["outcome"], "completed");
    let (_, state) = places.cli_json(&["state"]);
    assert_eq!(state["entities"][RING_PUT]["origin"], "model");
}

#[test]
fn late_stream_is_cut() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let mut tslp = Tslp::start(&places, &upstream);
    let (told, stall) = crate::upstream::closing();
    let steps = vec![Step::Chunk(event(&fenced("src/ring.c", RING))), stall];
    upstream.will(Answer::Steps(steps));
    let mut client = tslp.asking(&prompt("write ring_put"));
    client.until("ring_put");
    tslp.terminate();
    let response = client.response();
    assert!(!response.whole && !response.text().contains("[DONE]"));
    told.recv_timeout(crate::harness::PATIENCE)
        .expect("the upstream is closed");
    assert_eq!(tslp.wait().code(), Some(0), "{}", tslp.log());
    drop(tslp);
    let (_, recent) = places.cli_json(&["recent"]);
    let outcome = recent["episodes"][0]["outcome"].as_str().unwrap();
    assert_ne!(outcome, "completed");
    let (_, state) = places.cli_json(&["state"]);
    assert_eq!(state["entities"], serde_json::json!({}));
}
