// The memory through which the buffers of one call travel: a sealed anonymous file, so that the worker cannot shrink it
// under the judge's feet. Outputs are copied out once, and only the copy is checked.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "judge/arguments.hpp"
#include "judge/process.hpp"
#include "judge/random.hpp"
#include "worker/wire.hpp"

namespace warpgrade::judge {

class Arena {
  public:
    // Lays out the buffers of `spec`, fills inputs in and prefills outputs with random bytes, or with one random byte
    // where nobody asks what was written.
    enum class Prefill { random, one_byte };
    Arena(const CallSpec& spec, RandomStream& random, Prefill prefill = Prefill::random);
    ~Arena();
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    [[nodiscard]] int descriptor() const { return file_.get(); }
    // The call that goes with it; the caller numbers it.
    [[nodiscard]] const wire::Call& call() const { return call_; }

    // All that the arguments point to.
    [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, bytes_}; }

    struct Snapshot {
        std::vector<std::vector<std::byte>> outputs;
        std::vector<std::size_t> untouched;  // out arguments that still hold their prefill
    };
    [[nodiscard]] Snapshot snapshot() const;
    // What an out argument held before the call.
    [[nodiscard]] std::span<const std::byte> prefill(std::size_t argument) const;

  private:
    Descriptor file_;
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
    wire::Call call_;
    std::vector<std::vector<std::byte>> prefill_;  // of out arguments, in order
};

}  // namespace warpgrade::judge
