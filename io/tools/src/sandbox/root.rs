//! A tool's file system: a root of its own with the system's folders, the workspace and nothing else.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind, mount_bind_recursive,
    mount_change, unmount,
};

use super::enter::SetupFailure;
use super::plan::{SandboxPlan, WorkspaceLayer};
use super::programs::SYSTEM_FOLDERS;
use super::system::{forbid_execution, lock_device, lock_mounts};

/// Where the new root is put together: every system has this folder, and nothing that a tool needs is in it.
const NEW_ROOT: &str = "/sys";

/// Devices that hold nothing.
pub(super) const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom"];

/// Files of `/etc` that programs can't do without, made or copied.
const ETC_MADE: &[(&str, &str)] = &[
    ("passwd", "tool:x:1000:1000:tool:/tmp:/bin/sh\n"),
    ("group", "tool:x:1000:\n"),
    ("hosts", "127.0.0.1 localhost\n"),
    (
        "nsswitch.conf",
        "passwd: files\ngroup: files\nhosts: files\n",
    ),
];
const ETC_COPIED: &[&str] = &["ld.so.cache", "ld.so.conf", "localtime", "mime.types"];

/// Links to the programs that the administrator chose among several, such as `cc` and `awk`.
const ETC_BOUND: &[&str] = &["alternatives", "java-17-openjdk"];

/// Builds the root and makes it this process's.
pub(super) fn enter_new_root(plan: &SandboxPlan) -> Result<(), SetupFailure> {
    let step = |what: &'static str| move |error: io::Error| (what, error);
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).map_err(|error| ("mounts can't be made private", error.into()))?;
    mount_tmpfs(Path::new(NEW_ROOT), 4 << 20).map_err(step("no root can be mounted"))?;
    bind_system_folders().map_err(step("the system's folders"))?;
    fill_etc().map_err(step("/etc"))?;
    bind_devices().map_err(step("/dev"))?;
    for folder in &plan.toolchains {
        bind_folder(folder, &path_inside(folder), true).map_err(step("a toolchain's folder"))?;
    }
    let temporary = make_folder("/tmp").map_err(step("/tmp"))?;
    mount_tmpfs(&temporary, plan.limits.scratch_bytes).map_err(step("/tmp"))?;
    if plan.layer == WorkspaceLayer::ReadOnly {
        forbid_execution(&temporary).map_err(step("/tmp"))?;
    }
    mount_workspace(plan)?;
    hide_paths(plan).map_err(step("the data directory can't be hidden"))?;
    mount_proc().map_err(step("/proc can't be mounted"))?;
    bound_processes(plan.limits.processes);
    pivot_to_new_root().map_err(step("pivot_root"))
}

/// The path of an outside file while the root is put together.
fn path_inside(path: &Path) -> PathBuf {
    Path::new(NEW_ROOT).join(path.strip_prefix("/").unwrap_or(path))
}

fn make_folder(path: &str) -> io::Result<PathBuf> {
    let path = path_inside(Path::new(path));
    fs::create_dir_all(&path)?;
    Ok(path)
}

fn mount_tmpfs(at: &Path, bytes: u64) -> io::Result<()> {
    let inodes = (bytes / 4096).clamp(1 << 10, 1 << 18);
    let options = CString::new(format!("size={bytes},nr_inodes={inodes},mode=755"))?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    Ok(mount("tmpfs", at, "tmpfs", flags, options.as_c_str())?)
}

/// Shows a folder of the outside, with what is mounted in it.
fn bind_folder(from: &Path, to: &Path, read_only: bool) -> io::Result<()> {
    fs::create_dir_all(to)?;
    mount_bind_recursive(from, to)?;
    lock_mounts(to, read_only)
}

fn bind_system_folders() -> io::Result<()> {
    for folder in SYSTEM_FOLDERS.iter().map(Path::new) {
        match fs::read_link(folder) {
            Ok(target) => symlink(target, path_inside(folder))?,
            Err(_) if folder.is_dir() => bind_folder(folder, &path_inside(folder), true)?,
            Err(_) => {}
        }
    }
    Ok(())
}

fn fill_etc() -> io::Result<()> {
    let etc = make_folder("/etc")?;
    for (name, text) in ETC_MADE {
        fs::write(etc.join(name), text)?;
    }
    for name in ETC_COPIED {
        let from = Path::new("/etc").join(name);
        if from.is_file() {
            fs::copy(from, etc.join(name))?;
        }
    }
    for name in ETC_BOUND {
        let from = Path::new("/etc").join(name);
        if from.is_dir() {
            bind_folder(&from, &etc.join(name), true)?;
        }
    }
    Ok(())
}

/// Shows a device of the outside. It can be read and written, but its mode, owner, times and attributes can't be changed: its inode
/// is the host's.
fn bind_device(device: &Path, at: &Path) -> io::Result<()> {
    mount_bind(device, at)?;
    lock_device(at)
}

fn bind_devices() -> io::Result<()> {
    let dev = make_folder("/dev")?;
    for device in DEVICES {
        let at = dev.join(device);
        fs::write(&at, "")?;
        bind_device(&Path::new("/dev").join(device), &at)?;
    }
    for (name, target) in [
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
        ("shm", "/tmp"),
    ] {
        symlink(target, dev.join(name))?;
    }
    Ok(())
}

fn mount_workspace(plan: &SandboxPlan) -> Result<(), SetupFailure> {
    let (from, to) = (&plan.workspace, path_inside(&plan.workspace));
    let like = (from.metadata()).map_err(|error| ("the workspace", error))?;
    // A layer in both cases: its inodes are its own, so that a lock, a lease or a named pipe inside is none of the host's.
    mount_scratch_layer(from, &to, plan.limits.scratch_bytes, like.permissions())
        .and_then(|()| match plan.layer {
            WorkspaceLayer::ReadOnly => lock_mounts(&to, true).and_then(|()| forbid_execution(&to)),
            WorkspaceLayer::Scratch => Ok(()),
        })
        .map_err(|error| ("scratch_unavailable: no layer over the workspace", error))
}

/// Lays a layer over the workspace that is gone with the namespace. Where it is kept isn't visible.
fn mount_scratch_layer(
    workspace: &Path,
    to: &Path,
    bytes: u64,
    permissions: fs::Permissions,
) -> io::Result<()> {
    fs::create_dir_all(to)?;
    let hold = make_folder("/scratch")?;
    mount_tmpfs(&hold, bytes)?;
    let (upper, work) = (hold.join("upper"), hold.join("work"));
    fs::create_dir(&upper)?;
    fs::create_dir(&work)?;
    // The layer's folder is the workspace's: it looks like it.
    fs::set_permissions(&upper, permissions)?;
    let mut options = b"userxattr,lowerdir=".to_vec();
    for byte in workspace.as_os_str().as_bytes() {
        if matches!(byte, b'\\' | b':' | b',') {
            options.push(b'\\');
        }
        options.push(*byte);
    }
    for (name, folder) in [(",upperdir=", &upper), (",workdir=", &work)] {
        options.extend_from_slice(name.as_bytes());
        options.extend_from_slice(folder.as_os_str().as_bytes());
    }
    let options = CString::new(options)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount("overlay", to, "overlay", flags, options.as_c_str())?;
    unmount(&hold, UnmountFlags::DETACH)?;
    fs::remove_dir(hold)
}

/// Covers hidden paths that lie in a visible folder.
fn hide_paths(plan: &SandboxPlan) -> io::Result<()> {
    for path in &plan.hidden {
        let at = path_inside(path);
        let Ok(found) = at.symlink_metadata() else {
            continue;
        };
        if found.is_dir() {
            mount_tmpfs(&at, 4096)?;
            lock_mounts(&at, true)?;
        } else {
            bind_device(Path::new("/dev/null"), &at)?;
        }
    }
    Ok(())
}

fn mount_proc() -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    Ok(mount("proc", make_folder("/proc")?, "proc", flags, None)?)
}

/// Numbers that the kernel gives to nobody once it has come round to the first ones again.
const RESERVED_PIDS: u64 = 300;

/// Bounds how many processes and threads there can be, also where the user's own limit doesn't hold, as it doesn't for root. Since Linux
/// 6.14 each namespace has a bound of its own; before, the file is the whole system's and can't be written to.
fn bound_processes(processes: u64) {
    let file = path_inside(Path::new("/proc/sys/kernel/pid_max"));
    // Where it fails the watch counts alone, as it does on older kernels.
    let _ = fs::write(file, (processes + RESERVED_PIDS).to_string());
}

/// The old root goes; the new one can't be written to, but for what is mounted in it.
fn pivot_to_new_root() -> io::Result<()> {
    fs::set_permissions(
        path_inside(Path::new("/tmp")),
        fs::Permissions::from_mode(0o1777),
    )?;
    std::env::set_current_dir(NEW_ROOT)?;
    rustix::process::pivot_root(".", ".")?;
    unmount(".", UnmountFlags::DETACH)?;
    std::env::set_current_dir("/")?;
    let flags = MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
    Ok(rustix::mount::mount_remount("/", flags, "")?)
}
