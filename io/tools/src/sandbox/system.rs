//! The few calls that neither the standard library nor rustix offers as safe functions.
#![expect(unsafe_code, reason = "the kernel offers this through raw calls alone")]

use std::io;
use std::mem::zeroed;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use rustix::path::Arg;
use rustix::thread::{UnshareFlags, unshare_unsafe};

/// Leaves namespaces of this process, which has one thread.
pub(super) fn unshare_namespaces(namespaces: UnshareFlags) -> io::Result<()> {
    // SAFETY: the flags don't unshare the table of file descriptors, which is what could break others' I/O safety.
    unsafe { unshare_unsafe(namespaces) }.map_err(io::Error::from)
}

/// Closes every descriptor but the three standard ones.
pub(super) fn close_all_but_standard() -> io::Result<()> {
    // SAFETY: called at the start of a helper, which has opened nothing yet: whatever is open was inherited by mistake.
    check_result(unsafe { libc::close_range(3, libc::c_uint::MAX, 0) }).map(drop)
}

/// Makes a mount and all mounts below it read-only or not, without set-user-ID programs and devices either way.
pub(super) fn lock_mounts(path: &Path, read_only: bool) -> io::Result<()> {
    let mut attributes = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
    if read_only {
        attributes |= libc::MOUNT_ATTR_RDONLY;
    }
    set_mount_attributes(path, attributes)
}

/// Makes the mount of a device read-only, which holds for its inode and not for what is written to the device.
pub(super) fn lock_device(path: &Path) -> io::Result<()> {
    let attributes = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC | libc::MOUNT_ATTR_RDONLY;
    set_mount_attributes(path, attributes)
}

/// Has nothing that lies in a mount run, nor be loaded as a library.
pub(super) fn forbid_execution(path: &Path) -> io::Result<()> {
    set_mount_attributes(path, libc::MOUNT_ATTR_NOEXEC)
}

fn set_mount_attributes(path: &Path, attributes: u64) -> io::Result<()> {
    let attr = libc::mount_attr {
        attr_set: attributes,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    let path = path.into_c_str()?;
    // SAFETY: the path ends with NUL and `attr` is a `mount_attr` of the size that is said.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            libc::AT_RECURSIVE,
            &raw const attr,
            size_of::<libc::mount_attr>(),
        )
    };
    check_result(done).map(drop)
}

/// Filters the system calls of this thread and of all that it starts, for ever. Returns the descriptor that reports held calls.
pub(super) fn install_filter(program: &mut [libc::sock_filter]) -> io::Result<OwnedFd> {
    let program = libc::sock_fprog {
        len: u16::try_from(program.len()).map_err(io::Error::other)?,
        filter: program.as_mut_ptr(),
    };
    // SAFETY: `program` points to as many instructions as it says, and lives until the call is over.
    let listener = check_result(unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
            &raw const program,
        )
    })?;
    let listener = i32::try_from(listener).map_err(io::Error::other)?;
    // SAFETY: the kernel has just opened it for us alone.
    Ok(unsafe { OwnedFd::from_raw_fd(listener) })
}

/// The number of a system call that is held by the filter.
pub(super) fn held_call(listener: BorrowedFd<'_>) -> io::Result<i64> {
    // SAFETY: it is plain numbers, and the kernel wants it zeroed.
    let mut held: libc::seccomp_notif = unsafe { zeroed() };
    // SAFETY: `held` is what this request writes to.
    let done = unsafe {
        libc::ioctl(
            listener.as_raw_fd(),
            libc::SECCOMP_IOCTL_NOTIF_RECV,
            &raw mut held,
        )
    };
    check_result(done)?;
    Ok(held.data.nr.into())
}

/// Kills all other processes of this namespace, so that none goes on for a moment while pid 1 ends.
pub(super) fn kill_all_others() {
    // SAFETY: it takes two numbers. It fails only where there is nobody left.
    unsafe { libc::kill(-1, libc::SIGKILL) };
}

/// Starts a thread that gets no signals: it inherits the mask of its maker, which blocks all of them meanwhile.
pub(super) fn without_signals<T>(start: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    mask_all_signals(libc::SIG_BLOCK)?;
    let started = start();
    mask_all_signals(libc::SIG_UNBLOCK)?;
    started
}

fn mask_all_signals(how: libc::c_int) -> io::Result<()> {
    // SAFETY: it is plain bits, which the next call sets.
    let mut all: libc::sigset_t = unsafe { zeroed() };
    // SAFETY: `all` is a set of signals, which both calls are given as such.
    let error = unsafe {
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(how, &raw const all, std::ptr::null_mut())
    };
    match error {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

pub(super) struct ReapedProcess {
    pub(super) pid: i32,
    /// Its exit status, or the signal that ended it.
    pub(super) status: Result<i32, i32>,
    /// Processor time, its waited-for children's included.
    pub(super) cpu: Duration,
    /// Most memory.
    pub(super) rss_bytes_max: u64,
}

pub(super) fn wait_for_any() -> io::Result<ReapedProcess> {
    let mut status = 0;
    // SAFETY: it is plain numbers.
    let mut usage: libc::rusage = unsafe { zeroed() };
    let pid = loop {
        // SAFETY: both are what this call writes to.
        let waited = unsafe { libc::wait4(-1, &raw mut status, 0, &raw mut usage) };
        match check_result(waited) {
            // A tool sent pid 1 a signal that has a handler.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            waited => break waited?,
        }
    };
    let time = |time: libc::timeval| {
        let micros = time.tv_sec * 1_000_000 + time.tv_usec;
        Duration::from_micros(u64::try_from(micros).expect("no process has used less than no time"))
    };
    Ok(ReapedProcess {
        pid,
        status: if libc::WIFSIGNALED(status) {
            Err(libc::WTERMSIG(status))
        } else {
            Ok(libc::WEXITSTATUS(status))
        },
        cpu: time(usage.ru_utime) + time(usage.ru_stime),
        rss_bytes_max: u64::try_from(usage.ru_maxrss).expect("no process has less than no memory")
            * 1024,
    })
}

/// A call's result; -1 becomes the last error.
fn check_result<N: PartialEq + From<i8>>(done: N) -> io::Result<N> {
    if done == N::from(-1) {
        return Err(io::Error::last_os_error());
    }
    Ok(done)
}
