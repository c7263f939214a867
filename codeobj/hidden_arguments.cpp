#include "codeobj/hidden_arguments.h"

#include <algorithm>
#include <array>

namespace barehip::codeobj {
namespace {

using K = ValueKind;

struct Name {
  std::string_view text;
  ValueKind kind;
};

constexpr std::array kNames = std::to_array<Name>({
    {"by_value", K::kByValue},
    {"global_buffer", K::kGlobalBuffer},
    {"dynamic_shared_pointer", K::kDynamicSharedPointer},
    {"sampler", K::kSampler},
    {"image", K::kImage},
    {"pipe", K::kPipe},
    {"queue", K::kQueue},
    {"hidden_none", K::kHiddenNone},
    {"hidden_global_offset_x", K::kHiddenGlobalOffsetX},
    {"hidden_global_offset_y", K::kHiddenGlobalOffsetY},
    {"hidden_global_offset_z", K::kHiddenGlobalOffsetZ},
    {"hidden_block_count_x", K::kHiddenBlockCountX},
    {"hidden_block_count_y", K::kHiddenBlockCountY},
    {"hidden_block_count_z", K::kHiddenBlockCountZ},
    {"hidden_group_size_x", K::kHiddenGroupSizeX},
    {"hidden_group_size_y", K::kHiddenGroupSizeY},
    {"hidden_group_size_z", K::kHiddenGroupSizeZ},
    {"hidden_remainder_x", K::kHiddenRemainderX},
    {"hidden_remainder_y", K::kHiddenRemainderY},
    {"hidden_remainder_z", K::kHiddenRemainderZ},
    {"hidden_grid_dims", K::kHiddenGridDims},
    {"hidden_printf_buffer", K::kHiddenPrintfBuffer},
    {"hidden_hostcall_buffer", K::kHiddenHostcallBuffer},
    {"hidden_multigrid_sync_arg", K::kHiddenMultigridSyncArg},
    {"hidden_heap_v1", K::kHiddenHeapV1},
    {"hidden_default_queue", K::kHiddenDefaultQueue},
    {"hidden_completion_action", K::kHiddenCompletionAction},
    {"hidden_dynamic_lds_size", K::kHiddenDynamicLdsSize},
    {"hidden_private_base", K::kHiddenPrivateBase},
    {"hidden_shared_base", K::kHiddenSharedBase},
    {"hidden_queue_ptr", K::kHiddenQueuePtr},
});

// Slot 24 of version 4 serves printf or hostcall, whichever the module uses; hostcall is HIP's.
constexpr std::array kVersion4 = std::to_array<HiddenArgument>({
    {K::kHiddenGlobalOffsetX, 0, 8},
    {K::kHiddenGlobalOffsetY, 8, 8},
    {K::kHiddenGlobalOffsetZ, 16, 8},
    {K::kHiddenHostcallBuffer, 24, 8},
    {K::kHiddenDefaultQueue, 32, 8},
    {K::kHiddenCompletionAction, 40, 8},
    {K::kHiddenMultigridSyncArg, 48, 8},
});

constexpr std::array kVersion5 = std::to_array<HiddenArgument>({
    {K::kHiddenBlockCountX, 0, 4},        {K::kHiddenBlockCountY, 4, 4},      {K::kHiddenBlockCountZ, 8, 4},
    {K::kHiddenGroupSizeX, 12, 2},        {K::kHiddenGroupSizeY, 14, 2},      {K::kHiddenGroupSizeZ, 16, 2},
    {K::kHiddenRemainderX, 18, 2},        {K::kHiddenRemainderY, 20, 2},      {K::kHiddenRemainderZ, 22, 2},
    {K::kHiddenGlobalOffsetX, 40, 8},     {K::kHiddenGlobalOffsetY, 48, 8},   {K::kHiddenGlobalOffsetZ, 56, 8},
    {K::kHiddenGridDims, 64, 2},          {K::kHiddenPrintfBuffer, 72, 8},    {K::kHiddenHostcallBuffer, 80, 8},
    {K::kHiddenMultigridSyncArg, 88, 8},  {K::kHiddenHeapV1, 96, 8},          {K::kHiddenDefaultQueue, 104, 8},
    {K::kHiddenCompletionAction, 112, 8}, {K::kHiddenDynamicLdsSize, 120, 4}, {K::kHiddenPrivateBase, 192, 4},
    {K::kHiddenSharedBase, 196, 4},       {K::kHiddenQueuePtr, 200, 8},
});

}  // namespace

ValueKind parse_value_kind(std::string_view text) {
  const auto* it = std::ranges::find(kNames, text, &Name::text);
  return it == kNames.end() ? ValueKind::kUnknown : it->kind;
}

std::string_view to_string(ValueKind kind) {
  const auto* it = std::ranges::find(kNames, kind, &Name::kind);
  return it == kNames.end() ? std::string_view("unknown") : it->text;
}

std::span<const HiddenArgument> hidden_arguments(unsigned code_object_version) {
  if (code_object_version == 4) return kVersion4;
  if (code_object_version == 5 || code_object_version == 6) return kVersion5;
  return {};
}

}  // namespace barehip::codeobj
