// With the starter's results of an earlier run, verdicts stay the same and the starter does not run again.
#include "judge/baseline_cache.hpp"

#include <filesystem>
#include <fstream>
#include <set>

#include "judge/judged.hpp"
#include "support/contains.hpp"

using namespace warpgrade::judge;
namespace wire = warpgrade::wire;

namespace {

struct CacheFile {
    std::filesystem::path folder = std::filesystem::temp_directory_path() / ("baseline-" + std::to_string(getpid()));
    std::string path = folder / "file";
    CacheFile() {
        std::filesystem::remove_all(folder);
        std::filesystem::create_directory(folder);
    }
    ~CacheFile() { std::filesystem::remove_all(folder); }
    [[nodiscard]] std::string option() const { return " --seed 7 --baseline-cache " + path; }
};

nlohmann::json measured(const std::string& program, const std::string& device, const std::string& options = "",
                        const std::string& test = "measures", const std::string& starter = "correct") {
    const auto judged =
        judge(program,
              "--device-server " WG_FAKE_DEVICE " --device " + device + " --test \"" + test + "\" --seed 7" + options,
              starter);
    INFO(judged.output);
    auto found = judged.cases.at(test);
    found.erase("seconds");
    return found;
}

Arena arena_of(RandomStream random, std::int32_t number, const std::vector<float>& numbers) {
    CallSpec spec;
    spec.function = "f";
    spec.arguments.resize(2);
    spec.arguments[0].type = wire::Type::i32;
    spec.arguments[0].bits = static_cast<std::uint64_t>(number);
    spec.arguments[1] = {wire::Kind::in, wire::Type::f32, 0, std::as_bytes(std::span(numbers)), numbers.size(), ""};
    return {spec, random};
}

std::string key_of(std::uint64_t seed, std::int32_t number, const std::vector<float>& numbers) {
    CallChain chain;
    chain.add(arena_of(RandomStream(seed, "test"), number, numbers));
    return chain.key();
}

}  // namespace

TEST_CASE("a call has another name when anything that it is given differs, or what came before it") {
    const auto key = key_of(1, 2, {3, 4});
    CHECK(key == key_of(1, 2, {3, 4}));
    for (const auto& other : {key_of(2, 2, {3, 4}), key_of(1, 3, {3, 4}), key_of(1, 2, {3, 5}), key_of(1, 2, {3}),
                              key_of(1, 2, {4, 3}), key_of(1, 2, {3, 4, 0})})
        CHECK(other != key);
    CallChain chain;
    chain.add(arena_of(RandomStream(1, "test"), 2, {3, 4}));
    chain.add(arena_of(RandomStream(1, "test"), 2, {3, 4}));
    CHECK(chain.key() != key);
}

TEST_CASE("calls are kept whole; a damaged file holds none, and those of several judges come together") {
    const CacheFile file;
    const BaselineCache::Entry entry{7, {{std::byte{0}, std::byte{255}}, {}}, "{\"ok\":true}"};
    BaselineCache first(file.path), second(file.path);
    first.add("a", entry);
    first.save();
    second.add("b", entry);
    second.save();
    const BaselineCache both(file.path);
    for (const char* key : {"a", "b"}) {
        const auto* found = both.find(key);
        REQUIRE(found);
        CHECK(found->result == 7);
        CHECK(found->outputs == entry.outputs);
        CHECK(found->report == entry.report);
    }
    CHECK(std::distance(std::filesystem::directory_iterator(file.folder), {}) == 1);
    std::filesystem::resize_file(file.path, std::filesystem::file_size(file.path) - 1);
    CHECK(!BaselineCache(file.path).find("a"));
    std::ofstream(file.path) << "text";
    CHECK(!BaselineCache(file.path).find("a"));
}

TEST_CASE("a judge that knows what the starter did gives the same verdict") {
    const CacheFile file;
    const auto plain = measured("correct", "fake:kernels");
    CHECK(measured("correct", "fake:kernels", " --baseline-cache " + file.path) == plain);
    CHECK(std::filesystem::exists(file.path));
    CHECK(measured("correct", "fake:kernels", " --baseline-cache " + file.path) == plain);
    // The starter's time is that of the first device: it has not run again.
    const auto later = measured("correct", "fake:slow", " --baseline-cache " + file.path);
    CHECK(later["measurements"][0]["value"] == 0.5);
    CHECK(measured("correct", "fake:slow")["measurements"][0]["value"] == 1.0);
}

// The starter's result does not depend on the tests that ran before, in this judge or another.
TEST_CASE("a call has the same name whatever tests came before it") {
    const auto keys = [](const std::string& tests) {
        const CacheFile file;
        judge("correct", "--device-server " WG_FAKE_DEVICE " --device fake:kernels --seed 7 --baseline-cache " +
                             file.path + tests);
        std::ifstream stored(file.path, std::ios::binary);
        const auto all = nlohmann::json::from_cbor(stored);
        std::set<std::string> names;
        for (const auto& [key, value] : all.at("calls").items()) names.insert(key);
        return names;
    };
    const std::string first = " --test measures", second = " --test \"asks the starter twice\"";
    const auto of_first = keys(first), of_second = keys(second);
    CHECK(of_first.size() == 1);
    CHECK(of_second.size() == 2);
    auto both = of_first;
    both.insert(of_second.begin(), of_second.end());
    CHECK(keys(first + second) == both);
}

TEST_CASE("what a real GPU does is measured each time") {
    const CacheFile file;
    CHECK(measured("correct", "gpu::kernels", " --baseline-cache " + file.path)["status"] == "pass");
    CHECK(!std::filesystem::exists(file.path));
}

TEST_CASE("a call that is not known yet comes after those that are") {
    const CacheFile file;
    const std::string test = "asks the starter twice", option = " --baseline-cache " + file.path;
    const auto plain = measured("correct", "fake:kernels", "", test, "counts_its_calls");
    CHECK(plain["measurements"][1]["value"] == 2);
    // This submission fails before the starter is asked for the second time.
    CHECK(measured("says_zero", "fake:kernels", option, test, "counts_its_calls")["status"] == "fail");
    CHECK(measured("correct", "fake:kernels", option, test, "counts_its_calls") == plain);
    CHECK(measured("correct", "fake:kernels", option, test, "counts_its_calls") == plain);
}
