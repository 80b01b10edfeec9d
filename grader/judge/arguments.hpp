// A test's arguments for the student's function: in(x), out<T>(n), inout(x), scalars and nullptr. The compiler checks
// them against the function's type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "judge/inputs.hpp"
#include "worker/wire.hpp"

namespace warpgrade::judge {

template <class T>
struct In {
    std::span<const T> data;
};
template <class T>
struct InOut {
    std::span<const T> data;
};
template <class T>
struct Out {
    std::size_t count;
};

// A buffer that the function reads. The data must live until the call returns, as a temporary in the call does.
template <class T>
In<T> in(const std::vector<T>& data) {
    return {data};
}
template <class T>
In<T> in(std::span<const T> data) {
    return {data};
}
// A buffer that the function writes: it gets `count` elements of random garbage, fresh for each call.
template <class T, std::integral N>
Out<T> out(N count) {
    return {detail::size_of(count)};
}
// A buffer that the function changes in place.
template <class T>
InOut<T> inout(const std::vector<T>& data) {
    return {data};
}

// One argument without its C++ type.
struct ArgumentData {
    wire::Kind kind = wire::Kind::scalar;
    wire::Type type = wire::Type::none;
    std::uint64_t bits = 0;            // scalar
    std::span<const std::byte> input;  // in, inout
    std::size_t count = 0;             // elements of a buffer
    std::string text;                  // scalar, for messages
};

struct CallSpec {
    std::string function;
    std::vector<ArgumentData> arguments;
    wire::Type result = wire::Type::none;
    std::vector<std::string> parameters;  // their names in the contract, as far as they are known
};
// matmul(A: 4096 float, C: 4096 float, n = 64)
std::string describe(const CallSpec& spec);
// "C", or "argument 2" where the contract's name is not known.
std::string name_of_argument(const CallSpec& spec, std::size_t index);
// Parses the command line's names of parameters, each entry as matmul=A,B,C,m,k,n; and looks up those of a function.
std::map<std::string, std::vector<std::string>> parse_parameters(const std::vector<std::string>& entries);
std::vector<std::string> parameter_names(const std::string& function);

namespace detail {

template <class T>
struct Buffer {
    static constexpr bool is_buffer = false, is_output = false;
};
template <class T>
struct Buffer<In<T>> {
    using Element = T;
    static constexpr bool is_buffer = true, is_output = false;
    static constexpr auto kind = wire::Kind::in;
};
template <class T>
struct Buffer<InOut<T>> {
    using Element = T;
    static constexpr bool is_buffer = true, is_output = true;
    static constexpr auto kind = wire::Kind::inout;
};
template <class T>
struct Buffer<Out<T>> {
    using Element = T;
    static constexpr bool is_buffer = true, is_output = true;
    static constexpr auto kind = wire::Kind::out;
};

[[noreturn]] void scalar_does_not_fit(const std::string& value);

template <class Parameter, class Argument>
ArgumentData marshal_scalar(Argument argument) {
    static_assert(std::is_arithmetic_v<Parameter>,
                  "the function takes a pointer here: pass in(…), out<T>(…) or inout(…)");
    const auto value = static_cast<Parameter>(argument);
    if constexpr (std::is_integral_v<Argument> && std::is_integral_v<Parameter>) {
        if (static_cast<Argument>(value) != argument || (value < Parameter{}) != (argument < Argument{}))
            scalar_does_not_fit(std::to_string(argument));
    }
    ArgumentData data{wire::Kind::scalar, wire::type_of<Parameter>()};
    std::memcpy(&data.bits, &value, sizeof value);
    data.text = std::to_string(value);
    return data;
}

template <class Parameter, class Argument>
ArgumentData marshal(const Argument& argument) {
    using Traits = Buffer<Argument>;
    if constexpr (std::is_same_v<Argument, std::nullptr_t>) {
        static_assert(std::is_pointer_v<Parameter>, "the function does not take a pointer here");
        return {wire::Kind::null_pointer, wire::type_of<std::remove_pointer_t<Parameter>>()};
    } else if constexpr (Traits::is_buffer) {
        using Element = typename Traits::Element;
        static_assert(std::is_pointer_v<Parameter>, "the function does not take a pointer here");
        using Pointee = std::remove_pointer_t<Parameter>;
        static_assert(std::is_same_v<std::remove_const_t<Pointee>, Element>,
                      "the buffer's element type differs from the function's parameter");
        static_assert(!Traits::is_output || !std::is_const_v<Pointee>, "the function takes this buffer as const");
        static_assert(!std::is_same_v<Element, bool>, "std::vector<bool> cannot be a buffer: use unsigned char");
        ArgumentData data{Traits::kind, wire::type_of<Element>()};
        if constexpr (Traits::kind == wire::Kind::out) {
            data.count = argument.count;
        } else {
            data.input = std::as_bytes(argument.data);
            data.count = argument.data.size();
        }
        return data;
    } else {
        return marshal_scalar<Parameter>(argument);
    }
}

template <class Type>
struct Signature;
template <class Result_, class... Parameters>
struct Signature<Result_ (*)(Parameters...)> {
    using Result = Result_;
    static constexpr std::size_t count = sizeof...(Parameters);
    template <class... Arguments>
    static std::vector<ArgumentData> marshal_all(const Arguments&... arguments) {
        return {marshal<Parameters>(arguments)...};
    }
};

// "matmul" for the template argument &matmul. It is read from the compiler's name of this function, so that the judge
// links without the student's symbols.
template <auto Function>
std::string name_of() {
    std::string_view text = __PRETTY_FUNCTION__;
    text.remove_prefix(text.find("Function = ") + 11);
    text = text.substr(0, text.find_first_of(";]"));
    if (text.starts_with('&')) text.remove_prefix(1);
    return std::string(text);
}

template <class T>
std::vector<T> vector_of(const std::vector<std::byte>& bytes) {
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
}

template <class Argument>
auto output_of(const std::vector<std::vector<std::byte>>& outputs, std::size_t& next) {
    if constexpr (Buffer<Argument>::is_output)
        return std::tuple(vector_of<typename Buffer<Argument>::Element>(outputs.at(next++)));
    else
        return std::tuple<>();
}

// Returns a single value itself, and several as a tuple in the order of the parameters, a returned value first.
template <class Tuple>
auto unwrap(Tuple&& tuple) {
    if constexpr (std::tuple_size_v<std::remove_cvref_t<Tuple>> == 1)
        return std::get<0>(std::forward<Tuple>(tuple));
    else
        return std::forward<Tuple>(tuple);
}

template <class Result, class... Arguments>
auto outputs_of(std::uint64_t result, const std::vector<std::vector<std::byte>>& outputs) {
    std::size_t next = 0;
    // Braces: the order of evaluation is that of the parameters.
    using Parts = std::tuple<decltype(output_of<Arguments>(outputs, next))...>;
    auto buffers = std::apply([](auto&&... parts) { return std::tuple_cat(std::move(parts)...); },
                              Parts{output_of<Arguments>(outputs, next)...});
    if constexpr (std::is_void_v<Result>) {
        (void)result;
        return unwrap(std::move(buffers));
    } else {
        Result value;
        std::memcpy(&value, &result, sizeof value);
        return unwrap(std::tuple_cat(std::tuple<Result>(value), std::move(buffers)));
    }
}

}  // namespace detail
}  // namespace warpgrade::judge
