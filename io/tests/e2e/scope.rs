//! What the user turned off or locked, from outside: what a model server gets in every dialect.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::{JSON, Places, RING, Tslp, failure, fenced, prompt};
use crate::upstream::{Reply, Upstream};

const KEYS: &str = "# the staging server\nSTAGING_TOKEN=zebra-4711-quagga\nSTAGING_PORT=8443\n";
const SECRET: &str = "zebra-4711-quagga";
const WITHHELD: &str = "withheld: off by the user";

/// A conversation in one dialect in which a tool was called and has returned something.
struct Spoken {
    path: &'static str,
    request: fn(&str, &Value, &str) -> Value,
    reply: fn() -> Value,
}

const SPOKEN: [Spoken; 4] = [
    Spoken {
        path: "/v1/chat/completions",
        request: |name, arguments, result| {
            let function = json!({"name": name, "arguments": arguments.to_string()});
            json!({"model": "m", "tools": [{"type": "function", "function": {"name": name}}], "messages": [
                {"role": "user", "content": "Look at it."},
                {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function", "function": function}]},
                {"role": "tool", "tool_call_id": "c1", "content": result}]})
        },
        reply: || json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": "Done."}, "finish_reason": "stop"}]}),
    },
    Spoken {
        path: "/v1/messages",
        request: |name, arguments, result| {
            json!({"model": "m", "max_tokens": 9, "tools": [{"name": name, "input_schema": {}}], "messages": [
                {"role": "user", "content": "Look at it."},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": name, "input": arguments}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": result}]}]}]})
        },
        reply: || json!({"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Done."}], "stop_reason": "end_turn"}),
    },
    Spoken {
        path: "/v1/responses",
        request: |name, arguments, result| {
            json!({"model": "m", "tools": [{"type": "function", "name": name}], "input": [
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look at it."}]},
                {"type": "function_call", "call_id": "c1", "name": name, "arguments": arguments.to_string()},
                {"type": "function_call_output", "call_id": "c1", "output": result}]})
        },
        reply: || {
            json!({"object": "response", "status": "completed", "output": [
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}]})
        },
    },
    Spoken {
        path: "/api/chat",
        request: |name, arguments, result| {
            json!({"model": "m", "stream": false, "tools": [{"type": "function"}], "messages": [
                {"role": "user", "content": "Look at it."},
                {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": name, "arguments": arguments}}]},
                {"role": "tool", "tool_name": name, "content": result}]})
        },
        reply: || json!({"model": "m", "message": {"role": "assistant", "content": "Done."}, "done": true}),
    },
];

/// Sends a request; the body that the model server got.
fn sent(
    tslp: &Tslp<'_>,
    upstream: &Upstream,
    (path, reply): (&str, Value),
    request: &Value,
) -> String {
    upstream.will(Reply::Plain(
        200,
        "application/json",
        reply.to_string().into_bytes(),
    ));
    let mut client = tslp.client();
    client.send("POST", path, &[JSON], request.to_string().as_bytes());
    let response = client.response();
    assert_eq!(response.status(), 200, "{}", response.text());
    tslp.ended(response.episode());
    upstream.next().text()
}

fn places() -> Places {
    let places = Places::new();
    places.write("secrets/staging.env", KEYS);
    places.write("src/ring.c", RING);
    places.write("secrets/s.c", SHORT);
    places
}

/// A short file of code.
const SHORT: &str =
    "#include <stdio.h>\n\nint main(void)\n{\n    int zebra_4711 = 99173;\n    return 0;\n}\n";

#[test]
fn a_pattern_that_means_a_file_that_is_off_shows_nothing_of_it() {
    let (upstream, places) = (Upstream::start(), places());
    assert_eq!(places.cli_json(&["off", "secrets/**"]).0, 0);
    let tslp = Tslp::start(&places, &upstream);
    let tail = SHORT.lines().skip(4).collect::<Vec<_>>().join("\n");
    for (command, result) in [
        ("cat */s.c", SHORT),
        ("tail -n 3 s*/s.c", &tail),
        ("cat src/ring.c */?.c", &format!("{RING}{SHORT}")),
    ] {
        let request = (SPOKEN[0].request)("bash", &json!({"command": command}), result);
        let speak = (SPOKEN[0].path, (SPOKEN[0].reply)());
        let body = sent(&tslp, &upstream, speak, &request);
        assert!(!body.contains("zebra_4711"), "{command}: {body}");
        assert_eq!(
            body.contains("r->slots"),
            command.contains("ring"),
            "{command}: {body}"
        );
    }
}

#[test]
fn what_is_off_goes_to_no_model_whatever_tool_showed_it() {
    let (upstream, places) = (Upstream::start(), places());
    let (code, done) = places.cli_json(&["off", "secrets/**"]);
    assert_eq!(
        (code, &done["targets"][0]["outcome"]),
        (0, &json!("turned_off")),
        "{done}"
    );
    let tslp = Tslp::start(&places, &upstream);
    let numbered = "     1\t# the staging server\n     2\tSTAGING_TOKEN=zebra-4711-quagga\n";
    let absolute = places.workspace.join("secrets/staging.env");
    let found =
        format!("src/ring.c:1:TOKEN = None\nsecrets/staging.env:2:STAGING_TOKEN={SECRET}\n");
    let diff = format!(
        "diff --git a/src/ring.c b/src/ring.c\n+x = 1\ndiff --git a/secrets/staging.env b/secrets/staging.env\n+STAGING_TOKEN={SECRET}-new\n"
    );
    let cases: [(&str, Value, &str); 13] = [
        ("Read", json!({"file_path": absolute}), numbered),
        (
            "read_file",
            json!({"path": "./secrets/../secrets/staging.env"}),
            KEYS,
        ),
        ("bash", json!({"command": "cat secrets/staging.env"}), KEYS),
        ("bash", json!({"command": "cd secrets && cat *"}), KEYS),
        (
            "shell",
            json!({"command": ["cat", "staging.env"], "workdir": "secrets"}),
            KEYS,
        ),
        ("Grep", json!({"pattern": "TOKEN", "path": "."}), &found),
        ("bash", json!({"command": "git diff"}), &diff),
        (
            "bash",
            json!({"command": "git show HEAD:secrets/staging.env"}),
            "OLD=zebra-4711-quagga\n",
        ),
        ("bash", json!({"command": "cat secret*/stag*"}), KEYS),
        (
            "grep",
            json!({"pattern": "TOKEN"}),
            "secrets/staging.env\n  Line 2: TOKEN is zebra-4711-quagga\n\nsrc/x.c\n  Line 1: int x;\n",
        ),
        (
            "search",
            json!({"query": "token"}),
            "{\"matches\": [{\"path\": \"secrets/staging.env\", \"text\": \"a line of old with zebra-4711-quagga in it\"}]}",
        ),
        // No path goes with it: its lines do.
        (
            "bash",
            json!({"command": "grep -rh TOKEN ."}),
            "STAGING_TOKEN=zebra-4711-quagga\n",
        ),
        (
            "bash",
            json!({"command": "python3 show.py"}),
            &format!("==\n{KEYS}==\n"),
        ),
    ];
    for spoken in &SPOKEN {
        for (name, arguments, result) in &cases {
            let request = (spoken.request)(name, arguments, result);
            let body = sent(&tslp, &upstream, (spoken.path, (spoken.reply)()), &request);
            let case = format!("{} {arguments}: {body}", spoken.path);
            assert!(!body.contains(SECRET), "{case}");
            assert!(body.contains(WITHHELD), "{case}");
            // Call and result still belong together, and what isn't off is there.
            let ids = body.matches("\"c1\"").count();
            assert_eq!(ids, request.to_string().matches("\"c1\"").count(), "{case}");
            assert_eq!(
                body.contains("src/ring.c:1:TOKEN"),
                *name == "Grep",
                "{case}"
            );
        }
    }
    // Names are no content: a list of files stays as it is.
    let list = "README.md\nsecrets/staging.env\nsrc/ring.c\nsrc/x.c\n";
    let request = (SPOKEN[0].request)("bash", &json!({"command": "git ls-files"}), list);
    let body = sent(
        &tslp,
        &upstream,
        (SPOKEN[0].path, (SPOKEN[0].reply)()),
        &request,
    );
    assert!(
        body.contains("secrets/staging.env\\nsrc/ring.c\\nsrc/x.c") && !body.contains(WITHHELD),
        "{body}"
    );
    let request = (SPOKEN[0].request)(cases[0].0, &cases[0].1, cases[0].2);
    sent(
        &tslp,
        &upstream,
        (SPOKEN[0].path, (SPOKEN[0].reply)()),
        &request,
    );
    let recent = tslp.page("/recent");
    let withheld = recent["episodes"][0]["withheld"].to_string();
    assert!(
        withheld.contains("off_in_message") && withheld.contains("\"rule\":\"secrets/**\""),
        "{withheld}"
    );
    // What the user lets go again goes as it came.
    assert_eq!(places.cli_json(&["on", "secrets/**"]).0, 0);
    let request = (SPOKEN[0].request)("bash", &cases[2].1, KEYS);
    let body = sent(
        &tslp,
        &upstream,
        (SPOKEN[0].path, (SPOKEN[0].reply)()),
        &request,
    );
    assert!(body.contains(SECRET) && !body.contains(WITHHELD), "{body}");
    tslp.stop();
    let (code, verified) = places.cli_json(&["verify", "--deep"]);
    assert_eq!(code, 0, "{verified}");
}

/// Settings and code that are off, and words of theirs that stand nowhere else.
const STAGING: &str = "# The staging server\nSTAGING_TOKEN=zebra-4711-quagga\nSTAGING_PORT=8443\nDB_PASSWORD=hunter2\n";
const QUOKKA: &str = "/* Turns the quokka ring by some steps. */\nstatic int quokka_turn(struct quokka *ring, int steps)\n{\n    int quokka_at = (ring->head + steps) % ring->size;\n    if (quokka_at < 0)\n        quokka_at += ring->size;\n    ring->head = quokka_at;\n    return quokka_at;\n}\n";
const TELLING: [&str; 6] = ["zebra", "quagga", "4711", "8443", "hunter2", "quokka"];

#[test]
fn what_is_off_is_recognised_in_whatever_form_a_tool_prints_it() {
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
        let speak = (SPOKEN[0].path, (SPOKEN[0].reply)());
        let request = (SPOKEN[0].request)("bash", &json!({"command": "make show"}), &printed);
        let body = sent(&tslp, &upstream, speak, &request);
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

#[test]
fn names_and_figures_of_a_file_that_is_off_are_no_content() {
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
        let speak = (SPOKEN[0].path, (SPOKEN[0].reply)());
        let request = (SPOKEN[0].request)(tool, &arguments, result);
        let body = sent(&tslp, &upstream, speak, &request);
        assert!(!body.contains(WITHHELD), "{arguments}: {body}");
    }
    // Whatever else stands on the line may print what is in it.
    for command in ["ls -l secrets; cat secrets/pin", "wc -l $(cat secrets/pin)"] {
        let speak = (SPOKEN[0].path, (SPOKEN[0].reply)());
        let request = (SPOKEN[0].request)("bash", &json!({"command": command}), "pin\n4711\n");
        let body = sent(&tslp, &upstream, speak, &request);
        assert!(!body.contains("4711"), "{command}: {body}");
    }
}

#[test]
fn a_file_that_is_off_is_neither_attached_nor_hydrated() {
    let (upstream, places) = (Upstream::start(), places());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    upstream.next();
    assert_eq!(places.cli_json(&["off", "*.env", "src/ring.c"]).0, 0);
    let attached = format!(
        "secrets/staging.env\n```\n{KEYS}```\n<file path=\"secrets/staging.env\">\n{KEYS}</file>\nWhat does `ring_put` in src/ring.c do?"
    );
    let text = |body: &str| body.replace("\\n", "\n");
    for (path, request, reply) in [
        (
            "/v1/chat/completions",
            prompt(&attached),
            (SPOKEN[0].reply)(),
        ),
        (
            "/v1/completions",
            json!({"model": "m", "prompt": attached}),
            json!({"choices": [{"index": 0, "text": "Ok.", "finish_reason": "stop"}]}),
        ),
        (
            "/api/generate",
            json!({"model": "m", "stream": false, "prompt": attached}),
            json!({"model": "m", "response": "Ok.", "done": true}),
        ),
    ] {
        let body = text(&sent(&tslp, &upstream, (path, reply), &request));
        assert!(!body.contains(SECRET), "{path}: {body}");
        assert!(
            body.contains(WITHHELD) && body.contains("src/ring.c do?"),
            "{path}: {body}"
        );
        assert!(!body.contains("[CURRENT STATE"), "{path}: {body}");
        assert!(body.contains("is off by the user"), "{path}: {body}");
    }
    let withheld = tslp.page("/recent")["episodes"][0]["withheld"].to_string();
    assert!(withheld.contains("off_by_user"), "{withheld}");
    tslp.stop();
    let (code, verified) = places.cli_json(&["verify", "--deep"]);
    assert_eq!(code, 0, "{verified}");
}

#[test]
fn a_lock_holds_after_a_crash_and_a_file_that_cannot_be_shown_sends_nothing() {
    let (upstream, places) = (Upstream::start(), places());
    places.write("src/other.c", "int other(void) {\n    return 1;\n}\n");
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced(
        "src/other.c",
        "int other(void) {\n    return 1;\n}\n",
    ));
    upstream.next();
    let (code, done) = places.cli_json(&["lock", "src/ring.c"]);
    assert_eq!(
        (code, &done["targets"][0]["outcome"]),
        (0, &json!("locked")),
        "{done}"
    );
    tslp.kill();
    let tslp = Tslp::start(&places, &upstream);
    let ask = "What does `other` in src/other.c do?";
    tslp.say(ask);
    let body = upstream.next().text();
    assert_eq!(body.matches("[CURRENT STATE").count(), 1, "{body}");
    assert!(body.contains("Entity: src/ring.c"), "{body}");
    let file = places.workspace.join("src/ring.c");
    let damages: [(&str, &dyn Fn()); 5] = [
        ("not on disk", &|| {}),
        ("not a file", &|| fs::create_dir(&file).unwrap()),
        ("not a file", &|| {
            assert!(
                Command::new("mkfifo")
                    .arg(&file)
                    .status()
                    .unwrap()
                    .success()
            )
        }),
        ("larger than what is read", &|| {
            fs::write(&file, "x = 1\n".repeat(4 << 20)).unwrap()
        }),
        ("is STALE", &|| {
            fs::write(&file, "int changed(void) {\n    return 2;\n}\n").unwrap()
        }),
    ];
    for (cause, damage) in damages {
        let _ = fs::remove_file(&file);
        let _ = fs::remove_dir(&file);
        damage();
        let response = tslp.chat(&prompt(ask));
        let said = response.text();
        assert_eq!(response.status(), 400, "{cause}: {said}");
        assert!(
            said.contains("LOCK_MISS: src/ring.c is locked") && said.contains(cause),
            "{cause}: {said}"
        );
        // Nor does what a client asks for itself.
        let title = prompt("Generate a concise, 3-5 word title for this chat");
        let said = tslp.chat(&title).text();
        assert!(
            said.contains("LOCK_MISS: src/ring.c is locked"),
            "{cause}: {said}"
        );
    }
    fs::write(&file, RING).unwrap();
    // In this window alone, and as a prompt says it.
    tslp.say(&format!("@tslp unlock\n{ask}"));
    let body = upstream.next().text();
    assert!(body.contains("Entity: src/other.c"), "{body}");
    tslp.stop();
    let (code, verified) = places.cli_json(&["verify", "--deep"]);
    assert_eq!(code, 0, "{verified}");
}

#[test]
fn bad_patterns_are_refused_with_what_to_do_and_rules_are_listed() {
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
    assert_eq!(places.cli_json(&["scope"]).1, json!({"rules": []}));
    for words in [
        &["off", "*.pem"][..],
        &["on", "certs/a.pem"],
        &["lock", "--session", "3", "src/ring.c"],
    ] {
        assert_eq!(places.cli_json(words).0, 0, "{words:?}");
    }
    let (_, listed) = places.cli_json(&["scope"]);
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
    for words in [&["on", "**"][..], &["unlock"]] {
        assert_eq!(places.cli_json(words).0, 0, "{words:?}");
    }
    assert_eq!(places.cli_json(&["scope"]).1, json!({"rules": []}));
    let (code, said) = failure(places.command(&["lock"]));
    assert_eq!(code, 2, "{said}");
}

#[test]
fn another_models_answer_is_judged_as_a_models_whoever_brings_it() {
    let (upstream, places) = (Upstream::start(), places());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    upstream.next();
    let truth = tslp.artifact("src/ring.c::ring_put");
    let better = RING.replace("value)", "value, int more)");
    let answer = format!("Remove the head.\n{}", fenced("src/ring.c", &better));
    tslp.say(&format!("@tslp external GPT-9\n{answer}"));
    let body = upstream.next().text();
    assert!(
        body.contains("int more") && body.contains("another model's answer"),
        "{body}"
    );
    assert_eq!(tslp.artifact("src/ring.c::ring_put"), truth);
    // The same words without the directive are the user's.
    let other = RING.replace("value)", "value, int other)");
    let file = places.path("answer.md");
    fs::write(&file, format!("Here:\n{}", fenced("src/ring.c", &other))).unwrap();
    let words = [
        "reply",
        "import",
        file.to_str().unwrap(),
        "--source",
        "claude",
    ];
    let (code, done) = places.cli_json(&words);
    assert_eq!(code, 1, "{done}");
    let result = &done["targets"][0];
    assert_eq!(result["target"], "src/ring.c::ring_put", "{done}");
    assert_eq!(result["outcome"], "base_unacknowledged", "{done}");
    assert_eq!(tslp.artifact("src/ring.c::ring_put"), truth);
    // What was imported is a model's, also where the user repeats it.
    tslp.say(&format!("Here:\n{}", fenced("src/ring.c", &other)));
    upstream.next();
    assert_eq!(tslp.artifact("src/ring.c::ring_put"), truth);
    assert_eq!(places.cli_json(&["confirm", "src/ring.c::ring_put"]).0, 0);
    assert_ne!(tslp.artifact("src/ring.c::ring_put"), truth);
    tslp.stop();
    let (code, verified) = places.cli_json(&["verify", "--deep"]);
    assert_eq!(code, 0, "{verified}");
}

#[test]
fn the_preview_is_what_goes_out_and_records_nothing() {
    let (upstream, places) = (Upstream::start(), places());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    upstream.next();
    let prompts = [
        &["off", "secrets/**"][..],
        &["lock", "src/ring.c"],
        &["unlock"],
    ];
    let mut previewed = 0;
    let mut preview = |name: &str| {
        for spoken in &SPOKEN {
            let request =
                (spoken.request)("bash", &json!({"command": "cat secrets/staging.env"}), KEYS);
            let plain = prompt(&format!("What does `ring_put` in src/ring.c do? {name}"));
            let requests = [
                (spoken.path, request, (spoken.reply)()),
                (SPOKEN[0].path, plain, (SPOKEN[0].reply)()),
            ];
            for (path, request, reply) in requests {
                let file = places.path("request.json");
                fs::write(&file, request.to_string()).unwrap();
                let head = |tslp: &Tslp<'_>| tslp.page("/recent").to_string();
                let before = head(&tslp);
                let arguments = [
                    "preview",
                    "--request",
                    file.to_str().unwrap(),
                    "--route",
                    path,
                ];
                let output = places.in_workspace(&arguments).output().unwrap();
                assert!(output.status.success(), "{output:?}");
                assert_eq!(head(&tslp), before);
                let body = sent(&tslp, &upstream, (path, reply), &request);
                assert!(
                    body.ends_with(&*String::from_utf8(output.stdout.clone()).unwrap()),
                    "{path} {name}: {output:?}\n{body}"
                );
                previewed += 1;
            }
        }
    };
    preview("as it is");
    for words in prompts {
        assert_eq!(places.cli_json(words).0, 0);
        preview(words[0]);
    }
    assert_eq!(previewed, 32);
    let (code, page) = places.cli_json(&["preview", "And `ring_put`?"]);
    assert_eq!(code, 0, "{page}");
    let sections = page["sections"].as_array().unwrap();
    let code_section = sections
        .iter()
        .find(|it| it["section"] == "code hydration")
        .unwrap();
    assert_eq!(
        code_section["shown"][0]["entity"], "src/ring.c::ring_put",
        "{page}"
    );
    let sum: u64 = sections
        .iter()
        .map(|it| it["tokens"].as_u64().unwrap())
        .sum();
    assert_eq!(page["total_tokens"], sum);
}

#[test]
fn under_hold_a_clients_tools_write_locked_files_alone() {
    let (upstream, places) = (Upstream::start(), places());
    let hold = ["--guardian-client-tools", "hold"];
    let tslp = Tslp::with(&places, &upstream.url, &hold);
    assert_eq!(places.cli_json(&["lock", "src/ring.c"]).0, 0);
    for (path, is_held) in [("src/other.c", true), ("src/ring.c", false)] {
        let arguments = json!({"path": path, "content": "int x;\n"}).to_string();
        let call = json!({"id": "c1", "type": "function", "function": {"name": "write_file", "arguments": arguments}});
        let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
        let reply =
            json!({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]});
        upstream.will(Reply::Plain(
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
