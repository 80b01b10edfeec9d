#include "device/checks.hpp"

#include <stdexcept>
#include <string>

namespace warpgrade::device {

Checks parse_checks(std::string_view words) {
    if (words == "all") return {};
    Checks checks{false, false, false, false};
    if (words == "none") return checks;
    while (!words.empty()) {
        const std::string_view word = words.substr(0, words.find(','));
        words.remove_prefix(word.size() + (word.size() < words.size()));
        bool* const check = word == "race"     ? &checks.race
                            : word == "init"   ? &checks.init
                            : word == "sync"   ? &checks.sync
                            : word == "advice" ? &checks.advice
                                               : nullptr;
        if (!check)
            throw std::invalid_argument("unknown check '" + std::string(word) +
                                        "'; use race, init, sync or advice, or all, or none");
        *check = true;
    }
    return checks;
}

}  // namespace warpgrade::device
