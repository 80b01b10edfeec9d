// main() of a lab's native program: makes recorded calls again, without a sandbox, with NVIDIA's own runtime. For
// debuggers and profilers; nothing that it does counts.
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "worker/call_record.hpp"
#include "worker/crash.hpp"
#include "worker/invoke.hpp"

extern "C" int cudaGetDeviceCount(int* count);
extern "C" const char* cudaGetErrorString(int error);

namespace warpgrade::worker {
CallInProgress call_in_progress;  // nobody is told of a crash: it is the debugger's
}

namespace {

using namespace warpgrade;

constexpr const char* nothing_counts =
    "This is a program for debuggers and profilers. Nothing that it does counts: `warpgrade check` and "
    "`warpgrade grade` run your functions in their own way.";
constexpr std::uint64_t max_arena_bytes = std::uint64_t{1} << 31, max_name_bytes = 1 << 12;

struct Recorded {
    wire::CallRecord record;
    std::string test;
    std::vector<unsigned char> before, after;
};

bool read(std::FILE* file, void* to, std::size_t bytes) { return std::fread(to, 1, bytes, file) == bytes; }

bool read_call(std::FILE* file, Recorded& to) {
    if (!read(file, &to.record, sizeof to.record)) return false;
    wire::Call& call = to.record.call;
    call.function[sizeof call.function - 1] = '\0';
    if (call.magic != wire::call_magic || call.argument_count > wire::max_arguments ||
        call.arena_bytes > max_arena_bytes || to.record.test_bytes > max_name_bytes)
        return false;
    to.test.resize(to.record.test_bytes);
    to.before.resize(call.arena_bytes);
    to.after.resize(to.record.returned ? call.arena_bytes : 0);
    return read(file, to.test.data(), to.test.size()) && read(file, to.before.data(), to.before.size()) &&
           read(file, to.after.data(), to.after.size());
}

template <class T>
double value_of(const unsigned char* bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return static_cast<double>(value);
}

double number(wire::Type type, const unsigned char* bytes) {
    switch (type) {
        case wire::Type::f32:
            return value_of<float>(bytes);
        case wire::Type::f64:
            return value_of<double>(bytes);
        case wire::Type::i8:
            return value_of<std::int8_t>(bytes);
        case wire::Type::i16:
            return value_of<std::int16_t>(bytes);
        case wire::Type::i32:
            return value_of<std::int32_t>(bytes);
        case wire::Type::i64:
            return value_of<std::int64_t>(bytes);
        case wire::Type::u16:
            return value_of<std::uint16_t>(bytes);
        case wire::Type::u32:
            return value_of<std::uint32_t>(bytes);
        case wire::Type::u64:
            return value_of<std::uint64_t>(bytes);
        default:
            return *bytes;
    }
}

// Tells how an output differs from the virtual GPU's; false if it does not.
bool tell_difference(std::uint32_t index, const wire::Argument& argument, const unsigned char* there,
                     const unsigned char* here) {
    const std::size_t size = wire::bytes_of(argument.type);
    std::uint64_t different = 0, first = 0;
    double most = 0;
    for (std::uint64_t i = 0; i < argument.count; ++i) {
        if (std::memcmp(there + i * size, here + i * size, size) == 0) continue;
        if (different++ == 0) first = i;
        most = std::fmax(most,
                         std::fabs(number(argument.type, there + i * size) - number(argument.type, here + i * size)));
    }
    if (different == 0) return false;
    std::printf(
        "    argument %u: %llu of %llu elements differ from the virtual GPU's, by at most %g; the first is [%llu]: "
        "%g there, %g here\n",
        index + 1, static_cast<unsigned long long>(different), static_cast<unsigned long long>(argument.count), most,
        static_cast<unsigned long long>(first), number(argument.type, there + first * size),
        number(argument.type, here + first * size));
    return true;
}

// Makes the call; false if it does not return.
bool make_again(const Recorded& recorded) {
    const wire::Call& call = recorded.record.call;
    const int arena = memfd_create("arena", 0);
    if (arena < 0 || ftruncate(arena, static_cast<off_t>(call.arena_bytes)) != 0 ||
        pwrite(arena, recorded.before.data(), recorded.before.size(), 0) !=
            static_cast<ssize_t>(recorded.before.size())) {
        std::perror("memory for the call");
        return false;
    }
    const wire::Reply reply = worker::invoke(warpgrade_bindings, call, arena, -1);
    std::vector<unsigned char> after(call.arena_bytes);
    const bool is_read = pread(arena, after.data(), after.size(), 0) == static_cast<ssize_t>(after.size());
    close(arena);
    if (reply.status != wire::Status::returned || !is_read) {
        std::printf("    the call failed: %.*s\n", static_cast<int>(reply.text_bytes), reply.text);
        return false;
    }
    if (recorded.after.empty() && call.arena_bytes != 0) {
        std::puts("    returned; on the virtual GPU it did not");
        return true;
    }
    bool differs = recorded.record.returned && reply.result != recorded.record.result;
    if (differs) std::puts("    the returned value differs from the virtual GPU's");
    for (std::uint32_t i = 0; i < call.argument_count; ++i) {
        const wire::Argument& argument = call.arguments[i];
        const std::uint64_t bytes = argument.count * wire::bytes_of(argument.type);
        if (!wire::is_written_back(argument.kind) || argument.value > after.size() ||
            bytes > after.size() - argument.value)
            continue;
        differs |= tell_difference(i, argument, recorded.after.data() + argument.value, after.data() + argument.value);
    }
    if (!differs) std::puts("    as on the virtual GPU");
    return true;
}

// Whether the command line names this call, by its number or a part of its function's name; without words, all are
// meant.
bool is_wanted(unsigned number, const char* function, char** words) {
    if (!*words) return true;
    for (; *words; ++words)
        if (std::to_string(number) == *words || std::strstr(function, *words)) return true;
    return false;
}

}  // namespace

int main(int argc, char** argv) {
    const bool only_list = argc > 1 && std::strcmp(argv[1], "--list") == 0;
    std::fprintf(stderr, "%s\n", nothing_counts);
    int devices = 0;
    if (const int error = only_list ? 0 : cudaGetDeviceCount(&devices); error != 0 || (!only_list && devices == 0)) {
        std::fprintf(stderr, "There is no GPU that it could run on: %s\n",
                     error ? cudaGetErrorString(error) : "none found");
        return 2;
    }
    char own[4096] = {};
    if (readlink("/proc/self/exe", own, sizeof own - 1) < 0) return 2;
    const std::string path = std::string(own) + ".calls";
    std::FILE* const file = std::fopen(path.c_str(), "rb");
    if (!file) {
        std::perror(path.c_str());
        return 2;
    }
    bool all_return = true;
    Recorded recorded;
    for (unsigned number = 1; read_call(file, recorded); ++number) {
        const char* const function = recorded.record.call.function;
        if (!is_wanted(number, function, argv + 1 + only_list)) continue;
        std::printf("%u  %s  (%s)\n", number, function, recorded.test.c_str());
        std::fflush(stdout);
        if (!only_list) all_return &= make_again(recorded);
    }
    std::fclose(file);
    return all_return ? 0 : 1;
}
