// Integer operations that several families of opcodes share, on registers and across lanes.
#pragma once

namespace warpgrade::vgpu {

struct And {
    template <class T>
    static T apply(T a, T b) {
        return a & b;
    }
};
struct Or {
    template <class T>
    static T apply(T a, T b) {
        return a | b;
    }
};
struct Xor {
    template <class T>
    static T apply(T a, T b) {
        return a ^ b;
    }
};
struct Min {
    template <class T>
    static T apply(T a, T b) {
        return a < b ? a : b;
    }
};
struct Max {
    template <class T>
    static T apply(T a, T b) {
        return a > b ? a : b;
    }
};

}  // namespace warpgrade::vgpu
