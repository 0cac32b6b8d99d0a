//! The proxy only ever reads the workspace: a whole scenario under a sandbox that lets it write to its data directory
//! alone, so that it never needs to; and the same scenario without one, with the workspace looked at before and afterwards,
//! so that a try which a sandbox would refuse is seen to have happened.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

use landlock::{
    ABI, AccessFs, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus,
};

use crate::harness::{Places, RING, RING_BETTER, RING_PUT, Tslp, fenced, serving};
use crate::upstream::Upstream;

/// Whether the kernel enforces the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Enforced {
    Yes,
    No,
}

/// Forbids this thread, and every process that it starts, to change any file outside of `writable`.
fn restrict(writable: &Path) -> Enforced {
    let abi = ABI::V3;
    let status = Ruleset::default()
        .handle_access(AccessFs::from_write(abi))
        .unwrap()
        .create()
        .unwrap()
        .add_rule(PathBeneath::new(
            PathFd::new(writable).unwrap(),
            AccessFs::from_write(abi),
        ))
        .unwrap()
        .restrict_self()
        .unwrap();
    match status.ruleset {
        RulesetStatus::NotEnforced => Enforced::No,
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Enforced::Yes,
    }
}

/// Starts a process in the sandbox; `None` where the kernel has none. The restriction is that of a thread of its own, since
/// nothing lifts it again; what the thread starts inherits it.
fn sandboxed(places: &Places, command: &mut Command) -> Option<Child> {
    std::fs::create_dir_all(&places.data).unwrap();
    thread::scope(|scope| {
        let restricted = scope.spawn(|| {
            let enforced = restrict(&places.data) == Enforced::Yes;
            enforced.then(|| command.spawn().unwrap())
        });
        restricted.join().unwrap()
    })
}

/// Starts a process as it is.
fn free(_: &Places, command: &mut Command) -> Option<Child> {
    Some(command.spawn().unwrap())
}

type Start = fn(&Places, &mut Command) -> Option<Child>;

/// Whether the kernel keeps a process that tries from writing; if it does, this also proves that a try would be noticed.
#[expect(
    clippy::print_stderr,
    reason = "a test that proves nothing here says so"
)]
fn sandbox_holds(places: &Places) -> bool {
    let forbidden = places.workspace.join("src/ring.c");
    let try_to_write = |path: &Path| {
        let mut command = Command::new("sh");
        command.args(["-c", "echo x >> \"$0\""]).arg(path);
        // Pipes, since nothing in there may open even /dev/null for writing.
        command.stderr(Stdio::piped());
        sandboxed(places, &mut command)
            .map(|child| child.wait_with_output().unwrap().status.success())
    };
    let Some(wrote) = try_to_write(&forbidden) else {
        eprintln!("skipped: this kernel has no Landlock, so nothing is proven here");
        return false;
    };
    assert!(!wrote, "the sandbox lets a process write to the workspace");
    let allowed = places.data.join("try");
    assert_eq!(try_to_write(&allowed), Some(true));
    std::fs::remove_file(allowed).unwrap();
    true
}

/// What writing to a file changes: its size, its times, its content.
#[derive(PartialEq, Eq)]
pub(crate) struct Seen {
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
    hash: [u8; 32],
}

/// Everything about a folder that writing to it would change: what is in it, and when it was last touched in any way.
pub(crate) fn snapshot(folder: &Path) -> BTreeMap<String, Seen> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            folders.extend(Some(entry.unwrap().path()).filter(|path| path.is_dir()));
        }
        let inside = std::fs::read_dir(&next).unwrap();
        for path in inside
            .map(|entry| entry.unwrap().path())
            .chain([next.clone()])
        {
            let metadata = path.symlink_metadata().unwrap();
            let hash = if metadata.is_file() {
                *blake3::hash(&std::fs::read(&path).unwrap()).as_bytes()
            } else {
                [0; 32]
            };
            let seen = Seen {
                size: metadata.size(),
                modified: (metadata.mtime(), metadata.mtime_nsec()),
                changed: (metadata.ctime(), metadata.ctime_nsec()),
                hash,
            };
            found.insert(path.to_str().unwrap().to_owned(), seen);
        }
    }
    found
}

/// From a tree to truths, a promotion, STALE and back. The user's own edit, and nothing else, happens to the workspace.
fn scenario(start: Start) {
    let (places, upstream) = (project(), Upstream::start());
    let run = |arguments: &[&str]| {
        let mut command = places.in_workspace(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let child = start(&places, &mut command).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    };
    let check_unchanged = |before, what: &str| {
        let now = snapshot(&places.workspace);
        assert!(now == before, "{what} wrote to the workspace");
    };
    let before = snapshot(&places.workspace);
    run(&["adopt", "--dry-run", "."]);
    run(&["adopt", "."]);
    let mut serving = places.in_workspace(&serving(&upstream.url));
    serving.arg("--debug");
    let tslp = Tslp::spawn_by(&places, serving, |command| start(&places, command).unwrap());
    upstream.will_say(fenced("src/ring.c", RING_BETTER));
    tslp.say("improve `ring_put`");
    assert_eq!(tslp.state()[RING_PUT]["origin"], "model");
    tslp.say("explain `ring_put`");
    assert_eq!(tslp.state()[RING_PUT]["disk"], "not_saved");
    check_unchanged(before, "serving");
    places.write("src/ring.c", &RING.replace("return 0;", "return 7;"));
    let before = snapshot(&places.workspace);
    tslp.say("explain `ring_put`");
    assert_eq!(tslp.state()[RING_PUT]["disk"], "unknown");
    tslp.say("@tslp accept src/ring.c");
    assert_eq!(tslp.state()[RING_PUT]["disk"], "same");
    assert_eq!(tslp.page("/doctor")["ok"], true);
    tslp.stop();
    run(&["accept", "src/ring.c"]);
    for command in ["doctor", "state", "recent", "verify", "rebuild", "config"] {
        run(&[command]);
    }
    check_unchanged(before, "a command");
}

fn project() -> Places {
    let places = Places::new();
    places.write("src/ring.c", RING);
    places.write(
        "src/add.c",
        "int add(int a, int b) {\n    return a + b;\n}\n",
    );
    places.write(".gitignore", "/build\n");
    std::fs::create_dir(places.workspace.join(".git")).unwrap();
    places
}

/// law 1, 15.3 | The workspace is read and never written to
/// law 1 | No write to the file system
/// law 13 | SQLite with a WAL, and syntax trees
/// law 15.3 | Files may be read, hashed and parsed; nothing is written, applied or synced
#[test]
fn whole_scenario() {
    scenario(free);
}

/// law 1, 15.3 | The workspace is read and never written to
/// law 1 | No access to the inside of an editor: only what crosses the proxy
#[test]
fn only_data_writable() {
    if sandbox_holds(&project()) {
        scenario(sandboxed);
    }
}

/// What the scenario is held against sees everything that writing leaves behind, also what is put back.
#[test]
fn snapshot_sees_writing() {
    let check = |script: &str| {
        let places = project();
        let before = snapshot(&places.workspace);
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(&places.workspace);
        assert!(command.status().unwrap().success(), "{script}");
        assert!(snapshot(&places.workspace) != before, "{script}");
    };
    check("echo x > new && rm new");
    check("touch -r src/add.c src/ring.c");
    check("cp -p src/ring.c copy && mv copy src/ring.c");
    check("echo x >> src/add.c");
    check("mkdir .git/hooks");
}
