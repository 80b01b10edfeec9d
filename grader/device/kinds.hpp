// The kinds of device (kinds.def).
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

// "vgpu" for "vgpu:h100:4". An unknown name gets a kind that can do everything; its server refuses to start.
constexpr Kind find_kind(std::string_view device) {
    for (const Kind& kind : kinds)
        if (device.substr(0, device.find(':')) == kind.name) return kind;
    return {};
}

}  // namespace warpgrade::device
