#include "vgpu/ptx/link.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace warpgrade::vgpu::ptx {
namespace {

using Renames = std::unordered_map<std::string, std::string>;

void rename(std::string& symbol, const Renames& renames) {
    if (const auto found = renames.find(symbol); found != renames.end()) symbol = found->second;
}

void rename(Operand& operand, const Renames& renames) {
    if (!operand.symbol.empty()) rename(operand.symbol, renames);
    for (Operand& element : operand.elements) rename(element, renames);
}

// Renames a file's own names, which another file may use too. Names inside a function hide those of the module and
// stay.
void rename(Module& module, const Renames& renames) {
    for (Variable& variable : module.variables) {
        rename(variable.name, renames);
        for (Relocation& relocation : variable.relocations) rename(relocation.symbol, renames);
    }
    for (Function& function : module.functions) {
        rename(function.name, renames);
        Renames visible = renames;
        for (const Variable& variable : function.variables) visible.erase(variable.name);
        for (const Parameter& parameter : function.parameters) visible.erase(parameter.name);
        for (const Parameter& parameter : function.returns) visible.erase(parameter.name);
        for (Instruction& instruction : function.body)
            for (Operand& operand : instruction.operands) rename(operand, visible);
        for (auto& [label, targets] : function.call_targets)
            for (std::string& target : targets) rename(target, visible);
    }
}

class Linker {
  public:
    Linker() { result_.locations.clear(); }

    void add(Module module) {
        rename_own_names(module);
        append_locations(module);
        for (Function& function : module.functions) add(std::move(function));
        for (Variable& variable : module.variables) add(std::move(variable));
        if (result_.target == 0) {
            result_.target = module.target, result_.target_name = module.target_name;
            result_.version_major = module.version_major, result_.version_minor = module.version_minor;
            result_.address_bits = module.address_bits;
        }
        lines_ = last_line_;
    }

    Module take() {
        if (result_.locations.empty()) result_.locations.emplace_back();
        return std::move(result_);
    }

  private:
    void rename_own_names(Module& module) {
        Renames renames;
        const auto own = [&](const std::string& name) {
            if (!functions_.contains(name) && !variables_.contains(name)) return;
            renames[name] = name + "@" + std::to_string(modules_);  // no name of PTX has an @
        };
        for (const Function& function : module.functions)
            if (!function.is_visible && !function.is_declaration) own(function.name);
        for (const Variable& variable : module.variables)
            if (!variable.is_visible && !variable.is_extern) own(variable.name);
        ++modules_;
        if (!renames.empty()) rename(module, renames);
    }

    // Files and locations are indices, which change; [0] is "none" in every module.
    void append_locations(Module& module) {
        const auto base = static_cast<LocationId>(result_.locations.size());
        const std::uint32_t file_base = next_file_;
        for (auto& [index, name] : module.files) {
            if (index > ~0u - file_base) throw PtxError(0, "a file's number is too large");
            result_.files.emplace_back(index + file_base, std::move(name));
            next_file_ = std::max(next_file_, index + file_base + 1);
        }
        for (Location location : module.locations) {
            if (location.file != 0) location.file += file_base;
            if (location.inlined_at != 0) location.inlined_at += base;
            result_.locations.push_back(location);
        }
        const auto moved_line = [&](std::uint32_t& line) {
            line += lines_;
            last_line_ = std::max(last_line_, line);
        };
        for (Variable& variable : module.variables) moved_line(variable.ptx_line);
        for (Function& function : module.functions) {
            moved_line(function.ptx_line);
            for (Instruction& instruction : function.body) {
                moved_line(instruction.ptx_line);
                if (instruction.location != 0) instruction.location += base;
            }
        }
    }

    void add(Function function) {
        const auto [place, is_new] = functions_.try_emplace(function.name, result_.functions.size());
        if (is_new) return result_.functions.push_back(std::move(function));
        Function& earlier = result_.functions[place->second];
        if (function.is_declaration) return;
        if (!earlier.is_declaration && !earlier.is_weak && !function.is_weak)
            throw PtxError(function.ptx_line, "'" + function.name + "' is defined in more than one file");
        if (earlier.is_declaration || (earlier.is_weak && !function.is_weak)) earlier = std::move(function);
    }

    void add(Variable variable) {
        const auto [place, is_new] = variables_.try_emplace(variable.name, result_.variables.size());
        if (is_new) return result_.variables.push_back(std::move(variable));
        Variable& earlier = result_.variables[place->second];
        if (variable.is_extern) return;
        if (!earlier.is_extern && !earlier.is_weak && !variable.is_weak)
            throw PtxError(variable.ptx_line, "'" + variable.name + "' is defined in more than one file");
        if (earlier.is_extern || (earlier.is_weak && !variable.is_weak)) earlier = std::move(variable);
    }

    Module result_;
    std::unordered_map<std::string, std::size_t> functions_, variables_;
    std::uint32_t next_file_ = 0, lines_ = 0, last_line_ = 0;
    unsigned modules_ = 0;
};

}  // namespace

Module link(std::vector<Module> modules) {
    Linker linker;
    for (Module& module : modules) linker.add(std::move(module));
    return linker.take();
}

}  // namespace warpgrade::vgpu::ptx
