//! What can happen to a file between two prompts, and what the proxy makes of it. docs/testing.md lists them all.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::{Places, RING, RING_PUT, Tslp, fenced, serving};
use crate::upstream::Upstream;

/// The same function after a person edited it, in as many bytes.
fn by_hand() -> String {
    RING.replace("return 0;", "return 7;")
}

/// What happens to the file, which is named, and the folder outside of the workspace that it may use.
type Fault = fn(file: &Path, outside: &Path);

/// Has the fault happen between a paste of what the file holds and a prompt, and holds what `/state` says of the disk then
/// against what is expected. Whether the code was shown follows from that.
#[track_caller]
fn check(expected: &str, fault: Fault) {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    upstream.next();
    assert_eq!(tslp.state()[RING_PUT]["disk"], "same");
    fault(&places.workspace.join("src/ring.c"), &places.path("home"));
    check_verdict(&tslp, &upstream, expected);
}

#[track_caller]
fn check_verdict(tslp: &Tslp<'_>, upstream: &Upstream, expected: &str) {
    tslp.say("explain `ring_put`");
    let shown = upstream.next().system().starts_with("[CURRENT STATE");
    let entity = &tslp.state()[RING_PUT];
    assert_eq!(entity["disk"], expected);
    let stale = matches!(expected, "unknown" | "superseded");
    assert_eq!(entity["stale"], stale, "{entity}");
    assert_eq!(
        shown,
        !stale && !["unreadable", "missing"].contains(&expected),
        "{expected}"
    );
}

/// The reason for which the one file couldn't be read, in `/doctor`.
#[track_caller]
fn check_reason(tslp: &Tslp<'_>, reason: &str) {
    let doctor = tslp.page("/doctor");
    assert_eq!(doctor["read_failures"][reason], 1, "{doctor}");
}

fn run(program: &str, arguments: &[&str]) -> bool {
    let output = Command::new(program).args(arguments).output();
    output.is_ok_and(|output| output.status.success())
}

#[expect(
    clippy::print_stderr,
    reason = "a test that proves nothing here says so"
)]
fn skipped(why: &str) {
    eprintln!("skipped: {why}");
}

#[test]
fn replaced_by_a_rename() {
    check("unknown", |file, outside| {
        let new = outside.join("new");
        fs::write(&new, by_hand()).unwrap();
        fs::rename(new, file).unwrap();
    });
    check("same", |file, outside| {
        let new = outside.join("new");
        fs::write(&new, RING).unwrap();
        fs::rename(new, file).unwrap();
    });
}

/// Of what a broken text may hide nothing is known, so the last word holds.
#[test]
fn truncated_in_place() {
    check("same", |file, _| {
        fs::File::options()
            .write(true)
            .open(file)
            .unwrap()
            .set_len(40)
            .unwrap();
    });
    check("unknown", |file, _| fs::write(file, "").unwrap());
}

#[test]
fn gone() {
    check("missing", |file, _| fs::remove_file(file).unwrap());
    check("missing", |file, _| {
        fs::remove_dir_all(file.parent().unwrap()).unwrap()
    });
}

#[test]
fn replaced_by_no_file() {
    check("unreadable", |file, _| {
        fs::remove_file(file).unwrap();
        fs::create_dir(file).unwrap();
    });
    check("unreadable", |file, _| {
        fs::remove_file(file).unwrap();
        assert!(run("mkfifo", &[file.to_str().unwrap()]));
    });
}

#[test]
fn replaced_by_inner_link() {
    check("unreadable", |file, _| {
        fs::rename(file, file.with_file_name("moved.c")).unwrap();
        symlink("moved.c", file).unwrap();
    });
    check("unreadable", |file, _| {
        fs::write(file.with_file_name("other.c"), by_hand()).unwrap();
        fs::remove_file(file).unwrap();
        symlink("other.c", file).unwrap();
    });
}

#[test]
fn replaced_by_outer_link() {
    check("unreadable", |file, outside| {
        let moved = outside.join("moved.c");
        fs::rename(file, &moved).unwrap();
        symlink(moved, file).unwrap();
    });
    check("unreadable", |file, outside| {
        let folder = file.parent().unwrap();
        fs::rename(folder, outside.join("src")).unwrap();
        symlink(outside.join("src"), folder).unwrap();
    });
}

#[test]
fn endings_and_bom() {
    check("same", |file, _| {
        fs::write(file, RING.replace('\n', "\r\n")).unwrap()
    });
    check("same", |file, _| {
        fs::write(file, format!("\u{feff}{RING}")).unwrap()
    });
}

#[test]
fn indented_anew() {
    check("same", |file, _| {
        let lines: Vec<String> = RING.lines().map(|line| format!("\t{line}\n")).collect();
        fs::write(file, lines.concat()).unwrap();
    });
    // What a formatter does to the layout inside of a function is no news either.
    check("same", |file, _| {
        fs::write(file, RING.replace("    ", "\t")).unwrap()
    });
}

#[test]
fn one_function_indented() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let file = "def g():\n    return 1\n";
    places.write("g.py", file);
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&format!("```python:g.py\n{file}```\n"));
    let check = |on_disk: &str, function: &str, whole: &str| {
        places.write("g.py", on_disk);
        tslp.say("look at g.py and `g()`");
        let state = tslp.state();
        assert_eq!(state["g.py::g"]["disk"], function, "{on_disk:?}");
        assert_eq!(state["g.py"]["disk"], whole, "{on_disk:?}");
    };
    // Layout alone is no news.
    check(&file.replace("    ", "\t"), "same", "same");
    // Of what a broken text may hide nothing is known.
    check(&file.replace("    ", ""), "same", "unknown");
    check(file, "same", "same");
}

#[test]
fn invalid_utf8() {
    check("unknown", |file, _| {
        let mut bytes = RING.as_bytes().to_vec();
        let at = RING.find("value;").unwrap();
        bytes[at] = 0xff;
        fs::write(file, bytes).unwrap();
    });
    check("same", |file, _| {
        let mut bytes = b"/* caf\xe9 */\n\n".to_vec();
        bytes.extend(RING.as_bytes());
        fs::write(file, bytes).unwrap();
    });
}

#[test]
fn restored_time() {
    check("unknown", |file, _| {
        let modified = fs::metadata(file).unwrap().modified().unwrap();
        fs::write(file, by_hand()).unwrap();
        assert_eq!(by_hand().len(), RING.len());
        let opened = fs::File::options().write(true).open(file).unwrap();
        opened.set_modified(modified).unwrap();
    });
}

#[test]
fn edits_within_granularity() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    upstream.next();
    for _ in 0..8 {
        places.write("src/ring.c", &by_hand());
        check_verdict(&tslp, &upstream, "unknown");
        places.write("src/ring.c", RING);
        check_verdict(&tslp, &upstream, "same");
    }
}

#[test]
fn twin_in_other_case() {
    let (places, upstream) = (Places::new(), Upstream::start());
    places.write("src/ring.c", RING);
    places.write("src/Ring.c", &by_hand());
    if fs::read_to_string(places.workspace.join("src/ring.c")).unwrap() != RING {
        return skipped("this file system doesn't tell upper from lower case");
    }
    assert_eq!(places.cli_json(&["adopt", "."]).0, 0);
    let tslp = Tslp::start(&places, &upstream);
    let state = tslp.state();
    assert_ne!(
        state[RING_PUT]["artifact"],
        state["src/Ring.c::ring_put"]["artifact"]
    );
    fs::remove_file(places.workspace.join("src/Ring.c")).unwrap();
    tslp.say("explain src/ring.c::ring_put and src/Ring.c::ring_put");
    let state = tslp.state();
    assert_eq!(state[RING_PUT]["disk"], "same");
    assert_eq!(state["src/Ring.c::ring_put"]["disk"], "missing");
}

/// Root reads everything, so the proxy runs as nobody if the test runs as root.
#[test]
fn made_unreadable() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let (file, data) = (places.workspace.join("src/ring.c"), &places.data);
    places.write("src/ring.c", RING);
    let mut command = places.in_workspace(&serving(&upstream.url));
    if rustix::process::geteuid().is_root() {
        command = as_nobody(&places, &command);
        fs::create_dir(data).unwrap();
        chown(data, Some(NOBODY), Some(NOBODY)).unwrap();
        fs::set_permissions(places.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let tslp = Tslp::spawn(&places, command);
    tslp.say(&fenced("src/ring.c", RING));
    upstream.next();
    assert_eq!(tslp.state()[RING_PUT]["disk"], "same");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
    check_verdict(&tslp, &upstream, "unreadable");
    check_reason(&tslp, "denied");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    check_verdict(&tslp, &upstream, "same");
}

const NOBODY: u32 = 65534;

/// The same command by somebody without rights, from a place where they may execute it.
fn as_nobody(places: &Places, command: &Command) -> Command {
    let program = places.path("tslp");
    if fs::hard_link(command.get_program(), &program).is_err() {
        fs::copy(command.get_program(), &program).unwrap();
    }
    let mut same = Command::new(program);
    same.args(command.get_args())
        .env_clear()
        .env("HOME", places.path("home"))
        .current_dir(places.path("home"))
        .uid(NOBODY)
        .gid(NOBODY);
    same
}

/// A file system of its own in the workspace, taken away when dropped.
struct Mount(PathBuf);

impl Mount {
    fn new(folder: PathBuf) -> Option<Self> {
        fs::create_dir_all(&folder).unwrap();
        let path = folder.to_str().unwrap();
        run("mount", &["-t", "tmpfs", "-o", "size=64k", "tmpfs", path]).then_some(Self(folder))
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        run("umount", &["-l", self.0.to_str().unwrap()]);
    }
}

#[test]
fn full_and_lost_mount() {
    let (places, upstream) = (Places::new(), Upstream::start());
    let Some(mount) = Mount::new(places.workspace.join("src")) else {
        return skipped("no file system may be mounted here");
    };
    places.write("src/ring.c", RING);
    let tslp = Tslp::start(&places, &upstream);
    tslp.say(&fenced("src/ring.c", RING));
    upstream.next();
    check_verdict(&tslp, &upstream, "same");
    // The editor cuts the file, and there is no room for what it holds now.
    let room = fs::write(places.workspace.join("src/filler"), vec![0; 1 << 20]);
    assert!(room.is_err(), "64 KiB hold no mebibyte");
    let saved = fs::write(places.workspace.join("src/ring.c"), by_hand().repeat(1000));
    assert!(saved.is_err(), "there is room left");
    check_verdict(&tslp, &upstream, "unknown");
    drop(mount);
    check_verdict(&tslp, &upstream, "missing");
}

/// law 13 | Memory stays bounded
#[test]
fn large_tree_adopted() {
    large_tree(2000);
}

#[test]
#[ignore = "makes 100,000 files: some 20 seconds"]
fn huge_tree_adopted() {
    large_tree(100_000);
}

/// Dry, so that it is the tree's size alone that could take memory.
fn large_tree(files: usize) {
    let places = Places::new();
    for n in 0..files {
        let folder = places.workspace.join(format!("src/d{}", n / 100));
        if n % 100 == 0 {
            fs::create_dir(&folder).unwrap();
        }
        let text = format!("int f{n}(int x) {{\n    return x + {n};\n}}\n");
        fs::write(folder.join(format!("f{n}.c")), text).unwrap();
    }
    let mut command = places.in_workspace(&["adopt", "--dry-run", ".", "--json"]);
    let mut child = command
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let mut peak_kib = 0;
    while child.try_wait().unwrap().is_none() {
        peak_kib = peak_kib.max(high_water_kib(&status));
        std::thread::yield_now();
    }
    let output = child.wait_with_output().unwrap();
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["files_adopted"], files, "{summary}");
    assert!(peak_kib > 0, "the process was never seen");
    assert!(peak_kib <= 64 << 10, "{peak_kib} KiB");
    assert!(!places.data.exists());
}

fn high_water_kib(status: &Path) -> u64 {
    let status = fs::read_to_string(status).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok())
        .unwrap_or(0)
}

/// The list says which test stands for each fault; no name in it may be out of date.
#[test]
fn listed_tests_exist() {
    let page = include_str!("../../../docs/testing.md");
    let (_, list) = page
        .split_once("\n## Faults of files\n")
        .expect("the faults");
    let sources = [
        include_str!("faults.rs"),
        include_str!("stale.rs"),
        include_str!("adopt.rs"),
        include_str!("sandbox.rs"),
        include_str!("../../workspace/src/observer/tests.rs"),
    ];
    let rows = list
        .lines()
        .filter(|line| line.starts_with("| ") && line.contains('`'));
    let mut named = 0;
    for row in rows {
        let tests = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        for name in tests.split('`').skip(1).step_by(2) {
            let function = format!("fn {name}()");
            assert!(
                sources.iter().any(|source| source.contains(&function)),
                "{name}"
            );
            named += 1;
        }
    }
    assert!(named > 20, "{named}");
}
