// The judge's question after the origin of a call's outputs, and the device server's answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace warpgrade::device {

struct OriginBuffer {
    enum class Kind : std::uint8_t { in, out, inout } kind = Kind::in;
    unsigned argument = 0;  // of the function, from 0
    unsigned element_bytes = 4;
    std::span<const std::byte> before, after;  // the call; `after` of outputs
    std::span<const std::byte> other;          // `before`, in the other run of the call
};

struct OriginScalar {
    std::uint64_t bits = 0;
    unsigned bytes = 4;
    bool whole = true;  // a whole number, not a floating-point one
};

struct OriginQuery {
    std::vector<OriginBuffer> buffers;
    std::vector<OriginScalar> scalars;
    struct Result {
        enum class Type : std::uint8_t { whole, floating } type = Type::whole;
        unsigned bytes = 4;
        std::uint64_t bits = 0;
    };
    std::optional<Result> result;
    std::span<const std::byte> program;         // its file: device code in it was compiled before the call
    std::vector<std::uint64_t> program_images;  // where in the file it may begin
};

struct OriginVerdict {
    enum class Problem : std::uint8_t {
        none,
        nothing_came,  // no copy, no memory of both
        not_found,     // the value came down nowhere
        changed,       // `came` is what came in its place
        moved,         // it came down, but `elsewhere`
        host_wrote,    // it came down as the host had sent it
        scattered,     // put in place by small copies on the device
        went_up,       // `came`: what went up that is none of the inputs; `bytes` of it
        arranged,      // `came`: the first element of the inputs that copies put among others than its neighbours
        decided,       // `decision`: what differs where the inputs' values do
        code_went_up,  // device code that is not in the program's file
        overflow,      // too much to look at
    };
    Problem problem = Problem::none;
    int argument = -1;  // -1: the returned value
    std::uint64_t element = 0, elsewhere = 0, bytes = 0;
    std::vector<std::byte> came;
    bool mapped = false;  // through memory of both, not by a copy
    std::string decision;
    // Told by comparing two runs: how many kinds of change tell one from the other, apart from the order of requests
    // and the addresses (max_changes + 1: more); and whether the other one has to run its kernels before anything is
    // told.
    bool compared = false, needs_kernels = false;
    std::uint64_t changes = 0;
    static constexpr std::uint64_t max_changes = 4;
    // Launches (from 1) that the outputs do not come from; empty where that cannot be told.
    std::vector<std::size_t> not_part;
};

}  // namespace warpgrade::device
