// What a worker can do to the judge: the memory of a call, whose file it holds, and its reply. The input says which
// buffers the call has, what the worker does to the file, and which bytes it answers.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "judge/arena.hpp"
#include "judge/explain.hpp"

namespace {

using namespace warpgrade;

class Input {
  public:
    Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
    [[nodiscard]] bool empty() const { return at_ >= size_; }
    std::uint8_t byte() { return empty() ? 0 : data_[at_++]; }
    std::uint32_t number() { return byte() | byte() << 8 | byte() << 16; }
    void copy_to(void* target, std::size_t bytes) {
        const auto count = std::min(bytes, size_ - at_);
        std::memcpy(target, data_ + at_, count);
        at_ += count;
    }

  private:
    const std::uint8_t* data_;
    std::size_t size_, at_ = 0;
};

void must(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "%s\n", what);
    std::abort();
}

// One thing that a worker can do with the descriptor.
void act(int file, std::size_t bytes, Input& input) {
    const int what = input.byte() % 6;
    const off_t place = input.number() % (2 * bytes);
    switch (what) {
        case 0:
            must(ftruncate(file, place) != 0 || place == static_cast<off_t>(bytes), "the file changes its size");
            break;
        case 1:
            must(fcntl(file, F_ADD_SEALS, F_SEAL_WRITE) != 0, "the file takes a seal");
            break;
        case 2:
            if (fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, place, 1 + input.number()) != 0) break;
            break;
        case 3:
            must(fallocate(file, 0, bytes, 1 + place) != 0, "the file grows");
            break;
        default: {
            const std::uint8_t value = input.byte();
            void* mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
            must(mapping != MAP_FAILED, "the file cannot be mapped");
            std::memset(static_cast<char*>(mapping) + place % bytes, value, bytes - place % bytes);
            munmap(mapping, bytes);
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Input input(data, size);
    judge::CallSpec spec{"function", {}, wire::Type::f32};
    std::vector<std::vector<std::byte>> inputs(wire::max_arguments);
    const std::size_t arguments = input.byte() % wire::max_arguments;
    std::size_t outputs = 0;
    for (std::size_t i = 0; i < arguments; ++i) {
        judge::ArgumentData argument;
        argument.kind = static_cast<wire::Kind>(input.byte() % 5);
        argument.type = static_cast<wire::Type>(1 + input.byte() % 11);
        argument.count = input.byte() % 128 * (input.byte() % 64);
        argument.text = "1";
        if (argument.kind == wire::Kind::in || argument.kind == wire::Kind::inout) {
            inputs[i].resize(argument.count * wire::bytes_of(argument.type));
            argument.input = inputs[i];
        }
        outputs += wire::is_written_back(argument.kind);
        spec.arguments.push_back(argument);
    }
    judge::RandomStream random(1, "fuzz");
    const judge::Arena arena(spec, random);
    wire::Reply reply;
    input.copy_to(&reply, input.number() % (sizeof reply + 1));
    for (int i = 0; i < 8 && !input.empty(); ++i) act(arena.descriptor(), arena.call().arena_bytes, input);

    const auto snapshot = arena.snapshot();
    must(snapshot.outputs.size() == outputs && snapshot.untouched.size() <= outputs, "outputs are lost");
    std::size_t next = 0;
    for (const auto& argument : spec.arguments)
        if (wire::is_written_back(argument.kind))
            must(snapshot.outputs[next++].size() == argument.count * wire::bytes_of(argument.type), "a wrong size");
    const std::string words = judge::explain(reply, spec);
    must(words.size() < 8192, "an explanation without end");
    must(std::ranges::none_of(words, [](char c) { return c == '\x1b' || c == '\0'; }), "control characters");
    return 0;
}
