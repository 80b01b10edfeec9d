// Where a block's shared memory lies: static variables, the dynamic part, and what the system reserves. The gaps
// between them belong to nobody (see Code::shared_variables).
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "vgpu/code/code.hpp"

namespace warpgrade::vgpu {

struct SharedRange {
    enum class Kind : std::uint8_t { Variable, Dynamic, System };
    std::uint32_t begin = 0, bytes = 0;
    Kind kind = Kind::Variable;
    const SharedVariable* variable = nullptr;

    [[nodiscard]] std::uint32_t end() const { return begin + bytes; }
    // True if accesses of that many bytes at `low`, at `high` and anywhere between are inside.
    [[nodiscard]] bool holds(std::uint64_t low, std::uint64_t high, unsigned access_bytes) const {
        return low >= begin && access_bytes <= bytes && high - begin <= bytes - access_bytes;
    }
};

class SharedLayout {
  public:
    SharedLayout(const Code& code, std::uint32_t dynamic_bytes);

    [[nodiscard]] const std::vector<SharedRange>& ranges() const { return ranges_; }
    // The range that holds an access, or nullptr.
    [[nodiscard]] const SharedRange* find(std::uint64_t low, std::uint64_t high, unsigned access_bytes) const {
        const auto after = std::ranges::upper_bound(ranges_, low, {}, &SharedRange::begin);
        if (after == ranges_.begin() || !std::prev(after)->holds(low, high, access_bytes)) return nullptr;
        return &*std::prev(after);
    }
    // The program's range that is nearest to an address, or nullptr if it has none.
    [[nodiscard]] const SharedRange* nearest(std::int64_t address) const;
    [[nodiscard]] std::uint32_t span() const { return span_; }  // from address 0 to the last range's end
    [[nodiscard]] const SharedRange* system() const {           // nullptr if the kernel does not use it
        return !ranges_.empty() && ranges_.back().kind == SharedRange::Kind::System ? &ranges_.back() : nullptr;
    }

  private:
    std::vector<SharedRange> ranges_;  // by address
    std::uint32_t span_ = 0;
};

}  // namespace warpgrade::vgpu
