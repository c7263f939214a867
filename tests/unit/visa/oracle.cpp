#include "tests/unit/visa/oracle.h"

#include <llvm-c/Disassembler.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUDisassembler();
}

namespace oracle {

std::string tidy(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ';' || (c == '/' && i + 1 < text.size() && text[i + 1] == '/')) break;
    const bool blank = c == ' ' || c == '\t' || c == '\n';
    if (!blank)
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

Llvm::Llvm(const std::string& cpu, const std::string& features) {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUDisassembler();
  context_ =
      LLVMCreateDisasmCPUFeatures("amdgcn-amd-amdhsa", cpu.c_str(), features.c_str(), nullptr, 0, nullptr, nullptr);
  if (context_ == nullptr) throw std::runtime_error("LLVM has no disassembler for " + cpu);
}

Llvm::~Llvm() { LLVMDisasmDispose(context_); }

Line Llvm::disassemble(std::span<const uint32_t> words) const {
  std::vector<uint8_t> bytes(words.size_bytes());
  std::copy_n(reinterpret_cast<const uint8_t*>(words.data()), bytes.size(), bytes.begin());
  char text[512] = "";
  Line line;
  line.size = static_cast<unsigned>(LLVMDisasmInstruction(context_, bytes.data(), bytes.size(), 0, text, sizeof text));
  if (line.size != 0) line.text = tidy(text);
  return line;
}

}  // namespace oracle
