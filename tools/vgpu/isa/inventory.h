// What a target's instruction set consists of, and how much of it the model executes and the tests witness.
#pragma once

#include <string>
#include <vector>

#include "tools/vgpu/isa/decoder.h"

namespace vgpu {

/// One assembler mnemonic of a target. The halves of dual instructions count on their own ("v_dual_add_f32").
struct Mnemonic {
  std::string text;
  Op op;
};

/// All of a target, sorted by text. Cost: walks the whole table.
std::vector<Mnemonic> target_mnemonics(IsaTarget target);

/// Who vouches for the operation's results among the test vectors, one letter each: h read from hardware, p part of a
/// program that ran on hardware, r two independent references, d derived from documents and tables, f the compiler's
/// constant folding, e one other emulator alone. Empty: nobody outside this project.
std::string_view op_witnesses(Op op);

}  // namespace vgpu
