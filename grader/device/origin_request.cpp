#include "device/origin_request.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include "device/records.hpp"

namespace warpgrade::device {
namespace {

using nlohmann::json;

constexpr std::size_t smallest_file = std::size_t{64} << 10;
constexpr unsigned last_kind = 2;

}  // namespace

OriginFile::OriginFile() : file_(memfd_create("origin", MFD_CLOEXEC)) {
    if (!file_) throw std::system_error(errno, std::generic_category(), "cannot allocate memory for the origin");
}

OriginFile::~OriginFile() {
    if (data_) munmap(data_, bytes_);
}

std::byte* OriginFile::reserve(std::size_t bytes) {
    if (data_ && bytes <= bytes_) return static_cast<std::byte*>(data_);  // a query without bytes has a file, too
    bytes = std::bit_ceil(std::max(bytes, smallest_file));
    if (ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0)
        throw std::system_error(errno, std::generic_category(), "cannot allocate memory for the origin");
    void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
    if (data == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "cannot map the origin");
    if (data_) munmap(data_, bytes_);
    data_ = data;
    bytes_ = bytes;
    return static_cast<std::byte*>(data);
}

OriginMessage make_origin_message(const OriginQuery& query, OriginFile& file) {
    std::vector<std::pair<std::size_t, std::span<const std::byte>>> parts;
    std::size_t total = 0;
    const auto place = [&](std::span<const std::byte> bytes) {
        const std::size_t at = total;
        parts.emplace_back(at, bytes);
        total += (bytes.size() + 63) / 64 * 64;
        return fmt::format("[{},{}]", at, bytes.size());
    };
    std::string buffers, scalars;  // building a JSON document would take longer than all the rest
    for (const OriginBuffer& buffer : query.buffers) {
        const std::string before = place(buffer.before), after = place(buffer.after), other = place(buffer.other),
                          other_after = place(buffer.other_after);
        buffers += fmt::format(
            R"({}{{"kind":{},"argument":{},"element_bytes":{},"before":{},"after":{},"other":{},"other_after":{}}})",
            buffers.empty() ? "" : ",", static_cast<unsigned>(buffer.kind), buffer.argument, buffer.element_bytes,
            before, after, other, other_after);
    }
    for (const OriginScalar& scalar : query.scalars)
        scalars += fmt::format("{}[{},{},{}]", scalars.empty() ? "" : ",", scalar.bits, scalar.bytes, scalar.whole);
    OriginMessage message;
    message.question =
        fmt::format(R"({{"buffers":[{}],"scalars":[{}],"program_images":[{}]{}}})", buffers, scalars,
                    fmt::join(query.program_images, ","),
                    query.result ? fmt::format(R"(,"result":[{},{},{},{}])",
                                               query.result->type == OriginQuery::Result::Type::floating,
                                               query.result->bytes, query.result->bits, query.result->other_bits)
                                 : "");
    message.file = file.descriptor().get();
    std::byte* const begin = file.reserve(total);
    for (const auto& [at, bytes] : parts)
        if (!bytes.empty()) std::memcpy(begin + at, bytes.data(), bytes.size());
    return message;
}

OriginRequest::Mapping::Mapping(const Descriptor& file, const char* missing) {
    struct stat info {};
    if (!file || fstat(file.get(), &info) != 0 || info.st_size <= 0) throw std::runtime_error(missing);
    const auto size = static_cast<std::size_t>(info.st_size);
    void* data = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
    if (data == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "cannot map the origin");
    bytes_ = {static_cast<const std::byte*>(data), size};
}

OriginRequest::Mapping::~Mapping() {
    if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

OriginRequest::OriginRequest(const json& question, const Descriptor& file, const Descriptor& program,
                             bool wants_program)
    : data_(file, "its file is missing") {
    for (const json& entry : question.at("buffers")) {
        OriginBuffer buffer;
        const auto kind = entry.at("kind").get<unsigned>();
        if (kind > last_kind) throw std::runtime_error("unknown kind of buffer");
        buffer.kind = static_cast<OriginBuffer::Kind>(kind);
        buffer.argument = entry.at("argument").get<unsigned>();
        buffer.element_bytes = std::max(entry.at("element_bytes").get<unsigned>(), 1u);
        buffer.before = range(entry.at("before"));
        buffer.after = range(entry.at("after"));
        buffer.other = range(entry.at("other"));
        buffer.other_after = range(entry.at("other_after"));
        query_.buffers.push_back(buffer);
    }
    for (const json& entry : question.at("scalars"))
        query_.scalars.push_back(
            {entry.at(0).get<std::uint64_t>(), std::min(entry.at(1).get<unsigned>(), 8u), entry.at(2).get<bool>()});
    if (wants_program) {
        program_ = Mapping(program, "the program's file is missing");
        query_.program = program_.bytes();
    }
    query_.program_images = question.at("program_images").get<std::vector<std::uint64_t>>();
    if (const auto result = question.find("result"); result != question.end())
        query_.result = {
            result->at(0).get<bool>() ? OriginQuery::Result::Type::floating : OriginQuery::Result::Type::whole,
            result->at(1).get<unsigned>(), result->at(2).get<std::uint64_t>(), result->at(3).get<std::uint64_t>()};
}

std::span<const std::byte> OriginRequest::range(const json& place) const {
    const auto at = place.at(0).get<std::size_t>(), bytes = place.at(1).get<std::size_t>();
    if (at > data_.bytes().size() || bytes > data_.bytes().size() - at)
        throw std::runtime_error("a range outside of its file");
    return data_.bytes().subspan(at, bytes);
}

json to_json(const OriginVerdict& verdict) {
    std::vector<unsigned> sample;
    for (const std::byte byte : verdict.sample) sample.push_back(static_cast<unsigned>(byte));
    return {{"problem", static_cast<unsigned>(verdict.problem)},
            {"argument", verdict.argument},
            {"element", verdict.element},
            {"elsewhere", verdict.elsewhere},
            {"bytes", verdict.bytes},
            {"came", sample},
            {"mapped", verdict.mapped},
            {"decision", verdict.decision},
            {"compared", verdict.compared},
            {"needs_kernels", verdict.needs_kernels},
            {"changes", verdict.changes},
            {"not_part", verdict.not_part}};
}

}  // namespace warpgrade::device
