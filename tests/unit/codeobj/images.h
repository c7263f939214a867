// The images that the build makes from kernels.hip, as bytes.
#pragma once

#include <cstddef>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "tests/catch.h"

namespace images {

using Bytes = std::vector<std::byte>;

inline std::string read_text(const std::string& name) {
  std::ifstream file(std::string(TEST_IMAGE_DIR "/") + name, std::ios::binary);
  INFO(name);
  REQUIRE(file.is_open());
  return {std::istreambuf_iterator<char>(file), {}};
}

inline Bytes read(const std::string& name) {
  const std::string text = read_text(name);
  const auto* data = reinterpret_cast<const std::byte*>(text.data());
  return {data, data + text.size()};
}

inline const char* const kNames[] = {"gfx90a-v4", "gfx90a-v5", "gfx90a-v6", "gfx1100-v4", "gfx1100-v5", "gfx1100-v6"};

}  // namespace images
