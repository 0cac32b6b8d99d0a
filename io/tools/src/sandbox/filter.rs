//! The seccomp filter: system calls that a tool can't make.
//!
//! Most refused calls would fail anyway: the namespaces have no network, and Landlock forbids mounts. A call that only an
//! escape needs is *held*: it doesn't return, the kernel reports it to pid 1, and pid 1 ends everything.

use libc::{
    BPF_ABS, BPF_JEQ, BPF_JGE, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W, SECCOMP_RET_ALLOW,
    SECCOMP_RET_ERRNO, SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_USER_NOTIF, sock_filter,
};

/// The processor's number in the kernel's audit headers; there is no filter for others.
const ARCHITECTURE: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0xC000_003E)
} else if cfg!(target_arch = "aarch64") {
    Some(0xC000_00B7)
} else {
    None
};

/// Where the parts of `struct seccomp_data` are; of arguments the lower half, on processors that put it first.
const NUMBER_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;
const ARGUMENTS_AT: u32 = 16;

/// Calls of the x32 interface have this bit, and other numbers than ours.
const X32_BIT: u32 = 0x4000_0000;

macro_rules! calls {
    ($($name:ident)*) => { &[$((stringify!($name), libc::$name),)*] };
}

type SystemCall = (&'static str, libc::c_long);

/// Calls that a program needs only to escape.
const HELD: &[SystemCall] = calls! {
    SYS_ptrace SYS_setns SYS_unshare SYS_kexec_load SYS_kexec_file_load
    SYS_init_module SYS_finit_module SYS_delete_module
};

/// Calls that programs try without harm; they get EPERM and go on.
const REFUSED: &[SystemCall] = calls! {
    SYS_socket SYS_connect SYS_bind SYS_listen SYS_accept SYS_accept4
    SYS_mount SYS_umount2 SYS_pivot_root SYS_chroot SYS_fsopen SYS_fsconfig SYS_fsmount SYS_fspick
    SYS_open_tree SYS_move_mount SYS_mount_setattr SYS_swapon SYS_swapoff SYS_quotactl
    SYS_name_to_handle_at SYS_open_by_handle_at
    SYS_add_key SYS_request_key SYS_keyctl
    SYS_io_uring_setup SYS_io_uring_enter SYS_io_uring_register
    SYS_bpf SYS_perf_event_open SYS_userfaultfd SYS_fanotify_init
    SYS_process_vm_readv SYS_process_vm_writev SYS_pidfd_getfd SYS_kcmp
    SYS_process_madvise SYS_move_pages SYS_migrate_pages
    SYS_reboot SYS_syslog SYS_acct SYS_sethostname SYS_setdomainname
    SYS_settimeofday SYS_clock_settime SYS_clock_adjtime SYS_adjtimex SYS_vhangup
};

/// Namespaces that `clone` can make.
const NEW_NAMESPACES: i32 = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

/// Pid 1 and the thread of its watch come before the first program.
const FIRST_PID_OF_TOOLS: u32 = 3;

/// Constants that have other types in each C library, or no name.
const RLIMIT_CORE: u32 = 4;
const PRIO_PROCESS: u32 = 0;
const IOPRIO_WHO_PROCESS: u32 = 1;

/// `fcntl`'s F_SETLEASE, F_NOTIFY, F_SET_RW_HINT and F_SET_FILE_RW_HINT.
const FILE_SETTINGS: &[u32] = &[1024, 1026, 1036, 1038];

/// Longest filter that the kernel takes (`BPF_MAXINSNS`).
const INSTRUCTIONS_MAX: usize = 4096;

const EPERM: u32 = SECCOMP_RET_ERRNO | libc::EPERM as u32;
const ENOSYS: u32 = SECCOMP_RET_ERRNO | libc::ENOSYS as u32;

/// The name of a call that was held.
pub(super) fn name_of(number: i64) -> String {
    let held = HELD.iter().find(|(_, call)| *call == number);
    let name = held.and_then(|(name, _)| name.strip_prefix("SYS_"));
    match name {
        Some(name) => name.to_owned(),
        None if number == libc::SYS_clone => "clone with new namespaces".to_owned(),
        None => format!("system call {number}"),
    }
}

/// The filter; `None` on processors that it isn't written for.
pub(super) fn filter_program() -> Option<Vec<sock_filter>> {
    let architecture = ARCHITECTURE?;
    // Numbers mean other calls to a 32-bit program, so what comes in by another door than ours is ended before any is compared.
    let mut program = vec![
        load_word(ARCHITECTURE_AT),
        skip_unless(BPF_JEQ, architecture, 1, 0),
        return_action(SECCOMP_RET_KILL_PROCESS),
        load_word(NUMBER_AT),
        skip_unless(BPF_JGE, X32_BIT, 0, 1),
        return_action(SECCOMP_RET_KILL_PROCESS),
    ];
    let mut answer = |calls: &[SystemCall], with: u32| {
        for (_, call) in calls {
            program.extend([
                skip_unless(BPF_JEQ, call_number(*call), 0, 1),
                return_action(with),
            ]);
        }
    };
    answer(HELD, SECCOMP_RET_USER_NOTIF);
    answer(REFUSED, EPERM);
    // The flags of clone3 are in memory, where no filter sees them; without it programs use clone. The others make memory that is in no
    // process's figures.
    answer(
        calls! {
            SYS_clone3 SYS_memfd_create SYS_memfd_secret SYS_shmget SYS_msgget SYS_semget
        },
        ENOSYS,
    );
    // A pair of datagram sockets, which "raw" ones are, too, could still send to others by name.
    let datagrams = refuse_if(1, 0xf, &[libc::SOCK_DGRAM as u32, libc::SOCK_RAW as u32]);
    let namespaces = [
        load_word(argument_offset(0)),
        skip_unless(BPF_JSET, NEW_NAMESPACES as u32, 0, 1),
        return_action(SECCOMP_RET_USER_NOTIF),
    ];
    // Pid 1 runs as the same user, so a tool could lower its limits: only a process's own limits (pid 0) may be changed. That
    // of core files may only be asked for: with none at all, a crash starts the host's handler again.
    let core = RLIMIT_CORE;
    let limits = [
        load_word(argument_offset(0)),
        skip_unless(BPF_JEQ, 0, 1, 0),
        return_action(EPERM),
        load_word(argument_offset(1)),
        skip_unless(BPF_JEQ, core, 0, 5),
        load_word(argument_offset(2)),
        skip_unless(BPF_JEQ, 0, 0, 2),
        load_word(argument_offset(2) + 4),
        skip_unless(BPF_JEQ, 0, 1, 0),
        return_action(EPERM),
    ];
    let own_limits = refuse_if(0, !0, &[core]);
    // Memory shared by nothing but descent stays in no process's figures once it is partly unmapped.
    let shared = (libc::MAP_SHARED | libc::MAP_ANONYMOUS) as u32;
    let mapping = refuse_if(3, shared, &[shared]);
    // What these set is the host's, where a file is: a lease keeps others from opening it.
    let file_settings = refuse_if(1, !0, FILE_SETTINGS);
    // Pid 1 and its watch are the first two: their turn on the processor is what holds the rest to its bounds.
    let scheduled = [
        load_word(argument_offset(0)),
        skip_unless(BPF_JEQ, 0, 2, 0),
        skip_unless(BPF_JGE, FIRST_PID_OF_TOOLS, 1, 0),
        return_action(EPERM),
    ];
    // As above, and of single processes only: a group's or a user's would be pid 1's, too.
    let prioritised = |one_process: u32| {
        [
            load_word(argument_offset(0)),
            skip_unless(BPF_JEQ, one_process, 1, 0),
            return_action(EPERM),
            load_word(argument_offset(1)),
            skip_unless(BPF_JEQ, 0, 2, 0),
            skip_unless(BPF_JGE, FIRST_PID_OF_TOOLS, 1, 0),
            return_action(EPERM),
        ]
    };
    // Both put letters into a terminal's input.
    let typing = refuse_if(1, !0, &[libc::TIOCSTI as u32, libc::TIOCLINUX as u32]);
    let mut looked_into = |call, block: &[sock_filter]| {
        let past = u8::try_from(block.len() + 1).expect("a block is a few instructions");
        program.push(skip_unless(BPF_JEQ, call_number(call), 0, past));
        program.extend_from_slice(block);
        program.push(return_action(SECCOMP_RET_ALLOW));
    };
    looked_into(libc::SYS_socketpair, &datagrams);
    looked_into(libc::SYS_clone, &namespaces);
    looked_into(libc::SYS_prlimit64, &limits);
    looked_into(libc::SYS_setrlimit, &own_limits);
    looked_into(libc::SYS_mmap, &mapping);
    looked_into(libc::SYS_fcntl, &file_settings);
    for call in [
        libc::SYS_sched_setscheduler,
        libc::SYS_sched_setparam,
        libc::SYS_sched_setattr,
        libc::SYS_sched_setaffinity,
    ] {
        looked_into(call, &scheduled);
    }
    looked_into(libc::SYS_setpriority, &prioritised(PRIO_PROCESS));
    looked_into(libc::SYS_ioprio_set, &prioritised(IOPRIO_WHO_PROCESS));
    looked_into(libc::SYS_ioctl, &typing);
    program.push(return_action(SECCOMP_RET_ALLOW));
    assert!(
        program.len() <= INSTRUCTIONS_MAX,
        "the kernel refuses longer filters"
    );
    Some(program)
}

fn call_number(call: libc::c_long) -> u32 {
    u32::try_from(call).expect("the numbers of system calls are small")
}

fn argument_offset(index: u32) -> u32 {
    ARGUMENTS_AT + 8 * index
}

/// Refuses a call one of whose arguments, without the bits that aren't in the mask, is one of these.
fn refuse_if(argument: u32, mask: u32, values: &[u32]) -> Vec<sock_filter> {
    let mut block = vec![load_word(argument_offset(argument)), and_mask(mask)];
    for value in values {
        block.extend([skip_unless(BPF_JEQ, *value, 0, 1), return_action(EPERM)]);
    }
    block
}

fn load_word(at: u32) -> sock_filter {
    filter_instruction(BPF_LD | BPF_W | BPF_ABS, at, 0, 0)
}

fn and_mask(mask: u32) -> sock_filter {
    filter_instruction(libc::BPF_ALU | libc::BPF_AND | BPF_K, mask, 0, 0)
}

fn return_action(action: u32) -> sock_filter {
    filter_instruction(BPF_RET | BPF_K, action, 0, 0)
}

/// Skips `yes` instructions if the comparison holds, `no` if it doesn't.
fn skip_unless(comparison: u32, with: u32, yes: u8, no: u8) -> sock_filter {
    filter_instruction(BPF_JMP | comparison | BPF_K, with, yes, no)
}

fn filter_instruction(code: u32, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    }
}
