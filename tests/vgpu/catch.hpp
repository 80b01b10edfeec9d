// Catch2, version 2 or 3, with the matcher that these tests use and the versions name differently.
#pragma once

#include <string>

#include "judge/catch.hpp"
#if WG_CATCH_VERSION == 3
#include <catch2/matchers/catch_matchers_string.hpp>
inline auto contains(const std::string& part) { return Catch::Matchers::ContainsSubstring(part); }
#else
inline auto contains(const std::string& part) { return Catch::Contains(part); }
#endif
