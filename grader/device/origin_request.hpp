// The origin query as it travels to the device server: JSON, and a file with the bytes that both processes map. The
// verdict is part of the report (report.hpp).
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>

#include "device/descriptor.hpp"
#include "device/origin.hpp"

namespace warpgrade::device {

// The memory in which the bytes of a query travel. The judge uses one for all its queries, one after the other, because
// fresh pages cost more than the copies into them. All throw std::system_error if the machine is out of memory.
class OriginFile {
  public:
    OriginFile();
    ~OriginFile();
    OriginFile(const OriginFile&) = delete;
    OriginFile& operator=(const OriginFile&) = delete;
    // Returns at least `bytes` bytes with unspecified contents.
    std::byte* reserve(std::size_t bytes);
    [[nodiscard]] const Descriptor& descriptor() const { return file_; }

  private:
    Descriptor file_;
    void* data_ = nullptr;
    std::size_t bytes_ = 0;
};

struct OriginMessage {
    std::string question;  // JSON
    int file = -1;         // the judge's OriginFile
    int program = -1;      // the program's file, which the judge keeps open
};
OriginMessage make_origin_message(const OriginQuery& query, OriginFile& file);

// The query as the device server receives it. Throws std::exception if it is malformed.
class OriginRequest {
  public:
    OriginRequest(const nlohmann::json& question, const Descriptor& file, const Descriptor& program,
                  bool wants_program);
    [[nodiscard]] const OriginQuery& query() const { return query_; }

  private:
    class Mapping {
      public:
        Mapping() = default;
        Mapping(const Descriptor& file, const char* missing);
        ~Mapping();
        Mapping(Mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
        Mapping& operator=(Mapping&& other) noexcept { return std::swap(bytes_, other.bytes_), *this; }
        [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

      private:
        std::span<const std::byte> bytes_;
    };
    [[nodiscard]] std::span<const std::byte> range(const nlohmann::json& place) const;
    Mapping data_, program_;
    OriginQuery query_;
};

nlohmann::json to_json(const OriginVerdict& verdict);

}  // namespace warpgrade::device
