//! The self-test: pid 1, with all that a tool would be denied denied to it, tries to get out.

use std::fs::{self, File};
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::net::UnixDatagram;
use std::path::Path;

use rustix::mount::MountFlags;
use rustix::thread::UnshareFlags;

use super::plan::{SandboxPlan, WorkspaceLayer};
use super::system;
use tslp_core::event::ToolOutcome;

/// Whether a try succeeded.
type EscapeTry = (&'static str, fn(&SandboxPlan) -> bool);

const TRIES: &[EscapeTry] = &[
    ("another's passwords can be read", |_| {
        fs::read("/etc/shadow").is_ok()
    }),
    ("the data directory is visible", |plan| {
        plan.hidden.iter().any(|path| has_content(path))
    }),
    ("home folders are visible", |plan| {
        let is_elsewhere = |home: &&&str| !plan.workspace.starts_with(home);
        let mut homes = ["/root", "/home"].iter().filter(is_elsewhere);
        homes.any(|home| has_content(Path::new(home)) && plan.toolchains.is_empty())
    }),
    ("the system can be written to", |_| {
        File::create("/usr/bin/tslp-probe").is_ok() || File::create("/tslp-probe").is_ok()
    }),
    ("the workspace can be written to", |plan| {
        plan.layer == WorkspaceLayer::ReadOnly
            && File::create(plan.workspace.join(".tslp-probe")).is_ok()
    }),
    ("there are sockets", |_| {
        TcpListener::bind("127.0.0.1:0").is_ok()
            || UnixDatagram::unbound().is_ok()
            || UnixDatagram::pair().is_ok()
    }),
    ("file systems can be mounted", |_| {
        rustix::mount::mount("tmpfs", "/tmp", "tmpfs", MountFlags::empty(), None).is_ok()
    }),
    ("other processes can be seen", |_| {
        let pids = fs::read_dir("/proc").into_iter().flatten().flatten();
        let is_pid =
            |entry: &fs::DirEntry| entry.file_name().as_encoded_bytes()[0].is_ascii_digit();
        pids.filter(is_pid).count() != 1
    }),
    ("a kernel's setting can be changed", |_| {
        let opened = File::options()
            .write(true)
            .open("/proc/sys/kernel/hostname");
        opened.is_ok_and(|mut file| file.write_all(b"x").is_ok())
    }),
];

/// Makes all tries; the last one is held and never comes back, if all is well.
pub(super) fn try_all_escapes(plan: &SandboxPlan) -> ToolOutcome {
    if let Some((what, _)) = TRIES.iter().find(|(_, escapes)| escapes(plan)) {
        return ToolOutcome::Breach((*what).to_owned());
    }
    // Whether it works or fails: it should never have been answered.
    let _ = system::unshare_namespaces(UnshareFlags::NEWUSER);
    ToolOutcome::Breach("system calls aren't held".to_owned())
}

/// Whether there is anything to be seen.
fn has_content(path: &Path) -> bool {
    let entries = fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
    entries || fs::read(path).is_ok_and(|content| !content.is_empty())
}
