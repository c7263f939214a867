// The library under test, loaded by dlopen(RTLD_LOCAL) as a plugin would. $BAREHIP_TEST_LIBRARY names it, its soname
// the generation.
#pragma once

#define __HIP_DISABLE_CPP_FUNCTIONS__  // the C names alone: their addresses are looked up

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include <hip/hip_runtime_api.h>

#include "tests/catch.h"

#undef hipGetDeviceProperties

inline std::string library_path() {
  const char* path = std::getenv("BAREHIP_TEST_LIBRARY");
  REQUIRE(path);
  return path;
}

inline int generation() {
  const std::string path = library_path();
  const char last = path.back();
  return last >= '5' && last <= '7' ? last - '0' : 6;
}

template <class Function>
Function* entry(const char* name) {
  static void* library = dlopen(library_path().c_str(), RTLD_NOW | RTLD_LOCAL);
  INFO("dlopen: " << (library ? "" : dlerror()));
  REQUIRE(library);
  auto* function = reinterpret_cast<Function*>(dlsym(library, name));
  INFO(name);
  REQUIRE(function);
  return function;
}

#define HIP(name) entry<decltype(name)>(#name)
