// The virtual GPU gives the same bits as an H100: every opcode form of forms.cpp on the same operands.
// vgpu-exact-record wrote the records (see docs/virtual-gpu.md).
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "forms.hpp"
#include "support/contains.hpp"
#include "vgpu/machine.hpp"
#include "vgpu/ops/half.hpp"

using namespace warpgrade;
using vgpu::test::Machine;
using u64 = std::uint64_t;

namespace {

struct Record {
    std::vector<std::uint32_t> hashes;
    std::vector<u64> bits;
};

std::map<std::string, Record> read_records(const std::string& family) {
    std::ifstream file(std::string(WG_EXACT_RECORDS) + "/" + family + ".txt");
    REQUIRE(file);
    std::map<std::string, Record> records;
    std::string name, hashes, bits, word;
    while (std::getline(file, name, '\t') && std::getline(file, hashes, '\t') && std::getline(file, bits)) {
        Record& r = records[name];
        for (std::size_t at = 0; at + 8 <= hashes.size(); at += 8)
            r.hashes.push_back(static_cast<std::uint32_t>(std::stoul(hashes.substr(at, 8), nullptr, 16)));
        std::istringstream words(bits);
        while (std::getline(words, word, ',')) r.bits.push_back(std::stoull(word, nullptr, 16));
    }
    return records;
}

class Runner {
  public:
    explicit Runner(const std::vector<exact::Form>& forms) : machine_(2, exact::ptx(forms)) {
        for (auto& b : buffers_) b = machine_.upload(std::vector<u64>(exact::cases + 2));
    }
    std::vector<u64> run(std::size_t index, const std::vector<std::vector<u64>>& sources) {
        for (std::size_t i = 0; i < sources.size(); ++i)
            machine_.gpu->write(buffers_[i].address, std::as_bytes(std::span(sources[i])));
        machine_.launch(exact::kernel_name(index), {exact::cases / 128}, {128}, buffers_[0], buffers_[1], buffers_[2],
                        buffers_[3]);
        auto bits = machine_.download(buffers_[3]);
        bits.resize(exact::cases);
        return bits;
    }

  private:
    Machine machine_;
    vgpu::test::Buffer<u64> buffers_[4];
};

std::string describe(const exact::Form& form, const std::vector<std::vector<u64>>& sources, std::size_t k) {
    std::string text = form.name;
    char word[32];
    for (const auto& s : sources) {
        std::snprintf(word, sizeof word, " %llx", static_cast<unsigned long long>(s[k]));
        text += word;
    }
    return text;
}

double value(char c, u64 bits) {
    if (c == 'x') return vgpu::F16::to_float(static_cast<std::uint16_t>(bits));
    if (c == 'y') return vgpu::BF16::to_float(static_cast<std::uint16_t>(bits));
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
}

// The distance of `result` from the function's value, in units of the bound. Infinities and NaN must be equal.
double deviation(const exact::Form& form, u64 operand, u64 result) {
    double x = value(form.sources[0], operand);
    const double r = value(form.result, result);
    const bool ftz = form.name.find(".ftz") != std::string::npos;
    const double smallest = ftz ? 0x1p-126 : form.result == 'x' ? 0x1p-24 : form.result == 'y' ? 0x1p-133 : 0x1p-149;
    if (ftz && std::fabs(x) < 0x1p-126) x = std::copysign(0.0, x);
    const double wanted = form.reference(x);
    if (wanted != wanted || r != r) return wanted != wanted && r != r ? 0 : 1e9;
    const double largest = form.result == 'x' ? 65504 : 0x1.fffffep127;
    if (std::fabs(wanted) > largest)
        return std::fabs(r) >= largest && std::signbit(r) == std::signbit(wanted) ? 0 : 1e9;
    const double error = std::fabs(r - wanted), magnitude = std::max(std::fabs(wanted), 0x1p-126);
    double bound = form.error;
    if (form.unit == 'u') bound *= std::exp2(std::floor(std::log2(magnitude)) - 23);
    if (form.unit == 'r') bound *= magnitude;
    return error / std::max(bound, smallest);
}

// True where PTX states the bound: for sin and cos in this range, for lg2 (relative to the result) outside [0.5, 2].
bool in_stated_range(const exact::Form& form, u64 operand) {
    const double x = std::fabs(value(form.sources[0], operand));
    if (form.name.starts_with("sin") || form.name.starts_with("cos")) return x <= 3.14159;
    if (form.name.starts_with("lg2")) return x < 0.5 || x > 2;
    return true;
}

// How far our results of approximate functions are from an H100's at most: in units in the last place, or absolute
// where PTX's bound is. docs/virtual-gpu.md tells users.
const std::map<std::string, double> farthest = {
    {"rcp.approx.f32", 1}, {"sqrt.approx.f32", 1},        {"rsqrt.approx.f32", 1},     {"ex2.approx.f32", 2},
    {"lg2.approx.f32", 2}, {"sin.approx.f32", 0x1.4p-22}, {"cos.approx.f32", 0x1p-22}, {"tanh.approx.f32", 119},
    {"ex2.approx.f16", 1}, {"tanh.approx.f16", 0x1p-11},  {"ex2.approx.bf16", 1},      {"tanh.approx.bf16", 0x1p-8},
};

std::string without_ftz(std::string name) {
    const std::size_t at = name.find(".ftz");
    return at == std::string::npos ? name : name.erase(at, 4);
}

double distance(const exact::Form& form, u64 ours, u64 theirs) {
    const double a = value(form.result, ours), b = value(form.result, theirs);
    if ((a != a && b != b) || ours == theirs) return 0;
    if (form.unit == 'a') return std::signbit(a) == std::signbit(b) ? std::fabs(a - b) : 1e9;
    return std::fabs(static_cast<double>(static_cast<std::int64_t>(ours) - static_cast<std::int64_t>(theirs)));
}

void compare(const std::string& family) {
    std::vector<exact::Form> forms;
    for (auto& f : exact::forms())
        if (f.family == family) forms.push_back(f);
    const auto records = read_records(family);
    CHECK(records.size() == forms.size());
    Runner runner(forms);
    for (std::size_t i = 0; i < forms.size(); ++i) {
        const exact::Form& form = forms[i];
        const auto sources = exact::operands(form);
        const auto bits = runner.run(i, sources);
        INFO(form.name << ": record it with vgpu-exact-record");
        REQUIRE(records.contains(form.name));
        const Record& record = records.at(form.name);
        double apart = 0;
        for (std::size_t k = 0; k < record.bits.size(); ++k) {
            if (form.error < 0) {
                if (bits[k] == record.bits[k]) continue;
                INFO(describe(form, sources, k)
                     << " gives " << std::hex << bits[k] << ", on the GPU " << record.bits[k]);
                CHECK(false);
                break;
            }
            if (!in_stated_range(form, sources[0][k])) continue;
            INFO(describe(form, sources, k) << " gives " << std::hex << bits[k] << ", on the GPU " << record.bits[k]);
            CHECK(deviation(form, sources[0][k], bits[k]) <= 1);
            CHECK(deviation(form, sources[0][k], record.bits[k]) <= 1);
            apart = std::max(apart, distance(form, bits[k], record.bits[k]));
        }
        if (form.error >= 0) {
            CHECK(apart == farthest.at(without_ftz(form.name)));
            continue;
        }
        REQUIRE(record.hashes.size() == exact::cases / exact::batch);
        for (std::size_t at = 0; at < exact::cases; at += exact::batch) {
            INFO(form.name << ": some of the cases " << at << " to " << at + exact::batch - 1 << " differ");
            const bool same = exact::hash(bits.data() + at, exact::batch) == record.hashes[at / exact::batch];
            CHECK(same);
            if (!same) break;
        }
    }
}

}  // namespace

TEST_CASE("integer arithmetic gives the GPU's bits") { compare("integer"); }
TEST_CASE("logic and bit fields give the GPU's bits") { compare("bits"); }
TEST_CASE("float arithmetic gives the GPU's bits") { compare("float"); }
TEST_CASE("double arithmetic gives the GPU's bits") { compare("double"); }
TEST_CASE("half arithmetic gives the GPU's bits") { compare("half"); }
TEST_CASE("comparison and selection give the GPU's bits") { compare("compare"); }
TEST_CASE("conversions give the GPU's bits") { compare("convert"); }
TEST_CASE("approximate functions stay within PTX's bounds and as near to the GPU's as documented") {
    compare("approx");
}

TEST_CASE("an operand more or less is refused") {
    unsigned tried = 0;
    for (exact::Form form : exact::forms()) {
        const std::string body = form.body;
        const auto end = body.rfind(';');
        const bool is_plain = body.starts_with(form.name + " %d, ") && body.find(';') == end;
        if (!is_plain || body.find('{') != std::string::npos) continue;
        ++tried;
        const auto message = [&](const std::string& changed) -> std::string {
            form.body = changed;
            try {
                Machine m(1, exact::ptx({form}));
                const auto data = m.upload(std::vector<u64>(2));
                m.launch(exact::kernel_name(0), {1}, {1}, data, data, data, data);
            } catch (const device::DeviceError& e) {
                return e.what();
            }
            return "";
        };
        CAPTURE(body);
        CHECK_THAT(message(body.substr(0, body.rfind(", ")) + ";"), Contains("operands, expected"));
        if (form.name.starts_with("set.")) continue;  // may combine with a predicate
        CHECK_THAT(message(body.substr(0, end) + ", %a;"), Contains("operands, expected"));
    }
    CHECK(tried > 300);
}
