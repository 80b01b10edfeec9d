// Calls and returns: each activation has its own frame, for the lanes that entered it together.
#include <fmt/format.h>

#include "device/address_space.hpp"
#include "device/fresh_memory.hpp"
#include "vgpu/checks/local_values.hpp"
#include "vgpu/exec/warp_runner.hpp"
#include "vgpu/text/words.hpp"

namespace warpgrade::vgpu {

namespace error = device::error;

namespace {

constexpr std::uint32_t activation_bytes = 16;          // of each thread's stack, besides the function's variables
constexpr std::uint64_t max_frame_storage = 32u << 20;  // registers of all activations of a warp

// Copies arguments or results of each lane from one activation's parameter storage to another's.
void copy_slots(Warp& w, const std::byte* from, const std::vector<ParameterSlot>& sources, std::byte* to,
                const std::vector<ParameterSlot>& destinations, std::uint32_t mask) {
    for (std::size_t i = 0; i < sources.size(); ++i) {
        const ParameterSlot &a = sources[i], &b = destinations[i];
        const std::byte* source = from + (a.storage & area::offset_mask);
        std::byte* destination = to + (b.storage & area::offset_mask);
        for_active(mask, [&](unsigned l) {
            std::memcpy(destination + std::size_t{l} * b.stride, source + std::size_t{l} * a.stride, b.bytes);
        });
        if (!w.watch.undefined.empty()) [[unlikely]]
            copy_undefined_parameters(w, source, destination, b.bytes, mask);
    }
}

bool same_sizes(const std::vector<ParameterSlot>& a, const std::vector<ParameterSlot>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const ParameterSlot& x, const ParameterSlot& y) { return x.bytes == y.bytes; });
}

std::string sizes(const std::vector<ParameterSlot>& slots) {
    std::string text;
    for (const ParameterSlot& s : slots) text += fmt::format("{}{}", text.empty() ? "" : ", ", s.bytes);
    return "(" + text + ")";
}

}  // namespace

std::uint32_t WarpRunner::free_frame(std::uint32_t bytes) {
    for (std::size_t i = w.free_frames.size(); i-- > 0;) {
        const std::uint32_t index = w.free_frames[i];
        if (w.frames[index].storage_bytes < bytes) continue;
        w.free_frames.erase(w.free_frames.begin() + static_cast<std::ptrdiff_t>(i));
        return index;
    }
    const auto index = static_cast<std::uint32_t>(w.frames.size());
    w.frames.emplace_back();
    w.frame_storage.resize(w.frames.size());
    w.frame_storage[index] = aligned_bytes(bytes);
    w.frame_storage_bytes += bytes;
    std::memset(w.frame_storage[index].get(), device::fresh_register_byte, bytes);
    w.frames[index].registers = w.frame_storage[index].get();
    w.frames[index].storage_bytes = bytes;
    return index;
}

std::uint32_t WarpRunner::enter_function(std::uint32_t function, const CallSite& site, std::uint32_t site_index,
                                         std::uint32_t resume, std::uint32_t mask, const Insn& in) {
    const FunctionCode& callee = code.functions[function];
    const std::uint32_t caller_index = w.frame;
    const Frame caller = w.frames[caller_index];
    const std::uint32_t local = caller.local_offset + code.functions[caller.function].local_bytes + activation_bytes;
    const std::uint64_t stack = std::uint64_t{local} + callee.local_bytes;
    if (stack > w.local_stride || w.frame_storage_bytes > max_frame_storage)
        raise_at(w, &in, error::hardware_stack_error, static_cast<unsigned>(std::countr_zero(mask)),
                 fmt::format("overflows its stack: it calls '{}' at depth {}, with {} of stack for each thread",
                             readable_name(callee.name), grouped(caller.depth + 1),
                             counted(w.local_stride - code.functions[0].local_bytes, "byte")));
    const std::uint32_t index = free_frame(callee.frame_bytes);
    Frame& f = w.frames[index];
    std::erase_if(w.watch.undefined, [&](const UndefinedRegister& r) {  // of an earlier activation
        return r.place >= f.registers && r.place < f.registers + callee.frame_bytes;
    });
    f.function = function;
    f.caller = caller_index;
    f.return_pc = resume;
    f.call_site = site_index;
    f.users = static_cast<std::uint32_t>(std::popcount(mask));
    f.depth = caller.depth + 1;
    f.local_offset = local;
    f.local_end = local + callee.local_end;
    for_active(mask, [&](unsigned l) {
        std::memset(w.local + std::size_t{l} * w.local_stride + local, device::fresh_byte, callee.local_bytes);
    });
    forget_local(w, local, callee.local_bytes, mask);
    copy_slots(w, caller.registers, site.arguments, f.registers, callee.parameters, mask);
    for (const ParameterSlot& p : callee.parameters) {
        if (p.local == ParameterSlot::no_address) continue;
        define_local(w, local + p.local, p.bytes, mask);
        const std::byte* from = f.registers + (p.storage & area::offset_mask);
        for_active(mask, [&](unsigned l) {
            std::memcpy(w.local + std::size_t{l} * w.local_stride + local + p.local, from + std::size_t{l} * p.stride,
                        p.bytes);
        });
    }
    return index;
}

void WarpRunner::call(const CallSite& site, std::uint32_t site_index, std::size_t self, std::uint32_t resume,
                      std::uint32_t mask, const Insn& in) {
    const std::uint32_t frame = enter_function(site.callee, site, site_index, resume, mask, in);
    Split& s = w.splits[self];
    s.frame = frame;
    s.pc = code.functions[site.callee].entry_block;
    s.mask = mask;
}

// Lanes that call different functions diverge. They reconverge where the call returns.
void WarpRunner::call_indirect(const CallSite& site, std::uint32_t site_index, std::size_t self, std::uint32_t resume,
                               std::uint32_t mask, const Insn& in) {
    const auto* pointers = operand<std::uint64_t>(w, in.a);
    std::uint64_t address[warp_size];
    std::memcpy(address, pointers, sizeof address);
    for (std::uint32_t rest = mask; rest;) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        const std::uint32_t function = pointed_function(address[lane], site, lane, in);
        std::uint32_t same = 0;
        for_active(rest, [&](unsigned l) { same |= std::uint32_t{address[l] == address[lane]} << l; });
        const std::uint32_t frame = enter_function(function, site, site_index, resume, same, in);
        add_split(code.functions[function].entry_block, same, frame);
        rest &= ~same;
    }
    remove(self);
}

std::uint32_t WarpRunner::pointed_function(std::uint64_t address, const CallSite& site, unsigned lane,
                                           const Insn& in) const {
    const auto fail = [&](const std::string& why) {
        raise_at(w, &in, error::invalid_pc, lane,
                 fmt::format("calls through the function pointer {:#x}, {}", address, why));
    };
    const auto found = code.function_at.find(address);
    if (found == code.function_at.end()) {
        namespace space = device::address_space;
        if (address >= space::code_base && address < space::code_base + space::window)
            fail("where no device function of this module begins, or a kernel does");
        if (address == 0) fail("a null pointer");
        if (address < space::user_end && !space::is_device_address(address))
            fail("which is a host address; take a device function's address in device code");
        fail("which is not the address of a function");
    }
    const FunctionCode& callee = code.functions[found->second];
    if (!same_sizes(site.arguments, callee.parameters) || !same_sizes(site.results, callee.returns))
        fail(fmt::format("but '{}' takes {} bytes and returns {}, and the call passes {} and expects {}",
                         readable_name(callee.name), sizes(callee.parameters), sizes(callee.returns),
                         sizes(site.arguments), sizes(site.results)));
    return found->second;
}

void WarpRunner::return_lanes(std::uint32_t lanes) {
    Frame& f = w.frames[w.frame];
    copy_slots(w, f.registers, code.functions[f.function].returns, w.frames[f.caller].registers,
               code.calls[f.call_site].results, lanes);
    f.users -= static_cast<std::uint32_t>(std::popcount(lanes));
    add_split(f.return_pc, lanes, f.caller);
    if (f.users == 0) w.free_frames.push_back(w.frame);
}

}  // namespace warpgrade::vgpu
