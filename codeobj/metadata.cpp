#include "codeobj/metadata.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "codeobj/msgpack.h"

namespace barehip::codeobj {
namespace {

uint32_t read_u32(MsgPackReader& in) {
  const uint64_t value = in.unsigned_integer();
  if (value > std::numeric_limits<uint32_t>::max()) in.refuse("a number that has more than 32 bits");
  return in.ok() ? static_cast<uint32_t>(value) : 0;
}

template <class T, class Read>
struct Key {
  std::string_view name;
  Read read;
};

// ---- one argument -------------------------------------------------------------------------------------------

using ArgumentKey = Key<KernelArgument, void (*)(MsgPackReader&, KernelArgument&)>;
constexpr std::array kArgumentKeys = std::to_array<ArgumentKey>({
    {".name", [](MsgPackReader& in, KernelArgument& a) { a.name = in.string(); }},
    {".offset", [](MsgPackReader& in, KernelArgument& a) { a.offset = read_u32(in); }},
    {".size", [](MsgPackReader& in, KernelArgument& a) { a.size = read_u32(in); }},
    {".value_kind", [](MsgPackReader& in, KernelArgument& a) { a.kind = parse_value_kind(in.string()); }},
});

template <class T, class Keys>
void read_map(MsgPackReader& in, const Keys& keys, T& out) {
  const uint32_t count = in.map();
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    const std::string_view name = in.string();
    const auto it = std::ranges::find_if(keys, [&](const auto& key) { return key.name == name; });
    if (it == keys.end())
      in.skip();
    else
      it->read(in, out);
  }
}

// ---- one kernel ---------------------------------------------------------------------------------------------

void read_arguments(MsgPackReader& in, Kernel& kernel) {
  const uint32_t count = in.array();
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    KernelArgument argument;
    argument.kind = ValueKind::kUnknown;
    read_map(in, kArgumentKeys, argument);
    if (in.ok()) kernel.arguments.push_back(std::move(argument));
  }
}

void read_required_size(MsgPackReader& in, Kernel& kernel) {
  const uint32_t count = in.array();
  if (in.ok() && count != 3) in.refuse(".reqd_workgroup_size has not three numbers");
  for (uint32_t i = 0; i < count && in.ok(); ++i) kernel.required_workgroup_size[i] = read_u32(in);
}

using KernelKey = Key<Kernel, void (*)(MsgPackReader&, Kernel&)>;
template <auto Member>
constexpr KernelKey number_key(std::string_view name) {
  return {name, [](MsgPackReader& in, Kernel& kernel) { kernel.*Member = read_u32(in); }};
}

constexpr std::array kKernelKeys = std::to_array<KernelKey>({
    {".name", [](MsgPackReader& in, Kernel& k) { k.name = in.string(); }},
    {".symbol", [](MsgPackReader& in, Kernel& k) { k.symbol = in.string(); }},
    {".args", read_arguments},
    {".reqd_workgroup_size", read_required_size},
    {".uses_dynamic_stack", [](MsgPackReader& in, Kernel& k) { k.uses_dynamic_stack = in.boolean(); }},
    number_key<&Kernel::kernarg_bytes>(".kernarg_segment_size"),
    number_key<&Kernel::kernarg_align>(".kernarg_segment_align"),
    number_key<&Kernel::group_bytes>(".group_segment_fixed_size"),
    number_key<&Kernel::private_bytes>(".private_segment_fixed_size"),
    number_key<&Kernel::wavefront_size>(".wavefront_size"),
    number_key<&Kernel::sgpr_count>(".sgpr_count"),
    number_key<&Kernel::vgpr_count>(".vgpr_count"),
    number_key<&Kernel::agpr_count>(".agpr_count"),
    number_key<&Kernel::sgpr_spill_count>(".sgpr_spill_count"),
    number_key<&Kernel::vgpr_spill_count>(".vgpr_spill_count"),
    number_key<&Kernel::max_flat_workgroup_size>(".max_flat_workgroup_size"),
});

const char* check_kernel(Kernel& kernel) {
  if (kernel.name.empty() || kernel.symbol.empty()) return "a kernel without .name or .symbol";
  if (!std::has_single_bit(kernel.kernarg_align) || kernel.kernarg_align > 4096) {
    return "a kernel whose .kernarg_segment_align is not a power of two up to 4096";
  }
  if (kernel.wavefront_size != 32 && kernel.wavefront_size != 64) {
    return "a kernel whose .wavefront_size is neither 32 nor 64";
  }
  bool hidden_seen = false;
  for (const KernelArgument& argument : kernel.arguments) {
    if (uint64_t{argument.offset} + argument.size > kernel.kernarg_bytes) {
      return "a kernel with an argument outside its kernarg segment";
    }
    const bool hidden = is_hidden(argument.kind) || (hidden_seen && argument.kind == ValueKind::kUnknown);
    if (hidden) {
      hidden_seen = true;
    } else if (hidden_seen) {
      return "a kernel with an explicit argument behind a hidden one";
    } else {
      ++kernel.explicit_count;
      kernel.explicit_bytes = std::max(kernel.explicit_bytes, argument.offset + argument.size);
    }
  }
  return nullptr;
}

void read_kernels(MsgPackReader& in, Metadata& out) {
  const uint32_t count = in.array();
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    Kernel kernel;
    read_map(in, kKernelKeys, kernel);
    if (!in.ok()) return;
    if (const char* bad = check_kernel(kernel)) return in.refuse(bad);
    out.kernels.push_back(std::move(kernel));
  }
}

// ---- the whole ----------------------------------------------------------------------------------------------

void read_version(MsgPackReader& in, Metadata& out) {
  const uint32_t count = in.array();
  if (in.ok() && count != 2) in.refuse("amdhsa.version has not two numbers");
  out.major = read_u32(in);
  out.minor = read_u32(in);
}

void read_printf(MsgPackReader& in, Metadata& out) {
  const uint32_t count = in.array();
  for (uint32_t i = 0; i < count && in.ok(); ++i) out.printf_formats.emplace_back(in.string());
}

using RootKey = Key<Metadata, void (*)(MsgPackReader&, Metadata&)>;
constexpr std::array kRootKeys = std::to_array<RootKey>({
    {"amdhsa.version", read_version},
    {"amdhsa.target", [](MsgPackReader& in, Metadata& m) { m.target = in.string(); }},
    {"amdhsa.kernels", read_kernels},
    {"amdhsa.printf", read_printf},
});

}  // namespace

Result<Metadata> parse_metadata(std::span<const std::byte> bytes, size_t base) {
  MsgPackReader in(bytes, base);
  Metadata out;
  read_map(in, kRootKeys, out);
  if (in.ok() && out.major != 1) in.refuse("amdhsa.version is not 1.x");
  if (!in.ok()) return std::unexpected(in.error());
  return out;
}

}  // namespace barehip::codeobj
