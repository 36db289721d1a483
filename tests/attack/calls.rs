//! System calls that a plugin has no need of, and files whose modes and times it would change.

use super::sandbox::gets;

#[test]
fn s11_calls_that_the_list_does_not_name_are_refused() {
    // What the processes of a user share without a file, what tells of files that may not be read,
    // and calls that are newer than every list.
    let act = "note(\"shm\", syscall(SYS_shmget, 7, 4096, 0600 | IPC_CREAT)); \
        note(\"sem\", syscall(SYS_semget, 7, 1, 0600 | IPC_CREAT)); \
        note(\"msg\", syscall(SYS_msgget, 7, 0600 | IPC_CREAT)); \
        note(\"mq\", syscall(SYS_mq_open, \"attack\", O_RDWR | O_CREAT, 0600, 0)); \
        note(\"inotify\", syscall(SYS_inotify_init1, 0)); \
        note(\"personality\", syscall(SYS_personality, 0x40000)); \
        note(\"robust\", syscall(SYS_get_robust_list, 0, got + 2048, got + 2056)); \
        note(\"aio\", syscall(SYS_io_setup, 1, got + 2064)); \
        note(\"new\", syscall(468, -100, \"/etc/passwd\", got + 2048, 24, 0))";
    gets(act, "");
}

#[test]
fn s11_a_file_is_not_leased_or_flagged() {
    let act = "int f = open(\"kustomization.yaml\", O_RDONLY); long flags = 0; \
        note(\"lease\", fcntl(f, F_SETLEASE, F_RDLCK)); ioctl(f, FS_IOC_GETFLAGS, &flags); \
        flags ^= FS_NODUMP_FL; note(\"flags\", ioctl(f, FS_IOC_SETFLAGS, &flags)); \
        note(\"lock\", fcntl(f, F_GETFD))";
    gets(act, "lock");
}

#[test]
fn s11_calls_of_other_interfaces_are_refused() {
    if !cfg!(target_arch = "x86_64") {
        return println!("skipped: only x86-64 has other interfaces");
    }
    // getpid as 32-bit programs ask for it, in a child that dies of it; and as x32 programs do.
    let act = "int pid = fork(), status = 0; if (pid == 0) { long r = 20; \
        __asm__ volatile(\"int $0x80\" : \"+a\"(r)); _exit(r > 0 ? 0 : 1); } \
        waitpid(pid, &status, 0); note(\"i386\", status == 0 ? 0 : -1); note(\"x32\", syscall(0x40000000 + 39))";
    gets(act, "");
}
