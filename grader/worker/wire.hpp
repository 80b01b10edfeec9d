// The protocol between judge and worker: one SOCK_SEQPACKET message for each call and each reply. Buffers travel in a
// sealed anonymous file, the arena, which is passed with the call's message. The judge trusts nothing in a reply, since
// the student's code runs in the process that writes it.
#pragma once

#include <cstdint>
#include <type_traits>

namespace warpgrade::wire {

inline constexpr std::uint32_t call_magic = 0x63675721, reply_magic = 0x72675721;
inline constexpr std::uint32_t max_arguments = 32, max_text_bytes = 1024, max_name_bytes = 128;
// Arrays of so many bytes end with a page of the arena, so that the worker can map them.
inline constexpr std::size_t arena_alignment = 64, mapped_bytes = 64 << 10, arena_page_bytes = 4096;

enum class Type : std::uint8_t { none, boolean, i8, u8, i16, u16, i32, u32, i64, u64, f32, f64 };

template <class T>
constexpr Type type_of() {
    using U = std::remove_cv_t<T>;
    if constexpr (std::is_same_v<U, bool>)
        return Type::boolean;
    else if constexpr (std::is_same_v<U, float>)
        return Type::f32;
    else if constexpr (std::is_same_v<U, double>)
        return Type::f64;
    else if constexpr (std::is_integral_v<U>) {
        constexpr bool is_signed = std::is_signed_v<U>;
        if constexpr (sizeof(U) == 1)
            return is_signed ? Type::i8 : Type::u8;
        else if constexpr (sizeof(U) == 2)
            return is_signed ? Type::i16 : Type::u16;
        else if constexpr (sizeof(U) == 4)
            return is_signed ? Type::i32 : Type::u32;
        else
            return is_signed ? Type::i64 : Type::u64;
    } else {
        return Type::none;
    }
}

constexpr std::uint32_t bytes_of(Type type) {
    switch (type) {
        case Type::none:
            return 0;
        case Type::boolean:
        case Type::i8:
        case Type::u8:
            return 1;
        case Type::i16:
        case Type::u16:
            return 2;
        case Type::i32:
        case Type::u32:
        case Type::f32:
            return 4;
        case Type::i64:
        case Type::u64:
        case Type::f64:
            return 8;
    }
    return 0;
}

constexpr const char* name_of(Type type) {
    constexpr const char* names[] = {"void", "bool",         "signed char", "unsigned char", "short", "unsigned short",
                                     "int",  "unsigned int", "long",        "unsigned long", "float", "double"};
    return names[static_cast<int>(type)];
}

enum class Kind : std::uint8_t {
    scalar,
    in,     // buffer, copied to the worker
    out,    // buffer, prefilled and copied back
    inout,  // buffer, copied to the worker and back
    null_pointer,
};

constexpr bool is_written_back(Kind kind) { return kind == Kind::out || kind == Kind::inout; }

struct Argument {
    Kind kind = Kind::scalar;
    Type type = Type::none;
    std::uint16_t reserved[3] = {};
    std::uint64_t value = 0;  // scalar: its bits; buffer: offset in the arena
    std::uint64_t count = 0;  // buffer: elements
};

struct Call {
    std::uint32_t magic = call_magic, sequence = 0, argument_count = 0, reserved = 0;
    std::uint64_t arena_bytes = 0;
    std::uint64_t address_hint = 0;  // buffers are mapped from here upwards; different for every call
    char function[max_name_bytes] = {};
    Argument arguments[max_arguments];
};

enum class Status : std::uint32_t {
    ready,     // the worker waits for its first call (sequence 0)
    returned,  // `result` has the function's value
    no_such_function,
    bad_arguments,  // text: which and why
    threw,          // text: the exception's what()
    wrote_before,   // returned, but wrote before the start of buffer `argument`
    crashed,        // signal, address, argument, distance
    out_of_memory,  // the buffers do not fit into the worker's memory limit
};

struct Reply {
    std::uint32_t magic = reply_magic, sequence = 0;
    Status status = Status::returned;
    Type result_type = Type::none;
    std::uint64_t result = 0;
    // For `crashed`, `argument` is the buffer whose guard was accessed (or no_argument), and `distance` the bytes from
    // its end to the access; for `wrote_before`, the bytes before its start.
    static constexpr std::uint32_t no_argument = 0xffffffff;
    std::uint32_t signal = 0, argument = no_argument;
    std::uint32_t stack_overflow = 0;
    std::uint32_t text_bytes = 0;
    std::uint64_t address = 0, distance = 0;
    char text[max_text_bytes] = {};
    // After SIGXCPU, the program's stack as offsets in its file, innermost first; then zeros.
    static constexpr std::size_t max_codes = 64;
    std::uint64_t code[max_codes] = {};
};

static_assert(std::is_trivially_copyable_v<Call> && std::is_trivially_copyable_v<Reply>);

}  // namespace warpgrade::wire
