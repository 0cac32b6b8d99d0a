//! The first helper: it leaves the user's namespaces and starts pid 1 of new ones.

use std::io::{self, Write};
use std::process::{Command, ExitCode};

use rustix::process::{getegid, geteuid};
use rustix::thread::{
    UnshareFlags, capabilities, configure_capability_in_ambient_set, set_capabilities,
};

use super::outcome::RunOutcome;
use super::system;

/// The user id inside: never root, whoever started tslp, so that an exec drops all capabilities.
const USER_INSIDE: u32 = 1000;

/// All namespaces: nothing of the outside is visible.
const NAMESPACES: UnshareFlags = UnshareFlags::NEWUSER
    .union(UnshareFlags::NEWNS)
    .union(UnshareFlags::NEWPID)
    .union(UnshareFlags::NEWNET)
    .union(UnshareFlags::NEWIPC)
    .union(UnshareFlags::NEWUTS)
    .union(UnshareFlags::NEWCGROUP);

/// Enters new namespaces, starts pid 1 in them, and waits for its end.
pub(super) fn run_first_helper() -> ExitCode {
    match enter_namespaces().and_then(|()| start_init()) {
        Ok(()) => ExitCode::SUCCESS,
        Err((what, error)) => {
            report_refusal(format!("{what}: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Reports to the parent why nothing is run.
pub(super) fn report_refusal(why: String) {
    send_report(&RunOutcome::not_started(why));
}

/// Writes a report for tslp. A failed write means that tslp is gone.
pub(super) fn send_report(report: &RunOutcome) {
    let _ = serde_json::to_writer(io::stderr(), report);
    let _ = io::stderr().flush();
}

/// The step that failed, and its error.
pub(super) type SetupFailure = (&'static str, io::Error);

fn enter_namespaces() -> Result<(), SetupFailure> {
    // Asked before the new namespace, in which they have no names yet.
    let (user, group) = (geteuid(), getegid());
    system::close_all_but_standard().map_err(|error| ("close_range", error))?;
    if user.is_root() {
        rustix::thread::set_thread_groups(&[]).map_err(|error| ("setgroups", error.into()))?;
    }
    system::unshare_namespaces(NAMESPACES)
        .map_err(|error| ("user namespaces are not available", error))?;
    let map = |file: &'static str, line: String| {
        std::fs::write(format!("/proc/self/{file}"), line).map_err(|error| (file, error))
    };
    // The kernel takes a group map from an unprivileged process only after it has given up `setgroups`.
    map("setgroups", "deny".to_owned())?;
    map("uid_map", format!("{USER_INSIDE} {} 1", user.as_raw()))?;
    map("gid_map", format!("{USER_INSIDE} {} 1", group.as_raw()))?;
    keep_over_exec().map_err(|error| ("capabilities", error.into()))
}

/// Pid 1 needs to mount, with all that a layer's owner may do, and to give up the right to. Nobody special would lose it all
/// by an exec.
fn keep_over_exec() -> rustix::io::Result<()> {
    let mut sets = capabilities(None)?;
    sets.inheritable = sets.permitted;
    set_capabilities(None, sets)?;
    let mut kept = sets.permitted.iter();
    kept.try_for_each(|it| configure_capability_in_ambient_set(it, true))
}

fn start_init() -> Result<(), SetupFailure> {
    let mut init = Command::new("/proc/self/exe");
    let status = init.arg(super::INIT).env_clear().status();
    status.map(drop).map_err(|error| ("pid 1", error))
}
