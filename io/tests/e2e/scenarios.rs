//! What the user decides about what a model sees, scenario by scenario in each of the six dialects (the table in docs/scope.md).

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::{Places, RING, Tslp, fenced, user};
use crate::ledger_file;
use crate::scope::{KEYS, SECRET, WITHHELD, places};
use crate::spoken::{SPOKEN, Spoken};
use crate::upstream::{Reply, Upstream};

const RING_H: &str = "int ring_put(struct ring *r, int value);\n";
const OTHER: &str = "int other(void) {\n    return 1;\n}\n";
const ASK: &str = "What does `other` in src/other.c do?";

/// The project of most scenarios: a header, two files of code, and secrets.
fn project() -> Places {
    let places = places();
    places.write("include/ring.h", RING_H);
    places.write("src/other.c", OTHER);
    assert_eq!(places.cli_json(&["accept", "src/other.c"]).0, 0);
    places
}

/// A command of the user's that does what it says.
fn acts(places: &Places, words: &[&str]) {
    let (code, done) = places.cli_json(words);
    assert_eq!(code, 0, "{words:?}: {done}");
}

/// Deep verification agrees with all that was decided.
fn verified(places: &Places, tslp: Tslp<'_>) {
    tslp.stop();
    let (code, verified) = places.cli_json(&["verify", "--deep"]);
    assert_eq!(code, 0, "{verified}");
}

/// The entities of the code that a body shows.
fn shown(body: &str) -> BTreeSet<String> {
    let blocks = body
        .split("[CURRENT STATE: AUTHORITATIVE]\\nEntity: ")
        .skip(1);
    let blocks = blocks.filter_map(|block| Some(block.split_once("\\n")?.0.to_owned()));
    blocks.collect()
}

fn entities(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// S1, S13: whatever tool showed it, in each dialect that has tools.
/// law engine 8 | What the user turns off isn't shown where a client's messages hold it: by path, or by what is in it | off_in_message
#[test]
fn off_for_every_tool() {
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
    let with_tools = || {
        SPOKEN
            .iter()
            .filter_map(|spoken| Some((spoken, spoken.with_result?)))
    };
    assert_eq!(with_tools().count(), 4);
    for (spoken, with_result) in with_tools() {
        for (name, arguments, result) in &cases {
            let request = with_result(name, arguments, result);
            let (_, body) = spoken.send(&tslp, &upstream, &request);
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
        let recent = tslp.page("/recent");
        let withheld = recent["episodes"][0]["withheld"].to_string();
        assert!(
            withheld.contains("off_in_message") && withheld.contains("\"rule\":\"secrets/**\""),
            "{withheld}"
        );
        // Names are no content: a list of files stays as it is.
        let list = "README.md\nsecrets/staging.env\nsrc/ring.c\nsrc/x.c\n";
        let request = with_result("bash", &json!({"command": "git ls-files"}), list);
        let (_, body) = spoken.send(&tslp, &upstream, &request);
        assert!(
            body.contains("secrets/staging.env\\nsrc/ring.c\\nsrc/x.c") && !body.contains(WITHHELD),
            "{body}"
        );
    }
    // What the user lets go again goes as it came.
    acts(&places, &["on", "secrets/**"]);
    for (spoken, with_result) in with_tools() {
        let request = with_result("bash", &cases[2].1, KEYS);
        let (_, body) = spoken.send(&tslp, &upstream, &request);
        assert!(body.contains(SECRET) && !body.contains(WITHHELD), "{body}");
    }
    verified(&places, tslp);
}

/// S1, S13: what a client attached, what the prompt names, and what the user says of it in a prompt.
#[test]
fn off_when_attached() {
    let (upstream, places) = (Upstream::start(), places());
    acts(&places, &["accept", "src/ring.c"]);
    let tslp = Tslp::start(&places, &upstream);
    let attached = format!(
        "secrets/staging.env\n```\n{KEYS}```\n<file path=\"secrets/staging.env\">\n{KEYS}</file>\nWhat does `ring_put` in src/ring.c do?"
    );
    for spoken in &SPOKEN {
        let path = spoken.path;
        // By a prompt, by a command: the words are the same.
        let said = spoken.sent(&tslp, &upstream, "@tslp off *.env\nHello.");
        assert!(!said.contains("@tslp"), "{path}: {said}");
        acts(&places, &["off", "src/ring.c"]);
        let body = spoken.sent(&tslp, &upstream, &attached);
        assert!(!body.contains(SECRET), "{path}: {body}");
        assert!(
            body.contains(WITHHELD) && body.contains("src/ring.c do?"),
            "{path}: {body}"
        );
        assert_eq!(shown(&body), entities(&[]), "{path}: {body}");
        assert!(body.contains("is off by the user"), "{path}: {body}");
        let withheld = tslp.page("/recent")["episodes"][0]["withheld"].to_string();
        assert!(withheld.contains("off_by_user"), "{path}: {withheld}");
        // A lock wins, and ends; then it is off again.
        acts(&places, &["lock", "src/ring.c"]);
        let body = spoken.sent(&tslp, &upstream, "Hello?");
        assert_eq!(shown(&body), entities(&["src/ring.c"]), "{path}: {body}");
        acts(&places, &["lock", "--none"]);
        let body = spoken.sent(
            &tslp,
            &upstream,
            "What does `ring_put` in src/ring.c do, then?",
        );
        assert_eq!(shown(&body), entities(&[]), "{path}: {body}");
        acts(&places, &["on", "**"]);
        let body = spoken.sent(&tslp, &upstream, &attached);
        assert!(
            body.contains(SECRET) && !body.contains(WITHHELD),
            "{path}: {body}"
        );
        assert_eq!(shown(&body).len(), 1, "{path}: {body}");
    }
    verified(&places, tslp);
}

/// S2, S4, S5, S6, S14.
#[test]
fn lock_after_a_crash() {
    for spoken in &SPOKEN {
        let (upstream, places) = (Upstream::start(), project());
        let path = spoken.path;
        let before = ledger_file::files(&places.workspace);
        let tslp = Tslp::start(&places, &upstream);
        assert!(shown(&spoken.sent(&tslp, &upstream, ASK)).contains("src/other.c::other"));
        // In one window alone, as its prompt says it: the next one is another.
        let here = format!("@tslp lock src/ring.c\n{ASK}");
        let body = spoken.sent(&tslp, &upstream, &here);
        assert_eq!(shown(&body), entities(&["src/ring.c"]), "{path}: {body}");
        let other = format!("@tslp lock include/ring.h\nWell. {ASK}");
        let body = spoken.sent(&tslp, &upstream, &other);
        assert_eq!(
            shown(&body),
            entities(&["include/ring.h"]),
            "{path}: {body}"
        );
        let body = spoken.sent(&tslp, &upstream, &format!("Oh. {ASK}"));
        assert_eq!(
            shown(&body),
            entities(&["src/other.c::other"]),
            "{path}: {body}"
        );
        // In all of them.
        acts(&places, &["lock", "src/ring.c", "include/ring.h"]);
        tslp.kill();
        let tslp = Tslp::start(&places, &upstream);
        let body = spoken.sent(&tslp, &upstream, &format!("And? {ASK}"));
        let both = entities(&["src/ring.c", "include/ring.h"]);
        assert_eq!(shown(&body), both, "{path}: {body}");
        let withheld = tslp.page("/recent")["episodes"][0]["withheld"].to_string();
        assert!(withheld.contains("bypassed_by_lock"), "{path}: {withheld}");
        assert_eq!(ledger_file::files(&places.workspace), before);

        let file = places.workspace.join("src/ring.c");
        let damages: [(&str, &dyn Fn()); 6] = [
            ("not on disk", &|| {}),
            ("not a file", &|| fs::create_dir(&file).unwrap()),
            ("not a file", &|| {
                assert!(
                    Command::new("mkfifo")
                        .arg(&file)
                        .status()
                        .unwrap()
                        .success()
                );
            }),
            ("larger than what is read", &|| {
                fs::write(&file, "x = 1\n".repeat(4 << 20)).unwrap()
            }),
            ("is STALE", &|| {
                fs::write(&file, b"\x7fELF\x00\xff\xfe\x00").unwrap()
            }),
            ("is STALE", &|| {
                fs::write(&file, "int changed(void) {\n    return 2;\n}\n").unwrap()
            }),
        ];
        for (cause, damage) in damages {
            let _ = fs::remove_file(&file);
            let _ = fs::remove_dir(&file);
            damage();
            // Nor does what a client asks for itself go out.
            for text in [ASK, "Generate a concise, 3-5 word title for this chat"] {
                let said = spoken.refused(&tslp, text);
                assert!(
                    said.starts_with("LOCK_MISS: src/ring.c is locked") && said.contains(cause),
                    "{path} {cause}: {said}"
                );
            }
            assert!(upstream.saw_nothing(), "{path} {cause}");
        }
        let log = places.in_workspace(&["log"]).output().unwrap();
        let log = String::from_utf8(log.stdout).unwrap();
        assert!(log.contains("lock_miss"), "{path}: {log}");
        fs::write(&file, RING).unwrap();
        // What can't be shown is said to be so at once, and keeps prompts back all the same.
        let at = |name: &str| places.workspace.join(name);
        fs::write(at("blob"), b"\x7fELF\x00\xff\xfe").unwrap();
        fs::write(at("big"), "x = 1\n".repeat(4 << 20)).unwrap();
        assert!(
            Command::new("mkfifo")
                .arg(at("pipe"))
                .status()
                .unwrap()
                .success()
        );
        for name in ["blob", "big", "pipe", "include", "nothing.c"] {
            let (code, done) = places.cli_json(&["lock", name]);
            let outcome = &done["targets"][0]["outcome"];
            assert_eq!((code, outcome), (1, &json!("lock_miss")), "{name}: {done}");
            // Which is no fault of another file.
            let (code, done) = places.cli_json(&["lock", "src/ring.c"]);
            let outcome = &done["targets"][0]["outcome"];
            assert_eq!((code, outcome), (0, &json!("locked")), "{name}: {done}");
            spoken.refused(&tslp, ASK);
            acts(&places, &["lock", "--none", name]);
        }
        acts(&places, &["lock", "--none", "include/ring.h"]);
        let body = spoken.sent(&tslp, &upstream, &format!("Now? {ASK}"));
        assert_eq!(shown(&body), entities(&["src/ring.c"]), "{path}: {body}");
        acts(&places, &["lock", "--none"]);
        let body = spoken.sent(&tslp, &upstream, &format!("So? {ASK}"));
        assert_eq!(
            shown(&body),
            entities(&["src/other.c::other"]),
            "{path}: {body}"
        );
        verified(&places, tslp);
    }
}

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        of[usize::try_from(self.0 >> 33).unwrap() % of.len()]
    }

    /// A prompt of some words that may name code, attach a file or be a paste.
    fn words(&mut self) -> String {
        let pasted = fenced("src/more.c", "int more(void) {\n    return 3;\n}\n");
        let attached = format!("<file path=\"secrets/staging.env\">\n{KEYS}</file>\n");
        let said = [
            "What does `ring_put` in src/ring.c do?\n",
            ASK,
            "src/ring.c\n",
            "Umlauts: ä €, \"quotes\", a \\ and a tab\t.\n",
            "The token is zebra-4711-quagga.\n",
            &pasted,
            &attached,
            "Hello there.\n",
        ];
        let number = format!("{}. ", self.0 % 1000);
        (0..3).fold(number, |text, _| text + self.pick(&said))
    }
}

/// A request of this dialect: a prompt, or what a tool gave.
fn any_request(dice: &mut Dice, spoken: &Spoken) -> Value {
    let text = dice.words();
    let result = spoken.with_result.filter(|_| dice.pick(&[true, false]));
    match result {
        Some(with_result) => {
            let command = dice.pick(&["cat secrets/staging.env", "ls", "make show"]);
            with_result("bash", &json!({"command": command}), &text)
        }
        None => (spoken.request)(&text),
    }
}

/// S7, and Z1: what goes out while nothing is set is what came.
///
/// Each of five rules is tried with four requests in each of six dialects: fewer would leave out
/// tools' results, which half of the requests have, in some dialect under some rule.
#[test]
fn preview_is_exact() {
    let (upstream, places) = (Upstream::start(), places());
    let tslp = Tslp::start(&places, &upstream);
    let mut dice = Dice(42);
    for spoken in SPOKEN.iter().cycle().take(60) {
        let request = (spoken.request)(
            &dice
                .pick(&["Hello.", "äöü \u{1f600} \\ \" ", "x"])
                .repeat(9),
        );
        let (_, body) = spoken.send(&tslp, &upstream, &request);
        assert!(
            body.ends_with(&request.to_string()),
            "{}: {body}",
            spoken.path
        );
    }
    acts(&places, &["accept", "src/ring.c"]);
    let rules = [
        &["status", "scope"][..],
        &["off", "secrets/**"],
        &["lock", "src/ring.c"],
        &["off", "src/**"],
        &["lock", "--none"],
    ];
    let (mut previewed, mut changed) = (0, 0);
    for words in rules {
        acts(&places, words);
        for spoken in SPOKEN.iter().cycle().take(24) {
            let request = any_request(&mut dice, spoken);
            let file = places.path("request.json");
            fs::write(&file, request.to_string()).unwrap();
            let head = |tslp: &Tslp<'_>| tslp.page("/recent").to_string();
            let before = head(&tslp);
            let file = file.to_str().unwrap();
            let arguments = ["preview", "--request", file, "--route", spoken.path];
            let output = places.in_workspace(&arguments).output().unwrap();
            assert!(output.status.success(), "{output:?}");
            assert_eq!(head(&tslp), before);
            let (_, body) = spoken.send(&tslp, &upstream, &request);
            let previewed_body = String::from_utf8(output.stdout).unwrap();
            assert!(
                body.ends_with(&previewed_body),
                "{} {words:?}: {previewed_body}\n{body}",
                spoken.path
            );
            previewed += 1;
            changed += u32::from(request != previewed_body);
        }
    }
    assert_eq!(previewed, 120);
    assert!(
        changed > 57,
        "{changed} of {previewed} went out otherwise than they came"
    );
    // S8: the parts add up, and code has no more than its budget.
    acts(&places, &["on", "**"]);
    let (code, page) = places.cli_json(&["preview", "And `ring_put`?"]);
    assert_eq!(code, 0, "{page}");
    let sections = page["sections"].as_array().unwrap();
    let named = |name: &str| sections.iter().find(|it| it["section"] == name).unwrap();
    let code = named("code hydration");
    assert_eq!(code["shown"][0]["entity"], "src/ring.c::ring_put", "{page}");
    let sum: u64 = sections
        .iter()
        .map(|it| it["tokens"].as_u64().unwrap())
        .sum();
    assert_eq!(page["total_tokens"], sum);
    let small = ["preview", "And `ring_put`?", "--budget-tokens", "10"];
    let (_, page) = places.cli_json(&small);
    let sections = page["sections"].as_array().unwrap();
    let code = sections
        .iter()
        .find(|it| it["section"] == "code hydration")
        .unwrap();
    assert!(code["tokens"].as_u64().unwrap() <= 10, "{page}");
    assert!(page.to_string().contains("over_budget"), "{page}");
    verified(&places, tslp);
}

/// S9, S10: what is refused is refused so that no client asks again, and what is not goes out.
#[test]
fn over_budget_or_window() {
    for spoken in &SPOKEN {
        let (upstream, places) = (Upstream::with_context(4096), Places::new());
        let flags = ["--budget-prompt", "tokens 300", "--window-guard", "refuse"];
        let tslp = Tslp::with(&places, &upstream.url, &flags);
        let said = spoken.refused(&tslp, &"abc ".repeat(500));
        assert!(
            said.contains("a prompt may use 300 tokens") && said.contains("budget.prompt"),
            "{}: {said}",
            spoken.path
        );
        spoken.sent(&tslp, &upstream, &"abc ".repeat(100));
        // By now the server has told its window.
        let said = spoken.refused(&tslp, &"abc ".repeat(9000));
        let window = said.contains("m reads 4096 tokens, and this request has about");
        assert!(
            window || said.contains("300 tokens"),
            "{}: {said}",
            spoken.path
        );
        assert!(upstream.saw_nothing());
        let day = ["--budget-day", "requests 1"];
        tslp.stop();
        let tslp = Tslp::with(&places, &upstream.url, &day);
        let said = spoken.refused(&tslp, "Hello.");
        assert!(
            said.starts_with("BUDGET-EXHAUSTED: a day may use 1 requests"),
            "{said}"
        );
        assert!(upstream.saw_nothing());
        verified(&places, tslp);
    }
}

/// A request whose client brings its rules along, where its dialect has a place for that.
fn with_rules(spoken: &Spoken, rules: &str, text: &str) -> Value {
    let mut request = (spoken.request)(text);
    match spoken.path {
        "/v1/messages" | "/api/generate" => request["system"] = json!(rules),
        "/v1/responses" => request["instructions"] = json!(rules),
        "/v1/completions" => request["prompt"] = json!(format!("{rules}\n\n{text}")),
        _ => request["messages"] = json!([{"role": "system", "content": rules}, user(text)]),
    }
    request
}

/// S11: what a client brings of a file goes out once, though the user's prompt names the file, and as it is by then.
#[test]
fn rules_of_clients() {
    for spoken in &SPOKEN {
        let (upstream, places) = (Upstream::start(), Places::new());
        let rules = [
            "Indent by tabs, always and everywhere.",
            "Indent by two blanks, and by no tab.",
        ];
        places.write("AGENTS.md", rules[0]);
        acts(&places, &["accept", "AGENTS.md"]);
        let tslp = Tslp::start(&places, &upstream);
        for (at, rule) in rules.into_iter().enumerate() {
            places.write("AGENTS.md", rule);
            let request = with_rules(spoken, rule, "What does AGENTS.md say about `tabs`?");
            let (_, body) = spoken.send(&tslp, &upstream, &request);
            assert_eq!(body.matches(rule).count(), 1, "{}: {body}", spoken.path);
            assert!(!body.contains(rules[1 - at]), "{}: {body}", spoken.path);
        }
        verified(&places, tslp);
    }
}

/// S12.
#[test]
fn other_models_answer() {
    for spoken in &SPOKEN {
        let (upstream, places) = (Upstream::start(), places());
        let path = spoken.path;
        let tslp = Tslp::start(&places, &upstream);
        let more = "int more(void) {\n    return 3;\n}\n";
        let say = |text: &str| spoken.sent(&tslp, &upstream, text);
        say(&format!(
            "@tslp external GPT-9\n{}",
            fenced("src/more.c", more)
        ));
        assert_eq!(
            tslp.state()["src/more.c::more"]["origin"],
            "model",
            "{path}"
        );
        say(&fenced("src/ring.c", RING));
        let truth = tslp.artifact("src/ring.c::ring_put");
        let better = RING.replace("value)", "value, int more)");
        let answer = format!("Remove the head.\n{}", fenced("src/ring.c", &better));
        let body = say(&format!("@tslp external GPT-9\n{answer}"));
        assert!(
            body.contains("int more") && body.contains("another model's answer"),
            "{body}"
        );
        assert_eq!(tslp.artifact("src/ring.c::ring_put"), truth, "{path}");
        // The same words without the directive are the user's.
        say(&fenced("src/less.c", &more.replace("more", "less")));
        assert_eq!(tslp.state()["src/less.c::less"]["origin"], "user", "{path}");
        let other = RING.replace("value)", "value, int other)");
        let file = places.path("answer.md");
        fs::write(&file, format!("Here:\n{}", fenced("src/ring.c", &other))).unwrap();
        let words = ["reply", file.to_str().unwrap(), "--source", "claude"];
        let (code, done) = places.cli_json(&words);
        assert_eq!(code, 1, "{done}");
        let result = &done["targets"][0];
        assert_eq!(result["target"], "src/ring.c::ring_put", "{done}");
        assert_eq!(result["outcome"], "base_unacknowledged", "{done}");
        assert_eq!(tslp.artifact("src/ring.c::ring_put"), truth);
        // What was imported is a model's, also where the user repeats it.
        say(&format!("Here:\n{}", fenced("src/ring.c", &other)));
        assert_eq!(tslp.artifact("src/ring.c::ring_put"), truth);
        acts(&places, &["confirm", "src/ring.c::ring_put"]);
        assert_ne!(tslp.artifact("src/ring.c::ring_put"), truth);
        verified(&places, tslp);
    }
}

/// Z2: what is on record of all this is told in words, goes out and comes in as it is.
#[test]
fn decisions_survive_export() {
    let (upstream, places) = (Upstream::with_context(4096), project());
    let guard = ["--window-guard", "refuse"];
    let tslp = Tslp::with(&places, &upstream.url, &guard);
    let spoken = &SPOKEN[0];
    for words in [
        &["off", "secrets/**"][..],
        &["on", "secrets/readme.md"],
        &["lock", "src/ring.c"],
    ] {
        acts(&places, words);
    }
    upstream.will(Reply::text("Done.").costing(30, 2));
    tslp.chat(&(spoken.request)(ASK));
    spoken.refused(&tslp, &"abc ".repeat(9000));
    acts(&places, &["lock", "--none"]);
    let words = format!("@tslp external GPT-9\n{}", fenced("src/more.c", OTHER));
    tslp.chat(&(spoken.request)(&words));
    let usage = places.cli_json(&["status", "usage"]);
    let scope = places.cli_json(&["status", "scope"]);
    tslp.stop();
    let said = |arguments: &[&str]| {
        let output = places.in_workspace(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let log = said(&["log", "--limit", "200"]);
    for sentence in [
        "change off, session 0, pattern secrets/**",
        "change on, session 0, pattern secrets/readme.md",
        "change lock, session 0, pattern src/ring.c",
        "change unlock",
    ] {
        assert!(log.contains(sentence), "{sentence}: {log}");
    }
    for reason in [
        "window_exceeded",
        "turned_off",
        "turned_on",
        "locked",
        "unlocked",
    ] {
        assert!(log.contains(reason), "{reason}: {log}");
    }
    let everything = ["log", "--json", "--limit", "0"];
    let exported = said(&everything);
    for kind in [
        "scope_changed",
        "prompt_measured",
        "window_exceeded",
        "notice_issued",
    ] {
        assert!(
            exported.contains(&format!("\"kind\":\"{kind}\"")),
            "{kind}: {exported}"
        );
    }
    let file = places.path("all.jsonl");
    fs::write(&file, &exported).unwrap();
    fs::remove_dir_all(&places.data).unwrap();
    said(&["copy", "--from", file.to_str().unwrap()]);
    assert_eq!(said(&everything), exported);
    assert_eq!(places.cli_json(&["status", "usage"]), usage);
    assert_eq!(places.cli_json(&["status", "scope"]), scope);
}
