// A device server that misbehaves, for tests: `--device fake:WHAT`.
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>

#include "device/descriptor_passing.hpp"
#include "device/report.hpp"

namespace {

using nlohmann::json;

warpgrade::device::LaunchRecord launch(const char* name, double duration_ns) {
    warpgrade::device::LaunchRecord record;
    record.kernel = record.demangled = name;
    record.start_ns = 0, record.duration_ns = duration_ns;
    record.counters.emplace().inst_executed = 42;
    return record;
}

// More than 100 multiprocessors of 2 GHz do in 1 µs.
warpgrade::device::LaunchRecord hard_work(const char* name) {
    auto record = launch(name, 500.0);
    record.counters->inst_executed = 10'000'000;
    return record;
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

// As in the real server: the socket is closed.
bool program_is_gone() {
    char byte;
    return recv(4, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

int calls = 0;
bool runs_kernels = false;             // in a replay too
warpgrade::device::Descriptor origin;  // the bytes of the judge's query

// Whether the other run of a call has the same inputs.
bool has_equal_inputs(const json& question) {
    constexpr std::size_t most = 64 << 10;
    const void* data = mmap(nullptr, most, PROT_READ, MAP_SHARED, origin.get(), 0);
    const auto text = [&](const json& place) {
        return std::string(static_cast<const char*>(data) + place[0].get<std::size_t>(), place[1].get<std::size_t>());
    };
    bool equal = true;
    for (const auto& buffer : question["buffers"])
        if (buffer["kind"] != 1) equal &= text(buffer["before"]) == text(buffer["other"]);
    return equal;
}

// decides…: only if the inputs differ; differs…: always, with this number of changes.
std::optional<warpgrade::device::OriginVerdict> compared(const std::string& what, const json& request) {
    if (!request.value("compare", false)) return std::nullopt;
    const bool equal = has_equal_inputs(request["origin"]);
    std::fprintf(stderr, "compare: %s inputs\n", equal ? "equal" : "other");
    if (what.starts_with("decides") && equal) return std::nullopt;
    if (what == "decides_without_kernels" && runs_kernels) return std::nullopt;
    warpgrade::device::OriginVerdict verdict;
    using Problem = warpgrade::device::OriginVerdict::Problem;
    verdict.problem = what == "decides_uploads"  ? Problem::unexpected_upload
                      : what == "decides_places" ? Problem::rearranged
                                                 : Problem::value_dependent;
    if (verdict.problem == Problem::value_dependent) verdict.decision = "a copy of 8 bytes";
    verdict.compared = true;
    verdict.needs_kernels = what == "decides_needs_kernels" && !runs_kernels;
    verdict.changes = what == "decides_order" ? 0 : what.starts_with("differs") ? what.back() - '0' : 1;
    return verdict;
}

std::string report(const std::string& what, const json& request) {
    warpgrade::device::Report report;
    if (what.starts_with("decides") || what.starts_with("differs")) report.origin = compared(what, request);
    report.clock_ns = 1000.0;
    report.output = "from a kernel";
    if (what == "talks") std::puts("on its standard output"), std::fflush(stdout);
    if (what == "broken") report.internal_error = "out of its own memory";
    if (what == "slow") report.clock_ns = 2000.0;
    if (what == "mute") report.analysed = false, report.launches.emplace_back();
    if (what == "countless" || what == "timeless") {
        report.launches = {launch("first", 250.0)};
        if (what == "countless") report.launches[0].counters.reset();
        if (what == "timeless") report.launches[0].duration_ns.reset();
    }
    if (what == "varies" || what == "remembers") {
        const double more = what == "varies" ? 10.0 * (calls % 3) : calls == 0 ? 100'000.0 : 0;
        report.clock_ns = 2000.0 + more;
        report.launches = {launch("first", 500.0), launch("second", 1500.0 + more)};
        ++calls;
    }
    if (what == "works_hard") report.launches = {hard_work("first"), hard_work("second")};
    if (what == "kernels" || what == "slow") report.launches = {launch("first", 250.0), launch("second", 750.0)};
    if (what == "stores" || what == "atomics" || what == "surfaces" || what.ends_with("any_order")) {
        report.launches = {launch("first", 250.0), launch("second", 750.0)};
        auto& did = *report.launches[1].counters;
        (what == "atomics"    ? did.atomic_requests
         : what == "surfaces" ? did.surface_store_requests
                              : did.global_store_requests) = 1;
        report.launches[0].any_order = what == "any_order";
        report.launches[1].any_order = what.ends_with("any_order");
    }
    if (what.starts_with("not_found") && request.contains("origin")) {
        auto& verdict = report.origin.emplace();
        verdict.problem = warpgrade::device::OriginVerdict::Problem::not_found;
        verdict.argument = what.back() - '0';
    }
    if (what == "fault") report.call_errors = {{"launch", 700, "8 bytes past d (400 bytes)"}};
    if (what == "limited") report.call_errors = {{"launch", 801, "'wmma' is not supported"}};
    if (what == "misuse") report.call_errors = {{"cudaMemcpy", 1, "the size is larger than d"}};
    if (what == "failed_launch") {
        report.call_errors = {{"launch", 9, "4096 threads in a block"}};
        report.origin.emplace().problem = warpgrade::device::OriginVerdict::Problem::no_download;
    }
    if (what == "mistakes" || what == "fault") report.diagnostics = {race(17), race(18)};
    if (what == "streams") report.diagnostics = {race_of_streams()};
    if (what == "leaks") {
        report.connected = !program_is_gone();
        if (program_is_gone()) report.diagnostics = {leak()};
    }
    return warpgrade::device::pack_report(report);
}

std::string answer(const std::string& what, const json& request) {
    const std::string operation = request["op"];
    const auto line = [](const json& reply) { return reply.dump() + '\n'; };
    const auto head = [&](std::size_t bytes) { return line({{"ok", true}, {"packed", bytes}}); };
    const json properties = {{"name", "a fake"}, {"multi_processor_count", 100}, {"clock_ghz", 2.0}};
    // Another session, with its own sockets.
    if (operation == "renew" && what == "old") return line({{"ok", false}});
    if (operation == "renew" && what == "falls_ill") _exit(1);
    if (operation == "renew") dup2(origin.get(), 4), calls = 0;
    if (operation == "hello") return line({{"ok", true}, {"properties", properties}});
    if (operation != "take") return line({{"ok", true}});
    if (what == "dies") _exit(1);
    if (what == "killed") __builtin_trap();
    if (what == "endless") return line({{"ok", true}, {"launches", std::string((256u << 20) + 70'000, 'x')}});
    if (what == "huge") return head((256u << 20) + 1);
    if (what == "silent") pause();
    if (what == "nonsense") return head(8) + "nonsense";
    if (what == "wordless") return line({{"ok", true}});
    const auto told = report(what, request);
    return head(told.size()) + told;
}

}  // namespace

int main(int argc, char** argv) {
    std::string what;
    for (int i = 1; i + 1 < argc; ++i)
        if (std::strcmp(argv[i], "--device") == 0) what = std::string(argv[i + 1]).substr(5);
    runs_kernels = std::strcmp(argv[argc - 1], "--replay-runs-kernels") == 0;
    std::fputs("a device server begins\n", stderr);
    std::string received;
    char buffer[4096];
    bool first = true;
    const auto take = [&](warpgrade::device::Descriptor&& file) {
        if (std::exchange(first, false)) origin = std::move(file);
    };
    for (ssize_t got; first = true, (got = warpgrade::device::receive_descriptors(
                                         3, std::as_writable_bytes(std::span(buffer)), 2, take)) > 0;) {
        received.append(buffer, static_cast<std::size_t>(got));
        for (std::size_t end; (end = received.find('\n')) != std::string::npos; received.erase(0, end + 1)) {
            const auto reply = answer(what, json::parse(received.substr(0, end)));
            if (send(3, reply.data(), reply.size(), MSG_NOSIGNAL) < 0) return 1;
        }
    }
    return 0;
}
