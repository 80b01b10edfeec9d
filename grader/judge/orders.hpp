// The submission's calls of a test once more, on a device that runs blocks and warps in another order: the first call
// in one order, the second in the next. CUDA promises no order, so a matcher that accepts an output looks at what comes
// in its place there too.
//
// The processes are new, and get the test's calls as the first ones got them, so that host code cannot tell in which
// order its kernels run. Kernels can; but whatever they do about it has to give the right result.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/order.hpp"
#include "judge/options.hpp"
#include "judge/random.hpp"

namespace warpgrade::judge {

class DeviceServer;
class Session;
class SubmissionFailure;
struct CallResult;
struct ArenaFile;
struct StoredCall;

struct OtherOutput {
    device::Order order = device::Order::forward;
    std::vector<std::byte> bytes;
    std::string failure;  // if the call did not return; `bytes` is empty then
};

// False if devices of this kind have one order only.
bool has_other_orders(const Options& options);
// False if the last of these calls of a test has no kernel's result, or they move too much data to be repeated.
bool may_be_repeated(std::span<const StoredCall> calls);

class OtherOrders {
  public:
    OtherOrders();
    ~OtherOrders();
    // What comes in place of these bytes, which are an output of the last call, where it is something else. What takes
    // too long in another order is not known. Throws InfrastructureError.
    std::vector<OtherOutput> find(std::span<const std::byte> output, std::span<const StoredCall> calls);

    // See Session::release_device(); null after a call that did not return.
    std::unique_ptr<DeviceServer> release_device();

  private:
    void make(std::span<const StoredCall> calls);
    CallResult make(const StoredCall& call);
    void end(const SubmissionFailure& failure);

    Options options_;
    RandomStream random_;
    std::shared_ptr<const ArenaFile> arena_file_;
    std::unique_ptr<Session> session_;  // null after a call that did not return
    std::size_t made_ = 0;
    std::unique_ptr<CallResult> result_;  // of the last call, if it is known
    std::string failure_;
};

// While it lives, matchers look at the ordinary order alone: where they only decide what a test asks.
class OrdinaryOrder {
  public:
    OrdinaryOrder();
    ~OrdinaryOrder();
    OrdinaryOrder(const OrdinaryOrder&) = delete;
    OrdinaryOrder& operator=(const OrdinaryOrder&) = delete;

  private:
    bool before_;
};

namespace detail {
// OtherOrders::find for the running test and the submission's last call. Nothing for bytes that are no output of it, in
// tests of counters and of speed, and for calls that move much data.
std::vector<OtherOutput> find_other_outputs(std::span<const std::byte> output);
}  // namespace detail

}  // namespace warpgrade::judge
