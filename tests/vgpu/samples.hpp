// What front.cmake compiles, for the tests of what reads it: tests/vgpu/ptx to PTX, tests/vgpu/fatbin to fatbinaries.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

// Sorted file names with this extension.
inline std::vector<std::string> sample_names(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(WG_VGPU_SAMPLES "/" + folder)) {
        if (entry.path().extension() == "." + folder) names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

inline std::string sample(const std::string& name) {
    const std::string folder = name.find(".fatbin") == std::string::npos ? "ptx" : "fatbin";
    std::ifstream file(WG_VGPU_SAMPLES "/" + folder + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}
