// One AMDGPU code object (ELF64, version 4, 5 or 6): what it needs, what is in it, and how its bytes get into memory.
//
// Formats follow the ELF specification and LLVM's AMDGPU usage document (code object versions, metadata). Nothing in
// the input is trusted: every malformed image gives kInvalidImage with the name and file offset of what is wrong.
#pragma once

#include <barehip/error.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codeobj/hidden_arguments.h"
#include "codeobj/kernel_descriptor.h"
#include "codeobj/target.h"

namespace barehip::codeobj {

struct KernelArgument {
  std::string name;     ///< often empty: clang writes it only on request
  uint32_t offset = 0;  ///< bytes from the start of the kernarg segment
  uint32_t size = 0;    ///< bytes
  ValueKind kind = ValueKind::kByValue;
};

struct Kernel {
  std::string name;                ///< as in the source, mangled: "_Z4vaddPKfS0_Pfi"
  std::string symbol;              ///< name of the descriptor: "_Z4vaddPKfS0_Pfi.kd"
  uint64_t descriptor_offset = 0;  ///< from the load address; load address plus this is the kernel_object
  KernelDescriptor descriptor{};

  uint32_t kernarg_bytes = 0;  ///< explicit and hidden
  uint32_t kernarg_align = 1;
  uint32_t group_bytes = 0;    ///< static LDS per work-group
  uint32_t private_bytes = 0;  ///< per work-item; with uses_dynamic_stack a lower bound
  bool uses_dynamic_stack = false;
  uint32_t wavefront_size = 64;
  uint32_t sgpr_count = 0, vgpr_count = 0, agpr_count = 0;
  uint32_t sgpr_spill_count = 0, vgpr_spill_count = 0;
  uint32_t max_flat_workgroup_size = 0;               ///< work-items; 0: not said
  std::array<uint32_t, 3> required_workgroup_size{};  ///< 0: not said

  std::vector<KernelArgument> arguments;  ///< explicit ones first, as in the metadata
  uint32_t explicit_count = 0;            ///< how many of them the program passes
  uint32_t explicit_bytes = 0;            ///< end of the last explicit argument
};

struct Variable {
  std::string name;
  uint64_t offset = 0;  ///< from the load address
  uint64_t size = 0;    ///< bytes
  bool writable = false;
};

/// A range of the loaded image with one set of permissions.
struct Segment {
  uint64_t offset = 0;        ///< from the load address
  uint64_t memory_bytes = 0;  ///< file bytes, then zeros
  uint64_t file_offset = 0;
  uint64_t file_bytes = 0;
  bool write = false;
  bool execute = false;
};

/// Address of an undefined symbol, or 0 when it is not known. A weak undefined symbol that is not known becomes 0.
using SymbolResolver = std::function<uint64_t(std::string_view name)>;

/// Immutable after parse(); may be read from any thread. It refers to the bytes given to parse(), which must live as
/// long as place() is called; everything else is owned.
class CodeObject {
 public:
  /// Cost: linear in symbols and metadata; memory bounded by a multiple of the image's metadata and symbol tables.
  /// Errors: kInvalidImage, kNotSupported (code object version 2 or 3).
  static Result<CodeObject> parse(std::span<const std::byte> elf);

  [[nodiscard]] const TargetId& target() const { return target_; }
  [[nodiscard]] unsigned version() const { return version_; }                 ///< 4, 5 or 6
  [[nodiscard]] uint8_t generic_version() const { return generic_version_; }  ///< 0 unless for a generic target

  /// What to allocate: one range of executable GPU memory.
  [[nodiscard]] uint64_t load_bytes() const { return load_bytes_; }
  [[nodiscard]] uint64_t load_alignment() const { return load_alignment_; }  ///< 4096 at least
  [[nodiscard]] std::span<const Segment> segments() const { return segments_; }

  [[nodiscard]] std::span<const Kernel> kernels() const { return kernels_; }
  [[nodiscard]] std::span<const Variable> variables() const { return variables_; }
  [[nodiscard]] const Kernel* find_kernel(std::string_view name) const;  ///< with or without ".kd"; null: none
  [[nodiscard]] const Variable* find_variable(std::string_view name) const;
  [[nodiscard]] std::span<const std::string> printf_formats() const { return printf_formats_; }

  /// Writes the image as it shall lie at GPU address `load_address` into `out` (load_bytes() long, any contents
  /// before): segments, zeros between and after them, relocations applied. `out` may be mapped VRAM: it is written
  /// once, front to back, except relocated words. Errors: kInvalidArgument (size, alignment), kInvalidImage (a
  /// relocation that is unknown or outside), kNotFound (an undefined symbol that `resolve` does not know).
  Result<void> place(uint64_t load_address, std::span<std::byte> out, const SymbolResolver& resolve = {}) const;

 private:
  struct Relocation {
    uint64_t offset = 0;  ///< from the load address
    uint32_t type = 0;
    int64_t addend = 0;
    bool defined = false;
    bool weak = false;
    uint64_t symbol_offset = 0;
    std::string symbol;  ///< set when undefined
  };
  friend class Loader;

  std::span<const std::byte> elf_;
  TargetId target_;
  unsigned version_ = 0;
  uint8_t generic_version_ = 0;
  uint64_t load_bytes_ = 0;
  uint64_t load_alignment_ = 4096;
  std::vector<Segment> segments_;
  std::vector<Kernel> kernels_;
  std::vector<Variable> variables_;
  std::vector<Relocation> relocations_;
  std::vector<std::string> printf_formats_;
};

}  // namespace barehip::codeobj
