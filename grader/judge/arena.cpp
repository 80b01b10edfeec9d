#include "judge/arena.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "judge/errors.hpp"

namespace warpgrade::judge {
namespace {

std::size_t size_of(const wire::Argument& argument) { return argument.count * wire::bytes_of(argument.type); }

bool is_buffer(const wire::Argument& argument) {
    return argument.kind != wire::Kind::scalar && argument.kind != wire::Kind::null_pointer;
}

[[noreturn]] void fail(const char* what) { throw InfrastructureError(std::string(what) + ": " + std::strerror(errno)); }

// Calls pread() or pwrite() until all of `data` has been transferred.
template <class Byte, class Transfer>
void transfer_all(Transfer transfer, int file, std::span<Byte> data, std::uint64_t offset, const char* what) {
    while (!data.empty()) {
        const ssize_t done = transfer(file, data.data(), data.size(), static_cast<off_t>(offset));
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) fail(what);
        data = data.subspan(static_cast<std::size_t>(done));
        offset += static_cast<std::uint64_t>(done);
    }
}

}  // namespace

ArenaFile::ArenaFile(std::size_t size)
    : descriptor(memfd_create("arena", MFD_CLOEXEC | MFD_ALLOW_SEALING)), bytes(size) {
    if (!descriptor || ftruncate(descriptor.get(), static_cast<off_t>(size)) != 0) fail("the arena");
    if (fcntl(descriptor.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) fail("sealing the arena");
}

Arena::Arena(const CallSpec& spec, RandomStream& random, Prefill prefill, SharedArenaFile* shared) {
    if (spec.function.size() >= wire::max_name_bytes || spec.arguments.size() > wire::max_arguments)
        throw std::invalid_argument("the call of " + spec.function + " is too large");
    std::memcpy(call_.function, spec.function.data(), spec.function.size());
    call_.argument_count = static_cast<std::uint32_t>(spec.arguments.size());
    // Above the addresses of device memory, below those of the program's libraries and stack.
    call_.address_hint = 0x1000'0000'0000 + (random.below(0x5000'0000'0000) & ~std::uint64_t{0xfff});
    for (std::size_t i = 0; i < spec.arguments.size(); ++i) {
        const auto& source = spec.arguments[i];
        auto& argument = call_.arguments[i];
        argument.kind = source.kind;
        argument.type = source.type;
        argument.value = source.bits;
        argument.count = source.count;
        if (!is_buffer(argument)) continue;
        const std::size_t size = size_of(argument);
        const bool is_mapped = size >= wire::mapped_bytes;
        const std::size_t unit = is_mapped ? wire::arena_page_bytes : wire::arena_alignment;
        const std::size_t end = (bytes_ + size + unit - 1) / unit * unit;
        argument.value = is_mapped ? end - size : bytes_;
        bytes_ = end;
    }
    call_.arena_bytes = bytes_ = std::max(bytes_, wire::arena_alignment);

    if (shared && *shared && (*shared)->bytes >= bytes_) {
        file_ = *shared;
    } else {
        constexpr std::size_t least = 64 << 10;  // the next call's arrays may be larger; only used pages take memory
        file_ = std::make_shared<ArenaFile>(shared ? std::bit_ceil(std::max(bytes_, least)) : bytes_);
        if (shared) *shared = file_;
    }

    const auto write = [&](std::uint64_t offset, std::span<const std::byte> data) {
        transfer_all(pwrite, descriptor(), data, offset, "writing the arena");
    };
    for (std::size_t i = 0; i < spec.arguments.size(); ++i) {
        const auto& argument = call_.arguments[i];
        if (!is_buffer(argument)) continue;
        if (argument.kind == wire::Kind::out) {
            auto& garbage = prefill_.emplace_back(size_of(argument));
            if (prefill == Prefill::random)
                random.fill(garbage);
            else
                std::ranges::fill(garbage, static_cast<std::byte>(random.next()));
            write(argument.value, garbage);
        } else {
            write(argument.value, spec.arguments[i].input);
        }
    }
}

std::vector<std::byte> Arena::read(std::uint64_t offset, std::uint64_t bytes) const {
    std::vector<std::byte> data(bytes);
    transfer_all(pread, descriptor(), std::span(data), offset, "reading the arena");
    return data;
}

std::span<const std::byte> Arena::prefill(std::size_t argument) const {
    const auto before =
        std::ranges::count(std::span(call_.arguments).first(argument), wire::Kind::out, &wire::Argument::kind);
    return prefill_.at(static_cast<std::size_t>(before));
}

Arena::Snapshot Arena::snapshot() const {
    Snapshot result;
    std::size_t next_prefill = 0;
    for (std::size_t i = 0; i < call_.argument_count; ++i) {
        const auto& argument = call_.arguments[i];
        if (!wire::is_written_back(argument.kind)) continue;
        auto& output = result.outputs.emplace_back(read(argument.value, size_of(argument)));
        if (argument.kind != wire::Kind::out) continue;
        // Fewer bytes may equal the prefill by chance.
        if (output.size() >= 4 && output == prefill_[next_prefill]) result.untouched.push_back(i);
        ++next_prefill;
    }
    return result;
}

}  // namespace warpgrade::judge
