// The memory for the buffers of one call: a sealed anonymous file, so that the worker cannot shrink it while the judge
// reads it. Outputs are copied out once, and only the copy is checked. The judge reads and writes the file without
// mapping it: each page of a mapping would cost a page fault.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "judge/arguments.hpp"
#include "judge/process.hpp"
#include "judge/random.hpp"
#include "worker/wire.hpp"

namespace warpgrade::judge {

// A sealed anonymous file.
struct ArenaFile {
    explicit ArenaFile(std::size_t size);
    Descriptor descriptor;
    std::size_t bytes;
};
// The file of one worker's calls, for one arena at a time: a new one for each call would cost all its pages again. It
// may still hold what the worker wrote in earlier calls, so that no two workers get the same.
using SharedArenaFile = std::shared_ptr<const ArenaFile>;

class Arena {
  public:
    // Lays out the buffers of `spec`, copies the inputs, and fills outputs with random bytes, or with one random byte
    // if unwritten elements need not be found.
    enum class Prefill { random, one_byte };
    // With `shared`, it uses that file, or a new one that is left there if it is too large for it.
    Arena(const CallSpec& spec, RandomStream& random, Prefill prefill = Prefill::random,
          SharedArenaFile* shared = nullptr);

    [[nodiscard]] int descriptor() const { return file_->descriptor.get(); }
    // The message of the call; the caller numbers it.
    [[nodiscard]] const wire::Call& call() const { return call_; }

    // All of it as it is now.
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

    SharedArenaFile file_;
    std::size_t bytes_ = 0;
    wire::Call call_;
    std::vector<std::vector<std::byte>> prefill_;  // of out arguments, in order
};

}  // namespace warpgrade::judge
