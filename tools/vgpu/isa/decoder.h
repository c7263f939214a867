// From instruction words to Inst, for every target of the table.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tools/vgpu/isa/inst.h"

namespace vgpu {

/// Instruction sets that differ. Every target of a family that is not named decodes like one that is.
enum class IsaTarget : uint8_t { kGfx900, kGfx906, kGfx908, kGfx90a, kGfx942, kGfx1100, kGfx1151, kCount };

/// By processor name ("gfx90a", "gfx1103"); nothing for a target that the table does not have.
std::optional<IsaTarget> find_isa_target(std::string_view name);

inline bool is_gfx11(IsaTarget target) { return target >= IsaTarget::kGfx1100; }

/// The operation with this assembler mnemonic (of either family, without _e32, _e64, _dpp or _sdwa) or enumerator
/// name. Op::kNone when there is none. Cost: a hash look-up.
Op find_op(std::string_view mnemonic);

/// The enumerator's name.
std::string_view op_name(Op op);

/// What this target's assembler calls the operation; empty where the target does not have it.
std::string_view op_mnemonic(Op op, IsaTarget target);

class Decoder {
 public:
  explicit Decoder(IsaTarget target);
  ~Decoder();

  IsaTarget target() const { return target_; }

  /// Decodes one instruction. `words` should hold 4 dwords where the code has as many (a literal or DPP word may
  /// follow). False for words that are no instruction of this target, or that end too early: `inst.op` is
  /// Op::kNone then and `inst.size` says how far a listing may skip.
  /// `wave32` decides how many SGPRs a lane mask has. Cost: about 50 ns, no allocation. Thread safe.
  bool decode(std::span<const uint32_t> words, bool wave32, Inst& inst) const;

  /// Assembler text as LLVM prints it ("v_add_f32_e32 v0, s1, v2"). Branch targets are printed as their simm16.
  std::string text(const Inst& inst) const;

  struct Tables;  ///< internal

 private:
  IsaTarget target_;
  std::unique_ptr<const Tables> tables_;
};

}  // namespace vgpu
