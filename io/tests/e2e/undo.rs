//! `tslp undo`: its patch takes files back byte for byte.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::harness::{Places, RING, RING_BETTER, RING_PUT, Tslp, fenced};
use crate::upstream::Upstream;

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
