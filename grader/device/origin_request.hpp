// The judge's question after the origin of outputs, as it travels to the device server: a few lines of JSON, and the
// bytes in a file that both map. The answer is JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "device/descriptor.hpp"
#include "device/origin_check.hpp"

namespace warpgrade::device {

struct OriginMessage {
    nlohmann::json question;
    Descriptor file;
    int program = -1;  // the program's file, which the asker keeps open
};
// Throws std::system_error where the machine has no memory for the file.
OriginMessage origin_message(const OriginQuery& query);

// The other end of it. Throws std::exception for what is no question.
class OriginRequest {
  public:
    // `program` is mapped if somebody asks for it.
    OriginRequest(const nlohmann::json& question, const Descriptor& file, const Descriptor& program,
                  bool wants_program);
    ~OriginRequest();
    OriginRequest(const OriginRequest&) = delete;
    OriginRequest& operator=(const OriginRequest&) = delete;
    [[nodiscard]] const OriginQuery& query() const { return query_; }

  private:
    void unmap() noexcept;
    [[nodiscard]] std::span<const std::byte> range(const nlohmann::json& place) const;
    void* data_ = nullptr;
    std::size_t bytes_ = 0;
    void* program_ = nullptr;
    std::size_t program_bytes_ = 0;
    OriginQuery query_;
};

nlohmann::json to_json(const OriginVerdict& verdict);
OriginVerdict origin_verdict_from_json(const nlohmann::json& json);

}  // namespace warpgrade::device
