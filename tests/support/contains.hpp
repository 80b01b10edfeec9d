// The substring matcher, under the name that both versions of Catch2 can have.
#pragma once

#include <string>

#include "judge/catch.hpp"

#if WG_CATCH_VERSION == 3
inline auto Contains(const std::string& part) { return Catch::Matchers::ContainsSubstring(part); }
#else
inline auto Contains(const std::string& part) { return Catch::Contains(part); }
#endif
