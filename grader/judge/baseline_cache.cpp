#include "judge/baseline_cache.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace warpgrade::judge {
namespace {

using nlohmann::json;

constexpr const char* format = "warpgrade/baseline/3";
constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;

json as_binary(std::span<const std::byte> bytes) {
    const auto* const begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
    return json::binary({begin, begin + bytes.size()});
}

json to_json(const BaselineCache::Entry& entry) {
    json outputs = json::array();
    for (const auto& output : entry.outputs) outputs.push_back(as_binary(output));
    return {{"result", entry.result},
            {"outputs", std::move(outputs)},
            {"report", as_binary(std::as_bytes(std::span(entry.report)))}};
}

BaselineCache::Entry entry_from_json(const json& value) {
    const auto& report = value.at("report").get_binary();
    BaselineCache::Entry entry{value.at("result").get<std::uint64_t>(), {}, {report.begin(), report.end()}};
    for (const json& output : value.at("outputs")) {
        const auto bytes = std::as_bytes(std::span(output.get_binary()));
        entry.outputs.emplace_back(bytes.begin(), bytes.end());
    }
    return entry;
}

}  // namespace

BaselineCache::BaselineCache(std::string file) : file_(std::move(file)), entries_(read()) {}

BaselineCache::Entries BaselineCache::read() const {
    Entries entries;
    try {
        std::ifstream file(file_, std::ios::binary);
        const std::vector<std::uint8_t> raw((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
        const json all = json::from_cbor(raw);
        if (all.at("format") != format) return {};
        for (const auto& [key, value] : all.at("calls").items()) entries.emplace(key, entry_from_json(value));
    } catch (const std::exception&) {
        return {};
    }
    return entries;
}

const BaselineCache::Entry* BaselineCache::find(const std::string& key) const {
    const auto found = entries_.find(key);
    return found == entries_.end() ? nullptr : &found->second;
}

void BaselineCache::add(const std::string& key, Entry entry) {
    std::uint64_t bytes = entry.report.size();
    for (const auto& output : entry.outputs) bytes += output.size();
    if (bytes_ + bytes > most_bytes) return;
    bytes_ += bytes;
    changed_ |= entries_.emplace(key, std::move(entry)).second;
}

void BaselineCache::save() noexcept {
    if (!changed_) return;
    const std::string scratch = fmt::format("{}.{}", file_, getpid());
    try {
        for (auto& [key, entry] : read()) entries_.emplace(key, std::move(entry));
        json calls = json::object();
        for (const auto& [key, entry] : entries_) calls[key] = to_json(entry);
        const auto bytes = json::to_cbor({{"format", format}, {"calls", std::move(calls)}});
        std::ofstream file(scratch, std::ios::binary);
        file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        file.close();
        if (file && std::rename(scratch.c_str(), file_.c_str()) == 0) changed_ = false;
    } catch (const std::exception&) {
        // The next run measures again.
    }
    if (changed_) std::remove(scratch.c_str());
}

void CallChain::mix(std::span<const std::byte> bytes) {
    auto [a, b] = state_;
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
        a = (a ^ word) * 0x9e3779b97f4a7c15;
        a ^= a >> 32;
        b = (std::rotl(b, 29) + word) * 0xc2b2ae3d27d4eb4f;
    }
    state_ = {a ^ bytes.size(), b ^ std::rotl(a, 17)};
}

void CallChain::add(const Arena& arena) {
    const auto& call = arena.call();
    mix(std::as_bytes(std::span(call.function)));
    const std::uint64_t head[] = {call.address_hint, call.argument_count, call.arena_bytes};
    mix(std::as_bytes(std::span(head)));
    for (std::uint32_t i = 0; i < call.argument_count; ++i) {
        const auto& argument = call.arguments[i];
        const std::uint64_t words[] = {static_cast<std::uint64_t>(argument.kind),
                                       static_cast<std::uint64_t>(argument.type), argument.value, argument.count};
        mix(std::as_bytes(std::span(words)));
    }
    mix(arena.bytes());
}

std::string CallChain::key() const { return fmt::format("{:016x}{:016x}", state_[0], state_[1]); }

}  // namespace warpgrade::judge
