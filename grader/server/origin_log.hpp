// A log of one call: uploads to the device, downloads with their writers, the device's steps, and the decisions of host
// code. The session writes it while the call runs; check_origin() finds out from it whether the device did the work.
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

namespace warpgrade::server {

class OriginLog {
  public:
    // Bytes kept of one call, in each direction.
    static constexpr std::size_t max_bytes = std::size_t{256} << 20;
    // A small copy on the device moves fewer bytes than a warp does at once. More of them than this count as host code
    // that assembles the result piece by piece.
    static constexpr std::size_t small_copy_bytes = 128, max_small_copies = 8;

    static constexpr std::size_t max_decision_bytes = std::size_t{32} << 20;

    explicit OriginLog(Device& device) : device_(device), analysis_(device.analysis()) {}

    // Uploads, downloads and steps are numbered in one sequence.
    // One copy to the host, or the contents of host-visible memory when the program waited (`mapped`).
    struct Download {
        std::vector<std::byte> bytes;
        std::vector<WriterTag> writers;  // of bytes 0, 4, 8 …
        DevicePtr address = 0;
        bool mapped = false;
        std::uint64_t row_bytes = 0;  // if the rows are not contiguous on the device
        DevicePtr base = 0;           // of the source allocation
        std::uint64_t number = 0;
        std::vector<DevicePtr> mapped_bases = {};  // of all allocations, if `mapped`
    };
    // One copy to the device, or bytes that host code wrote to host-visible memory and a launch read (`mapped`).
    struct Upload {
        wire::Region region;
        std::vector<std::byte> bytes;
        bool mapped = false;
        std::uint64_t number = 0;
        std::size_t launch = 0;  // that read mapped memory
        DevicePtr base = 0;      // of the destination allocation
    };
    // A launch, or a copy on the device.
    struct Step {
        std::size_t launch = 0;  // its number in the call, from 1; 0 for a copy
        std::vector<DevicePtr> read_from, written_to;
        std::uint64_t number = 0;
    };

    // These do nothing for a device that does not keep origins.
    void record_decision(wire::Op op, std::span<const std::byte> payload);
    // A piece of a copy; `first` begins a new copy.
    void record_upload(const wire::Region& region, std::span<const std::byte> piece, bool first);
    void record_download(const wire::Region& region);
    void record_copy(const wire::Region& destination, const wire::Region& source);
    void record_launch(const LaunchRecord& record);
    void record_module(std::span<const std::byte> image);
    void record_wait();
    // Memory of the program's that it registers, in its own words.
    void register_host(std::uint64_t address, std::uint64_t bytes);
    void unregister_host(std::uint64_t address) { host_ranges_.erase(address); }
    // Clears the log.
    void begin_call();

    [[nodiscard]] bool enabled() const { return analysis_ && analysis_->keeps_origin(); }
    [[nodiscard]] bool ran_kernels() const { return !analysis_ || analysis_->runs_kernels(); }
    [[nodiscard]] const std::deque<Download>& downloads() const { return downloads_; }
    [[nodiscard]] const std::deque<Upload>& uploads() const { return uploads_; }
    [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
    [[nodiscard]] const std::vector<Decision>& decisions() const { return decisions_; }
    // Row sizes of the small copies into this allocation, if the call made too many small copies; else null.
    [[nodiscard]] const std::set<std::uint64_t>* scattered_rows(DevicePtr base) const {
        const auto found = scattered_.find(base);
        return found == scattered_.end() || small_copies_ <= max_small_copies ? nullptr : &found->second;
    }
    // True if kernels overwrote the upload's allocation and nothing read it, as when host code uploads the output array
    // too. Its contents do not matter then.
    [[nodiscard]] bool is_overwritten(const Upload& piece) const {
        return !piece.mapped && piece.base != 0 && overwritten_.contains(piece.base) && !used_.contains(piece.base);
    }
    // Device code that the program loaded.
    [[nodiscard]] const std::vector<std::vector<std::byte>>& images() const { return images_; }
    [[nodiscard]] bool overflowed() const { return overflowed_; }

  private:
    void keep(Download piece);
    void keep_registered(std::span<const Download> runs);
    void append(Upload& piece, std::span<const std::byte> bytes);
    [[nodiscard]] DevicePtr find_base(DevicePtr address) const;
    [[nodiscard]] std::uint64_t canonical(std::uint64_t address);

    Device& device_;
    Analysis* analysis_;
    std::deque<Download> downloads_;
    std::deque<Upload> uploads_;
    std::size_t download_bytes_ = 0, upload_bytes_ = 0, small_copies_ = 0;
    std::vector<Step> steps_;
    std::size_t launches_ = 0;
    std::vector<Decision> decisions_;
    std::size_t decision_bytes_ = 0;
    struct HostRange {
        std::uint64_t bytes, number;
    };
    std::map<std::uint64_t, HostRange> host_ranges_;  // registered memory
    std::map<DevicePtr, std::uint64_t> pages_;        // numbers of its pages
    std::uint64_t next_name_ = 0;
    std::map<DevicePtr, std::set<std::uint64_t>> scattered_;  // row sizes of small copies, by allocation
    std::vector<std::vector<std::byte>> images_;
    std::set<DevicePtr> used_, overwritten_;   // allocations that anything read, and that kernels wrote
    std::map<DevicePtr, std::uint64_t> seen_;  // versions of mapped memory
    std::uint64_t number_ = 0;
    bool overflowed_ = false;
};

}  // namespace warpgrade::server
