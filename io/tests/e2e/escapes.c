/* Ways out of the sandbox. `escapes NAME` tries one: exit 42 if it got out, 0 if it was held back. `escapes` lists all of
   them, each with what should come of it: `denied`, `breach` if the sandbox has to end, `killed` if the process has to.
   The test defines CANARY, DATA, HOST_PID, TCP_PORT, UNIX_STREAM, UNIX_DATAGRAM, ABSTRACT and FIFO. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/xattr.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static char buffer[4096];
#define TEXT(number) TEXT_OF(number)
#define TEXT_OF(number) #number

static int readable(const char *path) { int fd = open(path, O_RDONLY | O_NONBLOCK); return fd >= 0 && read(fd, buffer, sizeof buffer) > 0; }
static int there(const char *path) { struct stat s; return lstat(path, &s) == 0; }
static int creatable(const char *path) { return open(path, O_WRONLY | O_CREAT, 0600) >= 0; }
static int writable(const char *path) { return open(path, O_WRONLY | O_NONBLOCK) >= 0; }
static int made(long fd) { return fd >= 0; }
static int done(long result) { return result == 0; }

static int to_unix(int type, const char *path, int abstract, int fd) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    strncpy(to.sun_path + abstract, path, sizeof to.sun_path - 2);
    socklen_t length = offsetof(struct sockaddr_un, sun_path) + abstract + strlen(path);
    if (fd < 0) fd = socket(AF_UNIX, type, 0);
    return connect(fd, (struct sockaddr *)&to, length) == 0;
}
static int to_port(int type) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(TCP_PORT), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, type, 0);
    return connect(fd, (struct sockaddr *)&to, sizeof to) == 0 && write(fd, "x", 1) == 1;
}
static int by_datagram_pair(int type) {
    struct sockaddr_un to = {.sun_family = AF_UNIX, .sun_path = UNIX_DATAGRAM};
    int pair[2];
    return socketpair(AF_UNIX, type, 0, pair) == 0 && sendto(pair[0], "x", 1, 0, (struct sockaddr *)&to, sizeof to) == 1;
}
static int by_stream_pair(void) { int pair[2]; return socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 && to_unix(0, UNIX_STREAM, 0, pair[0]); }
static int by_packet_pair(void) {
    struct sockaddr_un to = {.sun_family = AF_UNIX, .sun_path = UNIX_DATAGRAM};
    struct iovec part = {"x", 1};
    struct msghdr message = {.msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &part, .msg_iovlen = 1};
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) != 0 || sendmsg(pair[0], &message, 0) != 1) return 0;
    return recv(pair[1], buffer, 1, MSG_DONTWAIT) != 1;
}
static int by_symlink(void) { return symlink(CANARY, "out") == 0 && readable("out"); }
static int by_many_dots(void) { return readable("../../../../../../../../../../.." CANARY); }
static int by_cwd_of_init(void) { return readable("/proc/1/cwd/.." CANARY); }
static int by_fd_of_init(void) { return writable("/proc/1/fd/2") || writable("/proc/1/fd/1") || readable("/proc/1/fd/0") || readlink("/proc/1/fd/2", buffer, 9) > 0; }
static int forged_report(void) { return dprintf(2, "{\"ended\":{\"Exited\":0},\"cpu\":{\"secs\":0,\"nanos\":0},\"rss_bytes_max\":0}") < 0; }
static int by_inherited(void) {
    for (int fd = 3; fd < 1024; fd++) {
        char link[64], to[256] = "";
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        if (readlink(link, to, sizeof to - 1) > 0 && strncmp(to, "pipe:", 5) != 0) return 1;
    }
    return 0;
}
static int by_environment(void) { for (char **each = environ; *each; each++) if (strstr(*each, "CANARY")) return 1; return 0; }
static int by_killing_init(void) { kill(1, SIGKILL); kill(1, SIGTERM); kill(1, SIGSTOP); return 0; }
static int by_starving_init(void) { struct rlimit none = {0, 0}; return prlimit(1, RLIMIT_NOFILE, &none, NULL) == 0 || prlimit(1, RLIMIT_CPU, &none, NULL) == 0; }
static int by_writing_over(void) { int fd = open("Makefile", O_WRONLY | O_TRUNC); if (fd >= 0) dprintf(fd, "x"); return 0; }
static int by_unlinking(void) { unlink("kept.txt"); rename("Makefile", "x"); chmod("Makefile", 0777); return 0; }
static int by_hard_link(void) { return link("kept.txt", "/tmp/kept.txt") == 0; }
static int by_mapping(void) { int fd = open("kept.txt", O_RDWR); void *at = mmap(NULL, 4, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0); if (at != MAP_FAILED) memcpy(at, "evil", 4); return 0; }
static int by_hooks(void) { mkdir(".git", 0755); mkdir(".git/hooks", 0755); creatable(".git/hooks/pre-commit"); return 0; }
static int daemonised(void) {
    if (fork() == 0) { setsid(); if (fork() == 0) { signal(SIGTERM, SIG_IGN); signal(SIGHUP, SIG_IGN); close(0); close(1); close(2); execl("/bin/sleep", "sleep", MARKER, NULL); } _exit(0); }
    return 0;
}
static int by_capabilities(void) { return prctl(PR_CAPBSET_READ, 21, 0, 0, 0) == 1 || prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 21, 0, 0) == 0; }
static int by_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0; }
static int by_root(void) { return setuid(0) == 0 || setresuid(0, 0, 0) == 0 || setgid(0) == 0; }
static int by_more_files(void) { struct rlimit more = {1 << 20, 1 << 20}; return setrlimit(RLIMIT_NOFILE, &more) == 0; }
static int by_typing(void) { ioctl(0, TIOCSTI, "x"); return errno != EPERM; }
static int by_console(void) { char paste = 3; ioctl(0, TIOCLINUX, &paste); return errno != EPERM; }
static int by_setns(void) { int fd = open("/proc/self/ns/user", O_RDONLY); return setns(fd, 0) == 0; }
static int by_clone(int flags) { long pid = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0); if (pid == 0) _exit(0); return pid > 0; }
static int by_clone3(void) { unsigned long long arguments[11] = {CLONE_NEWUSER}; arguments[4] = SIGCHLD; long pid = syscall(SYS_clone3, arguments, sizeof arguments); if (pid == 0) _exit(0); return pid > 0; }
static int by_vm_read(void) { struct iovec here = {buffer, 1}, there = {(void *)0x400000, 1}; return process_vm_readv(1, &here, 1, &there, 1, 0) == 1; }
static int by_vm_write(void) { struct iovec here = {buffer, 1}, there = {(void *)0x400000, 1}; return process_vm_writev(1, &here, 1, &there, 1, 0) == 1; }
static int by_pidfd(void) { int fd = syscall(SYS_pidfd_open, 1, 0); return made(syscall(SYS_pidfd_getfd, fd, 2, 0)); }
static int by_host_process(void) { return kill(HOST_PID, 0) == 0 || there("/proc/" TEXT(HOST_PID)); }
static int by_device(const char *path) {
    struct timespec times[2] = {{1, 0}, {1, 0}};
    return chmod(path, 0600) == 0 || chown(path, -1, -1) == 0 || utimensat(AT_FDCWD, path, times, 0) == 0 || setxattr(path, "user.x", "x", 1, 0) == 0;
}
static int by_core_limit(void) { struct rlimit none = {0, 0}; return setrlimit(RLIMIT_CORE, &none) == 0 || prlimit(0, RLIMIT_CORE, &none, NULL) == 0 || (getrlimit(RLIMIT_CORE, &none) == 0 && none.rlim_cur != 1); }
static int by_memfd(void) { return made(syscall(SYS_memfd_create, "x", 0)); }
static int by_shared_memory(void) { return mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED; }
static int by_shared_zero(void) { int fd = open("/dev/zero", O_RDWR); return fd >= 0 && mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED; }
static int by_segment(void) { return shmget(IPC_PRIVATE, 1 << 20, 0600) >= 0; }
static int by_queues(void) { return syscall(SYS_msgget, 0, 01600) >= 0 || syscall(SYS_semget, 0, 100, 01600) >= 0; }
static int by_lease(const char *path) {
    int fd = open(path, O_RDONLY);
    return fd < 0 || fcntl(fd, F_SETLEASE, F_RDLCK) == 0 || fcntl(fd, F_SETLEASE, F_WRLCK) == 0 || fcntl(fd, F_NOTIFY, DN_ACCESS) == 0;
}
static int by_scheduling(int pid) {
    struct sched_param least = {0};
    cpu_set_t one; CPU_ZERO(&one); CPU_SET(0, &one);
    return sched_setscheduler(pid, SCHED_IDLE, &least) == 0 || sched_setaffinity(pid, sizeof one, &one) == 0 || setpriority(PRIO_PROCESS, pid, 19) == 0
        || setpriority(PRIO_USER, 0, 19) == 0 || setpriority(PRIO_PGRP, 0, 19) == 0 || syscall(SYS_ioprio_set, 1, pid, 3 << 13) == 0;
}
static int segfault_of_init(void) { for (int i = 0; i < 100; i++) { kill(1, SIGSEGV); kill(1, SIGBUS); } return 0; }
static int by_clock(void) { struct timespec now = {0, 0}; return clock_settime(CLOCK_REALTIME, &now) == 0; }
static int by_handle(void) { struct { struct file_handle h; char bytes[128]; } at; int id; at.h.handle_bytes = 128; return name_to_handle_at(AT_FDCWD, "/", &at.h, &id, 0) == 0 && made(open_by_handle_at(AT_FDCWD, &at.h, O_RDONLY)); }
#if defined(__x86_64__)
static int by_x32(void) { return syscall(0x40000000 | SYS_getpid) > 0; }
static int by_32_bits(void) { long result; __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory"); return result > 0; }
#endif

#define ATTEMPTS \
    A(read_shadow, "denied", readable("/etc/shadow")) \
    A(read_canary, "denied", readable(CANARY)) \
    A(read_data_directory, "denied", readable(DATA "/secret") || there(DATA)) \
    A(read_by_dots, "denied", by_many_dots()) \
    A(read_by_symlink, "denied", by_symlink()) \
    A(read_by_root_of_init, "denied", readable("/proc/1/root" CANARY)) \
    A(read_by_cwd_of_init, "denied", by_cwd_of_init()) \
    A(read_environment_of_init, "denied", readable("/proc/1/environ")) \
    A(read_memory_of_init, "denied", readable("/proc/1/mem") || writable("/proc/1/mem")) \
    A(open_files_of_init, "denied", by_fd_of_init()) \
    A(read_home, "denied", there("/root/.bashrc") || there("/home")) \
    A(read_kernel_log, "denied", readable("/dev/kmsg") || klogctl(3, buffer, 100) > 0) \
    A(read_memory_device, "denied", readable("/dev/mem") || readable("/dev/kmem") || readable("/proc/kcore")) \
    A(read_sys, "denied", there("/sys/kernel")) \
    A(read_boot, "denied", there("/boot") || there("/var/log") || there("/run")) \
    A(open_terminal, "denied", there("/dev/tty") || there("/dev/ptmx") || there("/dev/pts")) \
    A(open_by_handle, "denied", by_handle()) \
    A(inherited_files, "denied", by_inherited()) \
    A(inherited_environment, "denied", by_environment()) \
    A(write_usr, "denied", creatable("/usr/escaped")) \
    A(write_usr_bin, "denied", writable("/usr/bin/env") || truncate("/usr/bin/env", 0) == 0) \
    A(write_etc, "denied", creatable("/etc/escaped") || writable("/etc/passwd")) \
    A(write_root, "denied", creatable("/escaped") || mkdir("/escaped", 0700) == 0) \
    A(write_dev, "denied", creatable("/dev/escaped")) \
    A(write_sysrq, "denied", writable("/proc/sysrq-trigger")) \
    A(write_core_pattern, "denied", writable("/proc/sys/kernel/core_pattern")) \
    A(write_modprobe, "denied", writable("/proc/sys/kernel/modprobe")) \
    A(write_uid_map, "denied", writable("/proc/self/uid_map")) \
    A(write_over, "denied", by_writing_over()) \
    A(unlink_and_rename, "denied", by_unlinking()) \
    A(write_by_mapping, "denied", by_mapping()) \
    A(write_by_hard_link, "denied", by_hard_link()) \
    A(write_hooks, "denied", by_hooks()) \
    A(change_null, "denied", by_device("/dev/null")) \
    A(change_full, "denied", by_device("/dev/full")) \
    A(change_urandom, "denied", by_device("/dev/urandom")) \
    A(run_core_handler, "denied", by_core_limit()) \
    A(memory_of_no_process, "denied", by_memfd()) \
    A(memory_shared, "denied", by_shared_memory()) \
    A(memory_of_zero, "denied", by_shared_zero()) \
    A(memory_segment, "denied", by_segment()) \
    A(memory_of_queues, "denied", by_queues()) \
    A(lease_system_file, "denied", by_lease("/usr/bin/env")) \
    A(watch_system_folder, "denied", by_lease("/usr/bin")) \
    A(schedule_init, "denied", by_scheduling(1)) \
    A(schedule_watch, "denied", by_scheduling(2)) \
    A(segfault_of_init, "denied", segfault_of_init()) \
    A(write_pipe_of_host, "denied", writable(FIFO)) \
    A(make_block_device, "denied", done(mknod("sda", S_IFBLK | 0600, makedev(8, 0)))) \
    A(make_memory_device, "denied", done(mknod("mem", S_IFCHR | 0600, makedev(1, 1)))) \
    A(change_root, "denied", done(chroot("/tmp"))) \
    A(pivot_root, "denied", done(syscall(SYS_pivot_root, ".", "."))) \
    A(mount_tmpfs, "denied", done(mount("tmpfs", "/tmp", "tmpfs", 0, ""))) \
    A(mount_bind, "denied", done(mount("/", "/tmp", "", MS_BIND | MS_REC, ""))) \
    A(mount_proc, "denied", done(mount("proc", "/tmp", "proc", 0, ""))) \
    A(mount_disk, "denied", done(mount("/dev/vda", "/tmp", "ext4", 0, ""))) \
    A(remount_writable, "denied", done(mount("", "/usr", "", MS_REMOUNT | MS_BIND, ""))) \
    A(unmount_proc, "denied", done(umount2("/proc", MNT_DETACH))) \
    A(unmount_workspace, "denied", done(umount2(".", MNT_DETACH))) \
    A(open_file_system, "denied", made(syscall(SYS_fsopen, "tmpfs", 0))) \
    A(open_tree, "denied", made(syscall(SYS_open_tree, AT_FDCWD, "/", 1))) \
    A(move_mount, "denied", done(syscall(SYS_move_mount, AT_FDCWD, "/usr", AT_FDCWD, "/tmp", 0))) \
    A(set_mount, "denied", done(syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, buffer, 32))) \
    A(swap_on, "denied", done(swapon("/dev/zero", 0))) \
    A(unshare_user, "breach", done(unshare(CLONE_NEWUSER))) \
    A(unshare_files, "breach", done(unshare(CLONE_FILES))) \
    A(enter_namespace, "breach", by_setns()) \
    A(clone_user, "breach", by_clone(CLONE_NEWUSER)) \
    A(clone_mounts, "breach", by_clone(CLONE_NEWNS)) \
    A(clone_network, "breach", by_clone(CLONE_NEWNET)) \
    A(clone3_user, "denied", by_clone3()) \
    A(trace_me, "breach", done(ptrace(PTRACE_TRACEME, 0, 0, 0))) \
    A(trace_parent, "breach", done(ptrace(PTRACE_ATTACH, getppid(), 0, 0))) \
    A(trace_init, "breach", done(ptrace(PTRACE_SEIZE, 1, 0, 0))) \
    A(load_kernel, "breach", done(syscall(SYS_kexec_load, 0, 0, 0, 0))) \
    A(load_module, "breach", done(syscall(SYS_init_module, buffer, 1, ""))) \
    A(load_module_file, "breach", done(syscall(SYS_finit_module, 0, "", 0))) \
    A(unload_module, "breach", done(syscall(SYS_delete_module, "x", 0))) \
    A(read_memory_of_process, "denied", by_vm_read()) \
    A(write_memory_of_process, "denied", by_vm_write()) \
    A(take_file_of_process, "denied", by_pidfd()) \
    A(compare_processes, "denied", syscall(SYS_kcmp, 1, getpid(), 0, 0, 0) >= 0) \
    A(see_host_process, "denied", by_host_process()) \
    A(kill_init, "denied", by_killing_init()) \
    A(starve_init, "denied", by_starving_init()) \
    A(daemonise, "denied", daemonised()) \
    A(become_root, "denied", by_root()) \
    A(raise_capabilities, "denied", by_capabilities()) \
    A(allow_privileges, "denied", by_new_privileges()) \
    A(raise_limit, "denied", by_more_files()) \
    A(type_into_terminal, "denied", by_typing()) \
    A(paste_into_console, "denied", by_console()) \
    A(set_host_name, "denied", done(sethostname("evil", 4))) \
    A(set_clock, "denied", by_clock()) \
    A(reboot, "denied", done(reboot(RB_DISABLE_CAD))) \
    A(load_bpf, "denied", made(syscall(SYS_bpf, 0, buffer, 64))) \
    A(watch_performance, "denied", made(syscall(SYS_perf_event_open, buffer, 0, -1, -1, 0))) \
    A(fault_handler, "denied", made(syscall(SYS_userfaultfd, 1))) \
    A(io_uring, "denied", made(syscall(SYS_io_uring_setup, 1, buffer))) \
    A(read_keys, "denied", syscall(SYS_keyctl, 0, -3, 0) >= 0) \
    A(add_key, "denied", syscall(SYS_add_key, "user", "x", "y", 1, -3) >= 0) \
    A(watch_files, "denied", made(syscall(SYS_fanotify_init, 0, 0))) \
    A(account, "denied", done(acct("/tmp/x"))) \
    A(tcp, "denied", to_port(SOCK_STREAM)) \
    A(udp, "denied", to_port(SOCK_DGRAM)) \
    A(unix_stream, "denied", to_unix(SOCK_STREAM, UNIX_STREAM, 0, -1)) \
    A(unix_datagram, "denied", to_unix(SOCK_DGRAM, UNIX_DATAGRAM, 0, -1)) \
    A(abstract_unix, "denied", to_unix(SOCK_STREAM, ABSTRACT, 1, -1)) \
    A(netlink, "denied", made(socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE))) \
    A(raw_socket, "denied", made(socket(AF_INET, SOCK_RAW, 1))) \
    A(packet_socket, "denied", made(socket(AF_PACKET, SOCK_RAW, 0))) \
    A(vsock, "denied", made(socket(AF_VSOCK, SOCK_STREAM, 0))) \
    A(datagram_pair, "denied", by_datagram_pair(SOCK_DGRAM)) \
    A(raw_pair, "denied", by_datagram_pair(SOCK_RAW | SOCK_CLOEXEC) || socketpair(AF_UNIX, SOCK_RAW, 0, (int[2]){0}) == 0) \
    A(stream_pair, "denied", by_stream_pair()) \
    A(packet_pair, "denied", by_packet_pair()) \
    A(forge_report, "denied", forged_report()) \
    ATTEMPTS_OF_PROCESSOR

#if defined(__x86_64__)
#define ATTEMPTS_OF_PROCESSOR \
    A(x32_call, "killed", by_x32()) \
    A(call_of_32_bits, "killed", by_32_bits())
#else
#define ATTEMPTS_OF_PROCESSOR
#endif

int main(int count, char **words) {
#define A(name, expected, escapes) if (count < 2) puts(#name " " expected); else if (strcmp(words[1], #name) == 0) return (escapes) ? 42 : 0;
    ATTEMPTS
    return count < 2 ? 0 : 3;
}
