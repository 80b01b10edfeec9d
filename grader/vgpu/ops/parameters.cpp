#include "vgpu/ops/parameters.hpp"

#include <bit>

#include "vgpu/ops/elements.hpp"

namespace warpgrade::vgpu {
namespace {

using ptx::Space;

// Kernel parameters are the same for all lanes.
template <class Mem, class Reg>
void run_load_kernel_param(Warp& w, const Insn& in, std::uint32_t mask) {
    const Ref refs[4] = {in.d, in.b, in.c, in.e};
    for (unsigned i = 0; i < (in.form & form::elements); ++i) {
        Mem v;
        std::memcpy(&v, w.executor->params + in.offset + i * sizeof(Mem), sizeof v);
        for_lanes<false>(operand<Reg>(w, refs[i]), mask, [=](unsigned) { return static_cast<Reg>(v); });
    }
}

// Kernel parameters at addresses in registers: an array in a structure, for example.
template <class Mem, class Reg>
void run_load_indexed_param(Warp& w, const Insn& in, std::uint32_t mask) {
    const unsigned bytes = (in.form & form::elements) * sizeof(Mem);
    Access x;
    collect_lanes(w, x, in.a, in.offset, in.form & form::address32, mask, bytes);
    const Executor& e = *w.executor;
    if (x.misaligned || !fits(x.low, x.high, 0, e.param_bytes, bytes))
        raise_access(w, in, x, Space::Param, Op::Load, bytes);
    load_elements<Mem, Reg>(w, in, const_cast<std::byte*>(e.params), x);
}

// A called function's parameters are in the frame, separate for each lane. a: their storage.
template <Op O, class Mem, class Reg>
void run_frame_param(Warp& w, const Insn& in, std::uint32_t mask) {
    const Ref refs[4] = {in.d, in.b, in.c, in.e};
    for (unsigned i = 0; i < (in.form & form::elements); ++i) {
        Reg* r = operand<Reg>(w, refs[i]);
        std::byte* at = operand<std::byte>(w, in.a) + in.offset + i * sizeof(Mem);
        for_active(mask, [&](unsigned l) {
            std::byte* lane = at + std::size_t{l} * in.lane_stride;
            Mem v;
            if constexpr (O == Op::Load) {
                std::memcpy(&v, lane, sizeof v);
                r[l] = static_cast<Reg>(v);
            } else {
                v = static_cast<Mem>(r[l]);
                std::memcpy(lane, &v, sizeof v);
            }
        });
    }
}

template <Op O>
void decode_param(InsnBuilder& b, const ptx::Operand& address, ptx::Type t, unsigned width) {
    if (address.reg != ptx::Operand::no_register) {
        if (O == Op::Store || !b.function.is_kernel()) b.refuse("parameters are addressed by name here");
        b.address(address, Space::Param, form::address32);
        by_memory_type(b, t, width, [&]<class Mem, class Reg>() {
            b.handlers({run_load_indexed_param<Mem, Reg>, run_load_indexed_param<Mem, Reg>});
        });
        return;
    }
    const unsigned bytes = (b.out.form & form::elements) * ptx::size_of(t);
    const auto place = b.function.parameter(address.symbol);
    if (!place) b.refuse("no parameter '" + address.symbol + "'");
    if (address.offset < 0 || static_cast<std::uint64_t>(address.offset) + bytes > place->bytes)
        b.refuse("reaches beyond parameter '" + address.symbol + "'");
    if (place->kernel) {
        if (O == Op::Store) b.refuse("kernel parameters are read-only");
        b.out.offset = static_cast<std::int64_t>(place->offset) + address.offset;
        b.function.builder.read_argument(*place, static_cast<std::size_t>(address.offset), bytes);
        by_memory_type(b, t, width, [&]<class Mem, class Reg>() {
            b.handlers({run_load_kernel_param<Mem, Reg>, run_load_kernel_param<Mem, Reg>});
        });
    } else {
        b.out.a = place->storage;
        b.out.lane_stride = place->stride;
        b.out.offset = address.offset;
        b.out.flow = O == Op::Load ? Flow::Receives : Flow::Passes;
        const unsigned power = static_cast<unsigned>(std::countr_zero(ptx::size_of(t)));
        b.out.form = static_cast<std::uint16_t>(b.out.form | power << param_form::bytes_shift);
        by_memory_type(b, t, width, [&]<class Mem, class Reg>() {
            b.handlers({run_frame_param<O, Mem, Reg>, run_frame_param<O, Mem, Reg>});
        });
    }
}

}  // namespace

void decode_parameter(InsnBuilder& b, Op op, const ptx::Operand& address, ptx::Type t, unsigned width) {
    if (op == Op::Load)
        decode_param<Op::Load>(b, address, t, width);
    else
        decode_param<Op::Store>(b, address, t, width);
}

}  // namespace warpgrade::vgpu
