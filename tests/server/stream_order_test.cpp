// Which operations of streams are ordered, and what is told of those that are not.
#include <utility>
#include <vector>

#include "judge/catch.hpp"
#include "server/stream_order.hpp"

using namespace warpgrade::server;
using Kind = StreamOrder::Operation::Kind;

namespace {

constexpr StreamId blocking = 1, other_blocking = 2, independent = 3, other_independent = 4;

struct Program {
    StreamOrder order;
    std::uint64_t line = 0;
    Program() {
        order.add_stream(blocking, true);
        order.add_stream(other_blocking, true);
        order.add_stream(independent, false);
        order.add_stream(other_independent, false);
    }
    // The line of the earlier operation that it races with; 0: none.
    std::uint64_t touch(StreamId stream, MemoryUse use, DevicePtr address = 1000, std::uint64_t bytes = 100) {
        const auto operation = order.begin(Kind::kernel, stream, ++line);
        const auto conflict = order.touch(operation, {address, bytes, use});
        return conflict ? conflict->earlier->code : 0;
    }
    std::uint64_t write(StreamId stream, DevicePtr address = 1000, std::uint64_t bytes = 100) {
        return touch(stream, MemoryUse::write, address, bytes);
    }
    std::uint64_t read(StreamId stream, DevicePtr address = 1000, std::uint64_t bytes = 100) {
        return touch(stream, MemoryUse::read, address, bytes);
    }
};

}  // namespace

TEST_CASE("work of one stream is ordered, that of two is not") {
    Program p;
    CHECK(p.write(blocking) == 0);
    CHECK(p.read(blocking) == 0);
    CHECK(p.write(blocking) == 0);
    CHECK(p.read(other_blocking) == 3);
    CHECK(p.write(independent) == 3);
}

TEST_CASE("readers do not disturb each other, nor do atomics") {
    Program p;
    CHECK(p.read(blocking) == 0);
    CHECK(p.read(independent) == 0);
    CHECK(p.write(other_independent) == 1);
    Program q;
    CHECK(q.touch(blocking, MemoryUse::atomic) == 0);
    CHECK(q.touch(independent, MemoryUse::atomic) == 0);
    CHECK(q.read(other_independent) == 1);
    CHECK(q.write(other_blocking) == 1);
}

TEST_CASE("a reader is remembered beside those that come after it") {
    Program p;
    CHECK(p.read(independent) == 0);
    CHECK(p.read(blocking) == 0);
    CHECK(p.write(blocking) == 1);
}

TEST_CASE("the legacy default stream waits for blocking streams, and they for it") {
    Program p;
    CHECK(p.write(blocking) == 0);
    CHECK(p.write(0) == 0);
    CHECK(p.write(other_blocking) == 0);
    CHECK(p.read(independent) == 3);
    CHECK(p.read(0) == 0);
    // Also for a stream that is gone.
    CHECK(p.write(blocking, 5000) == 0);
    p.order.remove_stream(blocking);
    CHECK(p.write(0, 5000) == 0);
}

TEST_CASE("two streams that both waited for the default stream have no order") {
    Program p;
    CHECK(p.write(0) == 0);
    CHECK(p.write(blocking) == 0);
    CHECK(p.write(other_blocking) == 2);
}

TEST_CASE("an event orders what was there when it was recorded") {
    Program p;
    CHECK(p.write(blocking) == 0);
    p.order.record(7, blocking);
    CHECK(p.write(blocking, 2000) == 0);
    p.order.wait(independent, 7);
    CHECK(p.read(independent) == 0);
    CHECK(p.read(independent, 2000) == 2);
    // One that was recorded again stands for the last time.
    p.order.record(7, blocking);
    p.order.wait(other_independent, 7);
    CHECK(p.read(other_independent, 2000) == 0);
    // Nothing was recorded: nothing is waited for.
    p.order.wait(other_blocking, 8);
    CHECK(p.read(other_blocking) == 1);
}

TEST_CASE("waiting is handed on by streams that do nothing else") {
    Program p;
    CHECK(p.write(independent) == 0);
    p.order.record(7, independent);
    p.order.wait(blocking, 7);
    CHECK(p.read(0) == 0);  // waits for the blocking stream, which waits for the event
    p.order.record(9, 0);
    p.order.wait(other_independent, 9);
    CHECK(p.write(other_independent) == 0);
}

TEST_CASE("the host's waiting orders what it issues afterwards") {
    Program p;
    CHECK(p.write(independent) == 0);
    CHECK(p.write(blocking, 2000) == 0);
    SECTION("for a stream") {
        p.order.host_waits_for_stream(independent);
        CHECK(p.read(other_independent) == 0);
        CHECK(p.read(other_independent, 2000) == 2);
    }
    SECTION("for an event") {
        p.order.record(7, independent);
        CHECK(p.write(independent, 3000) == 0);
        p.order.host_waits_for_event(7);
        CHECK(p.read(other_independent) == 0);
        CHECK(p.read(other_independent, 3000) == 3);
    }
    SECTION("for all") {
        p.order.host_waits_for_device();
        CHECK(p.read(other_independent) == 0);
        CHECK(p.read(other_independent, 2000) == 0);
    }
    SECTION("without asking") {
        CHECK(p.order.unseen_write(1000, 100)->code == 1);
        p.order.device_is_idle();
        CHECK(p.read(other_independent) == 0);
        CHECK(p.order.unseen_write(1000, 100)->code == 1);
        CHECK(p.order.unseen_write(1100, 100) == nullptr);
        p.order.host_waits_for_stream(independent);
        CHECK(p.order.unseen_write(1000, 100) == nullptr);
    }
}

TEST_CASE("pieces of memory are told apart to the byte") {
    Program p;
    CHECK(p.write(blocking, 1000, 10) == 0);
    CHECK(p.write(independent, 1010, 10) == 0);
    CHECK(p.write(other_independent, 1020, 10) == 0);
    CHECK(p.read(other_blocking, 990, 10) == 0);
    CHECK(p.read(other_blocking, 1030, 10) == 0);
    CHECK(p.read(other_blocking, 1019, 1) == 2);
    CHECK(p.read(other_blocking, 1005, 1) == 1);
    CHECK(p.write(0, 995, 7) == 0);  // 995 to 999 nobody wrote; the rest is of a stream that it waits for
    p.order.forget_memory(1000, 25);
    CHECK(p.write(other_blocking, 1000, 25) == 0);
    CHECK(p.write(blocking, 1025, 5) == 3);
}

TEST_CASE("a stream takes over from another one only when that one's work is over") {
    StreamOrder order;
    order.add_stream(1, false);
    const auto first = order.begin(Kind::fill, 1, 1);
    order.remove_stream(1);
    order.add_stream(2, false);
    CHECK(order.begin(Kind::fill, 2, 2)->lane != first->lane);
    order.device_is_idle();
    order.add_stream(3, false);
    CHECK(order.begin(Kind::fill, 3, 3)->lane == first->lane);
}

TEST_CASE("streams that are destroyed at work are not without number") {
    StreamOrder order;
    StreamId next = 1;
    const auto make = [&] {
        const StreamId stream = next++;
        if (!order.add_stream(stream, false)) return false;
        order.begin(Kind::fill, stream, 1);
        order.remove_stream(stream);
        return true;
    };
    while (make()) REQUIRE(next < 10000);
    CHECK(next == 2049);  // 2047 beside the default stream; the last one asked for is refused
    order.host_waits_for_device();
    CHECK(make());
}

TEST_CASE("what is remembered of memory is bounded") {
    Program p;
    // A program that works on many separate pieces and waits now and then.
    for (int turn = 0; turn < 20; ++turn) {
        for (DevicePtr i = 0; i < 1000; ++i) p.write(blocking, 1000 + 100 * i, 10);
        p.order.host_waits_for_stream(blocking);
    }
    CHECK(p.order.pieces() <= 10000);
    // One that never waits: neighbours become one, and what raced still does.
    StreamOrder order;
    order.add_stream(1, false);
    order.add_stream(2, false);
    order.add_stream(3, false);
    const auto writer = order.begin(Kind::kernel, 1, 1), other = order.begin(Kind::kernel, 3, 3);
    for (DevicePtr i = 0; i < (1 << 20) + 5000; ++i) {
        if (i == 1 << 20) CHECK(order.pieces() == 1 << 20);
        order.touch(i % 2 ? other : writer, {1000 + 3 * i, 1, MemoryUse::write});
    }
    CHECK(order.pieces() < 1 << 20);
    CHECK(order.touch(order.begin(Kind::kernel, 2, 2), {1000 + 3 * 5000, 1, MemoryUse::read}));
    // Of what became one, each is still known.
    order.host_waits_for_stream(1);
    const auto conflict = order.touch(order.begin(Kind::kernel, 2, 2), {1000 + 3 * 6000, 1, MemoryUse::read});
    REQUIRE(conflict);
    CHECK(conflict->earlier == other);
}

TEST_CASE("what a kernel writes is not for the host until it has waited, to the byte") {
    StreamOrder order;
    order.add_stream(independent, false);
    const auto touch = [&](Kind kind, StreamId stream, std::uint64_t line, DevicePtr address, MemoryUse use,
                           bool talks_to_host = false) {
        order.touch(order.begin(kind, stream, line, {}, talks_to_host), {address, 100, use});
    };
    touch(Kind::kernel, 0, 1, 1000, MemoryUse::write);
    touch(Kind::kernel, 0, 2, 1200, MemoryUse::atomic);
    touch(Kind::kernel, 0, 3, 1400, MemoryUse::read);
    touch(Kind::fill, 0, 4, 1500, MemoryUse::write);
    touch(Kind::kernel, 0, 5, 1600, MemoryUse::write, true);
    touch(Kind::kernel, independent, 6, 1700, MemoryUse::write);
    CHECK(order.running_write(1099, 1)->code == 1);
    CHECK(order.running_write(1100, 100) == nullptr);
    CHECK(order.running_write(1299, 1)->code == 2);
    CHECK(order.running_write(1400, 300) == nullptr);  // only read; not by a kernel; by one that talks to the host
    std::vector<std::pair<DevicePtr, DevicePtr>> pieces;
    order.for_each_running_write(1050, 700, [&](DevicePtr begin, DevicePtr end) { pieces.emplace_back(begin, end); });
    CHECK(pieces == std::vector<std::pair<DevicePtr, DevicePtr>>{{1050, 1100}, {1200, 1300}, {1700, 1750}});
    SECTION("for its stream") {
        order.host_waits_for_stream(0);
        CHECK(order.running_write(1000, 300) == nullptr);
        CHECK(order.running_write(1700, 1)->code == 6);
    }
    SECTION("for a host function") {
        order.host_function(independent);
        CHECK(order.running_write(1700, 1) == nullptr);
        CHECK(order.unseen_write(1700, 1) == nullptr);
        CHECK(order.running_write(1000, 1)->code == 1);
    }
    SECTION("without asking for it") {
        order.device_is_idle();
        CHECK(order.running_write(1000, 800) == nullptr);
    }
}

TEST_CASE("a conflict names both operations, both uses and the first byte that they share") {
    StreamOrder order;
    order.add_stream(1, false), order.add_stream(2, false);
    const auto write = order.begin(Kind::to_device, 1, 77);
    CHECK_FALSE(order.touch(write, {1000, 100, MemoryUse::write}));
    const auto kernel = order.begin(Kind::kernel, 2, 78, "sum", true);
    CHECK((kernel->kernel == "sum" && kernel->code == 78 && kernel->stream == 2 && kernel->talks_to_host));
    CHECK_FALSE(order.touch(kernel, {1050, 0, MemoryUse::read}));
    const auto conflict = order.touch(kernel, {900, 300, MemoryUse::atomic});
    REQUIRE(conflict);
    CHECK(conflict->earlier == write);
    CHECK((conflict->earlier_use == MemoryUse::write && conflict->use == MemoryUse::atomic));
    CHECK(conflict->address == 1000);
    CHECK(order.begin(Kind::fill, 2, 1)->number == kernel->number + 1);
}

TEST_CASE("a write stays known when its own stream has read it since") {
    Program p;
    CHECK(p.write(blocking) == 0);
    CHECK(p.read(blocking) == 0);
    CHECK(p.read(blocking) == 0);
    CHECK(p.read(independent) == 1);
    CHECK(p.write(other_independent) == 1);
}

TEST_CASE("a stream that is made comes after what the host has waited for, and nothing else") {
    Program p;
    CHECK(p.write(independent) == 0);
    p.order.add_stream(9, false);
    CHECK(p.read(9) == 1);
    p.order.host_waits_for_stream(independent);
    p.order.add_stream(10, false);
    CHECK(p.write(10) == 2);  // the other one's reading, not the writing
    CHECK(p.write(independent, 5000) == 0);
    p.order.host_waits_for_event(99);  // which nobody has recorded
    CHECK(p.read(10, 5000) == 4);
}

TEST_CASE("streams that do not exist are not removed, nor is the default one") {
    Program p;
    p.order.remove_stream(0), p.order.remove_stream(50);
    CHECK(p.write(0) == 0);
    CHECK(p.read(blocking) == 0);
}

TEST_CASE("after a reset nothing is known") {
    StreamOrder order;
    order.add_stream(1, false), order.add_stream(2, false);
    const auto first = order.begin(Kind::kernel, 1, 1);
    order.touch(first, {1000, 100, MemoryUse::write});
    order.record(7, 1);
    order.host_function(1);
    order.host_waits_for_device();
    order.touch(order.begin(Kind::kernel, 1, 1), {1000, 100, MemoryUse::write});
    order.reset();
    CHECK(order.pieces() == 0);
    CHECK(order.unseen_write(1000, 100) == nullptr);
    order.add_stream(1, false), order.add_stream(2, false);
    // What was waited for before says nothing about the streams that there are now.
    order.touch(order.begin(Kind::kernel, 1, 5), {1000, 100, MemoryUse::write});
    order.wait(2, 7);
    CHECK(order.touch(order.begin(Kind::kernel, 2, 6), {1000, 100, MemoryUse::read}));
    CHECK(order.unseen_write(1000, 1)->code == 5);
    CHECK(order.running_write(1000, 1)->code == 5);
}

TEST_CASE("what is swept together still tells who wrote which bytes") {
    StreamOrder order;
    order.add_stream(1, false), order.add_stream(2, false), order.add_stream(3, false);
    const auto a = order.begin(Kind::kernel, 1, 1), b = order.begin(Kind::kernel, 2, 2);
    const auto race = [&](DevicePtr address) {
        const auto conflict = order.touch(order.begin(Kind::fill, 3, 3), {address, 1, MemoryUse::read});
        return conflict ? conflict->earlier->code : 0;
    };
    SECTION("neighbours of one operation become one piece") {
        for (DevicePtr i = 0; i < 20000; ++i) order.touch(a, {1000 + i, 1, MemoryUse::write});
        CHECK(order.pieces() < 9000);
        CHECK(race(999) == 0);
        CHECK(race(1000) == 1);
        CHECK(race(20999) == 1);
        CHECK(race(21000) == 0);
    }
    SECTION("with a gap, or of different operations, they stay apart") {
        for (DevicePtr i = 0; i < 5000; ++i) {
            order.touch(a, {1000 + 4 * i, 1, MemoryUse::write});
            order.touch(b, {1001 + 4 * i, 1, MemoryUse::write});
            order.touch(a, {1002 + 4 * i, 1, MemoryUse::read});
        }
        CHECK(order.pieces() == 15000);
        for (const DevicePtr i : {1000u, 5000u, 20996u}) {
            CHECK(race(i) == 1);
            CHECK(race(i + 1) == 2);
            CHECK(race(i + 2) == 0);
            CHECK(race(i + 3) == 0);
        }
    }
    SECTION("what the host has waited for goes, what it has not asked for stays") {
        order.touch(b, {500, 1, MemoryUse::write});
        for (DevicePtr i = 0; i < 4095; ++i) order.touch(a, {1000 + 2 * i, 1, MemoryUse::write});
        order.host_waits_for_stream(1);
        order.device_is_idle();
        CHECK(order.pieces() == 4096);
        const auto next = order.begin(Kind::kernel, 3, 4);
        order.touch(next, {50000, 1, MemoryUse::write});
        CHECK(order.pieces() == 2);
        CHECK(order.unseen_write(500, 1)->code == 2);
        CHECK(order.unseen_write(1000, 8192) == nullptr);
    }
}

TEST_CASE("memory that is gone is forgotten to the byte") {
    StreamOrder order;
    order.add_stream(1, false);
    order.touch(order.begin(Kind::kernel, 1, 1), {1000, 100, MemoryUse::write});
    order.forget_memory(1020, 10);
    order.forget_memory(1050, 50);
    order.forget_memory(900, 101);
    const auto known = [&](DevicePtr address) { return order.unseen_write(address, 1) != nullptr; };
    for (const DevicePtr gone : {1000u, 1020u, 1029u, 1050u, 1099u}) CHECK_FALSE(known(gone));
    for (const DevicePtr kept : {1001u, 1019u, 1030u, 1049u}) CHECK(known(kept));
}

TEST_CASE("streams without work under way are made and destroyed without end") {
    StreamOrder order;
    for (StreamId stream = 1; stream < 5000; ++stream) {
        REQUIRE(order.add_stream(stream, false));
        order.remove_stream(stream);
    }
}
