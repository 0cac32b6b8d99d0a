//! A whole tree, or single files, taken as the user's word from the command line.

use std::io::Read;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::harness::{Places, RING, RING_PUT, Tslp, eventually, failure, fenced, state_block};
use crate::ledger_file;
use crate::upstream::Upstream;

const ADD: &str = "int add(int a, int b) {\n    return a + b;\n}\n";

/// A project with something of everything.
fn project() -> Places {
    let places = Places::new();
    std::fs::create_dir_all(places.workspace.join("build")).unwrap();
    std::fs::create_dir_all(places.workspace.join(".hidden")).unwrap();
    places.write(".gitignore", "/build\n");
    places.write("src/ring.c", RING);
    places.write("src/add.c", ADD);
    places.write(
        "src/flawed.c",
        "int sound(void) { return 1; }\nint flawed(void) { return ((; }\n",
    );
    places.write("src/empty.c", "/* nothing yet */\n");
    places.write("build/made.c", ADD);
    places.write(".hidden/secret.c", ADD);
    places.write("README.md", "# A project\n");
    places
}

fn adopt(places: &Places, arguments: &[&str]) -> (i32, Value) {
    places.cli_json(&[&["adopt"], arguments].concat())
}

fn entities(places: &Places) -> Vec<String> {
    let (_, state) = places.cli_json(&["state"]);
    let entities = state["entities"].as_object().unwrap();
    entities.keys().cloned().collect()
}

/// What a command says on standard output and standard error, and its exit code.
fn said(places: &Places, arguments: &[&str]) -> (i32, String) {
    let output = places.in_workspace(arguments).output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (output.status.code().unwrap(), text.concat())
}

#[test]
fn tree_becomes_true() {
    let (places, upstream) = (project(), Upstream::start());
    let (code, summary) = adopt(&places, &["."]);
    assert_eq!(code, 0, "{summary}");
    assert_eq!(summary["files_adopted"], 3, "{summary}");
    assert_eq!(summary["files_with_parse_errors"], 1, "{summary}");
    assert_eq!(summary["unread"], json!(["src/flawed.c: line 2"]));
    assert_eq!(summary["skipped"]["no_grammar"]["files"], 1, "{summary}");
    assert_eq!(
        summary["skipped"]["nothing_defined"]["first"],
        json!(["src/empty.c"])
    );
    let expected = [
        "src/add.c",
        "src/add.c::add",
        "src/flawed.c",
        "src/flawed.c::sound",
        "src/ring.c",
        RING_PUT,
    ];
    assert_eq!(entities(&places), expected);
    assert_eq!(places.cli_json(&["verify"]).0, 0);
    let tslp = Tslp::start(&places, &upstream);
    tslp.say("explain `ring_put`");
    let block = state_block(RING_PUT, &tslp.artifact(RING_PUT), RING);
    assert_eq!(upstream.next().system(), block);
    let entity = &tslp.state()[RING_PUT];
    assert_eq!(
        (&entity["origin"], &entity["disk"]),
        (&json!("user"), &json!("same"))
    );
}

#[test]
fn unreadable_named() {
    let places = project();
    let (_, text) = said(&places, &["adopt", "."]);
    let expected = "not read, and so never true: src/flawed.c: line 2";
    assert!(text.contains(expected), "{text}");
    let (_, state) = places.cli_json(&["state", "src/flawed.c"]);
    assert_eq!(state["unread"], json!(["src/flawed.c: line 2"]), "{state}");
    let entities: Vec<&String> = state["entities"].as_object().unwrap().keys().collect();
    assert_eq!(entities, ["src/flawed.c", "src/flawed.c::sound"]);
    assert_eq!(
        places.cli_json(&["state", "src/add.c"]).1["unread"],
        Value::Null
    );
    let (_, text) = said(&places, &["doctor"]);
    assert!(text.contains("src/flawed.c: line 2"), "{text}");
    // A file that is over the parser's bound is named, too.
    places.write("src/large.c", &"/* filler */\n".repeat(1 << 17));
    let (_, text) = said(&places, &["adopt", "src"]);
    assert!(text.contains("over 1 MiB"), "{text}");
    let (_, text) = said(&places, &["state", "src/large.c"]);
    assert!(text.contains("larger than the 1024 KiB"), "{text}");
}

/// The same tree twice appends nothing, and a change appends only itself.
#[test]
fn same_tree_twice() {
    let places = project();
    adopt(&places, &["."]);
    let before = ledger_file::events(&places.data);
    let (code, summary) = adopt(&places, &["."]);
    assert_eq!(code, 0, "{summary}");
    assert_eq!(summary["files_adopted"], 0, "{summary}");
    assert_eq!(summary["files_true_already"], 3, "{summary}");
    assert_eq!(ledger_file::events(&places.data), before);
    places.write(
        "src/add.c",
        "int sub(int a, int b) {\n    return a - b;\n}\n",
    );
    let (_, summary) = adopt(&places, &["."]);
    assert_eq!(summary["files_adopted"], 1, "{summary}");
    assert_eq!(summary["entities_removed"], 1, "{summary}");
    assert!(!entities(&places).contains(&"src/add.c::add".to_owned()));
    assert_eq!(places.cli_json(&["verify"]).0, 0);
}

#[test]
fn bytes_appended_once() {
    let places = project();
    adopt(&places, &["."]);
    let contents = |places: &Places| ledger_file::kinds(&places.data)["content"];
    places.write("src/add.c", "int sub(int a, int b) { return a - b; }\n");
    adopt(&places, &["."]);
    let before = contents(&places);
    places.write("src/add.c", ADD);
    places.write("src/copy.c", ADD);
    let (_, summary) = adopt(&places, &["."]);
    assert_eq!(summary["files_adopted"], 2, "{summary}");
    assert_eq!(contents(&places), before);
    assert_eq!(places.cli_json(&["verify", "--deep"]).0, 0);
}

/// A file that no longer parses takes nothing away, and says nothing of what it may hide.
#[test]
fn no_longer_parses() {
    let places = project();
    adopt(&places, &["."]);
    places.write(
        "src/add.c",
        "int add(int a, int b) {\n    return a + ;;(\n\n#if\n",
    );
    let (code, summary) = adopt(&places, &["."]);
    assert_eq!(code, 0, "{summary}");
    assert_eq!(summary["entities_removed"], 0, "{summary}");
    let (_, state) = places.cli_json(&["state"]);
    let add = &state["entities"]["src/add.c::add"];
    assert_eq!(
        (&add["stale"], &add["origin"]),
        (&json!(false), &json!("user")),
        "{state}"
    );
}

#[test]
fn dry_run_same_summary() {
    let places = project();
    let (code, would) = adopt(&places, &["--dry-run", "."]);
    assert_eq!((code, &would["dry_run"]), (0, &json!(true)));
    assert!(!places.data.exists(), "a dry run made a ledger");
    let (_, mut does) = adopt(&places, &["."]);
    does["dry_run"] = json!(true);
    assert_eq!(does, would);
    places.write("src/add.c", RING);
    let before = ledger_file::events(&places.data);
    let (_, would) = adopt(&places, &["--dry-run", "."]);
    assert_eq!(would["files_adopted"], 1, "{would}");
    assert_eq!(ledger_file::events(&places.data), before);
}

/// What is named is adopted even though it is ignored or hidden.
#[test]
fn ignored_but_named() {
    let places = project();
    let (_, summary) = adopt(&places, &["build", ".hidden/secret.c"]);
    assert_eq!(summary["files_adopted"], 2, "{summary}");
    let expected = [
        ".hidden/secret.c",
        ".hidden/secret.c::add",
        "build/made.c",
        "build/made.c::add",
    ];
    assert_eq!(entities(&places), expected);
}

#[test]
fn mistakes_refused() {
    let places = project();
    std::fs::write(places.path("outside.c"), ADD).unwrap();
    for (target, words) in [
        ("src/nope.c", "no such file"),
        ("../outside.c", "outside of the workspace"),
    ] {
        let (code, said) = failure(places.in_workspace(&["adopt", target]));
        assert_eq!(code, 1, "{said}");
        assert!(said.contains(words), "{said}");
    }
    // There, and nothing to take.
    let (code, summary) = adopt(&places, &["README.md", "src/empty.c"]);
    assert_eq!(code, 1, "{summary}");
    assert_eq!(
        summary["skipped"]["no_grammar"]["first"],
        json!(["README.md"])
    );
    assert!(!places.data.exists(), "a ledger was made of mistakes");
}

#[test]
fn skipped_files() {
    let places = Places::new();
    std::fs::write(places.path("outside.c"), ADD).unwrap();
    places.write("src/add.c", ADD);
    let at = |name: &str| places.workspace.join(name);
    std::os::unix::fs::symlink("../../outside.c", at("src/leaves.c")).unwrap();
    std::os::unix::fs::symlink("..", at("src/up")).unwrap();
    let made = std::process::Command::new("mkfifo")
        .arg(at("src/fifo.c"))
        .status();
    assert!(made.unwrap().success());
    places.write("src/large.c", &"int x;\n".repeat(200_000));
    places.write("src/dense.c", &"int x;".repeat(100_000));
    places.write("src/latin1.c", "");
    std::fs::write(at("src/latin1.c"), b"int caf\xe9(void) { return 0; }\n").unwrap();
    std::fs::write(at("src/bytes.c"), b"int f(void) { return 0; }\xff\0\n").unwrap();
    let (code, summary) = adopt(&places, &["."]);
    assert_eq!(code, 0, "{summary}");
    let skipped: Vec<(&str, u64)> = summary["skipped"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(why, skipped)| (why.as_str(), skipped["files"].as_u64().unwrap()))
        .collect();
    let expected = [
        ("symbolic_link", 2),
        ("not_a_file", 1),
        ("too_large_to_parse", 1),
        ("too_dense_to_parse", 1),
        ("not_utf8", 1),
    ];
    assert_eq!(skipped, expected);
    let latin1 = ["src/latin1.c", "src/latin1.c::café"];
    let taken = [["src/add.c", "src/add.c::add"], latin1].concat();
    assert_eq!(entities(&places), taken);
    // Named, it is followed, and leads out.
    let output = places
        .in_workspace(&["adopt", "src/leaves.c"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && said.contains("lies outside"),
        "{output:?}"
    );
    let before = ledger_file::events(&places.data);
    adopt(&places, &["."]);
    assert_eq!(ledger_file::events(&places.data), before);
}

#[test]
fn beside_a_proxy() {
    let (places, alone, upstream) = (project(), project(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    // A dry run only reads.
    assert_eq!(adopt(&places, &["--dry-run", "."]).0, 0);
    assert!(tslp.state().as_object().unwrap().is_empty());
    assert_eq!(adopt(&places, &["."]), adopt(&alone, &["."]));
    assert_eq!(adopt(&places, &["."]), adopt(&alone, &["."]));
    tslp.stop();
    assert_eq!(entities(&places), entities(&alone));
}

#[test]
fn killed_in_the_middle() {
    let places = Places::new();
    for n in 0..400 {
        let text: String = (0..40)
            .map(|m| format!("int f{n}_{m}(int x) {{\n    return x + {n} + {m};\n}}\n\n"))
            .collect();
        places.write(&format!("src/f{n}.c"), &text);
    }
    let mut child = places
        .in_workspace(&["adopt", "."])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // As soon as something is durable; how far it came doesn't matter.
    eventually(|| {
        let is_over = child.try_wait().unwrap().is_some();
        let anchored = places.data.join("ledger.anchor").exists()
            && ledger_file::open(&places.data)
                .query_row("SELECT count(*) FROM ledger", [], |row| {
                    row.get::<_, i64>(0)
                })
                .is_ok_and(|events| events > 0);
        (is_over || anchored).then_some(())
    });
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(places.cli_json(&["verify"]).0, 0);
    let (code, summary) = adopt(&places, &["."]);
    assert_eq!(code, 0, "{summary}");
    let taken = ["files_adopted", "files_true_already"].map(|key| summary[key].as_u64().unwrap());
    assert_eq!(taken.iter().sum::<u64>(), 400, "{summary}");
    // A page holds 2,000 of them at most, and says how to go on.
    let (mut shown, mut after) = (0, None::<String>);
    loop {
        let mut command = vec!["state"];
        command.extend(after.iter().flat_map(|after| ["--after", after]));
        let (_, page) = places.cli_json(&command);
        shown += page["entities"].as_object().unwrap().len();
        match page["next"].as_str() {
            Some(next) => after = Some(next.to_owned()),
            None => break,
        }
    }
    assert_eq!(shown, 400 * 41);
    assert_eq!(places.cli_json(&["verify"]).0, 0);
}

/// Adopting a stale file ends that, and the act is listed as one of the command line.
#[test]
fn resolves_stale() {
    let (places, upstream) = (project(), Upstream::start());
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    places.write("src/ring.c", &RING.replace("return 0;", "return 1;"));
    tslp.say("explain `ring_put`");
    assert_eq!(tslp.state()[RING_PUT]["stale"], true);
    tslp.stop();
    assert_eq!(adopt(&places, &["src"]).0, 0);
    let (_, state) = places.cli_json(&["state"]);
    assert_eq!(state["entities"][RING_PUT]["stale"], false, "{state}");
    let (_, recent) = places.cli_json(&["recent", "--limit", "1"]);
    let episode = &recent["episodes"][0];
    assert_eq!(episode["from"], "command line", "{recent}");
    let states = episode["artifact_states"].as_array().unwrap();
    let expected = json!({"entity": RING_PUT, "reason": "write_head", "state": "AUTHORITATIVE"});
    assert!(states.contains(&expected), "{recent}");
    let (_, text) = said(&places, &["recent"]);
    assert!(text.contains("command line, last at"), "{text}");
}

#[test]
fn table_for_people() {
    let places = project();
    let mut child = places
        .in_workspace(&["adopt", "."])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut table = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut table)
        .unwrap();
    let mut log = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut log)
        .unwrap();
    assert!(child.wait().unwrap().success());
    for words in [
        "adopted",
        "true already",
        "skipped: no grammar for its language",
    ] {
        assert!(table.contains(words), "{words}: {table}");
    }
    assert!(!log.contains("files found so far"), "{log}");
}

#[test]
fn typo_or_already_true() {
    let places = project();
    let check = |arguments: &[&str], expected: i32, words: &str| {
        let (code, text) = said(&places, &[&["accept"], arguments].concat());
        assert_eq!(code, expected, "{arguments:?}: {text}");
        assert!(text.contains(words), "{arguments:?}: {text}");
    };
    check(&["src/nope.c"], 1, "no such file");
    check(&["src/ring.c::nope"], 1, "doesn't define it");
    check(&["src"], 1, "tslp adopt");
    assert!(!places.data.exists(), "a typo made a ledger");
    check(&["src/ring.c::ring_put"], 0, "true as it is on disk");
    check(&["src/ring.c::ring_put"], 0, "true already");
    check(&["src/ring.c::nope"], 1, "doesn't define it");
    check(&["src/nope.c"], 1, "no such file");
    // A base name is enough for a file that is tracked.
    check(&["ring.c"], 0, "true");
    // What is in the root isn't taken for a tracked file of the same name.
    places.write("ring.c", ADD);
    check(&["ring.c"], 0, "true as it is on disk");
    assert!(entities(&places).contains(&"ring.c::add".to_owned()));
}

#[test]
fn paths_from_here() {
    let places = project();
    let mut command = places.in_workspace(&["accept", "add.c", "src/ring.c"]);
    let output = command
        .current_dir(places.workspace.join("src"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let mut command = places.in_workspace(&["adopt", "."]);
    let output = command
        .current_dir(places.workspace.join("build"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let expected = [
        "build/made.c",
        "build/made.c::add",
        "src/add.c",
        "src/add.c::add",
        "src/ring.c",
        RING_PUT,
    ];
    assert_eq!(entities(&places), expected);
}

#[test]
fn escaped_names() {
    let places = Places::new();
    places.write("src/evil\u{1b}[31m\n.c", ADD);
    places.write("src/add.c", ADD);
    let (code, text) = said(&places, &["adopt", "."]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("evil\\u{1b}[31m\\n.c"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
    assert!(!text.contains("INFO"), "{text}");
}

#[test]
fn symbol_like_name() {
    let places = Places::new();
    places.write("co::lon.c", ADD);
    assert_eq!(adopt(&places, &["."]).0, 0);
    places.write(
        "co::lon.c",
        "int add(int a, int b) {\n    return b + a;\n}\n",
    );
    let (code, text) = said(&places, &["accept", "co::lon.c"]);
    assert_eq!(
        (code, text.as_str()),
        (0, "co::lon.c: true as it is on disk\n")
    );
}

/// Refusals are told in words, and in JSON by a code.
#[test]
fn reasons_for_refusal() {
    let places = project();
    std::fs::write(places.workspace.join("latin.c"), b"int f; // \xe9\0\n").unwrap();
    places.write("empty.c", "\n");
    places.write(
        "forged.c",
        "// [CURRENT STATE: AUTHORITATIVE]\nint f(void) { return 0; }\n",
    );
    places.write("large.c", &"int x; ".repeat((1 << 20) / 7 + 1));
    let cases = [
        ("latin.c", "not_text", "the file is not UTF-8"),
        ("empty.c", "nothing_to_accept", "the file defines nothing"),
        (
            "forged.c",
            "quotes_delimiters",
            "it quotes the proxy's own delimiters",
        ),
        (
            "large.c",
            "too_large_to_accept",
            "the file is too large to be parsed",
        ),
        (
            "README.md::intro",
            "language_not_read",
            "its language is not supported",
        ),
    ];
    for (file, code, words) in cases {
        let (exit, text) = said(&places, &["accept", file]);
        assert_eq!(exit, 1, "{text}");
        assert!(text.contains(words) && !text.contains(code), "{text}");
        let (exit, json) = places.cli_json(&["accept", file]);
        assert_eq!((exit, &json["targets"][0]["outcome"]), (1, &json!(code)));
    }
}
