//! `tslp undo`: its patch takes files back byte for byte.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::harness::{Places, RING, RING_BETTER, RING_PUT, Tslp, fenced, prompt};
use crate::upstream::Upstream;

/// Sessions of random edits.
const SESSIONS: u64 = 200;

/// Numbers that look random, and are the same each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

/// Real files: this repository's own, of several languages.
fn real_files() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let folders = [
        "core/src",
        "projections/src",
        "io/src/config",
        "snapshots/value",
    ];
    let mut found = Vec::new();
    for folder in folders {
        let mut paths: Vec<PathBuf> = std::fs::read_dir(root.join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|it| it == "rs" || it == "py"))
            .collect();
        paths.sort();
        for path in paths {
            let text = std::fs::read_to_string(&path).unwrap();
            // What holds made-up credentials or the proxy's delimiters never becomes true.
            if text.len() < 20_000
                && !text.contains("CURRENT STATE")
                && !text.contains("STATE NOTICE")
            {
                let name = path
                    .strip_prefix(root)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned();
                found.push((name, text));
            }
        }
    }
    found
}

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

/// A SEARCH/REPLACE block of some lines that are there once, and the text that it makes.
fn random_edit(chance: &mut Chance, path: &str, text: &str) -> Option<(String, String)> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let count = 1 + chance.below(4);
    let at = chance.below(lines.len().checked_sub(count)?.max(1));
    let old = lines[at..at + count].concat();
    let (eol, mark) = (
        if old.ends_with("\r\n") { "\r\n" } else { "\n" },
        if path.ends_with("py") { "#" } else { "//" },
    );
    if text.matches(&old).count() != 1 || !old.ends_with('\n') {
        return None;
    }
    let new = match chance.below(4) {
        0 => format!("{old}{mark} one line more{eol}"),
        1 => format!("{mark} another line{eol}{old}"),
        2 => String::new(),
        _ => old.replacen("let ", "let  ", 1) + mark + eol,
    };
    let block = format!("{path}\n```\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n```\n");
    Some((block, text.replacen(&old, &new, 1)))
}

#[test]
fn random_sessions_are_taken_back_byte_for_byte() {
    let files = real_files();
    assert!(files.len() > 40, "{}", files.len());
    let mut chance = Chance(7);
    let (mut taken_back, mut without) = (0, 0);
    for session in 0..SESSIONS {
        let (places, upstream) = (Places::new(), Upstream::start());
        let proxy = Tslp::start(&places, &upstream);
        let project: Vec<&(String, String)> =
            (0..3).map(|_| &files[chance.below(files.len())]).collect();
        for (path, text) in &project {
            let text = match chance.below(4) {
                0 => text.replace('\n', "\r\n"),
                1 => text.trim_end().to_owned(),
                _ => text.clone(),
            };
            places.write(path, &text);
        }
        let mut before = vec![tree(&places)];
        let mut episodes = Vec::new();
        for _ in 0..1 + chance.below(4) {
            let path = &project[chance.below(project.len())].0;
            let text = String::from_utf8(tree(&places)[path].clone()).unwrap();
            let Some((reply, made)) = random_edit(&mut chance, path, &text) else {
                continue;
            };
            upstream.will_say(reply);
            let answer = proxy.chat(&prompt(&format!("Change {path}, as you think best.")));
            upstream.next();
            episodes.push(answer.episode());
            // The client writes it, whatever the proxy thinks of it.
            places.write(path, &made);
            before.push(tree(&places));
        }
        let Some(last) = episodes.len().checked_sub(1) else {
            without += 1;
            continue;
        };
        let back_to = chance.below(last + 1);
        let episode = episodes[back_to].to_string();
        let (patch, _) = match back_to == last {
            true => undo(&places, &["--last-reply"]),
            false => undo(&places, &["--episode", &episode]),
        };
        let tool: &[&str] = match chance.below(2) {
            0 => &["git", "apply", "-"],
            _ => &["patch", "-p1", "--binary"],
        };
        apply(&places, tool, &patch);
        let (now, then) = (tree(&places), &before[back_to]);
        for (path, text) in then {
            let (now, then) = (
                String::from_utf8_lossy(&now[path]),
                String::from_utf8_lossy(text),
            );
            assert_eq!(now, then, "session {session}: {path}");
        }
        assert_eq!(now.len(), then.len(), "session {session}");
        taken_back += 1;
    }
    assert!(
        taken_back > SESSIONS * 9 / 10,
        "{taken_back} of {SESSIONS}, {without} without an edit"
    );
}

#[test]
fn a_file_that_the_model_made_goes_and_one_that_it_gutted_comes_back() {
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

#[test]
fn what_the_user_wrote_meanwhile_is_never_taken_for_the_models() {
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
