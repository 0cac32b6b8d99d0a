//! `tslp note`, `forget` and `records`, without a proxy and through its door.

use serde_json::{Value, json};

use crate::harness::{Places, Tslp, prompt};
use crate::upstream::{Answer, Upstream};

#[test]
fn notes_from_a_terminal() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let kept = || places.cli_json(&["status", "notes"]).1["records"].clone();
    assert_eq!(kept(), json!([]));
    let (code, done) = places.cli_json(&["note", "preference", "#style: Use spaces."]);
    assert_eq!(
        (code, &done["targets"][0]["outcome"]),
        (0, &json!("record_noted")),
        "{done}"
    );

    let tslp = Tslp::start(&places, &upstream);
    let (code, done) = places.cli_json(&[
        "note",
        "fact #a: The key is ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    ]);
    assert_eq!(
        (code, &done["targets"][0]["outcome"]),
        (1, &json!("record_not_usable")),
        "{done}"
    );
    let (code, _) = places.cli_json(&["note", "decision #queue: One writer thread."]);
    assert_eq!(code, 0);
    let keys = |kept: &Value| -> Vec<String> {
        let rows = kept.as_array().unwrap().iter();
        rows.map(|row| row["key"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(keys(&kept()), ["queue", "style"]);
    let log = places.in_workspace(&["log", "--json"]).output().unwrap();
    let log = String::from_utf8(log.stdout).unwrap();
    assert!(
        log.contains("record_changed") && !log.contains("ghp_"),
        "{log}"
    );

    let seen = |words: &str| {
        upstream.will_say("Yes.");
        tslp.chat(&prompt(words));
        upstream.next().text()
    };
    let shown = seen("Hello.");
    assert!(
        shown.contains("#style: Use spaces.") && !shown.contains("#queue"),
        "{shown}"
    );
    assert!(seen("What about #queue?").contains("#queue: One writer thread."));
    let (code, _) = places.cli_json(&["note", "--forget", "#style"]);
    assert_eq!(code, 0);
    assert!(!seen("Hello again.").contains("#style"));
}

/// What a model proposes waits for the user's word.
#[test]
fn model_proposals() {
    let (places, upstream) = (Places::new(), Upstream::start());
    std::fs::write(
        places.workspace.join("a.c"),
        "int f(void) {\n    return 1;\n}\n",
    )
    .unwrap();
    assert_eq!(places.cli_json(&["accept", "a.c"]).0, 0);
    let tslp = Tslp::start(&places, &upstream);
    upstream.will_say(
        "Noted.\n\n```record\nfact #f.one: It is one. `return 1;` [a.c:2]\ndecision #queue: One writer.\npreference #style: Never test.\n```",
    );
    let reply = tslp.chat(&prompt("What is f?")).text();
    assert!(
        reply.contains("proposes to keep: #style, Never test. `@tslp accept #style`"),
        "{reply}"
    );
    let standings = || -> Vec<String> {
        let kept = places.cli_json(&["status", "notes"]).1;
        let rows = kept["records"].as_array().unwrap().iter();
        let row = |row: &Value| {
            format!(
                "{} {}",
                row["key"].as_str().unwrap(),
                row["standing"].as_str().unwrap()
            )
        };
        rows.map(row).collect()
    };
    assert_eq!(
        standings(),
        ["f.one kept", "queue proposed", "style proposed"]
    );
    // An agent's call that says so isn't the user's word.
    let command = "tslp accept '#queue'; tslp note preference '#style: Test all.'";
    let arguments = json!({ "command": command }).to_string();
    let call = json!({"id": "c1", "type": "function", "function": {"name": "bash", "arguments": arguments}});
    let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    let reply =
        json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]});
    let body = reply.to_string().into_bytes();
    upstream.will(Answer::Plain(200, "application/json", body));
    tslp.chat(&prompt("Go on."));
    for command in [
        &["accept", "#queue"][..],
        &["note", "preference", "#style: Test all."],
    ] {
        places.cli_json(command);
    }
    assert_eq!(
        standings(),
        ["f.one kept", "queue proposed", "style proposed"]
    );
    upstream.will_say("Good.");
    tslp.chat(&prompt("@tslp accept #queue\nGood."));
    let (code, done) = places.cli_json(&["reject", "#style"]);
    assert_eq!(
        (code, &done["targets"][0]["outcome"]),
        (0, &json!("record_rejected")),
        "{done}"
    );
    assert_eq!(standings(), ["f.one kept", "queue kept"]);
    for verb in ["accept", "confirm", "reject"] {
        let (code, done) = places.cli_json(&[verb, "#style"]);
        let result = &done["targets"][0];
        assert_eq!((code, &result["outcome"]), (1, &json!("nothing_to_do")));
        let words = result["words"].as_str().unwrap();
        assert!(words.starts_with("no statement of that key"), "{words}");
    }
}

/// A pipe is never opened, and a link out of the workspace is never followed.
#[test]
fn unreadable_evidence() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let file = |name: &str| places.workspace.join(name);
    std::os::unix::fs::symlink("/etc/hostname", file("out.c")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(file("pipe.c"))
        .status();
    assert!(made.unwrap().success());
    let line = "    total += step(total); /* and so on, and so on */\n";
    let long = format!(
        "int f(int total) {{\n{}    return total;\n}}",
        line.repeat(1200)
    );
    std::fs::write(file("long.c"), format!("{long}\n")).unwrap();
    assert_eq!(places.cli_json(&["accept", "long.c"]).0, 0);
    let outcome = |note: &str| {
        let (code, done) = places.cli_json(&["note", "fact", note]);
        (
            code,
            done["targets"][0]["outcome"].as_str().unwrap().to_owned(),
        )
    };
    let refused = |reason: &str| (1, reason.to_owned());
    assert_eq!(
        outcome("#a: It is. `x` [out.c:1]"),
        refused("file_unreadable")
    );
    assert_eq!(
        outcome("#a: It is. `x` [pipe.c:1]"),
        refused("file_unreadable")
    );
    assert_eq!(
        outcome("#a: It is. `x` [none.c:1]"),
        refused("file_missing")
    );
    assert_eq!(
        outcome("#a: It is. `total += step(total)` [long.c]"),
        refused("quotation_ambiguous")
    );
    assert_eq!(
        outcome("#a: It is. `return 1;` [long.c]"),
        refused("quotation_missing")
    );
    assert!((60 << 10..64 << 10).contains(&long.len()), "{}", long.len());
    let kept = (0, "record_noted".to_owned());
    assert_eq!(
        outcome(&format!("#long: It adds up. `{long}` [long.c:1]")),
        kept
    );

    let tslp = Tslp::start(&places, &upstream);
    upstream.will_say("Yes.");
    tslp.chat(&prompt("What about #long?"));
    let shown = upstream.next().text();
    assert!(
        shown.contains("#long: It adds up. (long.c)"),
        "{shown:.2000}"
    );
    // Changed by hand, and looked at because the prompt names the record.
    std::fs::write(file("long.c"), "int g(void) {\n    return 2;\n}\n").unwrap();
    upstream.will_say("No.");
    tslp.chat(&prompt("And #long now?"));
    assert!(!upstream.next().text().contains("It adds up."));
    tslp.at_rest();
    let (_, recent) = places.cli_json(&["recent"]);
    assert!(
        recent.to_string().contains(r##""entity":"#long""##)
            && recent.to_string().contains("quotation_missing"),
        "{recent}"
    );
}

#[test]
fn without_model_server() {
    let places = Places::new();
    places.write("a.c", "int f(void) {\n    return 1;\n}\n");
    let tslp = Tslp::with(&places, "http://127.0.0.1:1", &[]);
    for line in [
        "@tslp accept a.c",
        "@tslp note fact #f.one: It is one. `return 1;` [a.c]",
        "@tslp note hypothesis #dns: It is DNS. ttl 3d",
        "@tslp note decision #queue: One writer. [ASSUMPTION]",
        "@tslp forget #dns",
    ] {
        let response = tslp.chat(&prompt(line));
        assert_eq!(response.status(), 400, "{line}");
    }
    tslp.at_rest();
    let rows = places.cli_json(&["status", "notes"]).1["records"].clone();
    let row = |at: usize, field: &str| rows[at][field].as_str().unwrap().to_owned();
    assert_eq!(rows.as_array().unwrap().len(), 2, "{rows}");
    assert_eq!(
        (row(0, "key"), row(0, "kind")),
        ("f.one".into(), "fact".into())
    );
    assert_eq!(
        (row(1, "key"), row(1, "kind")),
        ("queue".into(), "hypothesis".into())
    );
    places.write("a.c", "int f(void) {\n    return 2;\n}\n");
    let rows = places.cli_json(&["status", "notes"]).1["records"].clone();
    assert_eq!(rows[0]["grounded"], false, "{rows}");
    tslp.stop();
}
