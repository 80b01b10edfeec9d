// Every restriction of the sandbox, tried from inside by probe-inside.
#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include "sandbox/inside.hpp"
#include "support/contains.hpp"

TEST_CASE("a worker has no network, no files of the host, no processes of others") {
    const auto sandbox = both();
    for (const char* what :
         {"network", "system-calls", "no-signs", "no-fork", "writes", "host-files", "only-own-processes", "limits"})
        check_holds(what, sandbox);
}

TEST_CASE("without namespaces, a worker reaches no process, runs no program, and opens no file") {
    check_holds("reaches-nobody", "--sandbox plain");
    check_holds("last-filter", "--sandbox plain --profile device");
}

TEST_CASE("a device server has a worker's restrictions, and sees the machine's libraries") {
    const auto sandbox = both();
    for (const char* what : {"network", "system-calls", "no-signs", "no-fork", "only-own-processes", "limits"})
        check_holds(what, "--profile device" + sandbox);
    CHECK(run_command(WG_SANDBOX " --profile device" + sandbox + " -- /bin/true").status == 0);  // dynamically linked
}

TEST_CASE("a compiler has no network and no system calls that reach beyond it") {
    const auto sandbox = both();
    for (const char* what : {"network", "only-own-processes", "host-files", "only-tools", "system-calls"})
        check_holds(what, "--profile compile" + sandbox);
}

TEST_CASE("without namespaces, a compiler reads and writes what it is given, whoever its user is") {
    char folder[] = "/tmp/warpgrade-test-XXXXXX";
    REQUIRE(mkdtemp(folder));
    const std::string given = folder + std::string("/given"), hidden = folder + std::string("/hidden");
    run_command("mkdir " + given + ' ' + hidden + "; echo 1 > " + given + "/x; echo 2 > " + hidden + "/x");
    const auto run = [&](const std::string& command) {
        return run_command(WG_SANDBOX
                           " --sandbox plain --profile compile --setenv PATH /usr/bin:/bin --setenv TMPDIR /tmp"
                           " --ro-bind " +
                           given + ' ' + given + " -- " + command);
    };
    CHECK(run("cat " + given + "/x").output == "1\n");
    CHECK(run("cat " + hidden + "/x").status != 0);
    CHECK(run("cat " + given + "/../hidden/x").status != 0);
    CHECK(run("ls " + std::string(folder)).status != 0);
    CHECK(run("touch " + given + "/y").status != 0);
    CHECK(run("rm " + given + "/x").status != 0);
    if (geteuid() == 0) CHECK(run("sh -c 'cat < /dev/null > $TMPDIR/z && chown 1234 $TMPDIR/z'").status != 0);
    // /tmp is a folder of its own, which is gone afterwards.
    const auto made = run("sh -c 'cat > $TMPDIR/z < /dev/null && echo $TMPDIR'").output;
    CHECK_THAT(made, Contains("/tmp/warpgrade-"));
    CHECK(run_command("test -e " + made.substr(0, made.size() - 1)).status != 0);
    run_command("rm -r " + std::string(folder));
}

TEST_CASE("a compiler's processes are bounded for a user who is not root") {
    if (geteuid() == 0) {
        const auto finished =
            inside("processes", "--profile compile", "setpriv --reuid 54321 --regid 54321 --clear-groups ");
        INFO(finished.output);
        CHECK(finished.status == 0);
    } else {
        check_holds("processes", "--profile compile");
    }
}

TEST_CASE("the environment is empty but for what is given") {
    setenv("SECRET", "1", 1);
    check_holds("environment", "--setenv GIVEN yes" + both());
}

TEST_CASE("a compiler sees no processes, not even its own") {
    CHECK_THAT(run_command(WG_SANDBOX " --profile compile -- /bin/ls /proc").output, Contains("access '/proc'"));
}

TEST_CASE("a command begins in the folder that it is given") {
    const auto in = [](const std::string& options) {
        return run_command(WG_SANDBOX " --profile compile " + options + " -- /bin/pwd").output;
    };
    CHECK(in("--chdir /usr/bin" + both()) == "/usr/bin\n");
    CHECK(in("--chdir /usr --unconfined") == "/usr\n");
    CHECK(run_command(WG_SANDBOX " --unconfined --chdir /no/such/folder -- /bin/pwd").status == 125);
}

TEST_CASE("descriptors are closed but for those named") {
    const std::string open_some = "bash -c 'exec \"$@\" 3</dev/null 7</dev/null 33</dev/null' - ";
    const auto sandbox = both();
    CHECK(inside("descriptors ''", sandbox, open_some).status == 0);
    CHECK(inside("descriptors 7,", "--keep-fd 7" + sandbox, open_some).status == 0);
    CHECK(inside("descriptors ''", "--unconfined", open_some).status == 0);
    CHECK(inside("descriptors ''", "--keep-fd 9").status == 125);  // not open
}

TEST_CASE("the exit status is the command's, or says why there is none") {
    const auto sandbox = both();
    CHECK(inside("exit 0", sandbox).status == 0);
    CHECK(inside("exit 7", sandbox).status == 7);
    CHECK(inside("signal", sandbox).status == 128 + SIGSEGV);
    CHECK(inside("spin", "--cpu-seconds 1" + sandbox).status == 128 + SIGKILL);
    CHECK(inside("spin", "--seconds 0.2" + sandbox).status == 124);
    CHECK(inside("sleep", "--seconds 0.2" + sandbox).status == 124);
    CHECK(inside("spin", "--seconds 0.2 --unconfined").status == 124);
    CHECK(run_command(WG_SANDBOX + sandbox + " -- /no/such/program").status == 125);
    CHECK(run_command(WG_SANDBOX " --unconfined -- /no/such/program").status == 125);
    CHECK_THAT(run_command(WG_SANDBOX " --unconfined --status-fd 1 -- /no/such/program").output,
               !Contains("exit-code"));
    CHECK(run_command(WG_SANDBOX + sandbox + " --file /no/such/file /x -- /x").status == 125);
    CHECK(run_command(WG_SANDBOX " --sandbox nothing -- /x").status == 2);
    CHECK(run_command(WG_SANDBOX " --profile nothing -- /x").status == 2);
    CHECK(run_command(WG_SANDBOX).status == 2);
}

TEST_CASE("the command dies with the sandbox's own process") {
    const std::string mark = std::to_string(getpid()) + "-dies-with-parent";
    run_command("timeout -s KILL 0.5 " WG_SANDBOX + both() + " --file " WG_INSIDE " /probe -- /probe sleep " + mark);
    CHECK(happens([&] { return running("/probe sleep " + mark).empty(); }));
}

TEST_CASE("status reports give the pid and the exit code") {
    const auto finished =
        run_command(WG_SANDBOX " --status-fd 1" + both() + " --file " WG_INSIDE " /probe -- /probe exit 3");
    CHECK_THAT(finished.output, Contains("\"child-pid\": ") && Contains("\"exit-code\": 3"));
}
