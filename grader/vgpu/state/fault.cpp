#include "vgpu/state/fault.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "vgpu/state/launch.hpp"
#include "vgpu/text/words.hpp"

namespace warpgrade::vgpu {

namespace {

// Names memory as findings/diagnosis.py does, as far as source lines are known here.
std::string memory_text(const device::MemoryPlace& memory) {
    const std::string size = memory.bytes ? counted(memory.bytes, "byte") : "";
    if (memory.variable) return fmt::format("`{}`{}", memory.name, size.empty() ? "" : " (" + size + ")");
    const std::string allocation = size.empty() ? "an allocation" : "an allocation of " + size;
    return memory.name.empty() ? allocation : fmt::format("{} ({})", allocation, memory.name);
}

std::string message_text(const device::Diagnostic& d) {
    constexpr std::string_view gap = "{memory}";
    std::string text = d.message;
    if (const auto at = text.find(gap); at != std::string::npos)
        text.replace(at, gap.size(), d.memory ? memory_text(*d.memory) : "memory");
    return text;
}

}  // namespace

std::string Fault::text() const {
    const device::SourcePlace& at = diagnostic.place;
    std::string text = at.line    ? fmt::format("{}:{}: ", at.file, at.line)
                       : ptx_line ? fmt::format("PTX line {}: ", ptx_line)
                                  : "";
    text += message_text(diagnostic);
    for (const device::RelatedPlace& other : diagnostic.related)
        if (other.place.line) text += fmt::format("; {} {}:{}", other.role, other.place.file, other.place.line);
    if (const auto& thread = diagnostic.thread)
        text +=
            fmt::format(" [thread ({}) of block ({})]", fmt::join(thread->thread, ","), fmt::join(thread->block, ","));
    return text;
}

void raise_at(const Warp& warp, const Insn* insn, int code, unsigned lane, device::Diagnostic diagnostic) {
    const Launch& launch = *warp.executor->launch;
    Fault fault{code, std::move(diagnostic), insn ? launch.ptx_line(*insn) : 0};
    device::Diagnostic& d = fault.diagnostic;
    if (!d.rule) d.rule = &device::rules::kernel_failed;
    if (insn && d.place == device::SourcePlace{}) d.place = launch.source_place(*insn);
    d.thread = launch.thread_place(warp.block->linear, warp.index * warp_size + lane);
    throw fault;
}

void raise_at(const Warp& warp, const Insn* insn, int code, unsigned lane, std::string message) {
    device::Diagnostic failed;
    failed.message = std::move(message);
    raise_at(warp, insn, code, lane, std::move(failed));
}

}  // namespace warpgrade::vgpu
