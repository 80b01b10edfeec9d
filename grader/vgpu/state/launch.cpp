#include "vgpu/state/launch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "vgpu/text/words.hpp"

namespace warpgrade::vgpu {

namespace {

// Blocks of a cooperative launch wait for each other.
std::uint64_t blocks_to_run(const device::LaunchConfig& config, const LaunchLimits& limits) {
    const std::uint64_t all = config.grid.count();
    return limits.sample_blocks == 0 || config.cooperative ? all : std::min(all, limits.sample_blocks);
}

}  // namespace

Launch::Launch(const Code& its_code, const ptx::Module& its_module, const device::LaunchConfig& its_config,
               const LaunchLimits& its_limits)
    : code(its_code),
      module(its_module),
      config(its_config),
      limits(its_limits),
      shared(its_code, its_limits.dynamic_shared_bytes),
      tracks(limits.threads, limits.checks.race, code.granule_shift),
      output(limits.printf_bytes),
      blocks(blocks_to_run(its_config, its_limits)),
      progress(*limits.progress) {}

bool Launch::charge(Executor& e) {
    const std::uint64_t total = instructions.fetch_add(e.instructions, std::memory_order_relaxed) + e.instructions;
    e.instructions = 0;
    if (e.optimistic && attempt_failed.load(std::memory_order_relaxed)) throw AttemptFailed{};
    progress.instructions.store(total, std::memory_order_relaxed);
    return (limits.instructions == 0 || total <= limits.instructions) && !stopped();
}

std::string Launch::how_far() const {
    return fmt::format("{} of {}", grouped(progress.blocks_done), counted(blocks, "block"));
}

std::uint64_t Launch::linear_of(std::uint64_t number) const {
    const std::uint64_t all = config.grid.count();
    if (blocks == all) return number;
    using Wide = unsigned __int128;
    const auto part_begin = [&](std::uint64_t part) { return static_cast<std::uint64_t>(Wide{part} * all / blocks); };
    const std::uint64_t begin = part_begin(number), size = part_begin(number + 1) - begin;
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;  // its multiples are spread over all 64-bit numbers
    return begin + static_cast<std::uint64_t>(Wide{number * golden} * size >> 64);
}

std::uint32_t Launch::ptx_line(const Insn& insn) const {
    const auto index = static_cast<std::size_t>(&insn - code.insns.data());
    return index < code.ptx_lines.size() ? code.ptx_lines[index] : 0;
}

std::string Launch::thread_name(std::uint32_t thread) const {
    const auto& b = config.block;
    return fmt::format("({},{},{})", thread % b.x, thread / b.x % b.y, thread / b.x / b.y);
}

device::SourcePlace Launch::source_place(const Insn& insn) const {
    const auto index = static_cast<std::size_t>(&insn - code.insns.data());
    if (index >= code.locations.size()) return {};
    if (const auto at = module.innermost_own(code.locations[index]); at.line)
        if (const std::string* file = module.file_name(at.file)) return {*file, at.line, 0};
    return {};
}

std::uint64_t Launch::line_key(const Insn& insn) const {
    const auto index = static_cast<std::size_t>(&insn - code.insns.data());
    if (index >= code.locations.size()) return 0;
    const ptx::Location at = module.outermost(code.locations[index]);
    return at.line == 0 ? 0 : std::uint64_t{at.file} << 32 | at.line;
}

device::SourcePlace Launch::line_of_key(std::uint64_t key) const {
    const std::string* file = key == 0 ? nullptr : module.file_name(static_cast<std::uint32_t>(key >> 32));
    return file ? device::SourcePlace{*file, static_cast<std::uint32_t>(key), 0} : device::SourcePlace{};
}

device::Dim3 Launch::block_place(std::uint64_t block) const {
    const auto& g = config.grid;
    return {static_cast<std::uint32_t>(block % g.x), static_cast<std::uint32_t>(block / g.x % g.y),
            static_cast<std::uint32_t>(block / g.x / g.y)};
}

device::ThreadPlace Launch::thread_place(std::uint64_t block, std::uint32_t thread) const {
    const auto& b = config.block;
    const device::Dim3 at = block_place(block);
    return {{thread % b.x, thread / b.x % b.y, thread / b.x / b.y}, {at.x, at.y, at.z}};
}

}  // namespace warpgrade::vgpu
