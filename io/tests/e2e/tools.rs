//! Tools at the real kernel: what they can do, and that they can do nothing else, as root and as an ordinary user.

use std::fs;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::geteuid;
use serde_json::Value;
use tslp_core::event::ToolOutcome;
use tslp_tools::sandbox::{
    Pipeline, PlannedProgram, RunCondition, RunOutcome, Sandbox, SandboxLimits, SandboxPlan,
    SandboxTask, WorkspaceLayer,
};

use crate::harness::Places;
use crate::sandbox::snapshot;

/// An ordinary user, whom root can be.
const NOBODY: u32 = 65534;

/// A workspace whose tools are started by a user.
struct Tools {
    places: Places,
    tslp: PathBuf,
    user: Option<u32>,
}

impl Tools {
    /// By whoever runs the test, and by nobody special if that is root.
    fn of_all_users() -> Vec<Self> {
        let users = match geteuid().is_root() {
            true => vec![None, Some(NOBODY)],
            false => vec![None],
        };
        users.into_iter().map(Self::of).collect()
    }

    fn of(user: Option<u32>) -> Self {
        let places = Places::new();
        let mut tslp = PathBuf::from(env!("CARGO_BIN_EXE_tslp"));
        if user.is_some() {
            // The build's folder may be closed to others.
            tslp = places.path("tslp");
            fs::copy(env!("CARGO_BIN_EXE_tslp"), &tslp).unwrap();
            fs::set_permissions(places.path(""), PermissionsExt::from_mode(0o755)).unwrap();
        }
        fs::create_dir(&places.data).unwrap();
        fs::write(places.data.join("secret"), "secret").unwrap();
        fs::write(places.path("canary"), "canary").unwrap();
        for entry in ["workspace", "home", "data"] {
            chown(places.path(entry), user, user).unwrap();
        }
        Self { places, tslp, user }
    }

    /// What `tslp tool run --json` says of a line.
    fn run(&self, arguments: &[&str], line: &str) -> Value {
        let (workspace, data) = (&self.places.workspace, &self.places.data);
        let mut command = Command::new(&self.tslp);
        command
            .args(["tool", "run", "--json"])
            .args(arguments)
            .arg("--workspace")
            .arg(workspace)
            .arg("--data-dir")
            .arg(data)
            .args(["--", line])
            .env_clear()
            .env("HOME", self.places.path("home"))
            .env("LEAK", "CANARY")
            .current_dir(workspace);
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        let output = command.output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
    }

    /// As [`Self::run`], with a build granted, and what it ended with.
    fn build(&self, line: &str) -> (String, String) {
        let json = self.run(&["--grant", "BUILD_EXEC"], line);
        let text = |key: &str| json[key].as_str().map_or(json.to_string(), str::to_owned);
        (text("ended"), text("output"))
    }
}

/// Whether a process is alive that was started with this argument.
fn is_alive(argument: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap();
    let lines = processes.filter_map(|entry| fs::read(entry.ok()?.path().join("cmdline")).ok());
    lines.into_iter().any(|line| {
        line.split(|byte| *byte == 0)
            .any(|word| word == argument.as_bytes())
    })
}

/// A number that no other process has as an argument.
fn marker(of: &str) -> String {
    format!("9{}{}", std::process::id(), of.len())
}

/// Every way for every user that tools may run as: a way that is closed to one by the kernel's own
/// rights is closed to another by the sandbox alone.
#[test]
fn no_way_out() {
    for (round, tools) in Tools::of_all_users().into_iter().enumerate() {
        let at = |name: &str| tools.places.workspace.join(name);
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let _stream = UnixListener::bind(at("stream.sock")).unwrap();
        let _datagram = UnixDatagram::bind(at("datagram.sock")).unwrap();
        // Another test's child may still hold the last round's socket, between its fork and its exec.
        let name = format!("{}-{round}", marker("abstract"));
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let _abstract = UnixListener::bind_addr(&address).unwrap();
        let fifo = at("fifo");
        assert!(
            Command::new("mkfifo")
                .arg(&fifo)
                .status()
                .unwrap()
                .success()
        );
        let reader = fs::File::options()
            .read(true)
            .write(true)
            .open(&fifo)
            .unwrap();
        let asleep = marker("daemon");
        let text = |name: &str, value: &str| format!("-D{name}=\"{value}\"");
        let path = |name: &str, path: &Path| text(name, path.to_str().unwrap());
        let compiled = Command::new("cc")
            .args(["-w", "-o"])
            .arg(at("escapes"))
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/escapes.c"))
            .arg(path("CANARY", &tools.places.path("canary")))
            .arg(path("DATA", &tools.places.data))
            .arg(format!("-DHOST_PID={}", std::process::id()))
            .arg(format!("-DTCP_PORT={}", tcp.local_addr().unwrap().port()))
            .arg(path("UNIX_STREAM", &at("stream.sock")))
            .arg(path("UNIX_DATAGRAM", &at("datagram.sock")))
            .args([
                text("ABSTRACT", &name),
                path("FIFO", &fifo),
                text("MARKER", &asleep),
            ])
            .status();
        assert!(compiled.unwrap().success());
        tools.places.write("Makefile", "%:\n\t@./escapes $@\n");
        tools.places.write("kept.txt", "kept");
        let listed = Command::new(at("escapes")).output().unwrap();
        let listed = String::from_utf8(listed.stdout).unwrap();
        let attempts: Vec<(&str, &str)> = listed
            .lines()
            .map(|line| line.split_once(' ').unwrap())
            .collect();
        assert!(attempts.len() >= 60, "{}", attempts.len());
        let before = snapshot(&tools.places.workspace);
        let mut wrong = Vec::new();
        for (attempt, expected) in attempts {
            let (ended, output) = tools.build(&format!("make -s {attempt}"));
            let is_fine = match expected {
                "denied" => ended == "exit 0",
                "breach" => ended.starts_with("breach: "),
                "killed" => ended == "exit 2" && output.contains("Bad system call"),
                other => panic!("{other}"),
            };
            if !is_fine {
                wrong.push(format!(
                    "{attempt} by {:?}: {ended}, not {expected}: {output}",
                    tools.user
                ));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(!is_alive(&asleep), "something outlived its sandbox");
        assert!(
            snapshot(&tools.places.workspace) == before,
            "the workspace was changed"
        );
        drop(reader);
    }
}

#[test]
fn builds_leave_no_trace() {
    for tools in Tools::of_all_users() {
        tools.places.write(
            "Makefile",
            "all: a.out\n\t./a.out\na.out: a.c\n\tcc -o $@ a.c\n",
        );
        tools.places.write(
            "a.c",
            "#include <stdio.h>\nint main(void) { puts(\"built\"); return 0; }\n",
        );
        let before = snapshot(&tools.places.workspace);
        let (ended, output) = tools.build("make && ls");
        assert_eq!(ended, "exit 0", "{output}");
        assert!(
            output.contains("built") && output.contains("a.out"),
            "{output}"
        );
        assert!(snapshot(&tools.places.workspace) == before);
        let (ended, output) = tools.build("make CC=nosuch nosuch || echo failed; false");
        assert_eq!(ended, "exit 1", "{output}");
        assert!(output.ends_with("failed\n"), "{output}");
    }
}

/// Real build tools find what they need and write what they want, all of which is gone afterwards.
#[test]
fn cargo_and_python() {
    let tools = Tools::of(None);
    tools.places.write(
        "Cargo.toml",
        "[package]\nname = \"two\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
    );
    tools.places.write(
        "src/lib.rs",
        "pub fn two() -> u8 { 2 }\n#[test]\nfn is_two() { assert_eq!(two(), 2); }\n",
    );
    tools.places.write("test_two.py", "import unittest\nclass Two(unittest.TestCase):\n    def test_two(self):\n        self.assertEqual(1 + 1, 2)\n");
    let before = snapshot(&tools.places.workspace);
    let sysroot = Command::new("rustc")
        .args(["--print", "sysroot"])
        .output()
        .unwrap();
    let sysroot = String::from_utf8(sysroot.stdout).unwrap();
    let arguments = ["--grant", "BUILD_EXEC", "--toolchain", sysroot.trim()];
    let tested = tools.run(&arguments, "cargo test --lib");
    assert_eq!(tested["ended"], "exit 0", "{tested}");
    assert!(
        tested["output"].as_str().unwrap().contains("1 passed"),
        "{tested}"
    );
    if Path::new("/usr/bin/python3").exists() {
        let (ended, output) = tools.build("python3 -m unittest -v");
        assert_eq!(ended, "exit 0", "{output}");
    }
    assert!(snapshot(&tools.places.workspace) == before);
}

/// A number below `below`, the same ones each time.
fn random(state: &mut u64, below: usize) -> usize {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1);
    usize::try_from(*state >> 33).unwrap() % below
}

/// Nothing is alive after two hundred hostile runs.
#[test]
fn no_survivors() {
    const DEEDS: [&str; 12] = [
        "setsid sleep MARKER &",
        "(trap '' TERM HUP; sleep MARKER) &",
        "sh -c 'sleep MARKER & sleep MARKER' &",
        "nohup setsid sh -c 'sleep MARKER' >/dev/null 2>&1 &",
        "kill -9 1; kill -STOP 1;",
        "kill -9 -1;",
        "sleep MARKER | sleep MARKER &",
        "mkfifo f$$; cat f$$ &",
        "exec 1>&- 2>&-;",
        "head -c 3000000 /dev/zero;",
        "unshare -U true &",
        "exit 3;",
    ];
    let (asleep, mut state) = (marker("hostile"), 1);
    let limits = SandboxLimits {
        time: Duration::from_millis(100),
        ..SandboxLimits::default()
    };
    for run in 0..200 {
        let deeds: String = (0..4)
            .map(|_| DEEDS[random(&mut state, DEEDS.len())])
            .collect();
        let outcome = script(&deeds.replace("MARKER", &asleep), limits);
        assert!(
            !matches!(outcome.ended, ToolOutcome::NotStarted(_)),
            "{run}: {deeds}: {}",
            outcome.ended
        );
        assert!(!is_alive(&asleep), "{run}: {deeds}");
    }
}

#[test]
fn reading_writes_nothing() {
    for tools in Tools::of_all_users() {
        tools.places.write("src/a.c", "int a;\nint b;\n");
        std::os::unix::fs::symlink("/etc/shadow", tools.places.workspace.join("link")).unwrap();
        let before = snapshot(&tools.places.workspace);
        let check = |line: &str, ended: &str, output: &str| {
            let json = tools.run(&[], line);
            assert_eq!(
                (json["ended"].as_str(), json["output"].as_str()),
                (Some(ended), Some(output)),
                "{json}"
            );
        };
        check("grep -n b src/a.c", "exit 0", "2:int b;\n");
        check(
            "cat src/a.c | wc -l && echo yes || echo no; false",
            "exit 1",
            "2\nyes\n",
        );
        check("cd src && sed -n 1p a.c", "exit 0", "int a;\n");
        check("grep nothing src/a.c", "exit 1", "");
        let denied = |line: &str, code: &str| {
            let json = tools.run(&[], line);
            let commands = json["commands"].as_array().unwrap();
            let mut verdicts = commands
                .iter()
                .flat_map(|it| it["verdicts"].as_array().unwrap());
            assert!(verdicts.any(|verdict| verdict["code"] == code), "{json}");
            assert_eq!(json["allowed"], false);
        };
        denied("cat link", "SCOPE-BREACH");
        denied("cat /etc/passwd", "SCOPE-BREACH");
        denied("patch .git/hooks/pre-commit", "SCOPE-BREACH");
        denied("make", "CAPABILITY-MISSING");
        denied("curl http://127.0.0.1:1", "COMMAND-CLASS-VIOLATION");
        denied("unshare -Ur", "COMMAND-CLASS-VIOLATION");
        denied("pip install x", "COMMAND-CLASS-VIOLATION");
        denied("goose run --output ../../x", "COMMAND-CLASS-VIOLATION");
        denied(
            &format!("ls {}", tools.places.data.display()),
            "SCOPE-BREACH",
        );
        assert!(snapshot(&tools.places.workspace) == before);
    }
}

/// What a repository's configuration has git run, and a line that has it run: attributes, the key, its value, the line.
const CONFIGURED_PROGRAMS: &[(&str, &str, &str, &str)] = &[
    ("* diff=x", "diff.x.textconv", "./evil", "git diff"),
    ("* diff=x", "diff.x.textconv", "sh ./evil", "git diff HEAD"),
    ("* diff=x", "diff.x.textconv", "sh ./evil", "git log -p"),
    ("* diff=x", "diff.x.textconv", "sh ./evil", "git show"),
    (
        "* diff=x",
        "diff.x.textconv",
        "sh ./evil",
        "git blame a.txt",
    ),
    (
        "* diff=x",
        "diff.x.textconv",
        "sh ./evil",
        "git whatchanged -p",
    ),
    ("* diff=x", "diff.x.command", "./evil", "git diff"),
    ("* diff=x", "diff.x.command", "sh ./evil", "git -C . diff"),
    ("", "diff.external", "./evil", "git diff"),
    ("", "diff.external", "sh ./evil", "git --no-pager diff"),
    ("* filter=x", "filter.x.clean", "sh ./evil", "git status"),
    ("* filter=x", "filter.x.clean", "./evil", "git diff"),
    ("* filter=x", "filter.x.process", "sh ./evil", "git diff"),
    ("", "core.fsmonitor", "./evil", "git status"),
    (
        "",
        "gpg.program",
        "./evil",
        "git show --show-signature SIGNED",
    ),
    (
        "",
        "remote.x.uploadpack",
        "sh ./evil",
        "git cat-file -p MISSING",
    ),
    ("", "remote.x.uploadpack", "./evil", "git show MISSING"),
];

/// Git runs no program that the workspace names.
#[test]
fn git_runs_nothing_else() {
    const RAN: &str = "ran the workspace's program";
    let signed = "tree TREE\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n -----END PGP \
                  SIGNATURE-----\n\nm\n";
    for tools in Tools::of_all_users() {
        let at = |name: &str| tools.places.workspace.join(name);
        let git = |arguments: &[&str]| {
            let mut command = Command::new("git");
            let home = tools.places.path("home");
            command
                .args(arguments)
                .env_clear()
                .env("PATH", "/usr/bin:/bin");
            command
                .env("HOME", home)
                .current_dir(&tools.places.workspace);
            if let Some(user) = tools.user {
                command.uid(user).gid(user);
            }
            let output = command.output().unwrap();
            [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned())
        };
        fs::write(
            at("evil"),
            format!("#!/bin/sh\necho \"{RAN}\" >&2\necho \"{RAN}\"\n"),
        )
        .unwrap();
        fs::set_permissions(at("evil"), PermissionsExt::from_mode(0o755)).unwrap();
        fs::set_permissions(&tools.places.workspace, PermissionsExt::from_mode(0o777)).unwrap();
        git(&["init", "-q"]);
        for (key, value) in [
            ("user.name", "a"),
            ("user.email", "a@b"),
            ("core.repositoryFormatVersion", "1"),
            ("extensions.partialClone", "x"),
            ("remote.x.url", "."),
            ("remote.x.promisor", "true"),
        ] {
            git(&["config", key, value]);
        }
        for text in ["one\n", "two\n"] {
            fs::write(at("a.txt"), text).unwrap();
            git(&["add", "a.txt"]);
            git(&["commit", "-qm", text]);
        }
        let [tree, _] = git(&["rev-parse", "HEAD^{tree}"]);
        fs::write(at("signed"), signed.replace("TREE", tree.trim())).unwrap();
        let [signed, said] = git(&["hash-object", "-t", "commit", "-w", "signed"]);
        assert!(said.is_empty(), "{said}");
        for (attributes, key, value, line) in CONFIGURED_PROGRAMS {
            git(&["config", key, value]);
            // Of the same length: git looks into a file only if it may have changed.
            fs::write(at("a.txt"), "new\n").unwrap();
            fs::write(at(".git/info/attributes"), attributes).unwrap();
            let line = line
                .replace("SIGNED", signed.trim())
                .replace("MISSING", &"5".repeat(40));
            let inside = tools.run(&[], &line);
            assert_eq!(inside["class"], "READ", "{inside}");
            assert!(!inside.to_string().contains(RAN), "{key} {value}: {inside}");
            // It shows what it would show if nothing was configured.
            if key.starts_with("diff.") {
                let shown = inside["output"].as_str().unwrap_or_default();
                let is_shown = ["+new", "+two", ") new"]
                    .iter()
                    .any(|it| shown.contains(it));
                assert!(
                    inside["ended"] == "exit 0" && is_shown,
                    "{key} {value}, {line}: {inside}"
                );
            }
            let words: Vec<&str> = line.split(' ').skip(1).collect();
            let outside = git(&words).concat();
            assert!(outside.contains(RAN), "{key} {value}, {line}: {outside}");
            git(&["config", "--unset", key]);
        }
        fs::write(at(".git/info/attributes"), "").unwrap();
        for (line, output) in [
            ("git diff", "+new"),
            ("git log -p", "+two"),
            ("git status --short", " M a.txt"),
            ("git stash list", ""),
            ("git describe --always --dirty", "-dirty"),
        ] {
            let json = tools.run(&[], line);
            let said = json["output"].as_str().unwrap_or_default();
            assert!(
                json["ended"] == "exit 0" && said.contains(output),
                "{line}: {json}"
            );
        }
    }
}

/// Runs a script in a scratch layer of a fresh workspace.
fn script(script: &str, limits: SandboxLimits) -> RunOutcome {
    let places = Places::new();
    let plan = SandboxPlan {
        workspace: places.workspace.clone(),
        layer: WorkspaceLayer::Scratch,
        hidden: Vec::new(),
        toolchains: Vec::new(),
        cwd: places.workspace.clone(),
        task: SandboxTask::Run(vec![Pipeline {
            when: RunCondition::Always,
            programs: vec![PlannedProgram {
                path: "/bin/sh".into(),
                words: ["sh", "-c", script].map(str::to_owned).into(),
            }],
        }]),
        limits,
    };
    Sandbox::helped_by(env!("CARGO_BIN_EXE_tslp").into()).run_plan(&plan)
}

/// Every limit ends a run with all its processes.
#[test]
fn limits_end_runs() {
    let asleep = marker("limited");
    let check = |text: &str, limits: SandboxLimits, expected: ToolOutcome| {
        let outcome = script(&text.replace("MARKER", &asleep), limits);
        assert_eq!(
            outcome.ended,
            expected,
            "{text}: {}",
            outcome.output.kept_text()
        );
        assert!(!is_alive(&asleep), "{text}");
    };
    let limits = SandboxLimits::default();
    let short = SandboxLimits {
        time: Duration::from_millis(300),
        ..limits
    };
    check("sleep MARKER", short, ToolOutcome::TimedOut);
    check(
        "trap '' TERM INT HUP; sleep MARKER & sleep MARKER; sleep MARKER",
        short,
        ToolOutcome::TimedOut,
    );
    check(
        "setsid sleep MARKER & exit 3",
        limits,
        ToolOutcome::Exited(3),
    );
    check("while :; do :; done", short, ToolOutcome::TimedOut);
    let few = SandboxLimits {
        processes: 20,
        ..limits
    };
    let bomb = "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24; do sleep MARKER & done; wait";
    let ended = script(&bomb.replace("MARKER", &asleep), few).ended;
    // Of an ordinary user the kernel refuses the fork itself.
    assert!(
        [
            ToolOutcome::Limit("processes".into()),
            ToolOutcome::Exited(2)
        ]
        .contains(&ended),
        "{ended}"
    );
    assert!(!is_alive(&asleep));
    let little = SandboxLimits {
        memory_bytes: 64 << 20,
        ..limits
    };
    check(
        "head -c 200000000 /dev/zero | tail -c 200000000 | wc -c",
        little,
        ToolOutcome::Limit("memory".into()),
    );
    let quiet = SandboxLimits {
        output_bytes_max: 1 << 20,
        ..limits
    };
    check("cat /dev/zero", quiet, ToolOutcome::Limit("output".into()));
    check("kill -9 $$", limits, ToolOutcome::Signalled(9));
    let narrow = SandboxLimits {
        scratch_bytes: 1 << 20,
        ..limits
    };
    check(
        "head -c 8000000 /dev/zero > big 2>/tmp/x",
        narrow,
        ToolOutcome::Exited(128 + 25),
    );
    check(
        "for i in 1 2 3; do head -c 700000 /dev/zero > big$i || exit 7; done",
        narrow,
        ToolOutcome::Exited(7),
    );
}

#[test]
fn both_ends_kept() {
    let limits = SandboxLimits {
        output_bytes_kept: 20,
        ..SandboxLimits::default()
    };
    let lines = "echo begin; head -c 100000 /dev/zero; echo; echo end >&2";
    let outcome = script(lines, limits);
    assert_eq!(
        outcome.output.kept_text(),
        "begin\n[100000 bytes left out]\nend\n"
    );
    assert_eq!(
        (outcome.ended, outcome.output.bytes),
        (ToolOutcome::Exited(0), 100_011)
    );
}

#[test]
fn missing_parts() {
    let outcome = Sandbox::helped_by("/nosuch/tslp".into());
    let places = Places::new();
    let plan = |workspace: &Path| SandboxPlan {
        workspace: workspace.to_owned(),
        layer: WorkspaceLayer::ReadOnly,
        hidden: Vec::new(),
        toolchains: Vec::new(),
        cwd: workspace.to_owned(),
        task: SandboxTask::Probe,
        limits: SandboxLimits::default(),
    };
    assert!(
        outcome
            .self_test(&plan(&places.workspace))
            .unwrap_err()
            .contains("nosuch")
    );
    let sandbox = Sandbox::helped_by(env!("CARGO_BIN_EXE_tslp").into());
    assert_eq!(sandbox.self_test(&plan(&places.workspace)), Ok(()));
    let gone = sandbox.self_test(&plan(&places.path("gone"))).unwrap_err();
    assert!(gone.starts_with("the workspace: "), "{gone}");
}
