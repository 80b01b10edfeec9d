#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "judge/arena.hpp"
#include "judge/arguments.hpp"
#include "judge/catch.hpp"
#include "worker/bind.hpp"

// Declared only: the judge needs no definition of a student's function.
void student_function(const float* in, int* out, std::size_t n, bool flag);
double returns(unsigned char*, short);
namespace some::space {
int nested(const double*);
}

using namespace warpgrade;
using namespace warpgrade::judge;

TEST_CASE("a function's name comes from the template argument") {
    CHECK(judge::detail::name_of<student_function>() == "student_function");
    CHECK(judge::detail::name_of<returns>() == "returns");
    CHECK(judge::detail::name_of<some::space::nested>() == "some::space::nested");
}

TEST_CASE("arguments take the types of the parameters") {
    using Signature = judge::detail::Signature<decltype(&student_function)>;
    const std::vector<float> x(5);
    const auto arguments = Signature::marshal_all(in(x), out<int>(7), 9, true);
    REQUIRE(arguments.size() == 4);
    CHECK(arguments[0].kind == wire::Kind::in);
    CHECK(arguments[0].input.size() == 20);
    CHECK(arguments[1].kind == wire::Kind::out);
    CHECK(arguments[1].type == wire::Type::i32);
    CHECK(arguments[2].type == wire::Type::u64);
    CHECK(arguments[2].bits == 9);
    CHECK(arguments[3].type == wire::Type::boolean);
    CHECK(describe({"f", arguments}) == "f(5 float, 7 int, 9, 1)");
    const CallSpec named{"f", arguments, wire::Type::none, {"x", "y", "n"}};
    CHECK(describe(named) == "f(x: 5 float, y: 7 int, n = 9, 1)");
    CHECK(name_of_argument(named, 1) == "y");
    CHECK(name_of_argument(named, 3) == "argument 4");
    CHECK(Signature::marshal_all(nullptr, nullptr, 0u, false)[0].kind == wire::Kind::null_pointer);
    CHECK_THROWS(Signature::marshal_all(in(x), out<int>(7), -1, true));
}

TEST_CASE("outputs come back alone, as a tuple, or behind the returned value") {
    const std::vector<std::vector<std::byte>> bytes{std::vector<std::byte>(8), std::vector<std::byte>(3)};
    const std::vector<int> ints = judge::detail::outputs_of<void, In<float>, Out<int>>(0, {bytes[0]});
    CHECK(ints == std::vector<int>{0, 0});
    const auto [a, b] = judge::detail::outputs_of<void, Out<int>, int, InOut<char>>(0, bytes);
    CHECK(a.size() == 2);
    CHECK(b.size() == 3);
    const auto [value, buffer] = judge::detail::outputs_of<int, Out<int>>(5, {bytes[0]});
    CHECK(value == 5);
    CHECK(buffer.size() == 2);
    const int alone = judge::detail::outputs_of<int, In<float>>(6, {});
    CHECK(alone == 6);
}

TEST_CASE("bindings know the parameters of the worker's functions") {
    static constexpr auto binding = worker::BindingOf<&student_function>::parameters;
    CHECK((binding[0].pointer && !binding[0].writable && binding[0].type == wire::Type::f32));
    CHECK((binding[1].pointer && binding[1].writable && binding[1].type == wire::Type::i32));
    CHECK((!binding[2].pointer && binding[2].type == wire::Type::u64));
}

TEST_CASE("the arena is sealed, holds inputs, and tells outputs that were never written") {
    const std::vector<float> x{1, 2, 3};
    const CallSpec spec{"f",
                        {{wire::Kind::in, wire::Type::f32, 0, std::as_bytes(std::span(x)), 3},
                         {wire::Kind::out, wire::Type::i32, 0, {}, 100},
                         {wire::Kind::out, wire::Type::i32, 0, {}, 1},
                         {wire::Kind::scalar, wire::Type::i32, 7}}};
    RandomStream random(1, "arena");
    const Arena arena(spec, random), other(spec, random);
    const auto& call = arena.call();
    CHECK(call.arguments[3].value == 7);
    CHECK(call.address_hint != other.call().address_hint);
    CHECK(ftruncate(arena.descriptor(), 0) != 0);

    auto* data = static_cast<std::byte*>(
        mmap(nullptr, call.arena_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, arena.descriptor(), 0));
    REQUIRE(data != MAP_FAILED);
    CHECK(reinterpret_cast<float*>(data + call.arguments[0].value)[2] == 3);
    CHECK(arena.snapshot().untouched == std::vector<std::size_t>{1, 2});
    CHECK(arena.snapshot().outputs != other.snapshot().outputs);
    reinterpret_cast<int*>(data + call.arguments[1].value)[99] ^= 1;
    const auto snapshot = arena.snapshot();
    CHECK(snapshot.untouched == std::vector<std::size_t>{2});
    reinterpret_cast<int*>(data + call.arguments[1].value)[0] ^= 1;  // too late
    CHECK(snapshot.outputs != arena.snapshot().outputs);
    munmap(data, call.arena_bytes);
}

TEST_CASE("arenas of one worker have one file, one after the other, until a call needs a larger one") {
    const auto inode = [](const Arena& arena) {
        struct stat status {};
        REQUIRE(fstat(arena.descriptor(), &status) == 0);
        CHECK(static_cast<std::uint64_t>(status.st_size) >= arena.call().arena_bytes);
        CHECK(ftruncate(arena.descriptor(), 0) != 0);
        return status.st_ino;
    };
    const auto spec = [](std::span<const float> x) {
        return CallSpec{"f", {{wire::Kind::inout, wire::Type::f32, 0, std::as_bytes(x), x.size()}}};
    };
    RandomStream random(1, "arenas");
    SharedArenaFile file, others_file;
    const std::vector<float> ones(1000, 1), twos(10, 2), many(100'000, 3);
    const auto made = [&](const std::vector<float>& x, SharedArenaFile* shared) {
        const Arena arena(spec(x), random, Arena::Prefill::random, shared);
        const auto bytes = std::as_bytes(std::span(x));
        CHECK(std::ranges::equal(arena.snapshot().outputs.at(0), bytes));
        return inode(arena);
    };
    const auto first = made(ones, &file);
    CHECK(made(twos, &file) == first);
    CHECK(made(twos, &others_file) != first);
    CHECK(made(twos, nullptr) != first);
    const auto larger = made(many, &file);
    CHECK(larger != first);
    CHECK(made(ones, &file) == larger);
}
