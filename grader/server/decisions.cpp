#include "server/decisions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "device/address_space.hpp"

namespace warpgrade::server {
namespace {

using wire::Op;

// Offsets of the requests' fields, as session_memory.cpp and session_execute.cpp read them.
constexpr std::size_t region_bytes = 32, transfer_bytes = 21, transfer_host = 5;
constexpr std::size_t launch_grid = 4, launch_block = 16, launch_shared = 28, launch_stream = 36, launch_params = 41;

std::size_t size_without_data(Op op, std::size_t size) {
    switch (op) {
        case Op::write:
            return std::min(size, region_bytes + transfer_bytes);
        case Op::load_module:
            return std::min(size, sizeof(std::uint64_t));
        default:
            return size;
    }
}

template <class Visit>
void for_each_address(Op op, std::size_t size, Visit&& visit) {
    const auto at = [&](std::size_t place) {
        if (place + 8 <= size) visit(place);
    };
    switch (op) {
        case Op::write:
        case Op::read:
            at(0);
            at(region_bytes + transfer_host);
            break;
        case Op::copy:
            at(0);
            at(region_bytes);
            break;
        case Op::fill:
        case Op::prefetch:
        case Op::free_memory:
        case Op::free_ordered:
        case Op::allocate_reserved:
            at(0);
            break;
        case Op::allocate_host:
        case Op::register_host:
            at(8);
            break;
        case Op::unregister_host:
            at(0);
            break;
        case Op::launch:
            for (std::size_t place = launch_params; place + 8 <= size; place += 8) at(place);
            break;
        default:
            break;
    }
}

template <class T>
T field(const Decision& decision, std::size_t at) {
    T value{};
    if (at < decision.payload.size())
        std::memcpy(&value, decision.payload.data() + at, std::min(sizeof value, decision.payload.size() - at));
    return value;
}

bool is_address(std::uint64_t value) { return value >= address_space::shared_base && value < (std::uint64_t{1} << 48); }

// The request without addresses and stream, which may differ between runs.
Decision strip_places(const Decision& decision) {
    Decision plain = decision;
    const auto clear = [&](std::size_t at, std::size_t bytes) {
        if (at + bytes <= plain.payload.size()) std::memset(plain.payload.data() + at, 0, bytes);
    };
    for_each_address(plain.op, plain.payload.size(), [&](std::size_t at) {
        if (is_address(field<std::uint64_t>(plain, at))) clear(at, 8);
    });
    if (plain.op == Op::launch) clear(launch_stream, 4);
    if (plain.op == Op::write || plain.op == Op::read) clear(region_bytes, 4);
    if (plain.op == Op::copy) clear(2 * region_bytes, 4);
    if (plain.op == Op::fill) clear(region_bytes + 1, 4);
    return plain;
}

std::string dimensions(const Decision& launch, std::size_t at) {
    return fmt::format("{} × {} × {}", field<std::uint32_t>(launch, at), field<std::uint32_t>(launch, at + 4),
                       field<std::uint32_t>(launch, at + 8));
}

// The request's number among those of its kind, from 1.
std::size_t request_number(std::span<const Decision> all, std::size_t i) {
    return static_cast<std::size_t>(std::ranges::count(all.first(i + 1), all[i].op, &Decision::op));
}

std::string describe_request(Op op, std::size_t ordinal) {
    switch (op) {
        case Op::write:
            return fmt::format("copy {} to the device", ordinal);
        case Op::read:
            return fmt::format("copy {} from the device", ordinal);
        case Op::copy:
            return fmt::format("copy {} on the device", ordinal);
        case Op::fill:
            return fmt::format("fill {} (cudaMemset)", ordinal);
        case Op::launch:
            return fmt::format("launch {}", ordinal);
        case Op::allocate:
        case Op::allocate_host:
            return fmt::format("allocation {}", ordinal);
        case Op::register_host:
            return fmt::format("cudaHostRegister {}", ordinal);
        case Op::create_image:
            return fmt::format("texture or surface object {}", ordinal);
        default:
            return fmt::format("request {} of kind {}", ordinal, wire::ops.at(static_cast<std::size_t>(op)).name);
    }
}

std::string change(const std::string& mine, const std::string& other) { return mine + ", with other inputs " + other; }

std::string describe_launch(const Decision& mine, const Decision& other, std::size_t at, std::size_t ordinal) {
    const std::string what = describe_request(Op::launch, ordinal);
    if (at < launch_grid) return fmt::format("{} runs another kernel than with other inputs", what);
    if (at < launch_block)
        return fmt::format("the grid of {} is {}", what,
                           change(dimensions(mine, launch_grid), dimensions(other, launch_grid)));
    if (at < launch_shared)
        return fmt::format("the block of {} is {}", what,
                           change(dimensions(mine, launch_block), dimensions(other, launch_block)));
    if (at < launch_stream)
        return fmt::format("the dynamic shared memory of {} is {} bytes", what,
                           change(std::to_string(field<std::uint64_t>(mine, launch_shared)),
                                  std::to_string(field<std::uint64_t>(other, launch_shared))));
    if (at < launch_params) return fmt::format("{} goes to another stream than with other inputs", what);
    const std::size_t word = (at - launch_params) / 4 * 4;
    const auto mine_word = field<std::uint32_t>(mine, launch_params + word),
               other_word = field<std::uint32_t>(other, launch_params + word);
    return fmt::format("the arguments of {} hold {} at byte {}", what,
                       change(fmt::format("{:#x}", mine_word), fmt::format("{:#x}", other_word)), word);
}

std::string describe(const Decision& mine, const Decision& other, std::size_t ordinal) {
    const auto [a, b] = std::ranges::mismatch(mine.payload, other.payload);
    const auto at = static_cast<std::size_t>(a - mine.payload.begin());
    const bool same_size = mine.payload.size() == other.payload.size();
    if (mine.op == Op::launch && same_size) return describe_launch(mine, other, at, ordinal);
    const std::string what = describe_request(mine.op, ordinal);
    if (mine.op == Op::write || mine.op == Op::read || mine.op == Op::fill) {
        const std::uint64_t mine_bytes = field<std::uint64_t>(mine, 16) * field<std::uint64_t>(mine, 24),
                            other_bytes = field<std::uint64_t>(other, 16) * field<std::uint64_t>(other, 24);
        if (mine_bytes != other_bytes)
            return fmt::format("{} has {} bytes", what,
                               change(std::to_string(mine_bytes), std::to_string(other_bytes)));
        if (mine.op == Op::fill && at == region_bytes)
            return fmt::format(
                "{} sets {}", what,
                change(std::to_string(field<std::uint8_t>(mine, at)), std::to_string(field<std::uint8_t>(other, at))));
        return fmt::format("{} has another place or shape than with other inputs", what);
    }
    if (mine.op == Op::allocate)
        return fmt::format(
            "{} has {} bytes", what,
            change(std::to_string(field<std::uint64_t>(mine, 0)), std::to_string(field<std::uint64_t>(other, 0))));
    return fmt::format("{} is another one than with other inputs", what);
}

}  // namespace

bool is_decision(Op op) {
    switch (op) {
        case Op::hello:
        case Op::find_allocation:
        case Op::memory_info:
        case Op::occupancy:
        case Op::create_event:
        case Op::destroy_event:
        case Op::record_event:
        case Op::stream_wait_event:
        case Op::synchronize_event:
        case Op::query_event:
        case Op::elapsed_time:
        case Op::synchronize_stream:
        case Op::query_stream:
        case Op::synchronize_device:
        case Op::host_function:
        case Op::refused_free:
        case Op::refused_copy:
        case Op::wrong_direction:
        case Op::variable_address:
        case Op::unmapped_host:
        case Op::over_stack:
        case Op::look_at_launch:
        case Op::host_fault:
        case Op::running_writes:
        case Op::host_touches:
        case Op::leave:
        case Op::take_output:
        case Op::data:
            return false;
        default:
            return true;
    }
}

Decision make_decision(Op op, std::span<const std::byte> payload,
                       const std::function<std::uint64_t(std::uint64_t)>& canonical) {
    const auto bytes = payload.first(size_without_data(op, payload.size()));
    Decision decision{op, {bytes.begin(), bytes.end()}};
    for_each_address(op, bytes.size(), [&](std::size_t at) {
        auto address = field<std::uint64_t>(decision, at);
        // A program does not choose the address of the memory that it registers.
        const bool is_new = op == Op::allocate_host || op == Op::register_host;
        address = is_new ? std::uint64_t{address != 0} : canonical(address);
        std::memcpy(decision.payload.data() + at, &address, sizeof address);
    });
    return decision;
}

bool is_of_pages(Op op, std::span<const std::byte> payload) {
    const std::size_t at = op == Op::allocate_host ? 8 : 0;
    if ((op != Op::allocate_host && op != Op::free_memory) || payload.size() < at + 8) return false;
    std::uint64_t address = 0;
    std::memcpy(&address, payload.data() + at, sizeof address);
    return address != 0 && is_program_memory(address);
}

device::FunctionId launched_function(const Decision& decision) {
    return decision.op == Op::launch && decision.payload.size() >= launch_params
               ? field<device::FunctionId>(decision, 0)
               : device::FunctionId{};
}

void clear_unread_arguments(Decision& launch, const std::vector<bool>& read) {
    for (std::size_t i = 0; launch_params + i < launch.payload.size(); ++i)
        if (i >= read.size() || !read[i]) launch.payload[launch_params + i] = {};
}

std::span<const std::byte> arguments_of(const Decision& decision) {
    const std::span<const std::byte> all(decision.payload);
    return decision.op == Op::launch ? all.subspan(std::min(launch_params, all.size())) : all.first(0);
}

bool differ_in_arguments(std::span<const Decision> mine, std::span<const Decision> other) {
    return std::ranges::equal(mine, other, [](const Decision& a, const Decision& b) {
        const auto without = [](const Decision& all) {
            return std::span(all.payload).first(all.payload.size() - arguments_of(all).size());
        };
        return a.op == b.op && a.payload.size() == b.payload.size() && std::ranges::equal(without(a), without(b));
    });
}

std::optional<std::string> first_difference(std::span<const Decision> mine, std::span<const Decision> other) {
    const std::size_t both = std::min(mine.size(), other.size());
    const auto name_at = [](std::span<const Decision> all, std::size_t i) {
        return describe_request(all[i].op, request_number(all, i));
    };
    for (std::size_t i = 0; i < both; ++i) {
        if (mine[i].op != other[i].op)
            return fmt::format("where {} comes, {} comes with other inputs", name_at(mine, i), name_at(other, i));
        if (mine[i].payload != other[i].payload) return describe(mine[i], other[i], request_number(mine, i));
    }
    if (mine.size() == other.size()) return std::nullopt;
    return mine.size() > other.size() ? name_at(mine, both) + " comes only with these inputs"
                                      : name_at(other, both) + " comes only with other inputs";
}

std::size_t count_changes(std::span<const Decision> mine, std::span<const Decision> other, std::size_t most) {
    if (mine.size() != other.size()) return most + 1;
    const auto sorted = [](std::span<const Decision> from) {
        std::vector<Decision> all;
        for (const Decision& each : from) all.push_back(strip_places(each));
        std::ranges::sort(all, [](const Decision& a, const Decision& b) {
            return a.op != b.op ? a.op < b.op : a.payload < b.payload;
        });
        return all;
    };
    const auto a = sorted(mine), b = sorted(other);
    std::set<std::uint64_t> changes;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i].op != b[i].op || a[i].payload.size() != b[i].payload.size()) return most + 1;
        if (a[i].payload == b[i].payload) continue;
        // Only launches of the same kernel may differ, in shape and arguments; they are compared word by word.
        if (a[i].op != Op::launch || field<std::uint32_t>(a[i], 0) != field<std::uint32_t>(b[i], 0)) return most + 1;
        for (std::size_t at = launch_grid; at < launch_shared; at += 4)
            if (const auto by = field<std::uint32_t>(b[i], at) - field<std::uint32_t>(a[i], at); by != 0)
                changes.insert(by);
        if (!std::equal(a[i].payload.begin() + launch_shared, a[i].payload.begin() + launch_params,
                        b[i].payload.begin() + launch_shared))
            return most + 1;
        for (std::size_t at = launch_params; at < a[i].payload.size(); at += 8)
            if (const auto by = field<std::uint64_t>(b[i], at) - field<std::uint64_t>(a[i], at); by != 0)
                changes.insert(by);
        if (changes.size() > most) return most + 1;
    }
    return changes.size();
}

}  // namespace warpgrade::server
