// On a machine that refuses something to the sandbox, no command runs, and the message names what was refused.
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>

#include "sandbox/inside.hpp"
#include "sandbox/spawn_wire.hpp"
#include "support/contains.hpp"

namespace {

// A sandbox for which one system call fails.
Finished without(long call, int error, const std::string& options, const std::string& arguments = "exit 7") {
    return run_command(WG_INSIDE " without " + std::to_string(call) + ' ' + std::to_string(error) + " " WG_SANDBOX " " +
                       options + " --file " WG_INSIDE " /probe -- /probe " + arguments);
}

void check_refuses(long call, int error, const std::string& options, const std::string& message) {
    const auto finished = without(call, error, options);
    INFO(options << ' ' << call);
    CHECK(finished.status == 125);
    CHECK_THAT(finished.output, Contains(message));
}

}  // namespace

TEST_CASE("a sandbox that cannot be made runs nothing, and says what was refused") {
    check_refuses(SYS_pipe2, EMFILE, "", "pipe: Too many open files");
    check_refuses(SYS_pipe2, EMFILE, "--sandbox plain", "pipe: Too many open files");
    check_refuses(SYS_memfd_create, ENOSYS, "", "memfd_create");
    check_refuses(SYS_memfd_create, ENOSYS, "--sandbox plain", "memfd_create");
    check_refuses(SYS_sendfile, EIO, "--sandbox plain", "copying " WG_INSIDE ": Input/output error");
    check_refuses(SYS_getrandom, ENOSYS, "--sandbox plain", "getrandom");
    check_refuses(SYS_clone, EAGAIN, "", "fork: Resource temporarily unavailable");
    check_refuses(SYS_clone, EAGAIN, "--unconfined", "fork: Resource temporarily unavailable");
    check_refuses(SYS_dup2, EIO, "--unconfined", "/dev/null: Input/output error");
    // Said where the command has been given the place for such words as well.
    check_refuses(SYS_wait4, ECHILD, "--unconfined --keep-fd 2", "waitpid: No child processes");
    check_refuses(SYS_prlimit64, EPERM, "", "reading a limit");
    check_refuses(SYS_prlimit64, EPERM, "--unconfined", "reading a limit");
    check_refuses(445, EPERM, "--sandbox plain --profile compile", "Landlock");
    check_refuses(446, EPERM, "--sandbox plain", "Landlock");
    check_refuses(SYS_capset, EPERM, "--sandbox plain", "capabilities");
    check_refuses(SYS_execveat, EACCES, "--sandbox plain", "cannot run /probe: Permission denied");
    check_refuses(SYS_mkdir, EACCES, "--sandbox plain --profile compile", "making a folder in /tmp");
    if (geteuid() == 0) check_refuses(SYS_setresuid, EPERM, "", "cannot change to uid ");
    if (geteuid() == 0) check_refuses(SYS_setresgid, EPERM, "", "cannot change to uid ");
    if (geteuid() == 0) check_refuses(SYS_setgroups, EPERM, "--sandbox plain", "cannot change to uid ");
    check_refuses(444, ENOSYS, "--sandbox plain", "the kernel has no Landlock (Linux 5.13), or it is switched off");
    check_refuses(444, EOPNOTSUPP, "--sandbox plain --profile compile", "the kernel has no Landlock");
}

TEST_CASE("what cannot be read, run or kept is named") {
    const auto said = [](const std::string& options) {
        const auto finished = run_command(WG_SANDBOX " " + options);
        CHECK(finished.status == 125);
        return finished.output;
    };
    CHECK_THAT(said("--file /no/such/file /x -- /x"), Contains("cannot read /no/such/file: No such file"));
    CHECK_THAT(said("--sandbox plain --file /no/such/file /x -- /x"), Contains("cannot read /no/such/file: No such"));
    CHECK_THAT(said("--sandbox plain -- /no/such"), Contains("cannot run /no/such: No such file"));
    CHECK_THAT(said("--sandbox plain --profile compile -- /no/such"), Contains("cannot run /no/such: No such file"));
    CHECK_THAT(said("--unconfined -- /no/such"), Contains("running it: No such file"));
    CHECK_THAT(said("--keep-fd 99 -- /bin/true"), Contains("descriptor 99 cannot be kept: Bad file descriptor"));
    CHECK_THAT(said("--unconfined --chdir /no/such -- /bin/true"), Contains("chdir: No such file"));
    CHECK_THAT(run_command("PATH=/nowhere " WG_SANDBOX " -- /bin/true").output,
               Contains("cannot run bwrap: No such file"));
    CHECK(run_command("PATH=/nowhere " WG_SANDBOX " --spawner-fd 3 -- /bin/true 3<>/dev/null").status == 125);
    const Folder folder;
    std::ofstream(folder.path + "/byte") << 'x';
    CHECK_THAT(said("--sandbox plain --file " + folder.path + "/byte /x -- /x"),
               Contains("cannot run /x: Exec format error"));
}

TEST_CASE("on a kernel without close_range, descriptors are closed one by one") {
    const std::string open_some = "exec bash -c 'exec \"$@\" 3</dev/null 7</dev/null 255</dev/null' - ";
    for (const char* sandbox : {"", "--sandbox plain ", "--unconfined "}) {
        const auto run = [&](const std::string& keep, const std::string& expected) {
            return run_command(open_some + WG_INSIDE " without " + std::to_string(SYS_close_range) +
                               " 38 " WG_SANDBOX " " + sandbox + keep +
                               " --file " WG_INSIDE " /probe -- /probe descriptors " + expected)
                .status;
        };
        CHECK(run("", "''") == 0);
        CHECK(run("--keep-fd 3", "3,") == 0);
        CHECK(run("--keep-fd 7", "7,") == 0);
    }
}

// Reports as bubblewrap might write them.
TEST_CASE("what bubblewrap reports is read in pieces, and what it does not report has not begun") {
    const Folder folder;
    const auto run = [&](const std::string& reports, const std::string& options = "") {
        const auto bwrap = folder.script("bwrap",
                                         "while [ \"$1\" != -- ]; do [ \"$1\" = --json-status-fd ] && fd=$2; [ \"$1\" "
                                         "= --block-fd ] && block=$2; shift; done\n" +
                                             reports);
        return run_command("PATH=" + folder.path + ":$PATH " WG_SANDBOX " " + options + " -- /bin/true");
    };
    const std::string pid = "printf '{ \"child-pid\": %s }\\n' $$ >&$fd; read -rn 1 -u $block; ";
    const auto whole = run(pid + "printf '{ \"exit-code\": 3 }\\n' >&$fd; exit 3", "--status-fd 1");
    CHECK(whole.status == 3);
    CHECK_THAT(whole.output, Contains("\"child-pid\": ") && Contains("\"exit-code\": 3 }"));
    // A number is read only when it is complete.
    CHECK(run("a=$$; printf '{ \"child-pi' >&$fd; sleep 0.05; printf 'd\": %s' ${a%?} >&$fd; sleep 0.05; "
              "printf '%s, \"x\": 1 }' ${a#${a%?}} >&$fd; read -rn 1 -u $block; printf '{ \"exit-code\":' >&$fd; sleep "
              "0.05; "
              "printf 0 >&$fd; sleep 0.05; printf '}' >&$fd; prlimit --pid $$ --nofile | grep -q 256; exit $?")
              .status == 0);
    CHECK(run("exit 3").status == 125);
    CHECK(run(pid + "exit 3").status == 125);
    CHECK(run("exec sleep 60", "--seconds 0.2").status == 124);
    CHECK(run(pid + "exec sleep 60", "--seconds 0.2").status == 124);
    CHECK(run("printf '{ \"child-pid\": 0 }' >&$fd; exit 3").status == 125);

    // Its process and the command's both end at the deadline, where a limit cannot be set, and with the sandbox.
    const auto name = "4712" + std::to_string(getpid());
    const std::string both = "sleep " + name + " & printf '{ \"child-pid\": %s }\\n' $! >&$fd; exec sleep " + name;
    CHECK(run(both, "--seconds 0.2").status == 124);
    CHECK(happens([&] { return running("sleep " + name).empty(); }));
    CHECK(run_command("PATH=" + folder.path + ":$PATH " WG_INSIDE " without " + std::to_string(SYS_prlimit64) +
                      " 1 " WG_SANDBOX " -- /bin/true")
              .status == 125);
    CHECK(happens([&] { return running("sleep " + name).empty(); }));
    // Who reports the command may not wait for it to be let go.
    const auto gone = run("eval \"exec $block<&-\"; sleep " + name + " & printf '{ \"child-pid\": %s }\\n' $! >&$fd");
    CHECK(gone.status == 125);
    CHECK_THAT(gone.output, Contains("starting the command: Broken pipe"));
    CHECK(happens([&] { return running("sleep " + name).empty(); }));
    (void)folder.script("bwrap", "exec sleep " + name);
    const auto unheard = run_command("PATH=" + folder.path + ":$PATH " WG_INSIDE " without " +
                                     std::to_string(SYS_poll) + " 12 " WG_SANDBOX " --keep-fd 2 -- /bin/true");
    CHECK(unheard.status == 125);
    CHECK_THAT(unheard.output, Contains("poll: Cannot allocate memory"));
    Background sandbox("env PATH=" + folder.path + ":$PATH " WG_SANDBOX " -- /bin/true");
    REQUIRE(happens([&] { return !running("sleep " + name).empty(); }));
    sandbox.end();
    CHECK(happens([&] { return running("sleep " + name).empty(); }));
}

TEST_CASE("a sandbox whose caller has ended does not begin") {
    const Folder folder;
    const auto name = "orphan-" + std::to_string(getpid()), late = folder.path + "/late";
    REQUIRE(run_command("mkfifo " + late).status == 0);
    // It waits for somebody to write its second file.
    Background caller("sh -c '" WG_SANDBOX " --file " WG_INSIDE " /probe --file " + late + " /late -- /probe sleep " +
                      name + "; true'");
    const auto sandbox = [&] { return run_command("pgrep -f '^" WG_SANDBOX " .*[s]leep " + name + "'").status == 0; };
    REQUIRE(happens(sandbox));
    caller.end();
    CHECK(sandbox());
    const int writer = open(late.c_str(), O_WRONLY);
    close(writer);
    CHECK(happens([&] { return !sandbox() && running("/probe sleep " + name).empty(); }));
}

TEST_CASE("a spawner ends when what comes is no request") {
    namespace spawn = warpgrade::sandbox::spawn;
    const std::string sandbox = GENERATE("", "--sandbox plain ");
    for (const std::uint32_t claimed : {0u, 2u, 9u, 1u}) {
        int ends[2];
        REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
        fcntl(ends[0], F_SETFD, FD_CLOEXEC);
        const Background run(WG_SANDBOX " " + sandbox + "--spawner-fd " + std::to_string(ends[1]) +
                             " --file " WG_INSIDE " /probe -- /probe exit 0");
        close(ends[1]);
        spawn::Request request;
        request.id = 5, request.count = claimed, request.numbers[0] = 7;
        REQUIRE(spawn::send(ends[0], request, std::span(ends, 1)));  // with one descriptor
        spawn::Report report;
        ssize_t got = -1;
        REQUIRE(happens([&] { return (got = recv(ends[0], &report, sizeof report, MSG_DONTWAIT)) >= 0; }));
        CHECK((got == 0) == (claimed != 1));
        if (claimed == 1) CHECK((report.id == 5 && report.kind != spawn::Kind::failed));
        close(ends[0]);
    }
}
