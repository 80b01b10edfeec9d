// The judge's question after the origin of outputs, as it travels to the device server: a few lines of JSON, and the
// bytes in a file that both map. The answer is part of the report (report.hpp).
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>

#include "device/descriptor.hpp"
#include "device/origin.hpp"

namespace warpgrade::device {

// The memory in which the bytes of a question travel: one for all questions that an asker has, since fresh pages cost
// more than what is copied into them. The answer has to be there before the next question is asked.
class OriginFile {
  public:
    // Throws std::system_error where the machine has no memory for it.
    OriginFile();
    ~OriginFile();
    OriginFile(const OriginFile&) = delete;
    OriginFile& operator=(const OriginFile&) = delete;
    // At least `bytes` bytes; what they held before is lost. Throws as the constructor does.
    std::byte* reserve(std::size_t bytes);
    [[nodiscard]] const Descriptor& descriptor() const { return file_; }

  private:
    Descriptor file_;
    void* data_ = nullptr;
    std::size_t bytes_ = 0;
};

struct OriginMessage {
    std::string question;  // JSON
    int file = -1;         // the asker's OriginFile
    int program = -1;      // the program's file, which the asker keeps open
};
// Throws std::system_error where the machine has no memory for the bytes.
OriginMessage origin_message(const OriginQuery& query, OriginFile& file);

// The other end of it. Throws std::exception for what is no question.
class OriginRequest {
  public:
    // `program` is mapped if somebody asks for it.
    OriginRequest(const nlohmann::json& question, const Descriptor& file, const Descriptor& program,
                  bool wants_program);
    [[nodiscard]] const OriginQuery& query() const { return query_; }

  private:
    // A file's bytes, as long as this lives.
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
