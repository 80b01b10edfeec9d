// Concurrent kernels share the resources of the device.
#include <algorithm>
#include <random>
#include <vector>

#include "judge/catch.hpp"
#include "support/approx.hpp"
#include "vgpu/model/timeline.hpp"

using namespace warpgrade::device;
using namespace warpgrade::vgpu;

namespace {

HostCosts free_of_charge() {
    HostCosts costs;
    costs.launch_issue_ns = costs.copy_issue_ns = costs.query_ns = costs.wake_ns = 0;
    return costs;
}

Demand needs(Resource resource, double ns) {
    Demand demand{};
    demand[static_cast<std::size_t>(resource)] = ns;
    return demand;
}

// A timeline with streams 1 to `streams`, which do not wait for the default stream.
Timeline with_streams(unsigned streams) {
    Timeline timeline(free_of_charge());
    for (StreamId stream = 1; stream <= streams; ++stream) timeline.add_stream(stream, false);
    return timeline;
}

struct Kernel {
    StreamId stream = 1;
    double duration_ns = 100, share = 0.1;
    Demand demand{};
};

std::vector<Interval> run(const std::vector<Kernel>& kernels) {
    Timeline timeline = with_streams(16);
    std::vector<Interval> result;
    for (const Kernel& k : kernels) result.push_back(timeline.kernel(k.stream, k.duration_ns, k.share, k.demand));
    return result;
}

class RandomKernels {
  public:
    explicit RandomKernels(unsigned seed) : random_(seed) {}
    double part() { return std::uniform_real_distribution<double>(0, 1)(random_); }
    unsigned below(unsigned most) { return static_cast<unsigned>(random_() % most); }
    Kernel next(unsigned streams) {
        Kernel kernel{1 + below(streams), 1 + 200 * part(), below(3) ? 0.3 * part() : part(), {}};
        for (double& ns : kernel.demand)
            if (below(2)) ns = kernel.duration_ns * part();
        return kernel;
    }

  private:
    std::mt19937 random_;
};

constexpr double rounding = 1e-6;

}  // namespace

TEST_CASE("a kernel alone takes its own time to the last bit, whatever it needs") {
    RandomKernels random(1);
    Timeline timeline = with_streams(1);
    for (int i = 0; i < 200; ++i) {
        const Kernel k = random.next(1);
        const Interval when = timeline.kernel(1, k.duration_ns, k.share, k.demand);
        CHECK(when.end_ns == when.start_ns + k.duration_ns);
    }
}

TEST_CASE("a kernel gets what the earlier ones leave of a resource") {
    for (const Resource r : {Resource::issue, Resource::l1, Resource::l2, Resource::dram, Resource::link}) {
        Timeline timeline = with_streams(3);
        CHECK(timeline.kernel(1, 100, 0.1, needs(r, 80)).end_ns == 100);
        // A quarter of its speed beside the first kernel, then its full speed.
        CHECK(timeline.kernel(2, 100, 0.1, needs(r, 80)).end_ns == Approx(175));
        CHECK(timeline.kernel(3, 100, 0.1).end_ns == 100);  // needs none of it
    }
}

TEST_CASE("a kernel that gets less only from some time on has done a part before") {
    Timeline timeline = with_streams(2);
    timeline.kernel(1, 100, 0.1);
    timeline.kernel(1, 300, 0.1, needs(Resource::dram, 240));
    // 100 at full speed, then the rest at a quarter of it.
    CHECK(timeline.kernel(2, 150, 0.1, needs(Resource::dram, 120)).end_ns == Approx(300));
}

TEST_CASE("a kernel fits before work that begins later, though it could fill the device more than once") {
    Timeline timeline = with_streams(2);
    timeline.wait(1, 100);
    CHECK(timeline.kernel(1, 100, 1).start_ns == 100);
    CHECK(timeline.kernel(2, 50, 3).start_ns == 0);
    CHECK(timeline.kernel(2, 50, 3).start_ns == 50);
    CHECK(timeline.kernel(2, 50, 3).start_ns == 200);
}

TEST_CASE("work that takes no time needs no room") {
    Timeline timeline = with_streams(2);
    timeline.kernel(1, 100, 1);
    const Interval when = timeline.kernel(2, 0, 1);
    CHECK((when.start_ns == 0 && when.end_ns == 0));
}

TEST_CASE("kernels that need different resources, or little, run side by side") {
    Timeline timeline = with_streams(10);
    CHECK(timeline.kernel(1, 100, 0.1, needs(Resource::issue, 100)).end_ns == 100);
    CHECK(timeline.kernel(2, 100, 0.1, needs(Resource::dram, 90)).end_ns == 100);
    for (StreamId stream = 3; stream <= 10; ++stream)
        CHECK(timeline.kernel(stream, 100, 0.1, needs(Resource::l1, 12)).end_ns == Approx(100));
}

TEST_CASE("a kernel that is cut into pieces in several streams takes no less") {
    const double whole_ns = 80;
    Timeline timeline = with_streams(8);
    double end_ns = 0;
    for (StreamId stream = 1; stream <= 8; ++stream)
        end_ns = std::max(end_ns, timeline.kernel(stream, 20, 0.125, needs(Resource::issue, whole_ns / 8)).end_ns);
    CHECK(end_ns >= whole_ns * (1 - rounding));
}

TEST_CASE("a chain of small kernels runs beside one that was issued before and is long") {
    Timeline timeline = with_streams(2);
    timeline.kernel(1, 1000, 0.5, needs(Resource::issue, 500));
    for (int i = 1; i <= 5; ++i) CHECK(timeline.kernel(2, 10, 0.1, needs(Resource::issue, 1)).end_ns == Approx(10 * i));
}

TEST_CASE("a kernel never ends before it has all that it needs") {
    Timeline timeline = with_streams(1);
    CHECK(timeline.kernel(1, 10, 0.1, needs(Resource::dram, 50)).end_ns == 50);
    CHECK(timeline.kernel(1, 0, 0.1).end_ns == 50);
}

TEST_CASE("no more kernels run at once than a device allows, however small they are") {
    Timeline timeline = with_streams(129);
    for (StreamId stream = 1; stream <= 128; ++stream) CHECK(timeline.kernel(stream, 100, 1e-9).start_ns == 0);
    CHECK(timeline.kernel(129, 100, 1e-9).start_ns == 100);
}

// At no time is more of a resource used than exists: the needs of the kernels in an interval fit into it.
TEST_CASE("kernels together take at least the sum of what they need of any one resource") {
    RandomKernels random(GENERATE(range(0u, 60u)));
    std::vector<Kernel> kernels(60);
    for (Kernel& kernel : kernels) kernel = random.next(12);
    const auto when = run(kernels);
    double most_used = 0;
    for (const Interval& from : when)
        for (const Interval& to : when) {
            const double length = to.end_ns - from.start_ns;
            if (length <= 0) continue;
            Demand sums{};
            for (std::size_t k = 0; k < kernels.size(); ++k)
                if (when[k].start_ns >= from.start_ns && when[k].end_ns <= to.end_ns)
                    for (std::size_t r = 0; r < sums.size(); ++r) sums[r] += kernels[k].demand[r];
            most_used = std::max(most_used, *std::ranges::max_element(sums) / length);
        }
    CHECK(most_used <= 1 + rounding);
    for (const Interval& moment : when) {
        double room = 0;
        for (std::size_t k = 0; k < kernels.size(); ++k)
            if (when[k].start_ns <= moment.start_ns && moment.start_ns < when[k].end_ns)
                room += std::max(kernels[k].share, 1.0 / 128);
        CHECK(room <= 1 + rounding);
    }
}

// An earlier kernel may free other resources by slowing down a third one, so here they all need the same resource.
TEST_CASE("one kernel more never lets another end earlier") {
    RandomKernels random(GENERATE(range(0u, 60u)));
    std::vector<Kernel> kernels(15);
    StreamId stream = 0;
    for (Kernel& kernel : kernels) {
        kernel = {++stream, 1 + 200 * random.part(), 0.01, {}};
        kernel.demand = needs(Resource::dram, kernel.duration_ns * random.part());
    }
    const auto before = run(kernels);
    const std::size_t place = random.below(16);
    auto more = kernels;
    const double duration_ns = 1 + 500 * random.part();
    more.insert(more.begin() + static_cast<std::ptrdiff_t>(place),
                {16, duration_ns, 0.01, needs(Resource::dram, duration_ns * random.part())});
    const auto after = run(more);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        CAPTURE(k, place);
        const double end_ns = after[k < place ? k : k + 1].end_ns;
        if (k < place)
            CHECK(end_ns == before[k].end_ns);
        else
            CHECK(end_ns >= before[k].end_ns * (1 - rounding));
    }
}

TEST_CASE("thousands of kernels that nobody waits for stay cheap, and share") {
    Timeline timeline = with_streams(16);
    double end_ns = 0;
    for (unsigned i = 0; i < 16'000; ++i)
        end_ns = std::max(end_ns, timeline.kernel(1 + i % 16, 10, 0.05, needs(Resource::l2, 5)).end_ns);
    CHECK(end_ns >= 16'000 * 5 * (1 - rounding));
    CHECK(end_ns < 16'000 * 10);
}
