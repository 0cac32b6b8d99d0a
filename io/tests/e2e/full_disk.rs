//! A disk without room, a real one: a small file system in memory that only the process under test sees.

use std::path::PathBuf;
use std::process::Command;

use crate::harness::{
    CHAT, JSON, Places, RING, RING_PUT, Tslp, eventually, fenced, prompt, serving,
};
use crate::upstream::Upstream;

/// What the file system holds, and how much of it is taken away at first: the rest is room for the ledger and less than
/// what the proxy wants to see before it goes on.
const MOUNT: &str = "mount -t tmpfs -o size=16m,mode=700 none \"$DATA\" && \
     head -c 12m /dev/zero > \"$DATA/ballast\" && exec \"$0\" \"$@\"";

/// Whether this system lets its users have a file system of their own.
#[expect(
    clippy::print_stderr,
    reason = "a test that proves nothing here must say so"
)]
pub(crate) fn can_mount(places: &Places) -> bool {
    let mut trial = in_namespace(places, "mount -t tmpfs none \"$DATA\"");
    let done = trial.output().is_ok_and(|output| output.status.success());
    if !done {
        eprintln!("skipped: no file system can be mounted here, so nothing is proven");
    }
    done
}

pub(crate) fn in_namespace(places: &Places, script: &str) -> Command {
    let mut command = Command::new("unshare");
    command.args([
        "--user",
        "--map-root-user",
        "--mount",
        "/bin/sh",
        "-c",
        script,
    ]);
    command
        .env("DATA", &places.data)
        .env("HOME", places.path("home"));
    command
}

/// A full disk is told, and once there is room the proxy goes on by itself.
#[test]
fn full_file_system() {
    let (places, upstream) = (Places::new(), Upstream::start());
    std::fs::create_dir(&places.data).unwrap();
    if !can_mount(&places) {
        return;
    }
    let served = places.in_workspace(&serving(&upstream.url));
    let mut command = in_namespace(&places, MOUNT);
    command.arg(served.get_program()).args(served.get_args());
    let tslp = Tslp::spawn(&places, command);
    tslp.say(&fenced("src/ring.c", RING));

    let ask = |text: &str| tslp.request("POST", CHAT, &[JSON], prompt(text).to_string().as_bytes());
    let mut answered = 0;
    let refused = loop {
        let response = ask(&format!(
            "{answered} {}",
            "some words of a prompt ".repeat(20_000)
        ));
        if response.status() != 200 {
            break response;
        }
        answered = response.episode();
        assert!(answered < 1000, "the disk is never full");
    };
    assert_eq!(refused.status(), 400, "{refused:?}");
    let error = &refused.json()["error"];
    assert_eq!(error["code"], "ledger_failed");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("is full; free space"), "{message}");
    assert_eq!(ask("again").status(), 400);
    assert_eq!(tslp.get("/health").status(), 200);

    std::fs::remove_file(inside(&tslp, &places.data.join("ballast"))).unwrap();
    eventually(|| tslp.log().contains("listening again").then_some(()));
    let episode = tslp.say("how does `ring_put` work?").episode();
    assert!(episode > answered, "{episode} after {answered}");
    let recent = tslp.page("/recent?limit=64");
    let kept = recent["episodes"].as_array().unwrap();
    assert!(kept.iter().any(|kept| kept["episode_id"] == answered));
    assert_eq!(tslp.state()[RING_PUT]["origin"], "user");
    tslp.at_rest();
    let doctor = tslp.page("/doctor");
    let checks = doctor["checks"].as_array().unwrap();
    let failed = checks.iter().filter(|check| check["status"] == "failed");
    let failed: Vec<_> = failed.map(|check| &check["check"]).collect();
    assert_eq!(
        failed,
        ["disk space"],
        "so small a disk is warned of: {doctor}"
    );
    tslp.stop();
}

/// A path as the process sees it.
fn inside(tslp: &Tslp<'_>, path: &std::path::Path) -> PathBuf {
    let root = PathBuf::from(format!("/proc/{}/root", tslp.id()));
    root.join(path.strip_prefix("/").unwrap())
}
