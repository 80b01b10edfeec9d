// The judge's query for the origin of a call's outputs, and the device server's verdict.
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
    std::span<const std::byte> before, after;  // contents before the call, and after it (outputs only)
    std::span<const std::byte> other;          // contents before the call in the replay
    std::span<const std::byte> other_after;    // and after it (outputs only)
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
        std::uint64_t bits = 0, other_bits = 0;  // in the call, and in the replay
    };
    std::optional<Result> result;
    std::span<const std::byte> program;         // its file; device code in it was compiled before the call
    std::vector<std::uint64_t> program_images;  // offsets in the file at which device code may begin
};

struct OriginVerdict {
    enum class Problem : std::uint8_t {
        none,
        no_download,        // the call neither copied to the host nor used host-visible memory
        not_found,          // no download contains the element's value
        changed,            // the device sent `sample` instead
        moved,              // the value was downloaded as element `elsewhere`
        written_by_host,    // the host itself had uploaded the value
        scattered,          // small copies on the device put the element in place
        unexpected_upload,  // `bytes` bytes of uploads are not inputs; `sample`: the first of them
        rearranged,         // copies rearranged the inputs; `sample`: the first such element, or empty;
                            // `decision` says so if launches' arguments did
        converted,          // uploads are the inputs in another type
        value_dependent,    // `decision`: a request that depends on the inputs' values
        unknown_code,       // `bytes` bytes of device code are not in the program's file
        overflow,           // the call moved more data than the server tracks
        picked,             // in the replay the output came from another place of what came down
    };
    Problem problem = Problem::none;
    int argument = -1;  // -1: the returned value
    std::uint64_t element = 0, elsewhere = 0, bytes = 0;
    std::vector<std::byte> sample;
    bool mapped = false;  // through host-visible memory, not by a copy
    std::string decision;
    // `compared`: the problem came from a comparison with the replay. `needs_kernels`: there can be no verdict until
    // the replay has run its kernels.
    bool compared = false, needs_kernels = false;
    // The number of kinds of change between the two runs, besides the order of requests and the addresses; at most
    // max_changes + 1.
    std::uint64_t changes = 0;
    static constexpr std::uint64_t max_changes = 4;
    // Launches, from 1, that the outputs do not depend on; empty if that is unknown.
    std::vector<std::size_t> not_part;
};

}  // namespace warpgrade::device
