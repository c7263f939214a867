// Catch2 version 2 and version 3 under one name. The `catch_dep` of tests/meson.build brings the main function.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
