// What a peer of beside.py is: a program that reads commands, a line each, and answers each with a line.
//   prepare ALGORITHM N SEED   makes the inputs and brings them to where the kernels read them: ok
//   run                        runs the algorithm once: the seconds that it took
//   result FILE                writes the output as 32-bit floats: ok
// Each preparation has inputs of its own, so that no peer can give an earlier answer again.
#pragma once
#include <chrono>
#include <cstddef>
#include <exception>
#include <fstream>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace peer {

using Floats = std::vector<float>;

struct Inputs {
    std::string algorithm;
    int n;
    Floats a, b;  // n × n matrices; of a reduction, `a` alone, with n elements
};

// `run` returns when the work is done; `result` brings the output.
struct Work {
    std::function<void()> run;
    std::function<Floats()> result;
};

inline Floats noise(std::size_t count, unsigned seed) {
    Floats v(count);
    for (float& f : v) f = static_cast<float>((seed = seed * 1664525u + 1013904223u) >> 8) * 0x1p-24f;
    return v;
}

inline Inputs read_inputs(std::istream& in) {
    Inputs inputs;
    unsigned seed = 0;
    if (!(in >> inputs.algorithm >> inputs.n >> seed)) throw std::runtime_error("prepare ALGORITHM N SEED");
    const bool matrices = inputs.algorithm != "reduce_tree";
    const auto n = static_cast<std::size_t>(inputs.n);
    inputs.a = noise(matrices ? n * n : n, seed);
    inputs.b = noise(matrices ? n * n : 0, seed + 1);
    return inputs;
}

inline int serve(const std::function<Work(Inputs)>& prepare) try {
    Work work;
    for (std::string command; std::cin >> command;) {
        if (command == "prepare") {
            work = prepare(read_inputs(std::cin));
            std::cout << "ok" << std::endl;
        } else if (command == "run") {
            const auto start = std::chrono::steady_clock::now();
            work.run();
            std::cout << std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() << std::endl;
        } else {
            std::string file;
            std::cin >> file;
            const Floats result = work.result();
            std::ofstream(file, std::ios::binary)
                .write(reinterpret_cast<const char*>(result.data()),
                       static_cast<std::streamsize>(result.size() * sizeof(float)));
            std::cout << "ok" << std::endl;
        }
    }
    return 0;
} catch (const std::exception& failure) {
    std::cerr << failure.what() << std::endl;
    return 1;
}

}  // namespace peer
