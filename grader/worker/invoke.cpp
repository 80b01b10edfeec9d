#include "worker/invoke.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "worker/buffers.hpp"
#include "worker/crash.hpp"

// From the program's CUDA runtime, if it has one: sends its remaining messages about the call.
extern "C" __attribute__((weak)) void warpgrade_end_call();

namespace warpgrade::worker {
namespace {

void set_status(wire::Reply& reply, wire::Status status, const std::string& text) {
    reply.status = status;
    reply.text_bytes = static_cast<std::uint32_t>(std::min<std::size_t>(text.size(), sizeof reply.text));
    std::memcpy(reply.text, text.data(), reply.text_bytes);
}

class Arena {
  public:
    Arena(int fd, std::uint64_t bytes) : file_(fd), bytes_(bytes) {
        struct stat info {};
        if (fd < 0 || fstat(fd, &info) != 0 || static_cast<std::uint64_t>(info.st_size) < bytes) return;
        void* mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (mapping != MAP_FAILED) data_ = static_cast<std::byte*>(mapping);
    }
    ~Arena() {
        if (data_) munmap(data_, bytes_);
    }
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    [[nodiscard]] int file() const { return file_; }
    // Null if the range is not in the arena.
    [[nodiscard]] std::byte* range(std::uint64_t offset, std::uint64_t bytes) const {
        return data_ && offset <= bytes_ && bytes <= bytes_ - offset ? data_ + offset : nullptr;
    }

  private:
    std::byte* data_ = nullptr;
    int file_;
    std::uint64_t bytes_;
};

// Why the argument does not fit the parameter; empty if it does.
std::string mismatch(const Parameter& parameter, const wire::Argument& argument) {
    const bool is_pointer = argument.kind != wire::Kind::scalar;
    if (is_pointer != parameter.pointer) return parameter.pointer ? "is a pointer" : "is not a pointer";
    if (argument.kind == wire::Kind::null_pointer) return "";
    if (argument.type != parameter.type)
        return std::string("has type ") + wire::name_of(parameter.type) + ", not " + wire::name_of(argument.type);
    if (wire::is_written_back(argument.kind) && !parameter.writable) return "points to const and cannot be an output";
    return "";
}

const Binding* find(const Binding* bindings, const char* name) {
    for (; bindings->name; ++bindings)
        if (std::strncmp(bindings->name, name, wire::max_name_bytes) == 0) return bindings;
    return nullptr;
}

// Reads the arguments into `values` and `buffers`. Returns false with the reason in `reply`.
bool prepare(const Binding& binding, const wire::Call& call, const Arena& arena, Buffer* buffers, std::uint64_t* values,
             wire::Reply& reply) {
    if (call.argument_count != binding.parameter_count) {
        set_status(reply, wire::Status::bad_arguments,
                   "it has " + std::to_string(binding.parameter_count) + " parameters, not " +
                       std::to_string(call.argument_count));
        return false;
    }
    std::uint64_t hint = call.address_hint;
    for (std::uint32_t i = 0; i < call.argument_count; ++i) {
        const auto& argument = call.arguments[i];
        if (const auto why = mismatch(binding.parameters[i], argument); !why.empty()) {
            set_status(reply, wire::Status::bad_arguments, "parameter " + std::to_string(i + 1) + ' ' + why);
            return false;
        }
        if (argument.kind == wire::Kind::scalar) {
            values[i] = argument.value;
        } else if (argument.kind == wire::Kind::null_pointer) {
            values[i] = 0;
        } else {
            const std::uint64_t bytes = argument.count * wire::bytes_of(argument.type);
            const std::byte* source = arena.range(argument.value, bytes);
            if (!source || !buffers[i].map({source, bytes}, arena.file(), argument.value, hint)) {
                set_status(reply, wire::Status::out_of_memory, "");
                return false;
            }
            values[i] = reinterpret_cast<std::uint64_t>(buffers[i].data());
        }
    }
    return true;
}

void write_back(const wire::Call& call, const Arena& arena, const Buffer* buffers, wire::Reply& reply) {
    for (std::uint32_t i = 0; i < call.argument_count; ++i) {
        const auto& argument = call.arguments[i];
        const Buffer& buffer = buffers[i];
        if (!buffer.data()) continue;
        if (wire::is_written_back(argument.kind))
            std::memcpy(arena.range(argument.value, buffer.size()), buffer.data(), buffer.size());
        if (const auto distance = buffer.damage_before(); distance && reply.argument == wire::Reply::no_argument) {
            reply.status = wire::Status::wrote_before;
            reply.argument = i;
            reply.distance = distance;
        }
    }
}

}  // namespace

wire::Reply invoke(const Binding* bindings, const wire::Call& call, int arena_fd, int socket) {
    wire::Reply reply;
    reply.sequence = call.sequence;
    const Binding* binding = find(bindings, call.function);
    if (!binding) {
        reply.status = wire::Status::no_such_function;
        return reply;
    }
    const Arena arena(arena_fd, call.arena_bytes);
    Buffer buffers[wire::max_arguments];
    std::uint64_t values[wire::max_arguments] = {};
    if (!prepare(*binding, call, arena, buffers, values, reply)) return reply;

    call_in_progress = {socket, call.sequence, buffers, call.argument_count};
    try {
        reply.result = binding->invoke(values);
        reply.result_type = binding->result;
        write_back(call, arena, buffers, reply);
    } catch (const std::exception& error) {
        set_status(reply, wire::Status::threw, error.what());
    } catch (...) {
        set_status(reply, wire::Status::threw, "something that is not a std::exception");
    }
    std::fflush(nullptr);
    if (warpgrade_end_call != nullptr) warpgrade_end_call();
    call_in_progress.buffer_count = 0;
    return reply;
}

}  // namespace warpgrade::worker
