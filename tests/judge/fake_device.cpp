// Stands in for the device server where a test wants one that misbehaves: `--device fake:WHAT`.
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "device/origin_request.hpp"
#include "device/records.hpp"

namespace {

using nlohmann::json;

json launch(const char* name, double duration_ns) {
    warpgrade::device::LaunchRecord record;
    record.kernel = record.demangled = name;
    record.duration_ns = duration_ns;
    record.counters.inst_executed = 42;
    return warpgrade::device::to_json(record);
}

warpgrade::device::Diagnostic race(std::uint32_t line) {
    warpgrade::device::Diagnostic found;
    found.rule = &warpgrade::device::rules::race_shared;
    found.message = "reads what another thread writes";
    found.place = {"/submission/sums.cu", line, 0};
    return found;
}

warpgrade::device::Diagnostic race_of_streams() {
    warpgrade::device::Diagnostic found;
    found.rule = &warpgrade::device::rules::race_stream;
    found.message = "the kernel in stream 2 reads {memory} of size 4711";
    found.place.code = 0x1234;
    return found;
}

warpgrade::device::Diagnostic leak() {
    warpgrade::device::Diagnostic found;
    found.rule = &warpgrade::device::rules::leak;
    found.message = "{memory} was never freed";
    found.place.code = 0x1234;
    return found;
}

// As the real server sees it: nothing comes any more.
bool program_is_gone() {
    char byte;
    return recv(4, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

json answer(const std::string& what, const std::string& operation) {
    if (operation == "hello") return {{"ok", true}, {"properties", {{"name", "a fake"}}}};
    if (operation != "take") return {{"ok", true}};
    if (what == "dies") _exit(1);
    if (what == "killed") __builtin_trap();
    if (what == "endless") return {{"ok", true}, {"launches", std::string((256u << 20) + 70'000, 'x')}};
    if (what == "silent") pause();
    if (what == "nonsense") return {{"ok", true}, {"launches", 3}};
    json reply{{"ok", true},
               {"launches", json::array()},
               {"transfers", json::array()},
               {"allocations", json::array()},
               {"waits", json::array()},
               {"clock_ns", 1000.0},
               {"output", "from a kernel"},
               {"last_error", nullptr},
               {"call_errors", json::array()},
               {"diagnostics", json::array()},
               {"truncated", json::array()},
               {"internal_error", nullptr}};
    if (what == "broken") reply["internal_error"] = "out of its own memory";
    if (what == "slow") reply["clock_ns"] = 2000.0;
    if (what == "kernels" || what == "slow") reply["launches"] = {launch("first", 250.0), launch("second", 750.0)};
    if (what == "fault")
        reply["call_errors"] = {{{"operation", "launch"}, {"code", 700}, {"message", "8 bytes past d (400 bytes)"}}};
    if (what == "limited")
        reply["call_errors"] = {{{"operation", "launch"}, {"code", 801}, {"message", "'wmma' is not supported"}}};
    if (what == "misuse")
        reply["call_errors"] = {{{"operation", "cudaMemcpy"}, {"code", 1}, {"message", "the size is larger than d"}}};
    if (what == "failed_launch") {
        reply["call_errors"] = {{{"operation", "launch"}, {"code", 9}, {"message", "4096 threads in a block"}}};
        warpgrade::device::OriginVerdict verdict;
        verdict.problem = warpgrade::device::OriginVerdict::Problem::nothing_came;
        reply["origin"] = warpgrade::device::to_json(verdict);
    }
    if (what == "mistakes" || what == "fault")
        reply["diagnostics"] = warpgrade::device::to_json(std::vector{race(17), race(18)});
    if (what == "streams") reply["diagnostics"] = warpgrade::device::to_json(std::vector{race_of_streams()});
    if (what == "leaks") {
        reply["connected"] = !program_is_gone();
        if (program_is_gone()) reply["diagnostics"] = warpgrade::device::to_json(std::vector{leak()});
    }
    return reply;
}

}  // namespace

int main(int argc, char** argv) {
    std::string what;
    for (int i = 1; i + 1 < argc; ++i)
        if (std::strcmp(argv[i], "--device") == 0) what = std::string(argv[i + 1]).substr(5);
    std::string received;
    char buffer[4096];
    for (ssize_t got; (got = recv(3, buffer, sizeof buffer, 0)) > 0;) {
        received.append(buffer, static_cast<std::size_t>(got));
        for (std::size_t end; (end = received.find('\n')) != std::string::npos; received.erase(0, end + 1)) {
            const auto reply = answer(what, json::parse(received.substr(0, end))["op"]).dump() + '\n';
            if (send(3, reply.data(), reply.size(), MSG_NOSIGNAL) < 0) return 1;
        }
    }
    return 0;
}
