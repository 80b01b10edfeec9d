// What is known of a device by its name alone (kinds.def).
#pragma once

#include <string_view>

namespace warpgrade::device {

struct Kind {
    std::string_view name;
    bool sandboxed = true, repeatable = true, analysed = true;
    std::string_view title;
};

inline constexpr Kind kinds[] = {
#define WG_DEVICE_KIND(name, sandboxed, repeatable, analysed, title) {#name, sandboxed, repeatable, analysed, title},
#include "device/kinds.def"
#undef WG_DEVICE_KIND
};

// Of "vgpu:h100:4", that of "vgpu". An unknown one is taken for a device that can do everything, and gets no farther
// than its server.
constexpr Kind kind_of(std::string_view device) {
    for (const Kind& kind : kinds)
        if (device.substr(0, device.find(':')) == kind.name) return kind;
    return {};
}

}  // namespace warpgrade::device
