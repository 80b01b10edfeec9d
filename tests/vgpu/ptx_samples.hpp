// The PTX files under tests/vgpu/ptx: what nvcc 13.0 made of the .cu files beside them (nvcc --ptx -std=c++17
// -lineinfo, "debug" with -G; folders removed from the file names).
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

inline std::vector<std::string> sample_names() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(WG_PTX_SAMPLES)) {
        if (entry.path().extension() == ".ptx") names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

inline std::string sample(const std::string& name) {
    std::ifstream file(std::string(WG_PTX_SAMPLES) + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}
