//! The command line says what the pages say.

use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::{Places, RING, RING_BETTER, RING_PUT, Tslp, eventually, fenced, prompt};
use crate::upstream::Upstream;

/// law 14.3 | `/doctor`, `/recent` and `/state` say what the commands say
/// law 14.3 | `/doctor`: integrity, WAL, migrations, disk space, grammars, model; it fixes nothing
#[test]
fn same_as_pages() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    places.write("src/ring.c", "int other;\n");
    tslp.say("explain `ring_put`");
    tslp.at_rest();
    assert_eq!(places.cli_json(&["state"]), (0, tslp.page("/state")));
    assert_eq!(places.cli_json(&["recent"]), (0, tslp.page("/recent")));
    let one = places.cli_json(&["recent", "--limit", "1"]);
    assert_eq!(one, (0, tslp.page("/recent?limit=1")));
    let doctor = places.cli_json(&["doctor", "--upstream", &upstream.url]);
    let mut page = tslp.page("/doctor");
    // What looks at the ledger behind a start is there in a running proxy alone.
    let checks = page["checks"].as_array_mut().unwrap();
    let before = checks.len();
    checks.retain(|check| check["check"] != "scrub");
    assert_eq!(checks.len(), before - 1);
    assert_eq!(doctor, (0, page));
    // The same is there for reading while nothing runs.
    let state = tslp.page("/state");
    tslp.stop();
    assert_eq!(places.cli_json(&["state"]), (0, state));
}

/// An example in a client's rules is no news.
#[test]
fn example_in_rules() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let listing = "a listing:\npath/to/filename.js\n```js\n// entire file content ...\n```\n";
    tslp.say(&format!(
        "What is 2 + 2?\n\nTo suggest changes you MUST return {listing}"
    ));
    let page = tslp.page("/recent").to_string();
    assert!(!page.contains("path/to/filename.js"), "{page}");
}

/// law 14.3 | `/recent` lists the last N episodes, up to 1000, also those before a restart; N is a setting
/// law 14.3 | `/recent`: the last N episodes, their entities and states; metadata
#[test]
fn recent_after_restart() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let ids = |page: &Value| -> Vec<u64> {
        let episodes = page["episodes"].as_array().unwrap().iter();
        episodes
            .map(|episode| episode["episode_id"].as_u64().unwrap())
            .collect()
    };
    for turn in 1..=70 {
        tslp.say(&format!("hello {turn}"));
    }
    tslp.at_rest();
    assert_eq!(
        ids(&tslp.page("/recent?limit=1000")),
        Vec::from_iter((1..=70).rev())
    );
    assert_eq!(ids(&tslp.page("/recent")).len(), 20);
    tslp.stop();
    let (code, listed) = places.cli_json(&["recent"]);
    assert_eq!((code, ids(&listed).len()), (0, 20));
}

/// law 14.3 | `/recent` is metadata, and names the user's proposals as well as the model's; code is in it only if somebody asks for it | elided
/// law 14.3 | `/recent`: the last N episodes, their entities and states; metadata
#[test]
fn recent_names_lost_lines() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING_BETTER));
    let elided = RING_BETTER.replace(
        "    r->head = (r->head + 1) % r->size;\n    r->count += 1;\n",
        "    // the counters are as before\n",
    );
    upstream.will_say(fenced("src/ring.c", &elided));
    tslp.say("improve `ring_put`");
    let paste = "int ring_get(int x) {\n    // ... existing code ...\n}\n";
    tslp.say(&fenced("src/ring.c", paste));
    tslp.at_rest();
    let page = tslp.page("/recent");
    let states = |at: usize| page["episodes"][at]["artifact_states"].clone();
    let proposed =
        |entity: &str| json!([{"entity": entity, "reason": "elided", "state": "PROPOSED"}]);
    assert_eq!(states(0), proposed("src/ring.c::ring_get"));
    // Metadata, unless somebody asks for more (spec 14.3).
    assert_eq!(states(1), proposed(RING_PUT));
    let gone = [
        "    r->head = (r->head + 1) % r->size;",
        "    r->count += 1;",
    ];
    let page = tslp.page("/recent?missing_lines=true");
    let missing = &page["episodes"][1]["artifact_states"][0]["missing_lines"];
    assert_eq!(*missing, json!({"lines": gone, "more": 0}));
    let shown = places.in_workspace(&["recent"]).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    let lines: Vec<&str> = shown.lines().map(str::trim).collect();
    let at = lines
        .iter()
        .position(|line| line.starts_with("refused: ring_put (a placeholder replaces code"));
    let below = &lines[at.unwrap() + 1..][..2];
    assert_eq!(below, gone.map(|line| format!("- {line}")));
}

/// law 14.1, 14.2, 14.5 | The pages are deterministic and change nothing
/// law 14.1 | Never visible to the model
/// law 14.2 | Read-only: no state, no artifact, no event
/// law 14.2 | No call of the model
/// law 14.2 | Deterministic
/// law 14.5 | No endpoint changes what the model sees
#[test]
fn deterministic_pages() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::with(&places, &upstream.url, &["--debug"]);
    tslp.say(&fenced("src/ring.c", RING));
    upstream.next();
    tslp.at_rest();
    let events = crate::ledger_file::events(&places.data);
    let pages = [
        "/health",
        "/doctor",
        "/recent",
        "/state",
        "/debug/last-prompt",
    ];
    for path in pages {
        let first = tslp.get(path);
        assert_eq!(first.header("content-type"), Some("application/json"));
        assert_eq!(tslp.get(path).body, first.body, "{path}");
    }
    assert_eq!(crate::ledger_file::events(&places.data), events);
    assert!(upstream.saw_nothing(), "a page asked the model");
}

#[test]
fn no_ledger_made() {
    let places = Places::new();
    assert_eq!(places.cli_json(&["state"]), (0, json!({"entities": {}})));
    assert_eq!(places.cli_json(&["recent"]), (0, json!({"episodes": []})));
    let (code, doctor) = places.cli_json(&["doctor", "--upstream", "demo"]);
    assert_eq!((code, &doctor["ok"]), (0, &json!(true)), "{doctor}");
    assert!(!places.data.exists());
}

#[test]
fn guided_tour() {
    let output = Places::new().command(&["demo"]).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{told}");
    assert!(!told.contains("\\n"), "{told}");
    for part in [
        "[CURRENT STATE: AUTHORITATIVE]",
        "Refused: a placeholder replaces code that was left out",
        "is STALE",
        "the state is the same, byte for byte",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

/// The configuration says what is in force and where it comes from.
#[test]
fn configuration_sources() {
    let places = Places::new();
    let file = places.path("tslp.toml");
    std::fs::write(&file, "profile = \"strict\"\n").unwrap();
    let mut command = places.in_workspace(&["config", "--json", "--budget-tokens", "77"]);
    command.arg("--config").arg(&file);
    let output = command.env("TSLP_PLACEMENT", "user").output().unwrap();
    let page: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = page.to_string();
    for word in ["strict", "tslp.toml", "77", "TSLP_PLACEMENT"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn help_lists_all() {
    let places = Places::new();
    let output = places.command(&["--help"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let help = String::from_utf8(output.stdout).unwrap();
    let commands = [
        "serve",
        "demo",
        "doctor",
        "state",
        "recent",
        "config",
        "verify",
        "rebuild",
        "log",
        "why",
        "copy",
        "accept",
        "adopt",
        "completions",
    ];
    for command in commands {
        assert!(help.contains(&format!("  {command} ")), "{command}: {help}");
        let output = places.command(&[command, "--help"]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{command}");
    }
}

#[test]
fn shell_completions() {
    let places = Places::new();
    for shell in ["bash", "zsh", "fish"] {
        let output = places.command(&["completions", shell]).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{shell}");
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(script.contains("data-dir"), "{shell}");
    }
}

/// The model's context size bounds what is hydrated.
#[test]
fn context_size_bound() {
    let (places, upstream) = (Places::new(), Upstream::with_context(64));
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    // The model is asked beside everything else.
    crate::harness::eventually(|| {
        tslp.say("explain `ring_put`");
        (tslp.last_episode()["withheld"][0]["reason"] == "over_budget").then_some(())
    });
}

/// The state says from when it is, and looks at the files now if asked to.
#[test]
fn age_of_state() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    tslp.at_rest();
    let events = crate::ledger_file::events(&places.data);
    let entity = |page: &Value| page["entities"]["src/ring.c::ring_put"].clone();
    let page = entity(&tslp.page("/state"));
    assert_eq!(
        (&page["disk"], &page["stale"]),
        (&json!("same"), &json!(false))
    );
    let looked_at = page["looked_at"].as_str().unwrap();
    places.write("src/ring.c", "int other;\n");
    assert!(
        looked_at >= page["last_updated"].as_str().unwrap(),
        "{page}"
    );
    let human = places.in_workspace(&["state"]).output().unwrap();
    let human = String::from_utf8(human.stdout).unwrap();
    assert!(
        human.contains(&format!("same as of {looked_at}")),
        "{human}"
    );
    let (code, checked) = places.cli_json(&["state", "--check"]);
    assert_eq!((code, &entity(&checked)["disk"]), (0, &json!("unknown")));
    // Nothing is recorded of the look.
    assert_eq!(entity(&checked)["looked_at"], Value::Null);
    assert_eq!(crate::ledger_file::events(&places.data), events);
}

/// `/state` said `stale: false` of a file that had been edited a moment ago, until the next prompt looked at it.
/// law 15.1, 15.7 | `/state` and `/doctor` look at the files themselves, and record nothing
/// law 14.2 | Read-only: no state, no artifact, no event
/// law 15.7 | `/state`: artifact, last_updated, stale
#[test]
fn pages_read_files() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    tslp.at_rest();
    let events = crate::ledger_file::events(&places.data);
    let shown = || {
        let page = tslp.page("/state");
        let entity = &page["entities"]["src/ring.c::ring_put"];
        let (stale, disk) = (entity["stale"].clone(), entity["disk"].clone());
        (stale, disk, tslp.page("/doctor")["stale"].clone())
    };
    let calm = shown();
    assert_eq!(calm, (json!(false), json!("same"), json!(0)));
    places.write("src/ring.c", "int other;\n");
    let (stale, disk, count) = shown();
    assert_eq!((stale, disk), (json!(true), json!("unknown")));
    assert_ne!(count, json!(0));
    // An edit elsewhere in the file changes nothing about the function.
    places.write("src/ring.c", &format!("{RING}\nint other;\n"));
    let (stale, disk, _) = shown();
    assert_eq!((stale, disk), (json!(false), json!("same")));
    std::fs::remove_file(places.workspace.join("src/ring.c")).unwrap();
    let (stale, disk, count) = shown();
    assert_eq!(
        (stale, disk, count),
        (json!(false), json!("missing"), json!(0))
    );
    places.write("src/ring.c", RING);
    assert_eq!(shown(), calm);
    assert_eq!(crate::ledger_file::events(&places.data), events);
}

/// law 14.3 | `/state`: the whole State Map, no history and nothing inferred
#[test]
fn state_in_pieces() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    for path in ["a.c", "a.c-x.c", "lib/b.c"] {
        tslp.say(&fenced(
            path,
            "int f(void) { return 1; }\nint g(void) { return 2; }\n",
        ));
    }
    tslp.at_rest();
    let names = |page: &Value| -> Vec<String> {
        page["entities"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect()
    };
    let all = tslp.page("/state");
    assert_eq!(all.get("next"), None);
    let (mut pieces, mut route) = (Vec::new(), "/state?limit=2".to_owned());
    loop {
        let page = tslp.page(&route);
        pieces.extend(names(&page));
        let Some(next) = page["next"].as_str() else {
            break;
        };
        assert_eq!(names(&page).len(), 2);
        route = format!("/state?limit=2&after={}", next.replace(':', "%3A"));
    }
    assert_eq!(pieces, names(&all));
    assert_eq!(pieces.len(), 6);
    let beneath = names(&tslp.page("/state?path=lib/"));
    assert!(!beneath.is_empty() && beneath.iter().all(|name| name.starts_with("lib/")));
    assert_eq!(tslp.get("/state?limit=0").status(), 400);
    assert_eq!(tslp.get("/state?after=nothing.c").status(), 404);
    assert_eq!(tslp.get("/state?path=lib/&after=a.c").status(), 404);
}

/// A State Map of any size is said in pages: 88,838 entities were one of 139 MB in memory.
#[test]
fn pages_of_state() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let functions = (0..900).map(|number| format!("int f{number}(void) {{ return {number}; }}\n"));
    let code: String = functions.collect();
    for path in ["a.c", "b.c", "c.c"] {
        places.write(path, &code);
    }
    assert_eq!(places.cli_json(&["adopt", "a.c", "b.c", "c.c"]).0, 0);
    let tslp = Tslp::start(&places, &upstream);
    let first = tslp.page("/state?limit=100000");
    let next = first["next"].as_str().unwrap().replace(':', "%3A");
    let second = tslp.page(&format!("/state?after={next}"));
    let names = |page: &Value| page["entities"].as_object().unwrap().len();
    assert_eq!(names(&first), 2000);
    assert_eq!(names(&second), 3 * 901 - 2000);
    assert_eq!(second.get("next"), None);
    tslp.stop();
}

/// Characters that a terminal obeys, and such as reorder or hide text.
const HOSTILE: &str = "m\u{1b}[2J\u{9b}2J\u{7f}\rx\nepisode 99 of session 1, now, model y: completed\u{202e}\u{200b}\u{e0041}";

/// No text from outside reaches a terminal in a form that it would obey.
#[test]
fn nothing_obeyed() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    let code = format!("int f(void) {{ return 0; }} // {HOSTILE}\n").replace('\n', " ") + "\n";
    let mut request = prompt(&fenced("src/a.c", &code));
    request["model"] = HOSTILE.into();
    tslp.chat(&request);
    request["messages"][0]["content"] = format!("explain `f` {HOSTILE}").into();
    tslp.chat(&request);
    tslp.at_rest();
    for page in ["/recent", "/state", "/doctor"] {
        let body = tslp.get(page).body;
        assert_eq!(obeyed(&String::from_utf8(body).unwrap()), "", "{page}");
    }
    let commands: [&[&str]; 10] = [
        &["recent"],
        &["recent", "--json"],
        &["log"],
        &["log", "--json"],
        &["state"],
        &["state", "--json"],
        &["doctor"],
        &["why", "src/a.c::f"],
        &["verify", "--deep"],
        &["config"],
    ];
    for arguments in commands {
        let output = places.command(arguments).output().unwrap();
        let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(!printed.is_empty(), "{arguments:?}");
        assert_eq!(obeyed(&printed), "", "{arguments:?}");
        let forged = printed
            .lines()
            .filter(|line| line.starts_with("episode 99"));
        assert_eq!(forged.count(), 0, "{arguments:?}: {printed}");
    }
    let (_, recent) = places.cli_json(&["recent"]);
    assert_eq!(recent["episodes"][0]["model"], HOSTILE);
}

/// What of a text isn't to be seen, but for the line feeds between lines.
fn obeyed(text: &str) -> String {
    let hidden = HOSTILE
        .chars()
        .filter(|c| !c.is_ascii_graphic() && *c != ' ' && *c != '\n');
    let hidden: Vec<char> = hidden.collect();
    text.chars().filter(|c| hidden.contains(c)).collect()
}

#[test]
fn counted_metrics() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    upstream.will_say(fenced("src/ring.c", RING_BETTER));
    tslp.say("Make `ring_put` of src/ring.c better, please.");
    let page = eventually(|| {
        let page = tslp.get("/metrics");
        assert_eq!(page.status(), 200);
        let media_type = page.header("content-type").unwrap();
        assert!(media_type.starts_with("text/plain; version=0.0.4"));
        let text = page.text();
        (text.contains("\ntslp_ledger_lag_events 0\n") && text.contains("promoted")).then_some(text)
    });
    for line in [
        "tslp_prompts_total{route=\"/v1/chat/completions\"} 2",
        "tslp_prompts_total{route=\"/v1/messages\"} 0",
        "# TYPE tslp_overhead_seconds histogram",
        "tslp_overhead_seconds_bucket{le=\"+Inf\"} 2",
        "tslp_overhead_seconds_count 2",
        "tslp_stale_entities 0",
    ] {
        assert!(page.lines().any(|known| known == line), "{line}: {page}");
    }
    for line in page.lines() {
        let (name, value) = line.rsplit_once(' ').unwrap();
        let is_known = line.starts_with("# ") || name.starts_with("tslp_");
        assert!(
            is_known && (line.starts_with('#') || value.parse::<f64>().is_ok()),
            "{line}"
        );
    }
}

#[test]
fn handed_over_listener() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serving = places.in_workspace(&["serve", "--upstream", &upstream.url]);
    let mut command = Command::new("sh");
    command.args([
        "-c",
        "exec 3<&0 </dev/null; LISTEN_PID=$$ LISTEN_FDS=1 exec \"$0\" \"$@\"",
    ]);
    command.arg(serving.get_program()).args(serving.get_args());
    let variables = serving.get_envs();
    command.envs(variables.filter_map(|(name, value)| Some((name, value?))));
    let tslp = Tslp::spawn_by(&places, command, |command| {
        command.stdin(OwnedFd::from(listener)).spawn().unwrap()
    });
    assert_eq!(tslp.address, address);
    assert_eq!(tslp.page("/health")["status"], "ok");
}
