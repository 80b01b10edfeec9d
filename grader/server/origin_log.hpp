// Where the outputs of a call come from: what went up to the device, what came down, who wrote it there, and what host
// code decided. The session notes it while the call runs; origin_check.hpp tells from it whether the device did the
// work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "device/analysis.hpp"
#include "device/protocol.hpp"
#include "server/decisions.hpp"

namespace warpgrade::device {

class OriginLog {
  public:
    // Bytes kept between two takes, in each direction.
    static constexpr std::size_t max_bytes = std::size_t{256} << 20;
    // Copies on the device of fewer bytes than a warp moves at once, which hand their bytes on; further ones are
    // host code that arranges the result piece by piece.
    static constexpr std::size_t small_copy_bytes = 128, max_small_copies = 8;

    static constexpr std::size_t max_decision_bytes = std::size_t{32} << 20;

    explicit OriginLog(Device& device) : device_(device), analysis_(device.analysis()) {}

    // What the device sent to the host in one copy, or what stood in memory of both when the program waited.
    struct Down {
        std::vector<std::byte> bytes;
        std::vector<WriterTag> writers;  // of bytes 0, 4, 8 …
        DevicePtr address = 0;
        bool mapped = false;
        std::uint64_t row_bytes = 0;  // of a copy of rows that do not lie side by side on the device
        DevicePtr base = 0;           // of the allocation that it came from
        std::uint64_t number = 0;     // in the order of all that went up, came down, and was done
    };
    // What host code sent to the device in one copy, or wrote to memory of both where the device has read it.
    struct Up {
        wire::Region region;  // where it went
        std::vector<std::byte> bytes;
        bool mapped = false;
        std::uint64_t number = 0;
        std::size_t launch = 0;  // by which memory of both was read
        DevicePtr base = 0;      // of the allocation that it went to
    };
    // What the device did, in order.
    struct Step {
        std::size_t launch = 0;  // its number in the call, from 1; 0: a copy on the device
        std::vector<DevicePtr> read_from, written_to;
        std::uint64_t number = 0;  // in the order of all that went up, came down, and was done
    };

    // For the session. Nothing is noted for a device that does not keep origins.
    void decided(wire::Op op, std::span<const std::byte> payload);
    // A piece of a copy to this region; `first`: a copy begins with it.
    void wrote(const wire::Region& region, std::span<const std::byte> piece, bool first);
    void read(const wire::Region& region);
    void copied(const wire::Region& destination, const wire::Region& source);
    void launched(const LaunchRecord& record);
    void loaded(std::span<const std::byte> image);
    void waited();
    // Everything so far belongs to the call that has ended.
    void begin_call();

    [[nodiscard]] bool enabled() const { return analysis_ && analysis_->keeps_origin(); }
    [[nodiscard]] bool ran_kernels() const { return !analysis_ || analysis_->runs_kernels(); }
    [[nodiscard]] const std::deque<Down>& down() const { return down_; }
    [[nodiscard]] const std::deque<Up>& up() const { return up_; }
    [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
    [[nodiscard]] const std::vector<Decision>& decisions() const { return decisions_; }
    // Bytes of the rows that small copies on the device put into this allocation, if there were many.
    [[nodiscard]] const std::set<std::uint64_t>* scattered_rows(DevicePtr base) const {
        const auto found = scattered_.find(base);
        return found == scattered_.end() || small_copies_ <= max_small_copies ? nullptr : &found->second;
    }
    // Did kernels only write to what this piece went to, and nobody read what it left there? So it is where somebody
    // uploads the output array as well, whatever stands in it.
    [[nodiscard]] bool is_overwritten(const Up& piece) const {
        return !piece.mapped && piece.base != 0 && overwritten_.contains(piece.base) && !used_.contains(piece.base);
    }
    // Images of device code. Those that the program holds in its file are nobody's doing at run time.
    [[nodiscard]] const std::vector<std::vector<std::byte>>& images() const { return images_; }
    [[nodiscard]] bool overflown() const { return overflown_; }

  private:
    void keep(Down piece);
    void append(Up& piece, std::span<const std::byte> bytes);
    [[nodiscard]] DevicePtr base_of(DevicePtr address) const;
    [[nodiscard]] std::uint64_t canonical(std::uint64_t address);

    Device& device_;
    Analysis* analysis_;
    std::deque<Down> down_;
    std::deque<Up> up_;
    std::size_t down_bytes_ = 0, up_bytes_ = 0, small_copies_ = 0;
    std::vector<Step> steps_;
    std::size_t launches_ = 0;
    std::vector<Decision> decisions_;
    std::size_t decision_bytes_ = 0;
    std::map<DevicePtr, std::uint64_t> registered_;           // pages of the program's own, numbered
    std::map<DevicePtr, std::set<std::uint64_t>> scattered_;  // bytes of rows, by allocation
    std::vector<std::vector<std::byte>> images_;
    std::set<DevicePtr> used_, overwritten_;   // allocations: read by anybody; written by kernels
    std::map<DevicePtr, std::uint64_t> seen_;  // versions of mapped memory
    std::uint64_t number_ = 0;
    bool overflown_ = false;
};

}  // namespace warpgrade::device
