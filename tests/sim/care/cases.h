// The care tests' programs. kernels and host code are in cases.hip.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

/// Runs the case of that name and counts its wrong results. `modules`: what the case `code` loads in turn. Returns -1
/// when there is no such case.
int run_care_case(std::string_view name, std::span<char* const> modules, size_t& wrong);

/// Called before each launch of the case `arguments` when set.
inline void (*g_before_launch)() = nullptr;
