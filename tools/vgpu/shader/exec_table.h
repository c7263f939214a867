// Which function executes which instruction: the lists that the shader rooms contribute to the one table.
//
// Rooms list their instructions by assembler mnemonic; the decoder's tables (tools/vgpu/isa) turn mnemonics into
// operation numbers once, when an engine is made, and every decoded Inst then carries its function. A mnemonic of
// several targets (gfx9 ds_read_b32, gfx11 ds_load_b32) is listed once per name. What no list names is refused when
// it is executed, with its text; it is never skipped.
#pragma once

#include <span>
#include <string_view>

#include "tools/vgpu/isa/inst.h"
#include "tools/vgpu/shader/wave.h"

namespace vgpu {

struct ExecEntry {
  std::string_view mnemonic;  ///< without encoding suffix (_e32, _e64, _dpp, _sdwa)
  ExecFn function;
};

// SALU, branches, messages; scalar memory; flat, global and scratch; LDS; buffers. Static storage, never changes.
std::span<const ExecEntry> salu_exec_entries();
std::span<const ExecEntry> program_exec_entries();
std::span<const ExecEntry> smem_exec_entries();
std::span<const ExecEntry> flat_exec_entries();
std::span<const ExecEntry> ds_exec_entries();
std::span<const ExecEntry> buffer_exec_entries();
std::span<const ExecEntry> valu_exec_entries();  ///< tools/vgpu/isa

/// The function for a decoded instruction, from all the lists. Never null: what is missing is refused when executed.
ExecFn exec_function(const Inst& inst);

/// Whether some list has the operation (a few forms of it may still be refused, see docs/vgpu_isa.md).
bool is_executed(Op op);

}  // namespace vgpu
