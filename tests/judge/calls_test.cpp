// Calls and their descriptions, the inputs of a seed, and the comparison of answers.
#include <sstream>

#include "judge/arena.hpp"
#include "judge/baseline_cache.hpp"
#include "judge/context.hpp"
#include "judge/inputs.hpp"
#include "judge/judge.hpp"
#include "judge/questions.hpp"

using namespace warpgrade;
using namespace warpgrade::judge;

TEST_CASE("every part of an argument is in the name of its call") {
    const auto key = [](const std::string& function, wire::Kind kind, wire::Type type, std::size_t count) {
        CallSpec spec;
        spec.function = function;
        spec.arguments = {{kind, type, 0, {}, count, ""}};
        RandomStream random(1, "t");
        CallChain chain;
        chain.add(Arena(spec, random));
        return chain.key();
    };
    using wire::Kind, wire::Type;
    const auto first = key("f", Kind::in, Type::f32, 4);
    CHECK(first.size() == 32);
    CHECK(first.find_first_not_of("0123456789abcdef") == std::string::npos);
    for (const auto& other :
         {key("g", Kind::in, Type::f32, 4), key("f", Kind::inout, Type::f32, 4), key("f", Kind::in, Type::i32, 4),
          key("f", Kind::in, Type::f32, 5), key("f", Kind::in, Type::f64, 2)})
        CHECK(other != first);
    CHECK(CallChain().key() == "243f6a8885a308d313198a2e03707344");
}

// Cached files and printed seeds of earlier versions stay valid.
TEST_CASE("names of calls and inputs of a seed never change") {
    const std::vector<float> numbers{1, 2, 3};
    CallSpec spec;
    spec.function = "scale";
    spec.arguments = {{wire::Kind::in, wire::Type::f32, 0, std::as_bytes(std::span(numbers)), 3, ""},
                      {wire::Kind::out, wire::Type::u8, 0, {}, 5, ""},
                      {wire::Kind::scalar, wire::Type::i32, 7, {}, 0, "7"}};
    RandomStream random(42, "name");
    const Arena arena(spec, random);
    CallChain chain;
    chain.add(arena);
    chain.add(arena);
    CHECK(chain.key() == "5547168860a7ade34fcafb2f9b0c52da");
    CHECK(arena.call().address_hint == 0x4c3fdc2ee000);
    CHECK(arena.call().arena_bytes == 128);
    context().seed = 42;
    context().begin_test("name");
    std::ostringstream text;
    for (const float x : uniform(2)) text << x << ' ';
    for (const float x : uniform(2, 5, 7)) text << x << ' ';
    for (const double x : uniform_double(2, 5, 7)) text << x << ' ';
    for (const int x : integers<int>(4, -5, 5)) text << x << ' ';
    for (const int x : permutation(6)) text << x << ' ';
    CHECK(text.str() == "0.473539 0.635437 6.94406 6.59729 6.3772 6.27905 -3 -2 0 2 3 2 1 0 5 4 ");
}

TEST_CASE("a buffer of a call begins where its alignment says, and an empty one takes no room") {
    const auto bytes_of = [](std::size_t first, std::size_t second) {
        CallSpec spec;
        spec.function = "f";
        spec.arguments = {{wire::Kind::out, wire::Type::u8, 0, {}, first, ""},
                          {wire::Kind::out, wire::Type::u8, 0, {}, second, ""}};
        RandomStream random(1, "t");
        const Arena arena(spec, random);
        CHECK(arena.bytes().size() == arena.call().arena_bytes);
        CHECK(arena.call().arguments[0].value == 0);
        CHECK(arena.call().address_hint % 4096 == 0);
        CHECK(arena.call().address_hint >= 0x1000'0000'0000);
        CHECK(arena.call().address_hint < 0x6000'0000'0000);
        CHECK(arena.prefill(0).size() == first);
        const auto before = arena.prefill(1);
        CHECK(before.size() == second);
        const auto bytes = arena.bytes();
        CHECK(std::ranges::equal(before, std::span(bytes).subspan(arena.call().arguments[1].value, second)));
        return std::pair(arena.call().arguments[1].value, arena.call().arena_bytes);
    };
    constexpr auto unit = wire::arena_alignment;
    CHECK(bytes_of(1, 1) == std::pair<std::uint64_t, std::uint64_t>(unit, 2 * unit));
    CHECK(bytes_of(unit, unit) == std::pair<std::uint64_t, std::uint64_t>(unit, 2 * unit));
    CHECK(bytes_of(unit + 1, 0) == std::pair<std::uint64_t, std::uint64_t>(2 * unit, 2 * unit));
    CHECK(bytes_of(0, 0) == std::pair<std::uint64_t, std::uint64_t>(0, unit));
    // Large ones end with a page.
    constexpr std::uint64_t page = wire::arena_page_bytes, large = wire::mapped_bytes;
    CHECK(bytes_of(1, large - 1) == std::pair<std::uint64_t, std::uint64_t>(unit, unit + large));
    CHECK(bytes_of(1, large) == std::pair<std::uint64_t, std::uint64_t>(page, page + large));
    CHECK(bytes_of(page, large - 8 + page) == std::pair(page + 8, large + 2 * page));
}

TEST_CASE("what would not fit a call is a mistake of the test") {
    const auto made = [](std::size_t name, std::size_t arguments) {
        CallSpec spec;
        spec.function = std::string(name, 'f');
        spec.arguments.resize(arguments);
        RandomStream random(1, "t");
        return std::string(Arena(spec, random).call().function).size();
    };
    CHECK(made(wire::max_name_bytes - 1, wire::max_arguments) == wire::max_name_bytes - 1);
    CHECK_THROWS_AS(made(wire::max_name_bytes, 1), std::invalid_argument);
    CHECK_THROWS_AS(made(1, wire::max_arguments + 1), std::invalid_argument);
}

TEST_CASE("outputs of four bytes on are known to be as they were") {
    const auto untouched = [](std::size_t count) {
        CallSpec spec;
        spec.function = "f";
        spec.arguments = {{wire::Kind::out, wire::Type::u8, 0, {}, count, ""}};
        RandomStream random(1, "t");
        return Arena(spec, random).snapshot().untouched.size();
    };
    CHECK(untouched(3) == 0);
    CHECK(untouched(4) == 1);
    CHECK(untouched(0) == 0);
}

TEST_CASE("parameters are named for each function") {
    const auto names = parse_parameters({"f=a,b", "g=c", "f=d", "h=", "i"});
    CHECK(names.at("f") == std::vector<std::string>{"a", "b", "d"});
    CHECK(names.at("g") == std::vector<std::string>{"c"});
    CHECK(names.size() == 2);
    context().parameters = names;
    CHECK(parameter_names("g") == std::vector<std::string>{"c"});
    CHECK(parameter_names("x").empty());
    context().parameters.clear();
}

TEST_CASE("a double is right within eight roundings") {
    const double right = 1, rounding = 0x1p-53;
    CHECK(is_right(right + 8 * rounding, right));
    CHECK_FALSE(is_right(right + 10 * rounding, right));
    CHECK(is_right(right - 8 * rounding, right));
    CHECK_FALSE(is_right(right - 9 * rounding, right));
    CHECK(is_right(-1 - 8 * rounding, -1.0));
    CHECK_FALSE(is_right(1e-300, 0.0));
}

TEST_CASE("a prediction is right of the own version, or of the one that the contract describes") {
    const auto ran = measure("sectors", 8), nothing = measure("sectors", 0);
    check_prediction(8, ran, 4, {});
    check_prediction(4, ran, 4, {});
    check_prediction(9, ran, 4, {}, 0.125);
    check_prediction(4, nothing, 4, {});
    check_prediction(4.5, nothing, 4, {}, 0.125);
    check_prediction(3.5, nothing, 4, {}, 0.125);
    CHECK(unless_above(8, ran).number.value() == 8);
    CHECK(unless_above(7, ran).number.value() == 0);
    CHECK(unless_above(7, ran).name == "sectors");
    for (int i = 0; i < 50; ++i) {
        const int drawn = any_int(3, 4);
        CHECK((drawn == 3 || drawn == 4));
    }
}

TEST_CASE("a prediction that is wrong fails", "[!shouldfail]") {
    const auto ran = measure("sectors", 8), nothing = measure("sectors", 0);
    switch (GENERATE(0, 1, 2, 3, 4)) {
        case 0:
            return check_prediction(5, ran, 4, {});
        case 1:
            return check_prediction(8, nothing, 4, {});
        case 2:
            return check_prediction(4.6, nothing, 4, {}, 0.125);
        case 3:
            return check_prediction(3.4, nothing, 4, {}, 0.125);
        case 4:
            return check_prediction(9.1, ran, 4, {}, 0.125);
    }
}
