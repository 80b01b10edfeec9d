// Runs inside the sandbox and tries what must not work. `probe-inside WHAT` ends with status 0 when the sandbox held.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef AF_VSOCK
#define AF_VSOCK 40
#endif

// Without namespaces, programs can use the host's paths, but cannot open the files.
static int plain;

static int out_of_reach(const char* path) { return plain ? open(path, O_RDONLY) < 0 : access(path, F_OK) != 0; }

static int holds(const char* what, int refused) {
    if (!refused) printf("%s: it worked\n", what);
    return refused ? 0 : 1;
}

static int network(void) {
    const int families[] = {AF_INET, AF_INET6, AF_NETLINK, AF_VSOCK, AF_PACKET};
    int broken = 0;
    for (unsigned i = 0; i < sizeof families / sizeof *families; ++i)
        broken |= holds("socket", socket(families[i], SOCK_STREAM, 0) < 0 && socket(families[i], SOCK_RAW, 0) < 0);
    return broken;
}

// Ways in which a program and its replay could communicate.
static int no_signs(void) {
    int broken = 0;
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 7, .l_len = 1};
    broken |= holds("locks", fcntl(1, F_SETLK, &lock) < 0 && errno == ENOSYS);
    broken |= holds("a look at locks", fcntl(1, F_GETLK, &lock) < 0 && errno == ENOSYS);
    broken |= holds("leases", fcntl(1, F_SETLEASE, F_RDLCK) < 0 && errno == ENOSYS);
    broken |= holds("sysinfo", syscall(SYS_sysinfo, &lock) < 0 && errno == ENOSYS);
    broken |= holds("mincore", syscall(SYS_mincore, 0, 0, 0) < 0 && errno == ENOSYS);
    broken |= holds("a handler of SIGCONT", signal(SIGCONT, SIG_IGN) == SIG_ERR && errno == EINVAL);
    return broken;
}

static int system_calls(void) {
    int broken = 0;
    broken |= holds("unshare", unshare(CLONE_NEWUSER) != 0);
    broken |= holds("clone", syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0) < 0);
    broken |= holds("clone3", syscall(SYS_clone3, NULL, 0) < 0 && errno == ENOSYS);
    broken |= holds("mount", mount("none", "/tmp", "tmpfs", 0, "") != 0);
    broken |= holds("ptrace", ptrace(PTRACE_TRACEME, 0, 0, 0) != 0);
    broken |= holds("add_key", syscall(SYS_add_key, "user", "k", "v", 1, KEY_SPEC_USER_KEYRING) < 0);
    broken |= holds("keyctl", syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 1) < 0);
    broken |= holds("io_uring", syscall(SYS_io_uring_setup, 8, NULL) < 0 && errno != EFAULT);
    broken |= holds("bpf", syscall(SYS_bpf, 0, NULL, 0) < 0 && errno != EFAULT && errno != EINVAL);
    broken |= holds("perf", syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0) < 0 && errno != EFAULT);
    broken |= holds("userfaultfd", syscall(SYS_userfaultfd, 0) < 0);
    broken |= holds("process_vm_readv", syscall(SYS_process_vm_readv, getpid(), NULL, 0, NULL, 0, 0) < 0);
    broken |= holds("TIOCSTI", ioctl(0, TIOCSTI, "x") != 0);
    return broken;
}

static int processes(void) {
    int broken = 0, started = 0;
    for (int i = 0; i < 1000; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            pause();
            _exit(0);
        }
        if (child > 0) ++started;
    }
    printf("%d children\n", started);
    broken |= holds("1000 processes", started < 100);
    return broken;
}

// Forking is refused altogether.
static int no_fork(void) { return holds("fork", fork() < 0 && vfork() < 0); }

static int descriptors(const char* expected) {
    char found[256] = "";
    for (int fd = 3; fd < 1024; ++fd) {
        char number[16];
        snprintf(number, sizeof number, "%d,", fd);
        if (fcntl(fd, F_GETFD) >= 0) strncat(found, number, sizeof found - strlen(found) - 1);
    }
    printf("open: %s\n", found);
    return strcmp(found, expected) != 0;
}

static int writes(void) {
    const char* const places[] = {"/x", "/dev/x", "/dev/shm/x", "/usr/x", "/etc/x", "/proc/sys/kernel/hostname"};
    int broken = 0;
    for (unsigned i = 0; i < sizeof places / sizeof *places; ++i)
        broken |= holds(places[i], open(places[i], O_CREAT | O_WRONLY, 0600) < 0);
    // /tmp is there, and small.
    static char block[1 << 20];
    long total = 0;
    for (int file = 0; file < 64; ++file) {
        char name[32];
        snprintf(name, sizeof name, "/tmp/%d", file);
        const int fd = open(name, O_CREAT | O_WRONLY, 0600);
        for (int i = 0; fd >= 0 && i < 16 && write(fd, block, sizeof block) > 0; ++i) total += sizeof block;
        close(fd);
    }
    printf("%ld bytes in /tmp\n", total);
    broken |= holds("1 GiB in /tmp", plain ? total == 0 : total > 0 && total <= (64 << 20));
    broken |= holds("own code", open("/probe", O_WRONLY) < 0);
    return broken;
}

static int host_files(void) {
    const char* const places[] = {"/etc/passwd", "/home", "/root", "/var", "/sys", "/work"};
    int broken = 0;
    for (unsigned i = 0; i < sizeof places / sizeof *places; ++i) broken |= holds(places[i], out_of_reach(places[i]));
    return broken;
}

// Neither /proc nor endless devices nor installed files other than the tools are visible.
static int only_tools(void) {
    const char* const places[] = {"/proc",      "/dev/zero", "/dev/urandom", "/dev/full",  "/dev/shm",
                                  "/dev/stdin", "/dev/tty",  "/usr/share",   "/usr/local", "/etc/hostname"};
    int broken = 0;
    for (unsigned i = 0; i < sizeof places / sizeof *places; ++i)
        if (!plain || strcmp(places[i], "/dev/stdin") != 0)  // which is /dev/null there
            broken |= holds(places[i], out_of_reach(places[i]));
    const int null = open("/dev/null", O_RDWR);
    return broken | holds("/dev/null", null >= 0 && write(null, "x", 1) == 1) |
           holds("/dev", open("/dev/x", O_CREAT | O_WRONLY, 0600) < 0);
}

static int only_own_processes(void) {
    DIR* proc = opendir("/proc");
    if (!proc) return 0;  // not even a /proc
    int count = 0;
    for (struct dirent* entry; (entry = readdir(proc));) count += entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
    return holds("processes of others", count == 1) | holds("kill", kill(2, SIGKILL) != 0);
}

// No earlier run left anything, and this one leaves nothing.
static int leaves_file(void) {
    int broken = 0, entries = 0;
    DIR* tmp = opendir("/tmp");
    for (struct dirent* entry; tmp && (entry = readdir(tmp));) ++entries;
    if (tmp) closedir(tmp);
    broken |= holds("a file left behind", tmp && entries == 2);
    const int left = open("/tmp/left", O_CREAT | O_EXCL | O_WRONLY, 0600);
    broken |= holds("no /tmp", left >= 0 && write(left, "x", 1) == 1);
    return broken;
}

// A signal reaches only the process itself, which survives as the first of its namespace.
static int kills_all(void) {
    int broken = holds("parent", getppid() == 0) | holds("pid", getpid() == 1);
    for (pid_t pid = 2; pid < 1000; ++pid) broken |= holds("another process", kill(pid, SIGKILL) != 0);
    kill(-1, SIGKILL);
    kill(1, SIGKILL);
    kill(getppid(), SIGKILL);  // its own group
    return broken;
}

static void* spins(void* unused) {
    for (;;) {
    }
    return unused;
}

// The thread runs on when main() has ended.
static int leaves_thread(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, spins, NULL) != 0) return 1;
    pthread_exit(NULL);
}

// Tells the judge on every descriptor that this process has ended well.
static int forges_report(void) {
    const struct {
        unsigned id, kind;
        int value;
        char step[20];
    } report = {1, 3, 0, ""};
    for (int fd = 0; fd < 1024; ++fd)
        if (send(fd, &report, sizeof report, MSG_NOSIGNAL) < 0 && errno == ENOTSOCK && fd > 2)
            write(fd, &report, sizeof report);
    return 77;
}

// Checks the filter of system calls, which must work with an old Landlock too; Landlock returns EACCES for files and
// EPERM for signals.
static int filtered(long result, int by_landlock) { return result < 0 && errno != by_landlock; }

// Without namespaces, pids and executable files are the host's.
static int reaches_nobody(void) {
    const pid_t other = getppid();
    char* const none[] = {NULL};
    cpu_set_t processors;
    struct rlimit limit = {1, 1};
    CPU_ZERO(&processors);
    CPU_SET(0, &processors);
    int broken = holds("kill", kill(other, 0) != 0) | holds("kill of all", kill(-1, 0) != 0);
    broken |= holds("tkill", syscall(SYS_tkill, other, 0) != 0);
    broken |= holds("tgkill", filtered(syscall(SYS_tgkill, other, other, 0), EPERM));
    broken |= holds("another's limit", prlimit(other, RLIMIT_CPU, &limit, NULL) != 0);
    broken |= holds("another's processors", sched_setaffinity(other, sizeof processors, &processors) != 0);
    broken |= holds("signals by descriptors", filtered(fcntl(1, F_SETOWN, other), EPERM));
    broken |= holds("a pidfd", syscall(SYS_pidfd_open, other, 0) < 0);
    broken |= holds("execve", execve("/bin/true", none, none) != 0);
    broken |= holds("execveat", filtered(syscall(SYS_execveat, AT_FDCWD, "/bin/true", none, none, 0), EACCES));
    broken |=
        holds("execveat", filtered(syscall(SYS_execveat, AT_FDCWD, "/bin/true", none, none, AT_EMPTY_PATH), EACCES));
    broken |= holds("a file", filtered(open("/dev/null", O_RDONLY), EACCES) && filtered(open(".", O_RDONLY), EACCES));
    return broken | holds("not even itself", syscall(SYS_tgkill, getpid(), getpid(), 0) == 0);
}

// Applies the last filter as the device server does.
static int last_filter(void) {
    static struct sock_filter instructions[4096];
    const int fd = atoi(getenv("WARPGRADE_LAST_FILTER_FD"));
    const long size = pread(fd, instructions, sizeof instructions, 0);
    const struct sock_fprog program = {(unsigned short)(size / (long)sizeof *instructions), instructions};
    int broken =
        holds("no libraries", open("/usr/lib", O_RDONLY) >= 0) | holds("hosts", open("/etc/hosts", O_RDONLY) < 0);
    broken |= holds("no filter", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0);
    return broken | holds("libraries", open("/usr/lib", O_RDONLY) < 0) | reaches_nobody();
}

static int limits(void) {
    struct rlimit core;
    getrlimit(RLIMIT_CORE, &core);
    int broken = holds("core dumps", core.rlim_max == 0);
    broken |= holds("1 GiB of memory", malloc((size_t)1 << 30) == NULL);
    struct rlimit files, memory, size, locked, processes;
    getrlimit(RLIMIT_NOFILE, &files);
    getrlimit(RLIMIT_AS, &memory);
    getrlimit(RLIMIT_FSIZE, &size);
    getrlimit(RLIMIT_MEMLOCK, &locked);
    getrlimit(RLIMIT_NPROC, &processes);
    broken |= holds("256 open files", files.rlim_max == 256 && files.rlim_cur == 256);
    broken |= holds("512 MiB of memory", memory.rlim_max == (rlim_t)512 << 20);
    broken |= holds("files of 16 MiB", size.rlim_max == (rlim_t)16 << 20 && size.rlim_cur == size.rlim_max);
    broken |= holds("locked memory", locked.rlim_max == 0);
    broken |= holds("64 processes", processes.rlim_max >= 64 && processes.rlim_max < 70);
    const struct rlimit more = {4096, 4096};
    broken |= holds("raising a limit", setrlimit(RLIMIT_NOFILE, &more) != 0);
    broken |= holds("uid 0", getuid() != 0 && setuid(0) != 0);
    return broken;
}

// The limits that this process has, soft and hard where they differ.
static int print_limits(void) {
    const struct {
        const char* name;
        int resource;
    } all[] = {{"core", RLIMIT_CORE}, {"files", RLIMIT_NOFILE}, {"locked", RLIMIT_MEMLOCK}, {"cpu", RLIMIT_CPU},
               {"memory", RLIMIT_AS}, {"size", RLIMIT_FSIZE},   {"processes", RLIMIT_NPROC}};
    for (unsigned i = 0; i < sizeof all / sizeof *all; ++i) {
        struct rlimit limit;
        getrlimit(all[i].resource, &limit);
        printf("%s %ld", all[i].name, (long)limit.rlim_cur);
        if (limit.rlim_max != limit.rlim_cur) printf("/%ld", (long)limit.rlim_max);
        puts("");
    }
    return 0;
}

// The names in a folder, in order.
static int lists(const char* path) {
    struct dirent** names;
    const int count = scandir(path, &names, NULL, alphasort);
    for (int i = 0; i < count; ++i)
        if (names[i]->d_name[0] != '.') printf("%s ", names[i]->d_name);
    return count < 0;
}

static int devices(void) {
    char byte = 1;
    const int null = open("/dev/null", O_RDWR), zero = open("/dev/zero", O_RDONLY);
    return holds("/dev/null", null >= 0 && write(null, "x", 1) == 1 && read(null, &byte, 1) == 0) |
           holds("/dev/zero", zero >= 0 && read(zero, &byte, 1) == 1 && byte == 0);
}

static int no_input(void) {
    char byte;
    return holds("standard input", read(0, &byte, 1) == 0);
}

// Runs a command for whom one system call fails.
static int without(int call, int error, char** command) {
    struct sock_filter instructions[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, 0},
                                         {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, (unsigned)call},
                                         {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | (unsigned)error},
                                         {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
    const struct sock_fprog program = {4, instructions};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return 98;
    execvp(command[0], command);
    return 97;
}

static int environment(void) {
    extern char** environ;
    int broken = 0;
    for (char** variable = environ; *variable; ++variable)
        broken |= holds(*variable, strncmp(*variable, "PWD=", 4) == 0 || strcmp(*variable, "GIVEN=yes") == 0);
    return broken | holds("GIVEN", getenv("GIVEN") != NULL);
}

int main(int argc, char** argv) {
    const char* const what = argc > 1 ? argv[1] : "";
    plain = argc > 2 && strcmp(argv[argc - 1], "plain") == 0;
    if (strcmp(what, "network") == 0) return network();
    if (strcmp(what, "system-calls") == 0) return system_calls();
    if (strcmp(what, "no-signs") == 0) return no_signs();
    if (strcmp(what, "processes") == 0) return processes();
    if (strcmp(what, "no-fork") == 0) return no_fork();
    if (strcmp(what, "descriptors") == 0) return descriptors(argc > 2 ? argv[2] : "");
    if (strcmp(what, "writes") == 0) return writes();
    if (strcmp(what, "host-files") == 0) return host_files();
    if (strcmp(what, "only-tools") == 0) return only_tools();
    if (strcmp(what, "only-own-processes") == 0) return only_own_processes();
    if (strcmp(what, "leaves-file") == 0) return leaves_file();
    if (strcmp(what, "leaves-thread") == 0) return leaves_thread();
    if (strcmp(what, "kills-all") == 0) return kills_all();
    if (strcmp(what, "forges-report") == 0) return forges_report();
    if (strcmp(what, "reaches-nobody") == 0) return reaches_nobody();
    if (strcmp(what, "last-filter") == 0) return last_filter();
    if (strcmp(what, "limits") == 0) return limits();
    if (strcmp(what, "environment") == 0) return environment();
    if (strcmp(what, "print-limits") == 0) return print_limits();
    if (strcmp(what, "lists") == 0) return lists(argv[2]);
    if (strcmp(what, "devices") == 0) return devices();
    if (strcmp(what, "no-input") == 0) return no_input();
    if (strcmp(what, "identity") == 0) return printf("%d %d\n", (int)getuid(), (int)getgid()), 0;
    if (strcmp(what, "without") == 0) return without(atoi(argv[2]), atoi(argv[3]), argv + 4);
    if (strcmp(what, "closes") == 0) return close(atoi(argv[2])), sleep(60), 0;
    if (strcmp(what, "exit") == 0) return atoi(argv[2]);
    if (strcmp(what, "signal") == 0) return raise(SIGSEGV), abort(), 0;
    if (strcmp(what, "spin") == 0)
        for (;;) {
        }
    if (strcmp(what, "sleep") == 0) return sleep(60), 0;
    fprintf(stderr, "probe-inside: what?\n");
    return 99;
}
