// A server that serves one session after the other, each with devices of its own.
#include "device/descriptor_passing.hpp"
#include "server/session_fixture.hpp"

using namespace warpgrade::server;
using namespace warpgrade::server::testing;

namespace {

using warpgrade::device::Descriptor;

// As warpgrade-device does it.
void serve(Sockets first) {
    std::optional<Sockets> sockets = std::move(first);
    for (bool is_first = true; sockets; is_first = false) {
        FakeDevice device;
        Server server(device, sockets->client.release(), sockets->control.release());
        if (!is_first) server.confirm_renewal();
        sockets = server.run();
    }
}

}  // namespace

TEST_CASE("nothing of a session is left in the next one of the same server") {
    const SocketPair control, client;
    std::thread thread([&] { serve({Descriptor(client.theirs), Descriptor(control.theirs), {}}); });
    Judge judge(control.ours);
    RawClient first(client.ours);
    const auto at = first.allocate(64);
    CHECK(first.call(wire::Op::free_memory, wire::Writer().put(at)).status == 0);
    const auto again = first.allocate(64);

    // Without a socket there is no other session.
    CHECK(judge.ask(R"({"op":"renew"})")["ok"] == false);

    const SocketPair next;
    const Descriptor theirs(next.theirs);
    const std::string line = "{\"op\":\"renew\"}\n";
    const int file = theirs.get();
    warpgrade::device::send_message(control.ours, std::as_bytes(std::span(line)), std::span(&file, 1));
    CHECK(judge.answer()["ok"] == true);
    CHECK(first.is_closed());
    RawClient second(next.ours);
    CHECK(second.call(wire::Op::free_memory, wire::Writer().put(again)).status != 0);  // of the first session
    CHECK(second.allocate(64) == at);
    const auto report = judge.take();
    CHECK(report["allocations"].size() == 1);
    CHECK(report["connected"] == true);
    second.hang_up();
    judge.ask(R"({"op":"shutdown"})");
    thread.join();
}
