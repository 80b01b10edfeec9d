// How the bytes of many copies lie side by side on the device. What a copy puts between others is seen here: columns,
// single elements, an order that is turned round.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "device/protocol.hpp"

namespace warpgrade::device {

class Arrangement {
  public:
    // Pieces that are told apart, and bytes that are moved when a copy replaces the middle of others.
    static constexpr std::size_t max_runs = std::size_t{1} << 20, max_cut_bytes = std::size_t{1} << 30;

    // A copy of as many bytes says by itself what it brings, and is not joined with its neighbours.
    static constexpr std::size_t long_bytes = 4096;

    // Bytes that lie side by side: those of one copy, or of many in an array of their own.
    struct Run {
        std::uint64_t address = 0;
        std::span<const std::byte> bytes;
        std::vector<std::byte> joined;

        [[nodiscard]] std::uint64_t end() const { return address + bytes.size(); }
        // False if both are long.
        bool join(std::span<const std::byte> more);
    };

    // A copy of these bytes, which must stay, to the region; those that lay there before are kept as replaced. False:
    // too many pieces.
    bool add(const wire::Region& region, std::span<const std::byte> bytes);

    // First what was replaced, in that order, then what lies there in the end, by address: as long runs as there are.
    [[nodiscard]] std::vector<Run> take();

  private:
    [[nodiscard]] bool is_full() const {
        return runs_.size() + replaced_.size() >= max_runs || cut_bytes_ >= max_cut_bytes;
    }
    void add_run(std::uint64_t address, std::span<const std::byte> bytes);
    void cut_out(std::uint64_t begin, std::uint64_t end);

    std::vector<Run> replaced_;
    std::map<std::uint64_t, Run> runs_;  // by address, disjoint
    std::size_t cut_bytes_ = 0;
};

}  // namespace warpgrade::device
