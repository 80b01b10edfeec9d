// Starting device servers, programs that do not start, and the lab's data.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "judge/context.hpp"
#include "judge/errors.hpp"
#include "judge/inputs.hpp"
#include "judge/judged.hpp"
#include "support/contains.hpp"

using namespace warpgrade::judge;

namespace {

struct Folder {
    Folder() { std::filesystem::create_directory(path); }
    ~Folder() { std::filesystem::remove_all(path); }
    std::filesystem::path path = std::filesystem::temp_directory_path() / ("starting-" + std::to_string(getpid()));
};

// The command line of the device server's sandbox.
std::string told_of_device(const std::string& options) {
    const Folder folder;
    const auto sandbox = (folder.path / "sandbox").string();
    std::ofstream(sandbox) << "#!/bin/sh\necho \"($*)\" >&2\n";
    std::filesystem::permissions(sandbox, std::filesystem::perms::owner_all);
    return run_command(WG_JUDGE " --sandbox " + sandbox +
                       " --worker /bin/sh --verdict /dev/null --device-server /bin/sh --device fake:x " + options)
        .output;
}

}  // namespace

TEST_CASE("a device server's limits leave room for its own records, and its command line says what it is") {
    const auto told = told_of_device("--seconds 2.1 --memory-mib 300 --threads 2 --instructions 77 --checks race");
    // 4096 + 5 · 300 + 2 · (256 + 300 / 2) MiB, and (4 · 2.1 + 60) · 2 seconds.
    CHECK_THAT(told,
               Contains("(--profile device --memory-mib 6408 --cpu-seconds 136 --file /bin/sh /warpgrade-device "));
    CHECK_THAT(told, Contains(" -- /warpgrade-device --device fake:x --threads 2 --instructions 77 --memory-mib 300 "
                              "--checks race --client-fd 4 --control-fd 3 --origin --replay-fd 5)"));
    CHECK_THAT(told_of_device("--no-replay"), Contains("--origin)"));
    // One thread where none is named: 4096 + 5 · 2048 + 256 + 1024, and 4 · 20 + 60 seconds.
    CHECK_THAT(told_of_device(""), Contains("--memory-mib 15616 --cpu-seconds 140 "));
    CHECK_THAT(told_of_device("--no-sandbox"), Contains("(--profile device --unconfined --memory-mib"));
    CHECK_THAT(told_of_device("--plain-sandbox"), Contains("(--profile device --sandbox plain --memory-mib"));
}

TEST_CASE("what a device server says reaches the judge's own output, and its errors the judge's") {
    const auto said = [](const std::string& device, const std::string& to) {
        return judge("correct",
                     "--device-server " WG_FAKE_DEVICE " --device fake:" + device + " --test \"has no mistakes\" " + to)
            .output;
    };
    CHECK_THAT(said("talks", "2>/dev/null; :"), Contains("on its standard output\n"));
    CHECK_THAT(said("talks", "2>&1 >/dev/null; :"), !Contains("output"));
    CHECK_THAT(said("differs_4", "2>&1 >/dev/null; :"), Contains("compare: other inputs\n"));
    CHECK_THAT(said("differs_4", "2>/dev/null; :"), !Contains("compare"));
}

TEST_CASE("a program that does not start costs its limit once, a part of it a second time, and then nothing") {
    const auto judged = judge("hangs_at_start", "--seconds 1.5");
    std::size_t usual = 0, less = 0, none = 0;
    for (const auto& [name, verdict] : judged.cases) {
        const std::string message = verdict.at("message");
        INFO(message);
        CHECK(verdict.at("status") == "fail");
        usual += message.starts_with("your program did not start within 1.5 s: a constructor of a global variable");
        less += message.starts_with("your program did not start within 1 s: ");
        none += message.find("not called any more: your program did not finish in the test “scales, ") == 0;
    }
    CHECK((usual == 1 && less == 1 && none == 3));
}

TEST_CASE("where only public tests run, a function that hangs is called once") {
    const auto judged = judge("hangs", "--seconds 1.5 --only public");
    CHECK_THAT(judged.message(), Contains("scale did not finish within 1.5 s") && !Contains("less time"));
    CHECK_THAT(judged.cases.at("has no mistakes")["message"].get<std::string>(),
               Contains("not called any more: scale did not finish in the test “scales, with commas and [brackets]”"));
    CHECK(judged.cases.at("sums")["status"] == "pass");
}

TEST_CASE("a lab's data files are read as they are") {
    const Folder folder;
    std::ofstream(folder.path / "x", std::ios::binary) << std::string("a\0b\n", 4);
    context().options.data.clear();
    CHECK_THROWS_AS(data_file("x"), InfrastructureError);
    context().options.data = folder.path.string();
    const auto bytes = data_file("x");
    CHECK(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()) == std::string("a\0b\n", 4));
    CHECK_THROWS_WITH(data_file("y"), "the lab's data file data/y cannot be read");
    context().options.data.clear();
}
