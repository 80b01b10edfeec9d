// Which checks a device runs beside the program. Bounds of memory are always checked: that is how a kernel ends that
// leaves them.
#pragma once

#include <string_view>

namespace warpgrade::device {

struct Checks {
    bool race = true;    // racecheck: accesses without order between them
    bool init = true;    // initcheck: use of memory that nothing wrote
    bool sync = true;    // synccheck: barriers and masks of lanes
    bool advice = true;  // what makes the program slow
    [[nodiscard]] bool operator==(const Checks&) const = default;
};

// "all", "none" or some of "race,init,sync,advice". Throws std::invalid_argument that lists the words there are.
Checks parse_checks(std::string_view words);

}  // namespace warpgrade::device
