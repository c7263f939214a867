// LLVM's disassembler as the witness for ours.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace oracle {

struct Line {
  unsigned size = 0;  ///< bytes; 0 when LLVM does not accept the words
  std::string text;   ///< one line, single spaces, no comments
};

/// One LLVM disassembler for a processor. Needs AMDGPU in the LLVM library it is linked to.
class Llvm {
 public:
  Llvm(const std::string& cpu, const std::string& features);
  ~Llvm();
  Llvm(const Llvm&) = delete;
  Llvm& operator=(const Llvm&) = delete;

  Line disassemble(std::span<const uint32_t> words) const;

 private:
  void* context_;
};

/// Blanks collapsed, comments cut off.
std::string tidy(std::string_view text);

}  // namespace oracle
