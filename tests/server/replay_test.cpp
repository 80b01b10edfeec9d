// A server with two workers, the second of which makes the same call with other inputs.
#include <numeric>

#include "device/descriptor_passing.hpp"
#include "device/origin_request.hpp"
#include "server/session_fixture.hpp"

using namespace warpgrade::server;
using namespace warpgrade::server::testing;
using nlohmann::json;
using Numbers = std::vector<int>;

namespace {

class OriginDevice : public FakeDevice {
  public:
    [[nodiscard]] bool keeps_origin() const override { return true; }
    std::vector<HostData> take_host_data() override { return {}; }
    void read_writers(DevicePtr, std::span<WriterTag> writers) const override { std::ranges::fill(writers, 1); }
};

Numbers numbers(int first) {
    Numbers values(64);
    std::iota(values.begin(), values.end(), first);
    return values;
}

class TwoWorkers {
  public:
    TwoWorkers() : TwoWorkers(SocketPair{}, SocketPair{}, SocketPair{}) {}
    ~TwoWorkers() {
        mine.hang_up(), other.hang_up();
        judge.ask(R"({"op":"shutdown"})");
        thread_.join();
    }

    static DevicePtr send(RawClient& worker, std::span<const int> values, DevicePtr at = 0) {
        if (at == 0) at = worker.allocate(values.size_bytes());
        wire::Writer request = RawClient::transfer(wire::Region::range(at, values.size_bytes()));
        request.put_bytes(std::as_bytes(values));
        CHECK(worker.call(wire::Op::write, request).status == 0);
        return at;
    }
    static void receive(RawClient& worker, DevicePtr at, std::size_t count) {
        CHECK(worker.call(wire::Op::read, RawClient::transfer(wire::Region::range(at, 4 * count))).status == 0);
    }

    // The verdict's problem for a call that got `in` and returned the device's contents; 0 if there is none.
    unsigned problem(const Numbers& in, const Numbers& others, bool compare = true) {
        OriginQuery query;
        query.buffers.push_back(
            {OriginBuffer::Kind::in, 0, 4, std::as_bytes(std::span(in)), {}, std::as_bytes(std::span(others))});
        const Numbers before(in.size());
        query.buffers.push_back({OriginBuffer::Kind::out, 1, 4, std::as_bytes(std::span(before)),
                                 std::as_bytes(std::span(in)), std::as_bytes(std::span(before))});
        OriginFile file, program;
        program.reserve(1);
        const auto message = make_origin_message(query, file);
        const std::string line = R"({"op":"take","compare":)" + std::string(compare ? "true" : "false") +
                                 R"(,"origin":)" + message.question + "}\n";
        const int files[] = {message.file, program.descriptor().get()};
        send_message(control_, std::as_bytes(std::span(line)), files);
        const json report = judge.answer();
        return report.at("origin").at("problem").get<unsigned>();
    }

    OriginDevice device, other_device;
    Judge judge;
    RawClient mine, other;

  private:
    TwoWorkers(SocketPair control, SocketPair client, SocketPair replay)
        : judge(control.ours), mine(client.ours), other(replay.ours), control_(control.ours) {
        thread_ = std::thread([this, control, client, replay] {
            Server server(device, client.theirs, control.theirs);
            server.add_replay(other_device, replay.theirs);
            server.run();
        });
    }
    int control_;
    std::thread thread_;
};

}  // namespace

TEST_CASE_METHOD(TwoWorkers, "a call and its replay are compared, each on a device of its own") {
    const auto in = numbers(1000), others = numbers(5000);
    const DevicePtr at = send(mine, in);
    receive(mine, at, in.size());
    CHECK(send(other, others) == at);
    receive(other, at, in.size());
    CHECK(judge.ask(R"({"op":"end_replay"})").at("ok") == true);
    CHECK(problem(in, others) == 0);
    Numbers held(in.size());
    device.read(at, std::as_writable_bytes(std::span(held)));
    CHECK(held == in);

    SECTION("what comes after a take is another call") {
        receive(mine, send(mine, Numbers(in.begin(), in.begin() + 32)), 32);
        receive(other, send(other, Numbers(others.begin(), others.begin() + 32)), 32);
        judge.ask(R"({"op":"end_replay"})");
        CHECK(problem(Numbers(in.begin(), in.begin() + 32), Numbers(others.begin(), others.begin() + 32)) == 0);
    }
    SECTION("a request that one of them alone makes is a decision") {
        receive(mine, send(mine, in), in.size());
        judge.ask(R"({"op":"end_replay"})");
        CHECK(problem(in, others) == static_cast<unsigned>(OriginVerdict::Problem::value_dependent));
    }
    SECTION("a call that is not compared is forgotten") {
        send(other, numbers(7000), at);
        judge.ask(R"({"op":"end_replay","forget":true})");
        receive(mine, send(mine, in), in.size());
        receive(other, send(other, others), in.size());
        judge.ask(R"({"op":"end_replay"})");
        CHECK(problem(in, others) == 0);
    }
    SECTION("without a replay the call is looked at by itself") {
        receive(mine, send(mine, in), in.size());
        CHECK(problem(in, others, false) == 0);
        send(mine, numbers(9000)), send(mine, numbers(9100));
        receive(mine, send(mine, in), in.size());
        CHECK(problem(in, others, false) == static_cast<unsigned>(OriginVerdict::Problem::unexpected_upload));
    }
    SECTION("a replay that is gone or talks nonsense leaves the other one alone") {
        other.send_raw(std::as_bytes(std::span("nonsense, and more than a header of it")));
        CHECK(other.is_closed());
        judge.ask(R"({"op":"end_replay"})");
        receive(mine, send(mine, in), in.size());
        CHECK(problem(in, others, false) == 0);
        CHECK(judge.take().at("call_errors").empty());
    }
}

TEST_CASE_METHOD(ServerFixture, "there is no replay where none was asked for") {
    CHECK(judge.ask(R"({"op":"end_replay"})").at("ok") == false);
}
