// Which instructions of PTX files does the virtual GPU refuse? Prints each with the number of times it stands there,
// and the first complaint of every kernel's decoder; ends with 1 if there is any.
//
//     vgpu-survey FILE.ptx…
#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <map>
#include <span>
#include <string>

#include "device/device.hpp"
#include "vgpu/ops/opcodes.hpp"
#include "vgpu/ptx/parser.hpp"
#include "vgpu/virtual_gpu.hpp"

namespace {

using namespace warpgrade;

std::string read_text(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("cannot read the file");
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string text_of(const vgpu::ptx::Instruction& in) {
    std::string text = in.opcode;
    for (const auto& m : in.modifiers) text += "." + m;
    return text;
}

// Complaints about one file, each with how often it was made.
std::map<std::string, int> survey(const std::string& path) {
    std::map<std::string, int> complaints;
    const std::string text = read_text(path);
    const vgpu::ptx::Module module = vgpu::ptx::parse(text);
    for (const auto& function : module.functions)
        for (const auto& in : function.body)
            if (!vgpu::opcode_table().find(in)) ++complaints["no row: " + text_of(in)];
    const auto gpu = vgpu::make_virtual_gpu("h100", {1, 1'000'000, 0});
    const auto id = gpu->load_module(std::as_bytes(std::span(text.data(), text.size())));
    for (const auto& function : module.functions) {
        if (!function.is_entry) continue;
        try {
            gpu->find_function(id, function.name);
        } catch (const std::exception& e) {
            ++complaints[e.what()];
        }
    }
    return complaints;
}

}  // namespace

int main(int argc, char** argv) {
    bool refused = false;
    for (const char* path : std::span(argv, static_cast<std::size_t>(argc)).subspan(1)) {
        try {
            for (const auto& [complaint, times] : survey(path)) {
                fmt::print("{}: {} ({}×)\n", path, complaint, times);
                refused = true;
            }
        } catch (const std::exception& e) {
            fmt::print("{}: {}\n", path, e.what());
            refused = true;
        }
    }
    return refused ? 1 : 0;
}
