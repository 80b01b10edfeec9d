#include "judge/origin.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstring>
#include <map>
#include <set>

#include "judge/compare.hpp"
#include "judge/errors.hpp"
#include "judge/replay.hpp"

namespace warpgrade::judge {
namespace {

using device::OriginBuffer;
using device::OriginVerdict;
using Problem = OriginVerdict::Problem;

std::map<std::string, HostWork>& declared() {
    static std::map<std::string, HostWork> all;
    return all;
}

std::set<std::string>& deciding() {
    static std::set<std::string> all;
    return all;
}

// A program's file, and the offsets in it at which device code may begin.
struct ProgramFile {
    device::Descriptor file;
    std::vector<std::uint64_t> images;
};

const ProgramFile& program_file(const std::string& path) {
    static std::map<std::string, ProgramFile> known;
    ProgramFile& program = known[path];
    if (program.file) return program;
    device::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat info {};
    if (!file || fstat(file.get(), &info) != 0 || info.st_size <= 0)
        throw InfrastructureError("the program's file cannot be read");
    const auto bytes = static_cast<std::size_t>(info.st_size);
    void* data = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (data == MAP_FAILED) throw InfrastructureError("the program's file cannot be mapped");
    // The fatbinary's magic number, as nvcc aligns it.
    constexpr std::uint32_t magic = 0xBA55ED50;
    constexpr std::size_t alignment = 8, most = 256;
    for (std::size_t at = 0; at + alignment <= bytes && program.images.size() < most; at += alignment)
        if (std::memcmp(static_cast<const std::byte*>(data) + at, &magic, sizeof magic) == 0)
            program.images.push_back(at);
    munmap(data, bytes);
    program.file = std::move(file);
    return program;
}

bool is_floating(wire::Type type) { return type == wire::Type::f32 || type == wire::Type::f64; }

template <class T>
T read_as(std::span<const std::byte> bytes) {
    T value{};
    std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
    return value;
}

std::string value_text(wire::Type type, std::span<const std::byte> bytes) {
    using wire::Type;
    if (bytes.size() < wire::bytes_of(type) || bytes.empty()) return "?";
    switch (type) {
        case Type::f32:
            return detail::format(read_as<float>(bytes), true);
        case Type::f64:
            return detail::format(read_as<double>(bytes), false);
        case Type::i8:
            return std::to_string(read_as<std::int8_t>(bytes));
        case Type::i16:
            return std::to_string(read_as<std::int16_t>(bytes));
        case Type::i32:
            return std::to_string(read_as<std::int32_t>(bytes));
        case Type::i64:
            return std::to_string(read_as<std::int64_t>(bytes));
        default:
            return std::to_string(read_as<std::uint64_t>(bytes.first(wire::bytes_of(type))));
    }
}

// The element of a verdict: "C[17]" or "the returned value", and its value.
struct Element {
    std::string name, value;
    wire::Type type = wire::Type::none;
};

Element find_element(const OriginVerdict& verdict, const CallSpec& spec, const Arena::Snapshot& snapshot,
                     std::uint64_t result) {
    if (verdict.argument < 0)
        return {"the returned value", value_text(spec.result, std::as_bytes(std::span(&result, 1))), spec.result};
    const auto argument = static_cast<std::size_t>(verdict.argument);
    Element found{fmt::format("{}[{}]", name_of_argument(spec, argument), verdict.element), "?", wire::Type::none};
    std::size_t output = 0;
    for (std::size_t i = 0; i < spec.arguments.size(); ++i) {
        if (!wire::is_written_back(spec.arguments[i].kind)) continue;
        if (i == argument && output < snapshot.outputs.size()) {
            found.type = spec.arguments[i].type;
            const auto bytes = std::span(snapshot.outputs[output]);
            const std::size_t at = verdict.element * wire::bytes_of(found.type);
            if (at < bytes.size()) found.value = value_text(found.type, bytes.subspan(at));
        }
        ++output;
    }
    return found;
}

// The type of the function's first buffer.
wire::Type buffer_type(const CallSpec& spec) {
    for (const ArgumentData& argument : spec.arguments)
        if (argument.kind != wire::Kind::scalar && argument.kind != wire::Kind::null_pointer) return argument.type;
    return wire::Type::u32;
}

constexpr const char* rule = "The device has to compute the result; host code only copies it.";

}  // namespace

bool detail::declare_host_work(const std::string& function, HostWork what) {
    declared()[function] = what;
    return true;
}

bool detail::declare_host_decisions(const std::string& function, bool is_the_hosts) {
    if (is_the_hosts)
        deciding().insert(function);
    else
        deciding().erase(function);
    return true;
}

bool may_host_decide(const std::string& function) { return deciding().contains(function); }

HostWork host_work(const std::string& function) {
    const auto found = declared().find(function);
    return found == declared().end() ? HostWork::none : found->second;
}

device::OriginMessage ask_origin(const CallSpec& spec, const Arena& arena, const Arena::Snapshot& snapshot,
                                 std::uint64_t result, const std::string& program, const Replay* replay) {
    device::OriginQuery query;
    std::size_t output = 0;
    const auto after = [&](OriginBuffer& buffer) {
        buffer.after = snapshot.outputs.at(output);
        if (replay) buffer.other_after = replay->snapshot().outputs.at(output);
        ++output;
    };
    for (std::size_t i = 0; i < spec.arguments.size(); ++i) {
        const ArgumentData& argument = spec.arguments[i];
        const unsigned bytes = wire::bytes_of(argument.type);
        OriginBuffer buffer{OriginBuffer::Kind::in, static_cast<unsigned>(i), bytes, argument.input, {}, {}, {}};
        if (replay) buffer.other = replay->before(i);
        switch (argument.kind) {
            case wire::Kind::scalar:
                query.scalars.push_back({argument.bits, bytes, !is_floating(argument.type)});
                continue;
            case wire::Kind::null_pointer:
                continue;
            case wire::Kind::in:
                break;
            case wire::Kind::out:
                buffer.kind = OriginBuffer::Kind::out;
                buffer.before = arena.prefill(i);
                after(buffer);
                break;
            case wire::Kind::inout:
                buffer.kind = OriginBuffer::Kind::inout;
                after(buffer);
                break;
        }
        query.buffers.push_back(buffer);
    }
    if (spec.result != wire::Type::none && host_work(spec.function) != HostWork::returned)
        query.result = {is_floating(spec.result) ? device::OriginQuery::Result::Type::floating
                                                 : device::OriginQuery::Result::Type::whole,
                        wire::bytes_of(spec.result), result, replay ? replay->result() : 0};
    const ProgramFile& executable = program_file(program);
    query.program_images = executable.images;
    static device::OriginFile file;  // a judge sends one query at a time
    auto message = device::make_origin_message(query, file);
    message.program = executable.file.get();
    return message;
}

std::string review_origin(const OriginVerdict& verdict) {
    switch (verdict.problem) {
        case Problem::none:
        case Problem::rearranged:
        case Problem::converted:
            return "";
        case Problem::picked:
            return "its host code picks results from what came down";
        case Problem::value_dependent:
            return "what its host code asks of the device depends on the inputs' values";
        default:
            return "its result was not computed by the device";
    }
}

std::string explain_origin(const OriginVerdict& verdict, const CallSpec& spec, const Arena::Snapshot& snapshot,
                           std::uint64_t result) {
    const Element at = find_element(verdict, spec, snapshot, result);
    switch (verdict.problem) {
        case Problem::none:
            return "";
        case Problem::no_download:
            return fmt::format(
                "{} ({}) did not come from the device: nothing was copied back from it, so host code wrote what the "
                "function returned. {}",
                at.name, at.value, rule);
        case Problem::not_found:
            return fmt::format(
                "{} did not come from the device: no copy brought this value ({}) back. Host code computed it, changed "
                "it, or took it from an array into which nothing was copied. {}",
                at.name, at.value, rule);
        case Problem::changed:
            return fmt::format(
                "{} was changed by host code after it came from the device: the device sent {}, the "
                "function returned {}. {}",
                at.name, value_text(at.type, verdict.sample), at.value, rule);
        case Problem::moved:
            return fmt::format(
                "{} was moved by host code: this value ({}) came from the device as element {} of a "
                "copy. The kernel has to put each element in its place; host code only copies the "
                "result.",
                at.name, at.value, verdict.elsewhere);
        case Problem::written_by_host:
            return fmt::format(
                "{} ({}) came back as host code had {} it: no kernel of this call wrote it. {} {}, and did the kernel "
                "run and write to it?",
                at.name, at.value, verdict.mapped ? "written" : "sent", rule,
                verdict.mapped ? "Does host code read the right array" : "Is the right array copied back");
        case Problem::scattered:
            return fmt::format("{} was put in its place by copies of a few bytes each, not by a kernel. {}", at.name,
                               rule);
        case Problem::unexpected_upload:
            return fmt::format(
                "host code gave the device {}{} bytes that are not the function's inputs{}{}. Kernels have "
                "to work on the inputs as they are: host code must not compute, sort or transpose "
                "anything before it copies.",
                verdict.bytes < 4096 ? "" : "at least ", verdict.bytes,
                verdict.mapped ? ", through mapped or managed memory" : "",
                verdict.sample.empty()
                    ? ""
                    : fmt::format("; the first of them: {}", value_text(buffer_type(spec), verdict.sample)));
        case Problem::rearranged: {
            if (!verdict.decision.empty())
                return fmt::format(
                    "host code passes single elements of the inputs as arguments of launches ({} is one). Picking "
                    "elements is the kernel's work here: pass a pointer to the array on the device, or by value all of "
                    "an array or at least 32 neighbouring elements.",
                    value_text(buffer_type(spec), verdict.sample));
            const std::string what =
                verdict.sample.empty()
                    ? "an array that a kernel reads was put together by copies of a few bytes each"
                    : fmt::format("host code copies elements of the inputs ({} is one) to other places than they had",
                                  value_text(buffer_type(spec), verdict.sample));
            return what +
                   ": copies sort, transpose or pick here, and that is the kernel's work. Copy arrays, rows, or pieces "
                   "of at least 32 elements as they are, in their order, and let the kernel read or write each element "
                   "at its place, as in x[n - 1 - i].";
        }
        case Problem::converted:
            return "host code converts the inputs to another type before it copies them. That is the kernel's work "
                   "here: "
                   "copy the arrays as they are, and convert each element where the kernel reads it, as in "
                   "static_cast<double>(x[i]).";
        case Problem::value_dependent:
            return fmt::format(
                "what host code asks of the device depends on the inputs' values: {}. Sizes may decide about launches, "
                "copies and their arguments; what is in the arrays is for kernels to look at.",
                verdict.decision);
        case Problem::picked:
            return fmt::format(
                "host code picks {} ({}) from what came from the device: with other inputs it comes from another "
                "place. "
                "The kernel has to put each result in its place; host code only copies it.",
                at.name, at.value);
        case Problem::unknown_code:
            return fmt::format(
                "{} bytes of device code were created while the program ran. Kernels have to be compiled "
                "by nvcc with the submission.",
                verdict.bytes);
        case Problem::overflow:
            return "this call moves more data between host and device than can be tracked (256 MiB in one direction), "
                   "so it is unknown where its result comes from. Copy each input up once, and the result back "
                   "once.";
    }
    return "";
}

}  // namespace warpgrade::judge
