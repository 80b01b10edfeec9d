// How the worker calls a lab's functions: bind<matmul>("matmul") makes a Binding from the function's own type. For each
// lab, the build generates one file that includes the lab's header and defines the table below.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "worker/wire.hpp"

namespace warpgrade::worker {

struct Parameter {
    bool pointer = false, writable = false;  // writable: a pointer to non-const
    wire::Type type = wire::Type::none;      // of the scalar or the pointer's target
};

struct Binding {
    const char* name = nullptr;
    const Parameter* parameters = nullptr;
    std::uint32_t parameter_count = 0;
    wire::Type result = wire::Type::none;
    // `values` has one word per parameter: the scalar's bits or the pointer. Returns the result's bits.
    std::uint64_t (*invoke)(const std::uint64_t* values) = nullptr;
};

template <class T>
constexpr Parameter parameter_of() {
    if constexpr (std::is_pointer_v<T>) {
        using Pointee = std::remove_pointer_t<T>;
        static_assert(std::is_arithmetic_v<Pointee>, "a lab's function takes pointers to arithmetic types only");
        return {true, !std::is_const_v<Pointee>, wire::type_of<Pointee>()};
    } else {
        static_assert(std::is_arithmetic_v<T>, "a lab's function takes arithmetic types and pointers to them only");
        return {false, false, wire::type_of<T>()};
    }
}

template <class T>
T from_bits(std::uint64_t bits) {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

template <class T>
std::uint64_t to_bits(T value) {
    static_assert(sizeof value <= sizeof(std::uint64_t));
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}

template <auto Function, class Type = decltype(Function)>
struct BindingOf;

template <auto Function, class Result, class... Parameters>
struct BindingOf<Function, Result (*)(Parameters...)> {
    static_assert(sizeof...(Parameters) <= wire::max_arguments);
    static_assert(std::is_void_v<Result> || std::is_arithmetic_v<Result>,
                  "a lab's function returns void or an arithmetic type");
    // One entry more, since an array cannot be empty.
    static constexpr Parameter parameters[sizeof...(Parameters) + 1] = {parameter_of<Parameters>()..., {}};

    template <std::size_t... I>
    static std::uint64_t invoke_with(const std::uint64_t* values, std::index_sequence<I...>) {
        (void)values;
        if constexpr (std::is_void_v<Result>) {
            Function(from_bits<Parameters>(values[I])...);
            return 0;
        } else {
            return to_bits(Function(from_bits<Parameters>(values[I])...));
        }
    }
    static std::uint64_t invoke(const std::uint64_t* values) {
        return invoke_with(values, std::index_sequence_for<Parameters...>{});
    }
    static constexpr Binding make(const char* name) {
        return {name, parameters, sizeof...(Parameters), wire::type_of<Result>(), &invoke};
    }
};

template <auto Function>
constexpr Binding bind(const char* name) {
    return BindingOf<Function>::make(name);
}

}  // namespace warpgrade::worker

// Defined by the lab's generated file; ends with a Binding without a name. It is constant data, so that it does not
// depend on the order of initialisation. If a student defines it too, linking fails.
extern const warpgrade::worker::Binding warpgrade_bindings[];
