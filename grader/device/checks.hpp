// Which checks a device runs beside the program. Memory bounds are always checked, since an access beyond them ends the
// kernel.
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

// "all", "none" or some of "race,init,sync,advice". Throws std::invalid_argument that lists the accepted words.
Checks parse_checks(std::string_view words);

}  // namespace warpgrade::device
