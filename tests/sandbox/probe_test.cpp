// The output of warpgrade-sandbox --probe on several kinds of machine, which are simulated by mounts and by programs in
// place of bubblewrap.
#include "sandbox/inside.hpp"
#include "support/contains.hpp"

namespace {

// A shell command with mounts of its own.
Finished with_own_mounts(const std::string& command) {
    const std::string unshare = geteuid() == 0 ? "unshare --mount" : "unshare --mount --map-root-user";
    return run_command(unshare + " sh -c '" + command + "'");
}

}  // namespace

TEST_CASE("the probe says whether it works") {
    const auto probe = run_command(WG_SANDBOX " --probe");
    CHECK(probe.status == 0);
    CHECK(probe.output == "the sandbox works (namespaces)\n");
    const auto plain = run_command("WARPGRADE_SANDBOX=plain " WG_SANDBOX " --probe");
    CHECK(plain.status == 0);
    CHECK(plain.output == "the sandbox works (plain)\n");
    CHECK(run_command(WG_SANDBOX " --sandbox plain --probe").output == "the sandbox works (plain)\n");
    CHECK(run_command("WARPGRADE_SANDBOX=namespaces " WG_SANDBOX " --probe").output ==
          "the sandbox works (namespaces)\n");
    const auto wrong = run_command("WARPGRADE_SANDBOX=none " WG_SANDBOX " --probe");
    CHECK(wrong.status == 2);
    CHECK_THAT(wrong.output, Contains("is \"none\", but can be namespaces or plain"));
    const auto help = run_command(WG_SANDBOX " --help");
    CHECK(help.status == 0);
    CHECK_THAT(help.output, Contains("usage: warpgrade-sandbox"));
}

TEST_CASE("where bubblewrap is missing, that is what to change") {
    for (const char* path : {"/nowhere", "", "/nowhere:/etc"}) {
        const auto without = run_command("PATH=" + std::string(path) + " " WG_SANDBOX " --probe");
        CHECK(without.status == 1);
        CHECK_THAT(without.output, Contains("bubblewrap is missing; run `sudo apt-get install bubblewrap`"));
    }
    CHECK(run_command("PATH=/nowhere:$PATH " WG_SANDBOX " --probe").status == 0);
    CHECK(run_command("PATH=$PATH: " WG_SANDBOX " --probe").status == 0);
    CHECK(run_command("PATH=$(dirname $(command -v bwrap)) " WG_SANDBOX " --probe").status == 0);
    CHECK(run_command("PATH=/nowhere WARPGRADE_SANDBOX=plain " WG_SANDBOX " --probe").status == 0);
    // Without namespaces, bubblewrap would be of no use.
    const auto neither = run_command("PATH=/nowhere " WG_INSIDE " without 272 1 " WG_SANDBOX " --probe");
    CHECK(neither.status == 0);
    CHECK_THAT(neither.output, Contains("works (plain)"));
}

TEST_CASE("where bubblewrap does not work, the other sandbox does, and the probe says what is wrong") {
    const Folder folder;
    const auto bwrap = folder.script("bwrap", "printf b >&2; sleep 0.1; printf 'wrap: broken\\nmore' >&2; exit 1\n");
    const std::string path = "PATH=" + folder.path + ":$PATH ";
    const auto probe = run_command(path + WG_SANDBOX " --probe");
    CHECK(probe.status == 0);
    CHECK_THAT(probe.output, Contains("the sandbox works (plain)\nthe stronger one does not: ") &&
                                 Contains(" (bwrap: broken)\n") && !Contains("more"));
    const auto only = run_command(path + "WARPGRADE_SANDBOX=namespaces " WG_SANDBOX " --probe");
    CHECK(only.status == 1);
    CHECK_THAT(only.output, Contains("the sandbox does not work: ") && Contains("(bwrap: broken)\n") &&
                                !Contains("the plain sandbox"));
}

TEST_CASE("where no sandbox works, the probe says why of each") {
    const Folder folder;
    const auto bwrap = folder.script("bwrap", "echo bwrap: broken >&2; exit 1\n");
    const std::string no_landlock = WG_INSIDE " without 444 38 " WG_SANDBOX " --probe";
    const auto probe = run_command("PATH=" + folder.path + ":$PATH " + no_landlock);
    CHECK(probe.status == 1);
    CHECK_THAT(probe.output, Contains("the sandbox does not work: ") &&
                                 Contains(" (bwrap: broken); the plain sandbox: the kernel has no Landlock"));
    const auto plain = run_command("WARPGRADE_SANDBOX=plain " + no_landlock);
    CHECK(plain.status == 1);
    CHECK(plain.output ==
          "the sandbox does not work: the plain sandbox: the kernel has no Landlock (Linux 5.13), or it is switched "
          "off\n");
    const auto no_pipe = run_command(WG_INSIDE " without 293 24 " WG_SANDBOX " --probe");
    CHECK(no_pipe.status == 1);
    CHECK_THAT(no_pipe.output, Contains(" (no pipe); the plain sandbox: no pipe\n"));
}

TEST_CASE("the probe names what forbids namespaces") {
    const Folder folder;
    const auto bwrap = folder.script("bwrap", "exit 1\n");
    const auto said = [&](const std::string& mounts, const std::string& user = "") {
        return with_own_mounts(mounts + "; PATH=" + folder.path + ":$PATH WARPGRADE_SANDBOX=namespaces " + user +
                               " " WG_SANDBOX " --probe")
            .output;
    };
    const std::string kernel = "mount -t tmpfs none /proc/sys/kernel; ", user = "mount -t tmpfs none /proc/sys/user; ";
    const std::string no_container = "mount -t tmpfs none /run; ";
    CHECK_THAT(said(user + "echo 0 > /proc/sys/user/max_user_namespaces"),
               Contains("run `sudo sysctl -w user.max_user_namespaces=10000` ()"));
    CHECK_THAT(said(kernel + "echo 0 > /proc/sys/kernel/unprivileged_userns_clone"),
               Contains("run `sudo sysctl -w kernel.unprivileged_userns_clone=1`"));
    const std::string restricted = kernel + "echo 1 > /proc/sys/kernel/apparmor_restrict_unprivileged_userns";
    if (geteuid() == 0) CHECK_THAT(said(restricted, as_user()), Contains("Ubuntu restricts user namespaces"));
    CHECK_THAT(said(restricted), !Contains("Ubuntu"));  // which root is exempt from
    CHECK_THAT(said(no_container + "touch /run/.containerenv"), Contains("this container forbids namespaces"));
    if (access("/.dockerenv", F_OK) != 0)
        CHECK_THAT(said(no_container), Contains("the kernel or a container around this one forbids"));
}
