// The judge's command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warpgrade::judge {

struct Options {
    std::string worker, baseline, device_server, sandbox, device = "vgpu:h100", verdict;
    std::string timing_device;  // repeats calls of [speed] tests for their times; "": they come from `device`
    std::string timing_lock;    // file; whoever holds its lock has the timing device alone; "": no lock
    std::optional<std::uint64_t> seed;
    unsigned threads = 1;
    double seconds = 20;  // for one test's calls, as TimeLimit counts them
    std::uint64_t memory_mib = 2048;
    std::uint64_t instructions = 2'000'000'000;
    std::string checks = "all";           // as device::parse_checks reads it
    std::vector<std::string> parameters;  // names of the functions' parameters: matmul=A,B,C,m,k,n
    bool no_sandbox = false, plain_sandbox = false, progress = false;
    bool no_replay = false, no_orders = false;  // to measure what they cost
    std::string order = "forward";              // of the device's blocks and warps (device/order.hpp)
    std::string trace_accesses;                 // file of the TraceFile; "" if no accesses are recorded
    std::string record_calls;                   // file of the CallFile; "" if calls are not recorded
    std::string only = "all";
    std::string baseline_cache;      // file of the BaselineCache; "" if there is none
    std::string data;                // the lab's folder of data files; "" if there is none
    std::vector<std::string> tests;  // names; empty: all
    int parent = 0;                  // the judge ends with this process; 0: with none
};

}  // namespace warpgrade::judge
