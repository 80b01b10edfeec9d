// What host code decides: the requests that change what the device holds or does, without the data of copies. Two runs
// with other inputs of the same shape make the same ones, or host code has looked at the inputs' values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/protocol.hpp"

namespace warpgrade::device {

struct Decision {
    wire::Op op = wire::Op::hello;
    std::vector<std::byte> payload;
};

// Requests that only wait, ask or tell the journal something decide nothing.
[[nodiscard]] bool is_decision(wire::Op op);

// The request without a copy's data. `canonical` gives an address of either side a name that holds in other runs.
[[nodiscard]] Decision decision_of(wire::Op op, std::span<const std::byte> payload,
                                   const std::function<std::uint64_t(std::uint64_t)>& canonical);

// Where two runs differ first, in words: "the grid of launch 2 is 4 × 1 × 1 blocks, with other inputs 6 × 1 × 1".
[[nodiscard]] std::optional<std::string> first_difference(std::span<const Decision> mine,
                                                          std::span<const Decision> other);

// How many different changes lead from one run's requests to the other's, whatever their order, the addresses and the
// streams: host threads change none of them, a clock that is passed on is one. `most` + 1 if the runs have nothing to
// do with each other.
[[nodiscard]] std::size_t count_changes(std::span<const Decision> mine, std::span<const Decision> other,
                                        std::size_t most);

}  // namespace warpgrade::device
