//! Drops pid 1's rights before it starts a tool. No process that it starts can get them back.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};
use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};
use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_capabilities_secure_bits,
    set_no_new_privs,
};

use super::enter::SetupFailure;
use super::plan::{SandboxLimits, SandboxPlan, WorkspaceLayer};
use super::root::DEVICES;
use super::{filter, system};

/// The least Landlock that is enough, of Linux 6.2: before it, files could be truncated that can't be written to.
const LANDLOCK_NEEDED: ABI = ABI::V3;

/// Sets the process's limits and drops its capabilities; other processes inside can't inspect it.
pub(super) fn restrict_process(limits: &SandboxLimits) -> Result<(), SetupFailure> {
    let step = |what: &'static str| move |error: rustix::io::Errno| (what, io::Error::from(error));
    for (resource, most) in [
        (Resource::As, limits.address_bytes),
        (Resource::Cpu, limits.time.as_secs() + 1),
        (Resource::Fsize, limits.scratch_bytes),
        (Resource::Nofile, limits.open_files),
        (Resource::Nproc, limits.processes),
        // One byte, not none: it alone keeps the kernel from starting the host's handler of crashes (`core_pattern`), as host root.
        (Resource::Core, 1),
        (Resource::Msgqueue, 0),
        (Resource::Memlock, 64 << 10),
    ] {
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        setrlimit(resource, limit).map_err(step("a limit of resources"))?;
    }
    // Asked for by Landlock and seccomp, too: a set-uid program must not get back what is dropped here.
    set_no_new_privs(true).map_err(step("no_new_privs"))?;
    let bits = CapabilitiesSecureBits::NO_ROOT | CapabilitiesSecureBits::NO_ROOT_LOCKED;
    set_capabilities_secure_bits(bits).map_err(step("secure bits"))?;
    for capability in CapabilitySet::all() {
        match remove_capability_from_bounding_set(capability) {
            // Older kernels know fewer.
            Ok(()) | Err(rustix::io::Errno::INVAL) => {}
            Err(error) => return Err(step("the bounding set")(error)),
        }
    }
    clear_ambient_capability_set().map_err(step("ambient capabilities"))?;
    let none = CapabilitySet::empty();
    let sets = CapabilitySets {
        effective: none,
        permitted: none,
        inheritable: none,
    };
    set_capabilities(None, sets).map_err(step("capabilities"))?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(step("dumpable"))
}

/// Restricts paths and system calls of this thread and all that it starts. Returns the descriptor that reports held calls.
pub(super) fn restrict_thread(plan: &SandboxPlan) -> Result<OwnedFd, SetupFailure> {
    let enforced = apply_landlock(plan).map_err(|error| ("Landlock", error))?;
    if enforced == RulesetStatus::NotEnforced {
        let why = io::Error::other("the kernel doesn't enforce it");
        return Err(("Landlock", why));
    }
    let unknown = || io::Error::other("there is no filter for this processor");
    let mut program = filter::filter_program().ok_or_else(|| ("seccomp", unknown()))?;
    system::install_filter(&mut program).map_err(|error| ("seccomp", error))
}

/// Forbids all but reading, outside of `/tmp` and the scratch layer. The rules name merged folders: they don't reach into
/// layers.
fn apply_landlock(plan: &SandboxPlan) -> io::Result<RulesetStatus> {
    let newest = ABI::V6;
    let mut rules = vec![
        (PathBuf::from("/"), AccessFs::from_read(newest)),
        (PathBuf::from("/tmp"), write_access(newest)),
    ];
    let device = AccessFs::from_file(newest) & !AccessFs::Execute;
    // What is mapped of `zero` for writing is memory that nobody counts.
    let written = DEVICES.iter().filter(|name| **name != "zero");
    rules.extend(written.map(|name| (Path::new("/dev").join(name), device)));
    if plan.layer == WorkspaceLayer::Scratch {
        rules.push((plan.workspace.clone(), write_access(newest)));
    }
    let mut ruleset = create_ruleset(newest).map_err(io::Error::other)?;
    // `PathFd` follows links once, now: the rule is the folder's, whatever its name leads to later.
    for (path, access) in rules {
        let folder = PathFd::new(&path).map_err(io::Error::other)?;
        let rule = PathBeneath::new(folder, access);
        ruleset = ruleset.add_rule(rule).map_err(io::Error::other)?;
    }
    let status = ruleset.restrict_self().map_err(io::Error::other)?;
    Ok(status.ruleset)
}

/// Lets this thread, and all that it starts, run nothing but a program, the program's own helpers and what loads it: no shell, so no
/// program that a file of the workspace names.
pub(super) fn restrict_to_program(program: &Path) -> io::Result<()> {
    let handled = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::Execute);
    let mut ruleset = handled
        .and_then(Ruleset::create)
        .map_err(io::Error::other)?;
    let helpers = GIT_FOLDERS.iter().map(PathBuf::from);
    for path in helpers
        .chain([program.to_owned()])
        .chain(loader_of(program))
    {
        if let Ok(file) = PathFd::new(&path) {
            let rule = PathBeneath::new(file, AccessFs::Execute);
            ruleset = ruleset.add_rule(rule).map_err(io::Error::other)?;
        }
    }
    ruleset.restrict_self().map_err(io::Error::other)?;
    Ok(())
}

/// Where git's own programs are.
const GIT_FOLDERS: [&str; 2] = ["/usr/lib/git-core", "/usr/libexec/git-core"];

/// The file that the kernel loads a program with, as its ELF header says.
fn loader_of(program: &Path) -> Option<PathBuf> {
    let mut head = [0; 4096];
    let length = std::fs::File::open(program).ok()?.read(&mut head).ok()?;
    let mut words = head[..length].split(|byte| *byte == 0);
    let loader = words.find(|word| word.starts_with(b"/lib") || word.starts_with(b"/usr/lib"))?;
    Some(PathBuf::from(OsStr::from_bytes(loader)))
}

fn write_access(abi: ABI) -> BitFlags<AccessFs> {
    AccessFs::from_all(abi) & !(AccessFs::MakeChar | AccessFs::MakeBlock)
}

fn create_ruleset(newest: ABI) -> Result<RulesetCreated, RulesetError> {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(LANDLOCK_NEEDED))?
        // The namespaces have no network, and none of the outside's processes: what newer kernels add is a second wall.
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(newest))?
        .handle_access(AccessNet::from_all(newest))?
        .scope(Scope::from_all(newest))?
        .create()
}
