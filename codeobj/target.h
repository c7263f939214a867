// The one table of GPU targets. The code object loader, the command processor model, the shader model and the error
// texts all read it; nothing else in the tree compares generations.
//
// Values follow LLVM's AMDGPU usage document (processors, features, ELF header flags); the tests compare them with
// LLVM's own headers and with what its compiler emits.
#pragma once

#include <barehip/error.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace barehip::codeobj {

struct Target {
  std::string_view name;        ///< "gfx90a"
  uint8_t elf_mach;             ///< EF_AMDGPU_MACH, low byte of e_flags
  uint32_t gfx_target_version;  ///< as in the KFD topology: major * 10000 + minor * 100 + step, decimal
  std::string_view generic;     ///< the generic target whose code it also runs, "" for none
  uint8_t generic_version;      ///< the version of that generic target which took this one in: older code may not run

  bool xnack;    ///< has the xnack feature (retry of translation faults)
  bool sramecc;  ///< has the sramecc feature

  bool wave32;           ///< runs 32-lane waves as well as 64-lane waves
  uint8_t default_wave;  ///< lanes that compilers choose when not told
  uint8_t max_waves_per_simd;
  uint8_t simds_per_cu;

  uint16_t total_vgprs;           ///< per SIMD and lane, for 64-lane waves (twice that for 32-lane waves)
  uint8_t vgpr_encoding_granule;  ///< 64-lane waves; rsrc1 holds count / granule - 1. 32-lane waves: twice that
  uint8_t vgpr_alloc_granule;     ///< 64-lane waves; what hardware rounds up to. 32-lane waves: twice that
  uint16_t total_sgprs;           ///< per SIMD; 0 where every wave has a fixed set
  uint8_t sgpr_alloc_granule;     ///< 0 where every wave has a fixed set
  uint8_t addressable_sgprs;      ///< s0 to this minus 1
  bool unified_vgprs;             ///< vector and accumulation registers share one file (rsrc3 has ACCUM_OFFSET)
  bool accumulation_vgprs;        ///< has AccVGPRs

  uint32_t lds_bytes;             ///< per work-group at most
  uint16_t lds_granule;           ///< bytes
  bool architected_flat_scratch;  ///< hardware presets FLAT_SCRATCH; no scratch SGPRs
  bool packed_workitem_ids;       ///< x, y, z in 10-bit fields of v0
  bool kernarg_preload;           ///< the descriptor may ask for kernel arguments in SGPRs
  bool tg_split;                  ///< rsrc3 has TG_SPLIT
  bool cu_mode_bit;               ///< rsrc1 has WGP_MODE and MEM_ORDERED
  bool init16_bug;                ///< 32-lane waves need user and system SGPRs to be 16 at least (gfx1100, gfx1102)

  [[nodiscard]] constexpr unsigned major() const { return gfx_target_version / 10000; }
  [[nodiscard]] constexpr unsigned minor() const { return gfx_target_version / 100 % 100; }
  [[nodiscard]] constexpr unsigned stepping() const { return gfx_target_version % 100; }
};

/// All targets that barehip runs code for. Static data, no cost.
std::span<const Target> targets();

/// Null when barehip does not know the target. Cost: a scan of about ten rows.
const Target* find_target(std::string_view name);
const Target* find_target_by_mach(uint8_t elf_mach);
const Target* find_target_by_version(uint32_t gfx_target_version);

/// Name of any known e_flags machine, also of those that barehip does not run ("gfx1030", "gfx11-generic");
/// "" when unknown.
std::string_view mach_name(uint8_t elf_mach);
/// True for "gfx9-generic" and its like.
bool is_generic_name(std::string_view processor);

/// State of the xnack or sramecc feature. Of code: what it was compiled for (kAny runs on both). Of a GPU: kOn or
/// kOff (kUnsupported where the target has no such feature).
enum class Feature : uint8_t { kUnsupported = 0, kAny = 1, kOff = 2, kOn = 3 };  // numbers of e_flags, v4 and later

struct TargetId {
  std::string processor;  ///< "gfx90a"; not necessarily a target that barehip knows
  Feature xnack = Feature::kUnsupported;
  Feature sramecc = Feature::kUnsupported;

  bool operator==(const TargetId&) const = default;
};

/// Parses "gfx90a", "gfx90a:xnack-", "gfx90a:sramecc+:xnack-". A feature that is not named is kAny where the target
/// has it (or where barehip does not know the target). Error kInvalidImage: empty or bad processor, feature unknown,
/// not of this target, named twice, or without its sign.
Result<TargetId> parse_target_id(std::string_view text);

/// The canonical text: features in alphabetical order, kAny and kUnsupported left out.
std::string to_string(const TargetId& id);

/// How well code suits a GPU. The selection takes the highest.
enum class Match : uint8_t {
  kNone = 0,
  kGeneric = 1,    ///< code for a generic target that this GPU belongs to
  kProcessor = 2,  ///< right processor, features any
  kSpecific = 3,   ///< right processor, at least one feature named and equal
};

/// `generic_version` is e_flags[31:24] of generic code, 0 when unknown (a bundle entry does not tell it).
Match match(const TargetId& code, const TargetId& gpu, uint8_t generic_version = 0);

}  // namespace barehip::codeobj
