//! `tslp undo`: its patch takes files back byte for byte.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::agents::{called, calls, numbered};
use crate::harness::{Places, RING, RING_BETTER, RING_PUT, Tslp, fenced, prompt, user};
use crate::upstream::{Answer, Step, Upstream, saying};

fn undo(places: &Places, arguments: &[&str]) -> (Vec<u8>, String) {
    let output = places
        .in_workspace(&[&["undo"], arguments].concat())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    (output.stdout, said)
}

fn apply(places: &Places, tool: &[&str], patch: &[u8]) {
    if patch.is_empty() {
        return;
    }
    let mut applying = Command::new(tool[0])
        .args(&tool[1..])
        .current_dir(&places.workspace)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    applying.stdin.take().unwrap().write_all(patch).unwrap();
    let done = applying.wait().unwrap().success();
    assert!(done, "{tool:?}: {}", String::from_utf8_lossy(patch));
}

fn tree(places: &Places) -> BTreeMap<String, Vec<u8>> {
    fn visit(folder: &Path, root: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                visit(&path, root, found);
            } else {
                let name = path
                    .strip_prefix(root)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned();
                found.insert(name, std::fs::read(path).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    visit(&places.workspace, &places.workspace, &mut found);
    found
}

/// A file that the model made goes, and one that it gutted comes back.
#[test]
fn made_and_gutted_files() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING_BETTER);
    let tslp = Tslp::start(&places, &upstream);
    let (patch, said) = undo(&places, &[]);
    assert!(
        patch.is_empty() && said.contains("no reply with code"),
        "{said}"
    );
    let gutted = "int ring_put(struct ring *r, int value) {\n    return 0;\n}\n";
    upstream.will_say(
        fenced("src/ring.c", gutted) + &fenced("src/new.c", RING.replace("ring", "new").as_str()),
    );
    tslp.say("Improve `ring_put` of src/ring.c, and add src/new.c.");
    places.write("src/ring.c", gutted);
    places.write("src/new.c", &RING.replace("ring", "new"));
    let (patch, said) = undo(&places, &["src/ring.c"]);
    assert!(said.contains("takes 1 file back to before e1"), "{said}");
    apply(&places, &["patch", "-p1", "--binary"], &patch);
    assert_eq!(tree(&places)["src/ring.c"], RING_BETTER.as_bytes());
    let (patch, _) = undo(&places, &[]);
    apply(&places, &["git", "apply", "-"], &patch);
    assert_eq!(Vec::from_iter(tree(&places).into_keys()), ["src/ring.c"]);
    let (patch, said) = undo(&places, &[]);
    assert!(
        patch.is_empty() && said.contains("as it was before"),
        "{said}"
    );
    assert!(tslp.state().get(RING_PUT).is_some());
}

/// The text before the second refusal was the first one's.
#[test]
fn first_refused_change() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING_BETTER);
    let tslp = Tslp::start(&places, &upstream);
    let gutted = "int ring_put(struct ring *r, int value) {\n    return 0;\n}\n";
    for _ in 0..2 {
        upstream.will_say(fenced("src/ring.c", gutted));
        tslp.say("Improve `ring_put` of src/ring.c.");
        places.write("src/ring.c", gutted);
    }
    tslp.say("What does src/ring.c do?");
    let log = tslp.log();
    let warnings: Vec<&str> = log.lines().filter(|it| it.contains("WARN")).collect();
    let [warning] = warnings[..] else {
        panic!("one refusal is one story: {log}");
    };
    assert!(warning.contains("`tslp undo src/ring.c`"), "{warning}");
    let (patch, said) = undo(&places, &["src/ring.c"]);
    assert!(said.contains("back to before e1"), "{said}");
    apply(&places, &["patch", "-p1", "--binary"], &patch);
    assert_eq!(tree(&places)["src/ring.c"], RING_BETTER.as_bytes());
}

/// A client that runs a call as soon as it is complete has written the file by the time when the reply is judged.
#[test]
fn written_before_the_end() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING_BETTER);
    let tslp = Tslp::start(&places, &upstream);
    tslp.say("What does src/ring.c do?");
    let gutted = "int ring_put(struct ring *r, int value) {\n    return 0;\n}\n";
    let (go_on, barrier) = crate::upstream::barrier();
    let events = crate::upstream::events(&fenced("src/ring.c", gutted));
    let chunks = events.into_iter().map(Step::Chunk);
    upstream.will(Answer::Steps([barrier].into_iter().chain(chunks).collect()));
    let client = tslp.asking(&prompt("Improve `ring_put` of src/ring.c."));
    upstream.next();
    upstream.next();
    places.write("src/ring.c", gutted);
    go_on.send(()).unwrap();
    tslp.ended(client.response().episode());
    for targets in [&[][..], &["src/ring.c"]] {
        places.write("src/ring.c", gutted);
        let (patch, said) = undo(&places, targets);
        assert!(said.contains("back to before e2"), "{said}");
        apply(&places, &["patch", "-p1", "--binary"], &patch);
        assert_eq!(tree(&places)["src/ring.c"], RING_BETTER.as_bytes());
    }
}

#[test]
fn credential_kept() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let key = "const char *key(void) { return \"sk-abcdefghijklmnop1234567890\"; }\n";
    let (before, after) = (format!("{RING}{key}"), format!("{RING_BETTER}{key}"));
    places.write("src/ring.c", &before);
    let tslp = Tslp::start(&places, &upstream);
    tslp.say("What does src/ring.c do?");
    upstream.will_say(fenced("src/ring.c", RING_BETTER));
    tslp.say("Improve `ring_put` of src/ring.c.");
    places.write("src/ring.c", &after);
    let (patch, _) = undo(&places, &[]);
    assert!(!String::from_utf8_lossy(&patch).contains("REDACTED"));
    apply(&places, &["patch", "-p1", "--binary"], &patch);
    assert_eq!(tree(&places)["src/ring.c"], before.as_bytes());
    tslp.stop();
}

/// What the user wrote meanwhile is never taken for the model's.
#[test]
fn users_words_kept() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    tslp.say("What does src/ring.c do?");
    let mine = RING.replace("return 0;", "return 1;");
    places.write("src/ring.c", &mine);
    upstream.will_say(fenced("src/ring.c", RING_BETTER));
    tslp.say("Improve `ring_put`.");
    places.write("src/ring.c", RING_BETTER);
    let output = places.in_workspace(&["undo"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{said}");
    assert!(
        output.stdout.is_empty() && said.contains("isn't on record"),
        "{said}"
    );
}

/// Choices out of a seed: xorshift.
struct Dice {
    state: u64,
    /// Whether spaces at the ends of lines may change: reading alone doesn't put those on record.
    changes_spaces: bool,
}

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state % u64::try_from(end.max(1)).unwrap()).unwrap()
    }

    fn some_lines(&mut self, text: &str) -> std::ops::Range<usize> {
        let lines = text.lines().count();
        let from = self.below(lines);
        from..lines.min(from + 1 + self.below(6))
    }

    /// The text with one line changed, by somebody who knows the language.
    fn edited(&mut self, text: &str) -> String {
        let mut lines: Vec<&str> = text.lines().collect();
        let assigning = (0..lines.len()).filter(|at| lines[*at].contains(" = "));
        let assigning: Vec<usize> = assigning.collect();
        if assigning.is_empty() {
            return text.to_owned();
        }
        let at = assigning[self.below(assigning.len())];
        let line = lines[at].replace(" = ", " = 2 * ");
        lines[at] = &line;
        lines.join("\n") + "\n"
    }

    /// The text with some lines changed, taken out, or put in.
    fn changed(&mut self, text: &str) -> String {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for _ in 0..=self.below(3) {
            let at = self.below(lines.len());
            match self.below(4) {
                0 if lines.len() > 1 => drop(lines.remove(at)),
                1 => lines.insert(at, format!("{}{}", " ".repeat(self.below(8)), "value = 7;")),
                2 if self.changes_spaces => lines[at].push_str("  "),
                _ => {
                    lines[at] = lines[at]
                        .replace("return", "return 1 +")
                        .replace(" = ", " = 2 * ")
                }
            }
        }
        lines.join("\n") + "\n"
    }
}

/// Real files in three languages.
fn real_files() -> Vec<(String, String)> {
    let agents = Path::new(env!("CARGO_MANIFEST_DIR")).join("../snapshots/agents");
    let names = [
        ("sessions/c/project/src/ring.c", "src/ring.c"),
        ("sessions/c/project/src/token.c", "src/token.c"),
        ("sessions/py/project/shop/stock.py", "shop/stock.py"),
        ("sessions/py/project/shop/order.py", "shop/order.py"),
        ("measure.py", "tools/measure.py"),
        ("relay.py", "tools/relay.py"),
        ("../ctags/typescript.js", "web/typescript.js"),
    ];
    let read = |(from, to): (&str, &str)| {
        (
            to.to_owned(),
            std::fs::read_to_string(agents.join(from)).unwrap(),
        )
    };
    names.into_iter().map(read).collect()
}

/// What a client shows of a file.
fn shown(path: &str, text: &str) -> String {
    format!("{path}\n```\n{text}```\n")
}

/// A file's path, and its new text; `None` deletes it.
type Change = (String, Option<String>);

/// One change by the model, in the shape of some client's: the reply, and what that client does for it.
fn random_change(dice: &mut Dice, places: &Places, path: &str, text: &str) -> (Answer, Change) {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let range = dice.some_lines(text);
    let piece = lines[range.clone()].concat();
    let is_unique = text.matches(&*piece).count() == 1;
    let to = |new: String| (path.to_owned(), Some(new));
    let around = |new: &str| {
        let (ahead, behind) = (&lines[..range.start], &lines[range.end..]);
        to([&ahead.concat(), new, &behind.concat()].concat())
    };
    match dice.below(8) {
        0 | 1 => {
            let new = dice.changed(text);
            (saying(shown(path, &new)), to(new))
        }
        // A listing of the whole file in which nearly all is missing.
        2 => (saying(shown(path, &piece)), to(piece)),
        3 | 4 if is_unique => {
            let new = dice.changed(&piece);
            let block =
                format!("{path}\n```\n<<<<<<< SEARCH\n{piece}=======\n{new}>>>>>>> REPLACE\n```\n");
            (saying(block), around(&new))
        }
        5 if is_unique => {
            let new = dice.changed(&piece);
            let edit = json!({"path": path, "old_string": piece, "new_string": new});
            (calls("edit", &edit).into(), around(&new))
        }
        6 => {
            let (_, ending) = path.rsplit_once('.').unwrap();
            let new = format!("made/by_model_{}.{ending}", dice.below(4));
            let before = std::fs::read_to_string(places.workspace.join(&new));
            let code = before.map_or_else(|_| text.to_owned(), |text| dice.changed(&text));
            let write = json!({"path": new, "content": code});
            (calls("write", &write).into(), (new, Some(code)))
        }
        _ => {
            let patch = format!("*** Begin Patch\n*** Delete File: {path}\n*** End Patch");
            let reply = calls("apply_patch", &json!({"input": patch}));
            (reply.into(), (path.to_owned(), None))
        }
    }
}

/// Sessions one after the other in one tree, each taken back after it. The user edits files by hand in between; each
/// session begins with what clients show of a file.
fn sessions_are_taken_back(seed: u64, sessions: usize) {
    let (places, upstream) = (Places::new(), Upstream::start());
    let reads_by_tool = seed % 2 == 1;
    let mut dice = Dice {
        state: 0x9E37_79B9_7F4A_7C15 ^ (seed + 1),
        changes_spaces: !reads_by_tool,
    };
    for (path, text) in real_files() {
        places.write(&path, &text);
    }
    let names: Vec<String> = tree(&places).into_keys().collect();
    let tslp = Tslp::start(&places, &upstream);
    let tool =
        |name: &str| json!({"type": "function", "function": {"name": name, "parameters": {}}});
    let tools = ["edit", "write", "apply_patch"].map(tool);
    for session in 0..sessions {
        if dice.below(2) == 0 {
            let path = &names[dice.below(names.len())];
            let text = String::from_utf8(tree(&places)[path].clone()).unwrap();
            places.write(path, &dice.edited(&text));
        }
        let start = tree(&places);
        let (mut talk, mut first, mut before_last) = (Vec::new(), None, start.clone());
        let mut seen: BTreeMap<String, ()> = BTreeMap::new();
        for turn in 0..=dice.below(4) {
            let path = &names[dice.below(names.len())];
            let Some(bytes) = tree(&places).remove(path) else {
                continue;
            };
            let text = String::from_utf8(bytes).unwrap();
            if text.is_empty() {
                continue;
            }
            let words = format!("Session {session}, turn {turn}: please improve {path}.");
            let shows = seen.insert(path.clone(), ()).is_none() || dice.below(2) == 0;
            match shows && !reads_by_tool {
                true => talk.push(user(&format!("{}\n{words}", shown(path, &text)))),
                false => talk.push(user(&words)),
            }
            if shows && reads_by_tool {
                talk.extend(called("read", &json!({"path": path}), &numbered(&text)));
            }
            before_last = tree(&places);
            let (reply, (changed, new)) = random_change(&mut dice, &places, path, &text);
            upstream.will(reply);
            let request = json!({"model": "m", "messages": talk, "tools": tools, "stream": true});
            let response = tslp.chat(&request);
            assert_eq!(response.status(), 200, "{response:?}");
            first.get_or_insert(response.episode());
            talk.push(json!({"role": "assistant", "content": "Done."}));
            // Whatever the proxy made of it.
            match new {
                Some(text) => places.write(&changed, &text),
                None => std::fs::remove_file(places.workspace.join(&changed)).unwrap(),
            }
        }
        let Some(first) = first else { continue };
        let tool: &[&str] = match dice.below(2) {
            0 => &["patch", "-p1", "--binary"],
            _ => &["git", "apply", "-"],
        };
        let (now, context) = (tree(&places), format!("seed {seed}, session {session}"));
        let back = |wish: &[&str], expected: &BTreeMap<String, Vec<u8>>| {
            let (patch, said) = undo(&places, wish);
            apply(&places, tool, &patch);
            let found = tree(&places);
            for path in expected.keys().chain(found.keys()) {
                let of = |tree: &BTreeMap<String, Vec<u8>>| {
                    tree.get(path)
                        .map(|it| String::from_utf8_lossy(it).into_owned())
                };
                assert!(
                    of(&found) == of(expected),
                    "{context}, {path}: {said}\n{:?}\n{:?}\n{:?}",
                    of(&now),
                    of(expected),
                    of(&found)
                );
            }
        };
        if dice.below(3) == 0 {
            back(&[], &before_last);
        }
        back(&["--episode", &first.to_string()], &start);
    }
}

/// Random sessions in real trees are undone byte for byte.
///
/// Ten sessions in each of twenty trees: what an undo gets wrong depends on what earlier sessions left
/// in the files, which the first sessions of a tree can't show.
#[test]
fn random_sessions() {
    std::thread::scope(|scope| {
        for worker in 0..2 {
            scope.spawn(move || {
                for seed in 0..10 {
                    sessions_are_taken_back(worker * 10 + seed, 10);
                }
            });
        }
    });
}
