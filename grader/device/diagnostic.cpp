#include "device/diagnostic.hpp"

namespace warpgrade::device {

const Rule* find_rule(std::string_view id) {
    static constexpr const Rule* all[] = {
#define WG_RULE(constant, id, severity, title, help) &rules::constant,
#include "device/rules.def"
#undef WG_RULE
    };
    for (const Rule* rule : all)
        if (id == rule->id) return rule;
    return nullptr;
}

}  // namespace warpgrade::device
