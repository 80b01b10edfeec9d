// The memory for the buffers of one call: a sealed anonymous file, so that the worker cannot shrink it while the judge
// reads it. Outputs are copied out once, and only the copy is checked. The judge reads and writes the file without
// mapping it: each page of a mapping would cost a page fault.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "judge/arguments.hpp"
#include "judge/process.hpp"
#include "judge/random.hpp"
#include "worker/wire.hpp"

namespace warpgrade::judge {

class Arena {
  public:
    // Lays out the buffers of `spec`, copies the inputs, and fills outputs with random bytes, or with one random byte
    // if unwritten elements need not be found.
    enum class Prefill { random, one_byte };
    Arena(const CallSpec& spec, RandomStream& random, Prefill prefill = Prefill::random);

    [[nodiscard]] int descriptor() const { return file_.get(); }
    // The message of the call; the caller numbers it.
    [[nodiscard]] const wire::Call& call() const { return call_; }

    // The whole file as it is now.
    [[nodiscard]] std::vector<std::byte> bytes() const { return read(0, bytes_); }

    struct Snapshot {
        std::vector<std::vector<std::byte>> outputs;
        std::vector<std::size_t> untouched;  // out arguments that still hold their prefill
    };
    [[nodiscard]] Snapshot snapshot() const;
    // The contents of an out argument before the call.
    [[nodiscard]] std::span<const std::byte> prefill(std::size_t argument) const;

  private:
    [[nodiscard]] std::vector<std::byte> read(std::uint64_t offset, std::uint64_t bytes) const;

    Descriptor file_;
    std::size_t bytes_ = 0;
    wire::Call call_;
    std::vector<std::vector<std::byte>> prefill_;  // of out arguments, in order
};

}  // namespace warpgrade::judge
