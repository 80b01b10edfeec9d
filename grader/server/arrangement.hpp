// Joins the bytes of many copies as they lie side by side on the device. So the result shows whether copies rearranged
// data: into columns, as single elements, in reverse order.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "device/protocol.hpp"
#include "server/device_names.hpp"

namespace warpgrade::server {

class Arrangement {
  public:
    // max_cut_bytes limits the bytes that move when a copy replaces the middle of others.
    static constexpr std::size_t max_runs = std::size_t{1} << 20, max_cut_bytes = std::size_t{1} << 30;

    // Neighbouring copies of this size are not joined: each is long enough to be checked alone.
    static constexpr std::size_t long_bytes = 4096;

    // What a shorter copy leaves of an earlier one, as the last of many pieces that go through one buffer does, lies
    // beside other data by chance. More remains than this are part of the arrangement.
    static constexpr std::size_t max_remains = 8;

    // Contiguous bytes: of one copy, or of many joined in the run's own array.
    struct Run {
        std::uint64_t address = 0;
        std::span<const std::byte> bytes;
        std::vector<std::byte> joined;
        bool remains = false;  // of a run that was replaced

        [[nodiscard]] std::uint64_t end() const { return address + bytes.size(); }
        // False if both are long.
        bool join(std::span<const std::byte> more);
    };

    // Adds a copy to the region; `bytes` must outlive this object. Runs of which it replaces a part are kept as they
    // were. Returns false if there are too many pieces.
    bool add(const wire::Region& region, std::span<const std::byte> bytes);

    // Returns the longest runs: first the replaced ones in the order of replacement, then the final ones by address,
    // without few remains.
    [[nodiscard]] std::vector<Run> take();

  private:
    [[nodiscard]] bool is_full() const {
        return runs_.size() + replaced_.size() >= max_runs || cut_bytes_ >= max_cut_bytes;
    }
    void add_run(std::uint64_t address, std::span<const std::byte> bytes);
    // True if a run has these bytes there already: a program that sends its data again changes nothing.
    [[nodiscard]] bool is_there(std::uint64_t address, std::span<const std::byte> bytes) const;
    void cut_out(std::uint64_t begin, std::uint64_t end);

    std::vector<Run> replaced_;
    std::map<std::uint64_t, Run> runs_;  // by address, disjoint
    std::size_t cut_bytes_ = 0;
};

}  // namespace warpgrade::server
