#include "server/converted_inputs.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <type_traits>

namespace warpgrade::server {
namespace {

using Types = std::tuple<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                         std::int64_t, std::uint64_t, float, double>;

template <class Visit>
void for_each_type(Visit visit) {
    std::apply([&](auto... zero) { (visit(zero), ...); }, Types{});
}

// How many elements of `to` are those of `from`, converted.
template <class From, class To>
std::size_t count_converted(Bytes from, Bytes to) {
    const std::size_t most = std::min(from.size() / sizeof(From), to.size() / sizeof(To));
    std::size_t count = 0;
    while (count < most &&
           static_cast<To>(load<From>(from.data() + count * sizeof(From))) == load<To>(to.data() + count * sizeof(To)))
        ++count;
    return count;
}

}  // namespace

bool ConvertedInputs::explain(Bytes mine, Bytes other) {
    bool found = false;
    for (std::size_t i = 0; i < query_.buffers.size(); ++i) {
        const OriginBuffer& buffer = query_.buffers[i];
        const auto explain_as = [&]<class From, class To>(From, To) {
            // A floating-point number that does not fit an integer has no conversion.
            if constexpr (std::is_floating_point_v<To> || std::is_integral_v<From>) {
                for (const std::size_t at : {next_[i], std::size_t{0}}) {
                    const std::size_t skip = at * sizeof(From);
                    if (found || sizeof(From) != buffer.element_bytes || skip >= buffer.before.size() ||
                        skip >= buffer.other.size())
                        continue;
                    const std::size_t count = count_converted<From, To>(buffer.before.subspan(skip), mine);
                    if (count == 0 || count_converted<From, To>(buffer.other.subspan(skip), other) < count) continue;
                    const std::size_t end = count * sizeof(To);
                    if (!std::ranges::equal(mine.subspan(end), other.subspan(end))) continue;
                    found = true, next_[i] = at + count;
                }
            }
        };
        for_each_type([&](auto from) { for_each_type([&](auto to) { explain_as(from, to); }); });
    }
    return found;
}

}  // namespace warpgrade::server
