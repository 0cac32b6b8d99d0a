//! What the user turned off or locked, from outside: what a model server gets in every dialect.

use std::process::Command;

use serde_json::{Value, json};

use crate::harness::{Places, RING, Tslp, failure};
use crate::spoken::SPOKEN;
use crate::upstream::{Answer, Upstream};

pub(crate) const KEYS: &str =
    "# the staging server\nSTAGING_TOKEN=zebra-4711-quagga\nSTAGING_PORT=8443\n";
pub(crate) const SECRET: &str = "zebra-4711-quagga";
pub(crate) const WITHHELD: &str = "withheld: off by the user";

/// What the model server got of a tool's result, in chat completions.
fn sent(
    tslp: &Tslp<'_>,
    upstream: &Upstream,
    tool: &str,
    arguments: &Value,
    result: &str,
) -> String {
    let with_result = SPOKEN[0].with_result.unwrap();
    SPOKEN[0]
        .send(tslp, upstream, &with_result(tool, arguments, result))
        .1
}

pub(crate) fn places() -> Places {
    let places = Places::new();
    places.write("secrets/staging.env", KEYS);
    places.write("src/ring.c", RING);
    places.write("secrets/s.c", SHORT);
    places
}

/// A short file of code.
const SHORT: &str =
    "#include <stdio.h>\n\nint main(void)\n{\n    int zebra_4711 = 99173;\n    return 0;\n}\n";

/// A pattern that covers a file that is off shows nothing of it.
#[test]
fn pattern_over_off_file() {
    let (upstream, places) = (Upstream::start(), places());
    assert_eq!(places.cli_json(&["off", "secrets/**"]).0, 0);
    let tslp = Tslp::start(&places, &upstream);
    let tail = SHORT.lines().skip(4).collect::<Vec<_>>().join("\n");
    for (command, result) in [
        ("cat */s.c", SHORT),
        ("tail -n 3 s*/s.c", &tail),
        ("cat src/ring.c */?.c", &format!("{RING}{SHORT}")),
    ] {
        let body = sent(
            &tslp,
            &upstream,
            "bash",
            &json!({"command": command}),
            result,
        );
        assert!(!body.contains("zebra_4711"), "{command}: {body}");
        assert_eq!(
            body.contains("r->slots"),
            command.contains("ring"),
            "{command}: {body}"
        );
    }
}

/// Settings and code that are off, and words of theirs that stand nowhere else.
const STAGING: &str = "# The staging server\nSTAGING_TOKEN=zebra-4711-quagga\nSTAGING_PORT=8443\nDB_PASSWORD=hunter2\n";
const QUOKKA: &str = "/* Turns the quokka ring by some steps. */\nstatic int quokka_turn(struct quokka *ring, int steps)\n{\n    int quokka_at = (ring->head + steps) % ring->size;\n    if (quokka_at < 0)\n        quokka_at += ring->size;\n    ring->head = quokka_at;\n    return quokka_at;\n}\n";
const TELLING: [&str; 6] = ["zebra", "quagga", "4711", "8443", "hunter2", "quokka"];

/// law engine 8 | What the user turns off isn't shown where a client's messages hold it: by path, or by what is in it | off_in_message
#[test]
fn off_in_printed_forms() {
    let (upstream, places) = (Upstream::start(), Places::new());
    places.write("src/ring.c", RING);
    places.write("secrets/app.env", STAGING);
    places.write("secrets/quokka.c", QUOKKA);
    assert_eq!(places.cli_json(&["off", "secrets/**"]).0, 0);
    let tslp = Tslp::start(&places, &upstream);
    let forms = include_str!("leak_forms.txt").lines();
    let mut leaks = Vec::new();
    for form in forms.filter(|line| !line.starts_with('#')) {
        let (name, line) = form.split_once('\t').unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir(&places.workspace);
        shell.envs([("E", "secrets/app.env"), ("C", "secrets/quokka.c")]);
        let printed = shell.output().unwrap();
        let printed = String::from_utf8(printed.stdout).unwrap();
        let words = |text: &str| {
            let text = text.to_lowercase();
            let text: String = text
                .chars()
                .filter(|it| it.is_ascii_alphanumeric())
                .collect();
            TELLING
                .into_iter()
                .filter(move |word| text.contains(word))
                .collect::<Vec<_>>()
        };
        assert!(!words(&printed).is_empty(), "{name}: {printed}");
        let body = sent(
            &tslp,
            &upstream,
            "bash",
            &json!({"command": "make show"}),
            &printed,
        );
        let body = &body[body.find('{').unwrap()..];
        let body: Value = serde_json::from_str(body).unwrap();
        let shown = body["messages"][2]["content"].as_str().unwrap();
        if !words(shown).is_empty() {
            leaks.push(format!("{name}: {:?}\n{shown}", words(shown)));
        }
    }
    assert!(
        leaks.is_empty(),
        "{} leaks:\n{}",
        leaks.len(),
        leaks.join("\n")
    );
}

/// Names and figures of a file that is off are no content.
#[test]
fn names_are_no_content() {
    let (upstream, places) = (Upstream::start(), places());
    places.write(".env", "DEBUG=true\nMODE=dev\n");
    assert_eq!(places.cli_json(&["off", "secrets/**", ".env"]).0, 0);
    let tslp = Tslp::start(&places, &upstream);
    let listed = "total 8\n-rw-r--r-- 1 ann ann 31 Nov  3 10:00 staging.env\n";
    for (tool, arguments, result) in [
        ("bash", json!({"command": "ls -l secrets"}), listed),
        (
            "bash",
            json!({"command": "cd secrets && ls -l staging.env"}),
            listed,
        ),
        (
            "bash",
            json!({"command": "wc -c secrets/staging.env"}),
            "31 secrets/staging.env\n",
        ),
        ("list_dir", json!({"path": "secrets"}), "staging.env\ns.c\n"),
        ("bash", json!({"command": "python3 app.py"}), "DEBUG=true\n"),
    ] {
        let body = sent(&tslp, &upstream, tool, &arguments, result);
        assert!(!body.contains(WITHHELD), "{arguments}: {body}");
    }
    // Whatever else stands on the line may print what is in it.
    for command in ["ls -l secrets; cat secrets/pin", "wc -l $(cat secrets/pin)"] {
        let body = sent(
            &tslp,
            &upstream,
            "bash",
            &json!({"command": command}),
            "pin\n4711\n",
        );
        assert!(!body.contains("4711"), "{command}: {body}");
    }
}

#[test]
fn bad_patterns() {
    let places = places();
    let long = "a".repeat(300);
    for (pattern, said) in [
        ("../x", "without `..`"),
        ("/etc/**", "without `..`"),
        (&long, "at most 256 bytes"),
    ] {
        let (code, done) = places.cli_json(&["off", pattern]);
        assert_eq!(code, 1, "{done}");
        assert!(done.to_string().contains(said), "{done}");
    }
    assert_eq!(
        places.cli_json(&["status", "scope"]).1,
        json!({"rules": []})
    );
    for words in [
        &["off", "*.pem"][..],
        &["on", "certs/a.pem"],
        &["lock", "--session", "3", "src/ring.c"],
    ] {
        assert_eq!(places.cli_json(words).0, 0, "{words:?}");
    }
    let (_, listed) = places.cli_json(&["status", "scope"]);
    let rules: Vec<(&str, &str, Option<u64>)> = listed["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| {
            (
                rule["rule"].as_str().unwrap(),
                rule["pattern"].as_str().unwrap(),
                rule["session"].as_u64(),
            )
        })
        .collect();
    assert_eq!(
        rules,
        [
            ("off", "**/*.pem", None),
            ("on", "certs/a.pem", None),
            ("lock", "src/ring.c", Some(3))
        ]
    );
    for words in [&["on", "**"][..], &["lock", "--none"]] {
        assert_eq!(places.cli_json(words).0, 0, "{words:?}");
    }
    assert_eq!(
        places.cli_json(&["status", "scope"]).1,
        json!({"rules": []})
    );
    let (code, said) = failure(places.command(&["lock"]));
    assert_eq!(code, 2, "{said}");
}

/// Under hold a client's tools write locked files alone.
#[test]
fn hold_with_a_lock() {
    let (upstream, places) = (Upstream::start(), places());
    let hold = ["--guardian-client-tools", "strict"];
    let tslp = Tslp::with(&places, &upstream.url, &hold);
    assert_eq!(places.cli_json(&["lock", "src/ring.c"]).0, 0);
    for (path, is_held) in [("src/other.c", true), ("src/ring.c", false)] {
        let arguments = json!({"path": path, "content": "int x;\n"}).to_string();
        let call = json!({"id": "c1", "type": "function", "function": {"name": "write_file", "arguments": arguments}});
        let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
        let reply =
            json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]});
        upstream.will(Answer::Plain(
            200,
            "application/json",
            reply.to_string().into_bytes(),
        ));
        let tool = json!({"type": "function", "function": {"name": "write_file"}});
        let request = json!({"model": "m", "tools": [tool], "messages": [{"role": "user", "content": "Write it."}]});
        let said = tslp.chat(&request).text();
        assert_eq!(said.contains("OUTSIDE-LOCK"), is_held, "{path}: {said}");
        upstream.next();
    }
    tslp.stop();
    let (code, verified) = places.cli_json(&["verify", "--deep"]);
    assert_eq!(code, 0, "{verified}");
}
