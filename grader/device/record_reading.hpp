// Fields out of JSON, for records.cpp: each is what it should be, or a RecordError.
#pragma once

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "device/device.hpp"
#include "device/records.hpp"

namespace warpgrade::device::reading {

using nlohmann::json;

constexpr std::size_t max_text_bytes = 1 << 20;  // of one field, far above what a device writes

inline const json& member(const json& object, const char* name) {
    if (!object.is_object()) throw RecordError(std::string("expected an object with ") + name);
    const auto found = object.find(name);
    if (found == object.end()) throw RecordError(std::string("missing: ") + name);
    return *found;
}

[[noreturn]] inline void wrong(const char* name, const char* expected) {
    throw RecordError(std::string(name) + ": expected " + expected);
}

inline void read(const json& value, const char* name, std::string& field) {
    if (!value.is_string()) wrong(name, "a string");
    field = value.get<std::string>();
    if (field.size() > max_text_bytes) wrong(name, "a shorter string");
}

inline void read(const json& value, const char* name, double& field) {
    if (!value.is_number()) wrong(name, "a number");
    field = value.get<double>();
    if (!std::isfinite(field)) wrong(name, "a finite number");
}

inline void read(const json& value, const char* name, bool& field) {
    if (!value.is_boolean()) wrong(name, "true or false");
    field = value.get<bool>();
}

template <class T>
void read(const json& value, const char* name, T& field) requires std::is_integral_v<T> {
    if (!value.is_number_integer()) wrong(name, "an integer");
    if (value.is_number_unsigned()) {
        const auto number = value.get<std::uint64_t>();
        if (number > static_cast<std::uint64_t>(std::numeric_limits<T>::max())) wrong(name, "a smaller number");
        field = static_cast<T>(number);
    } else {
        const auto number = value.get<std::int64_t>();  // the library stores negative numbers here
        if (std::is_unsigned_v<T> || number < static_cast<std::int64_t>(std::numeric_limits<T>::min()))
            wrong(name, "a larger number");
        field = static_cast<T>(number);
    }
}

inline void read(const json& value, const char* name, Dim3& field) {
    if (!value.is_array() || value.size() != 3) wrong(name, "three numbers");
    read(value[0], name, field.x), read(value[1], name, field.y), read(value[2], name, field.z);
}

// In records.cpp.
void read(const json& value, const char* name, SourcePlace& field);
void read(const json& value, const char* name, std::optional<ThreadPlace>& field);

template <class T>
void read_member(const json& object, const char* name, T& field) {
    read(member(object, name), name, field);
}

// An array of at most `limit` items, each made by `item_from`.
template <class ItemFrom>
auto list_from_json(const json& value, const char* name, std::size_t limit, ItemFrom item_from) {
    if (!value.is_array() || value.size() > limit) wrong(name, "an array");
    std::vector<decltype(item_from(value))> items;
    for (const json& item : value) items.push_back(item_from(item));
    return items;
}

}  // namespace warpgrade::device::reading
