// Programs that nvcc compiled, linked with our runtime, with the device server: on the fake device, and on the virtual
// GPU in a separate process, as the judge starts it.
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "judge/catch.hpp"
#include "server/session_fixture.hpp"

using namespace warpgrade::server;
using namespace warpgrade::server::testing;

extern char** environ;

namespace {

// Starts a program with some of our descriptors under chosen numbers. Its stdout goes to a pipe, its stderr to ours.
class Child {
  public:
    Child(std::vector<std::string> arguments, const std::vector<std::pair<int, int>>& descriptors,
          std::vector<std::string> environment = {}) {
        int pipe_ends[2];
        if (::pipe2(pipe_ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], 1);
        // First out of the way of each other's numbers.
        std::vector<int> high;
        for (const auto& [from, to] : descriptors) high.push_back(::fcntl(from, F_DUPFD_CLOEXEC, 100));
        for (std::size_t i = 0; i < descriptors.size(); ++i)
            posix_spawn_file_actions_adddup2(&actions, high[i], descriptors[i].second);
        std::vector<char*> argv, envp;
        for (std::string& argument : arguments) argv.push_back(argument.data());
        argv.push_back(nullptr);
        for (std::string& setting : environment) envp.push_back(setting.data());
        envp.push_back(nullptr);
        const int status = ::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), envp.data());
        posix_spawn_file_actions_destroy(&actions);
        ::close(pipe_ends[1]);
        for (const int descriptor : high) ::close(descriptor);
        output_ = pipe_ends[0];
        if (status != 0) throw std::runtime_error("cannot start " + arguments[0]);
    }
    // Exit status and what it printed.
    std::pair<int, std::string> wait() {
        std::string text;
        char buffer[4096];
        for (ssize_t got; (got = ::read(output_, buffer, sizeof buffer)) > 0;)
            text.append(buffer, static_cast<std::size_t>(got));
        ::close(output_);
        int status = 0;
        ::waitpid(pid_, &status, 0);
        return {WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status), text};
    }

  private:
    pid_t pid_ = 0;
    int output_ = -1;
};

struct Result {
    int status = 0;
    std::string output;
    nlohmann::json taken;
};

// The shared library is found where the system has none.
std::vector<std::string> descriptor_setting() {
    return {std::string(wire::descriptor_variable) + "=5", "LD_LIBRARY_PATH=" WG_LIBRARIES};
}

Result run_on_fake(const std::string& program, const std::string& check) {
    SocketPair control, client;
    FakeDevice device;
    std::thread server([&] { Server(device, client.theirs, control.theirs).run(); });
    Result result;
    {
        Judge judge(control.ours);
        Child child({program, check}, {{client.ours, 5}}, descriptor_setting());
        ::close(client.ours);
        std::tie(result.status, result.output) = child.wait();
        result.taken = judge.take();
        judge.ask(R"({"op":"shutdown"})");
    }
    server.join();
    return result;
}

Result run_on(const char* device, const std::string& program, const std::string& check) {
    SocketPair control, client;
    Child server({WG_DEVICE_SERVER, "--device", device, "--threads", "2", "--instructions", "100000000", "--client-fd",
                  "4", "--control-fd", "3"},
                 {{control.theirs, 3}, {client.theirs, 4}});
    ::close(control.theirs), ::close(client.theirs);
    Result result;
    {
        Judge judge(control.ours);
        judge.ask(R"({"op":"hello"})");
        Child child({program, check}, {{client.ours, 5}}, descriptor_setting());
        ::close(client.ours);
        std::tie(result.status, result.output) = child.wait();
        result.taken = judge.take();
        judge.ask(R"({"op":"shutdown"})");
    }
    CHECK(server.wait().first == 0);
    return result;
}

Result run_on_virtual_gpu(const std::string& program, const std::string& check) {
    return run_on("vgpu:h100", program, check);
}

// What the programs do in several streams, they do in order.
std::size_t races_between_streams(const Result& result) {
    const auto& all = result.taken.at("diagnostics");
    return std::count_if(all.begin(), all.end(), [](const auto& one) {
        return one.at("rule") == "racecheck/stream" || one.at("rule") == "racecheck/host";
    });
}

void check_on_virtual_gpu(const std::string& program, const std::string& check) {
    CAPTURE(check, program);
    const Result result = run_on_virtual_gpu(program, check);
    CHECK(result.output == "ok\n");
    CHECK(result.status == 0);
    CHECK(result.taken.at("internal_error").is_null());
    CHECK(races_between_streams(result) == 0);
}

void check_on_gpu(const std::string& program, const std::string& check) {
    if (Child({WG_DEVICE_SERVER, "--device", "gpu", "--describe"}, {}).wait().first != 0) {
        std::puts("skipped: no NVIDIA GPU");
        return;
    }
    CAPTURE(check, program);
    const Result result = run_on("gpu", program, check);
    CHECK(result.output == "ok\n");
    CHECK(result.status == 0);
    CHECK(result.taken.at("internal_error").is_null());
}

// The line of a place in the program's code: of the call that returns there.
int line_of(const std::string& program, const nlohmann::json& place) {
    const auto code = place.at("code").get<std::uint64_t>();
    if (code == 0) return 0;
    std::ostringstream command;
    command << "addr2line -i -e '" << program << "' 0x" << std::hex << code - 1;
    FILE* pipe = ::popen(command.str().c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error("addr2line");
    // The innermost function first: one of cuda_runtime.h, if it is part of ours.
    int line = 0;
    for (char text[4096]; std::fgets(text, sizeof text, pipe) != nullptr;) {
        const std::string where = text;
        const auto name = where.find("mistakes.cu:");
        if (line == 0 && name != std::string::npos) line = std::atoi(where.c_str() + where.find(':', name) + 1);
    }
    ::pclose(pipe);
    return line;
}

// The line of a function of mistakes.cu whose comment names something.
int line_with(const std::string& function, const std::string& name) {
    std::ifstream source(WG_MISTAKES_SOURCE);
    bool inside = false;
    int number = 0;
    for (std::string line; std::getline(source, line);) {
        ++number;
        if (line.find(' ' + function + "() {") != std::string::npos) inside = true;
        if (line == "}") inside = false;
        const auto comment = line.find("  // ");
        if (inside && comment != std::string::npos && line.find(name, comment) != std::string::npos) return number;
    }
    throw std::logic_error("no line of " + function + " is about " + name);
}

using Runner = Result (*)(const std::string&, const std::string&);

}  // namespace

TEST_CASE("the runtime keeps CUDA's promises (trap 2)") {
    const auto [where, run] =
        GENERATE(table<const char*, Runner>({{"fake device", run_on_fake}, {"virtual GPU", run_on_virtual_gpu}}));
    const std::string check = GENERATE("vecadd", "symbol", "reverse", "copies", "errors", "fault", "streams", "queries",
                                       "threads", "reset", "handles", "launches", "devices");
    const std::string program = GENERATE(WG_RUNTIME_LEGACY, WG_RUNTIME_PER_THREAD);
    CAPTURE(where, check, program);
    const Result result = run(program, check);
    CHECK(result.output == "ok\n");
    CHECK(result.status == 0);
    CHECK(result.taken.at("internal_error").is_null());
    CAPTURE(result.taken.at("diagnostics").dump(1));
    CHECK(races_between_streams(result) == 0);
}

// Without "symbol", which uses a variable's address without saying that it is the device's, and "streams", which asks
// for work that a real GPU has done by then.
TEST_CASE("a real GPU keeps the runtime's promises", "[gpu]") {
    check_on_gpu(WG_RUNTIME_LEGACY, GENERATE("vecadd", "reverse", "copies", "errors", "fault", "queries", "threads",
                                             "reset", "handles", "launches", "devices", "bounds", "attributes"));
}

TEST_CASE("a real GPU shares and shapes memory", "[gpu]") {
    check_on_gpu(WG_MEMORY_LEGACY, GENERATE("managed", "managed structures", "managed variables", "advice", "mapped",
                                            "registered", "volumes", "arrays", "pools", "limits"));
}

TEST_CASE("attributes agree with each other") {
    const Result result = run_on_virtual_gpu(WG_RUNTIME_LEGACY, GENERATE("attributes", "bounds"));
    CHECK(result.output == "ok\n");
    CHECK(result.status == 0);
}

TEST_CASE("memory is shared and shaped as CUDA says") {
    const std::string check = GENERATE("managed", "managed structures", "managed variables", "advice", "mapped",
                                       "registered", "volumes", "arrays", "pools", "limits");
    const std::string program = GENERATE(WG_MEMORY_LEGACY, WG_MEMORY_PER_THREAD);
    check_on_virtual_gpu(program, check);
}

TEST_CASE("textures return what CUDA's programming guide says") {
    const std::string check = GENERATE("linear memory", "addressing", "filtering", "formats", "pitched", "layers",
                                       "descriptors", "refused", "freed", "destroyed", "wrong handle", "wrong kind");
    const std::string program = GENERATE(WG_TEXTURES_LEGACY, WG_TEXTURES_PER_THREAD);
    check_on_virtual_gpu(program, check);
}

TEST_CASE("surfaces are read and written, and nothing outside of them") {
    const std::string check = GENERATE("surfaces", "outside");
    const std::string program = GENERATE(WG_SURFACES_LEGACY, WG_SURFACES_PER_THREAD);
    check_on_virtual_gpu(program, check);
}

TEST_CASE("graphs do what was put into them, whenever they are launched") {
    const std::string check = GENERATE("capture", "fork", "nodes", "update", "captured memory", "memory nodes");
    const std::string program = GENERATE(WG_GRAPHS_LEGACY, WG_GRAPHS_PER_THREAD);
    check_on_virtual_gpu(program, check);
}

TEST_CASE("memory of a graph is checked as any other") {
    using Found = std::vector<std::pair<std::string, int>>;
    const auto findings = [](const char* check) {
        const Result result = run_on_virtual_gpu(WG_GRAPHS_LEGACY, check);
        Found found;
        for (const auto& one : result.taken.at("diagnostics")) found.emplace_back(one.at("rule"), one.at("count"));
        return found;
    };
    CHECK(findings("memory nodes").empty());
    CHECK(findings("memory used late") == Found{{"memcheck/use-after-free", 1}});
    // Once a launch: what the first one wrote is gone.
    CHECK(findings("memory not written") == Found{{"initcheck/global", 2}});
}

TEST_CASE("the device names the lines of host code's mistakes") {
    using Rules = std::vector<std::string>;
    const auto [check, function, expected] = GENERATE(table<const char*, const char*, Rules>({
        {"double free", "double_free", {"memcheck/double-free"}},
        {"bad free", "bad_free", {"memcheck/bad-free"}},
        {"beyond", "beyond", {"memcheck/copy-out-of-bounds"}},
        {"beyond symbol", "beyond_symbol", {"memcheck/copy-out-of-bounds"}},
        {"direction", "direction", {"memcheck/copy-direction"}},
        {"accepted direction", "accepted_direction", {"memcheck/copy-direction"}},
        {"unchecked", "unchecked", {"launch/configuration", "launch/unchecked"}},
        {"replaced", "replaced", {"launch/configuration", "launch/unchecked"}},
        {"looked", "looked", {"launch/configuration"}},
        {"result", "result", {"launch/configuration"}},
        {"dereference", "dereference", {"launch/host-dereference"}},
        {"freed by host", "freed_by_host", {"launch/host-dereference"}},
        {"variable to", "variable_to", {"memcheck/variable-address"}},
        {"variable from", "variable_from", {"memcheck/variable-address"}},
        {"variable default", "variable_default", {"memcheck/variable-address"}},
        {"variable set", "variable_set", {"memcheck/variable-address"}},
        {"over stack", "over_stack", {"memcheck/copy-out-of-bounds"}},
        {"unmapped", "unmapped", {"memcheck/unmapped-host"}},
    }));
    const std::string program = GENERATE(WG_MISTAKES_PLAIN, WG_MISTAKES_OPTIMIZED);
    CAPTURE(check, program);
    const Result result = run_on_virtual_gpu(program, check);
    // The findings do not change how the program continues or ends.
    if (expected.front() == "launch/host-dereference")
        CHECK(result.status == 1000 + SIGSEGV);
    else
        CHECK((result.output == "ok\n" && result.status == 0));
    const auto& found = result.taken.at("diagnostics");
    INFO(found.dump());
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        CHECK(found[i].at("rule") == expected[i]);
        CHECK(line_of(program, found[i].at("place")) == line_with(function, expected[i]));
    }
}

TEST_CASE("memory and its first free are named with their lines") {
    const std::string program = GENERATE(WG_MISTAKES_PLAIN, WG_MISTAKES_OPTIMIZED);
    const Result result = run_on_virtual_gpu(program, "double free");
    const auto& found = result.taken.at("diagnostics").at(0);
    CHECK(line_of(program, found.at("memory").at("allocated")) == line_with("allocate", "allocation"));
    CHECK(line_of(program, found.at("related").at(0).at("place")) == line_with("double_free", "first free"));
}

TEST_CASE("memory that a program leaves behind is told when it ends well") {
    const std::string program = GENERATE(WG_MISTAKES_PLAIN, WG_MISTAKES_OPTIMIZED);
    const Result leak = run_on_virtual_gpu(program, "leak");
    const auto& found = leak.taken.at("diagnostics");
    REQUIRE(found.size() == 1);
    CHECK((found[0].at("rule") == "memcheck/leak" && found[0].at("count") == 2));
    CHECK(line_of(program, found[0].at("place")) == line_with("allocate", "allocation"));
    for (const char* check : {"reset", "gives up", "clean"}) {
        CAPTURE(check);
        CHECK(run_on_virtual_gpu(program, check).taken.at("diagnostics").empty());
    }
}

TEST_CASE("streams and events that a program leaves behind are told, one for each line that creates") {
    const std::string program = GENERATE(WG_MISTAKES_PLAIN, WG_MISTAKES_OPTIMIZED);
    const Result result = run_on_virtual_gpu(program, "handles");
    CHECK((result.output == "ok\n" && result.status == 0));
    std::map<int, std::pair<std::string, int>> found;
    for (const auto& one : result.taken.at("diagnostics")) {
        CHECK(one.at("rule") == "memcheck/leaked-handle");
        found[line_of(program, one.at("place"))] = {one.at("message"), one.at("count")};
    }
    CHECK(found == std::map<int, std::pair<std::string, int>>{
                       {line_with("handles", "two streams"), {"the stream is never destroyed", 2}},
                       {line_with("handles", "an event"), {"the event is never destroyed", 1}}});
}

TEST_CASE("a pointer to device memory that host code frees is named with its allocation") {
    const Result result = run_on_virtual_gpu(WG_MISTAKES_PLAIN, "freed by host");
    const auto& found = result.taken.at("diagnostics").at(0);
    CHECK(found.at("message") ==
          "host code reads 8 bytes before {memory}, as free() and delete do, but cudaFree frees it");
    CHECK(line_of(WG_MISTAKES_PLAIN, found.at("memory").at("allocated")) == line_with("allocate", "allocation"));
}

TEST_CASE("files that were compiled separately are linked") {
    const Result result = run_on_virtual_gpu(WG_SEPARATE, "linked");
    CHECK(result.output == "from main\nfrom other\nok\n");
    CHECK(result.status == 0);
    // Their source lines are told apart.
    std::set<std::string> files;
    for (const auto& launch : result.taken.at("launches"))
        for (const auto& line : launch.at("lines")) files.insert(line.at("file").get<std::string>());
    const auto names = [&](const char* name) {
        return std::any_of(files.begin(), files.end(), [&](const std::string& file) { return file.ends_with(name); });
    };
    CHECK((names("/main.cu") && names("/other.cu")));
}

TEST_CASE("a program that loads libcudart.so.13 gets ours") {
    const std::string check = GENERATE("managed", "managed variables", "volumes");
    const Result result = run_on_virtual_gpu(WG_SHARED, check);
    CHECK(result.output == "ok\n");
    CHECK(result.status == 0);
}

TEST_CASE("the driver API is the runtime under other names") {
    const std::string program = GENERATE(WG_DRIVER_LEGACY, WG_DRIVER_PER_THREAD, WG_SHARED_DRIVER);
    check_on_virtual_gpu(program, GENERATE("module", "functions", "memory", "streams", "contexts", "mixed", "device"));
}

TEST_CASE("a kernel of a module that the program loads is counted and checked as any other") {
    const Result result = run_on_virtual_gpu(WG_DRIVER_LEGACY, "module");
    const auto& launches = result.taken.at("launches");
    REQUIRE(launches.size() == 2);
    CHECK(launches[0].at("kernel") == "combine");
    CHECK(launches[0].at("counters").at("global_load_requests") == 2);
    CHECK(launches[0].at("counters").at("global_store_requests") == 1);
}

TEST_CASE("the virtual GPU's records of a run are complete") {
    const Result result = run_on_virtual_gpu(WG_RUNTIME_LEGACY, "vecadd");
    REQUIRE(result.taken.at("launches").size() == 1);
    const auto& launch = result.taken.at("launches")[0];
    CHECK(launch.at("name") == "vecadd");
    CHECK(launch.at("grid")[0] == 2735);
    CHECK(launch.at("counters").at("global_load_requests") == 2 * 21876);
    CHECK(launch.at("duration_ns").get<double>() > 0);
    CHECK(launch.at("lines").size() > 0);
    CHECK(result.taken.at("clock_ns").get<double>() > launch.at("duration_ns").get<double>());
    CHECK(run_on_virtual_gpu(WG_RUNTIME_LEGACY, "vecadd").taken == result.taken);  // the same on every run
}

TEST_CASE("device-side printf reaches the program's stdout when it synchronises") {
    const Runner run = GENERATE(Runner{run_on_fake}, Runner{run_on_virtual_gpu});
    const Result result = run(WG_RUNTIME_LEGACY, "printf");
    CHECK(result.output == "said 7\nok\n");
    CHECK(result.taken.at("output") == "said 7\n");
}

TEST_CASE("a fault's explanation reaches the judge") {
    const Runner run = GENERATE(Runner{run_on_fake}, Runner{run_on_virtual_gpu});
    const Result result = run(WG_RUNTIME_LEGACY, "fault");
    REQUIRE(result.taken.at("launches").size() == 1);
    CHECK(result.taken.at("launches")[0].at("error").at("code") == error::illegal_address);
}

TEST_CASE("without a device every call says so") {
    Child child({WG_RUNTIME_LEGACY, "nothing"}, {});
    const auto [status, output] = child.wait();
    CHECK(output == "ok\n");
    CHECK(status == 0);
}

TEST_CASE("a program whose server dies gets errors, not a hang") {
    SocketPair client;
    Child child({WG_RUNTIME_LEGACY, "vecadd"}, {{client.ours, 5}}, descriptor_setting());
    ::close(client.ours), ::close(client.theirs);
    const auto [status, output] = child.wait();
    CHECK(status == 1);
    CHECK(output.find("cudaErrorDevicesUnavailable") != std::string::npos);
}
