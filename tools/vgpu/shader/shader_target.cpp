#include "tools/vgpu/shader/shader_target.h"

namespace vgpu {
namespace {

constexpr ShaderTarget kTargets[] = {
    {"gfx900", false, false, false, AccFile::kNone, 0, 4, 4, 256},
    {"gfx906", false, false, false, AccFile::kNone, 0, 4, 4, 256},
    {"gfx908", false, false, false, AccFile::kSeparate, 0, 4, 4, 256},
    {"gfx90a", false, true, false, AccFile::kUnified, 0, 8, 4, 512},
    {"gfx942", false, true, true, AccFile::kUnified, 0, 8, 4, 512},
    {"gfx1100", true, true, true, AccFile::kNone, 8, 4, 2, 768},
    {"gfx1101", true, true, true, AccFile::kNone, 8, 4, 2, 768},
    {"gfx1102", true, true, true, AccFile::kNone, 8, 4, 2, 512},
    {"gfx1103", true, true, true, AccFile::kNone, 8, 4, 2, 512},
    {"gfx1150", true, true, true, AccFile::kNone, 8, 4, 2, 512},
    {"gfx1151", true, true, true, AccFile::kNone, 8, 4, 2, 768},
};

}  // namespace

const ShaderTarget* find_shader_target(std::string_view gfx) {
  for (const ShaderTarget& target : kTargets) {
    if (target.gfx == gfx) return &target;
  }
  return nullptr;
}

}  // namespace vgpu
