// nvcc's output for small programs: PTX that front.cmake compiles of those in tests/vgpu/ptx, and fatbinaries, made by
// nvcc 13.0 and kept in tests/vgpu/fatbin; fatbin_test.cpp says how.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

inline std::string sample_folder(const std::string& extension) {
    return extension == "ptx" ? WG_PTX_SAMPLES : WG_FATBIN_SAMPLES;
}

// Sorted file names with this extension.
inline std::vector<std::string> sample_names(const std::string& extension) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(sample_folder(extension))) {
        if (entry.path().extension() == "." + extension) names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

inline std::string sample(const std::string& name) {
    std::ifstream file(sample_folder(name.substr(name.rfind('.') + 1)) + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}
