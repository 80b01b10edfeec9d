// Decisions of host code: the requests that change what the device holds or does, without the data of copies. Two runs
// with inputs of the same shape make the same decisions, unless host code depends on the inputs' values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/address_space.hpp"
#include "device/device.hpp"
#include "device/protocol.hpp"
#include "server/device_names.hpp"

namespace warpgrade::server {

struct Decision {
    wire::Op op = wire::Op::hello;
    std::vector<std::byte> payload;
};

// False for requests that only wait, query or write to the journal.
[[nodiscard]] bool is_decision(wire::Op op);

// True for addresses of the program's own memory, which are device addresses only once it is registered.
[[nodiscard]] constexpr bool is_program_memory(std::uint64_t address) {
    return address < address_space::shared_base || address >= address_space::host_end;
}
// True for requests about pages of the host's that the program registers. Where its arrays lie, and which share a page,
// is nobody's choice; what it registers comes in requests of its own, to the byte.
[[nodiscard]] bool is_of_pages(wire::Op op, std::span<const std::byte> payload);
// The request without a copy's data. `canonical` maps a device or host address to one that is the same in other runs.
[[nodiscard]] Decision make_decision(wire::Op op, std::span<const std::byte> payload,
                                     const std::function<std::uint64_t(std::uint64_t)>& canonical);

// The kernel that a launch asks for; 0 if it is no launch.
[[nodiscard]] device::FunctionId launched_function(const Decision& decision);
// Makes equal what the kernel does not read of a launch's arguments, such as the padding of a struct. Those behind the
// end of `read` it does not read.
void clear_unread_arguments(Decision& launch, const std::vector<bool>& read);

// A launch's arguments; empty for other requests.
[[nodiscard]] std::span<const std::byte> arguments_of(const Decision& decision);
// True if the two runs' requests differ in nothing but arguments of launches.
[[nodiscard]] bool differ_in_arguments(std::span<const Decision> mine, std::span<const Decision> other);

// The first difference of two runs in words: "the grid of launch 2 is 4 × 1 × 1, with other inputs 6 × 1 × 1".
[[nodiscard]] std::optional<std::string> first_difference(std::span<const Decision> mine,
                                                          std::span<const Decision> other);

// Counts the different changes between two runs' requests. Order, addresses and streams do not count, since host
// threads change them; a time that host code passes to kernels counts as one change, and so does another size of a
// launch's grid or block. Returns `most` + 1 if the runs differ more.
[[nodiscard]] std::size_t count_changes(std::span<const Decision> mine, std::span<const Decision> other,
                                        std::size_t most);

}  // namespace warpgrade::server
