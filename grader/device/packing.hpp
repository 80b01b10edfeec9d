// Structures as bytes, for the judge and its device server, which come from one build or one format of handouts. In
// report.cpp, fields(archive, object) lists an object's fields for both directions: the archive is a Packer or an
// Unpacker.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "device/records.hpp"

namespace warpgrade::device {

class RecordError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

class Packer {
  public:
    static constexpr bool reads = false;

    template <class... Fields>
    void operator()(const Fields&... all) {
        (put(all), ...);
    }
    template <class T>
    void list(const std::vector<T>& items, std::size_t) {
        put(static_cast<std::uint32_t>(items.size()));
        for (const T& item : items) put(item);
    }
    void list(const std::set<std::string>& items, std::size_t) {
        put(static_cast<std::uint32_t>(items.size()));
        for (const std::string& item : items) put(item);
    }
    template <class Enum>
    void enumerator(Enum value, Enum) {
        put(static_cast<std::uint8_t>(value));
    }
    void time(double value) { put(value); }
    // Text of any length, such as a program's output.
    void output(std::string_view text) {
        put(static_cast<std::uint32_t>(text.size()));
        bytes_ += text;
    }
    [[nodiscard]] std::string take() { return std::move(bytes_); }

  private:
    template <class T>
    void put(const T& value) {
        if constexpr (std::is_floating_point_v<T>) {
            append(std::isfinite(value) ? value : T{});  // JSON has no infinity either
        } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::byte>) {
            append(value);
        } else {
            fields(*this, const_cast<T&>(value));  // one list for both directions cannot be const
        }
    }
    void put(const std::string& text) { output(text.size() <= max_string_bytes ? text : shorten(text)); }
    template <class T>
    void put(const std::optional<T>& value) {
        put(value.has_value());
        if (value) put(*value);
    }
    template <class T>
    void append(T value) {
        char bytes[sizeof value];
        std::memcpy(bytes, &value, sizeof value);
        bytes_.append(bytes, sizeof value);
    }
    std::string bytes_;
};

// For bytes that a damaged or captured process may have written. It never reads past their end, allocates no more than
// they hold, and throws RecordError for every defect.
class Unpacker {
  public:
    static constexpr bool reads = true;
    // Far above what a device writes: bytes of one field, and items of all lists together.
    static constexpr std::size_t max_text_bytes = 1 << 20, max_items = 1 << 20;

    explicit Unpacker(std::string_view bytes) : rest_(bytes) {}

    template <class... Fields>
    void operator()(Fields&... all) {
        (get(all), ...);
    }
    template <class T>
    void list(std::vector<T>& items, std::size_t limit) {
        const std::size_t count = size_of_list(limit);
        items.reserve(std::min<std::size_t>(count, 64));
        for (std::size_t i = 0; i < count; ++i) get(items.emplace_back());
    }
    void list(std::set<std::string>& items, std::size_t limit) {
        for (std::size_t left = size_of_list(limit); left > 0; --left) {
            std::string item;
            get(item);
            items.insert(std::move(item));
        }
    }
    template <class Enum>
    void enumerator(Enum& value, Enum last) {
        const auto number = take<std::uint8_t>();
        if (number > static_cast<std::uint8_t>(last)) throw RecordError("a choice that there is not");
        value = static_cast<Enum>(number);
    }
    void time(double& value) {
        get(value);
        if (value < 0) throw RecordError("time before the start");
    }
    void output(std::string& text) { text = to_valid_utf8(bytes(take<std::uint32_t>())); }
    void expect_end() const {
        if (!rest_.empty()) throw RecordError("more than a report");
    }

  private:
    template <class T>
    void get(T& value) {
        if constexpr (std::is_same_v<T, bool>) {
            const auto number = take<std::uint8_t>();
            if (number > 1) throw RecordError("expected true or false");
            value = number != 0;
        } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::byte>) {
            value = take<T>();
            if constexpr (std::is_floating_point_v<T>)
                if (!std::isfinite(value)) throw RecordError("expected a finite number");
        } else {
            fields(*this, value);
        }
    }
    void get(std::string& text) {
        output(text);
        if (text.size() > max_text_bytes) throw RecordError("expected a shorter text");
    }
    template <class T>
    void get(std::optional<T>& value) {
        bool there = false;
        get(there);
        if (there) get(value.emplace());
    }
    template <class T>
    T take() {
        T value;
        std::memcpy(&value, bytes(sizeof value).data(), sizeof value);
        return value;
    }
    std::string_view bytes(std::size_t size) {
        if (size > rest_.size()) throw RecordError("it ends too early");
        const auto result = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return result;
    }
    std::size_t size_of_list(std::size_t limit) {
        const auto count = take<std::uint32_t>();
        items_ += count;
        if (count > limit || items_ > max_items) throw RecordError("expected a shorter list");
        return count;
    }
    std::string_view rest_;
    std::size_t items_ = 0;
};

}  // namespace warpgrade::device
