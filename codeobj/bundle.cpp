#include "codeobj/bundle.h"

#include <algorithm>
#include <array>

#include "codeobj/elf.h"

namespace barehip::codeobj {
namespace {

using elf::hex;
using elf::View;

constexpr std::string_view kBundleMagic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view kElfMagic =
    "\x7f"
    "ELF";
constexpr std::string_view kCompressedMagic = "CCOB";
constexpr uint64_t kFixedEntryBytes = 24;  // offset, size, length of the id
// clang writes an entry per target; a real bundle has a few dozen at most.
constexpr uint64_t kMaxEntries = 4096;
constexpr uint64_t kMaxIdBytes = 4096;

std::unexpected<Error> bad(std::string what) {
  return fail(ErrorCode::kInvalidImage, "read offload bundle", "offload bundle: " + std::move(what));
}

bool starts_with(std::span<const std::byte> bytes, std::string_view magic) {
  return bytes.size() >= magic.size() && std::memcmp(bytes.data(), magic.data(), magic.size()) == 0;
}

std::unexpected<Error> compressed(uint64_t offset) {
  return fail(ErrorCode::kNotSupported, "read offload bundle",
              "offload bundle: compressed (CCOB at offset " + hex(offset) + "); compile without --offload-compress");
}

std::unexpected<Error> no_container(uint64_t offset) {
  return fail(ErrorCode::kInvalidImage, "read offload bundle",
              "neither an ELF image nor an offload bundle begins at offset " + hex(offset));
}

// "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-": kind, triple, target id. Host entries and other devices have no "-gfx".
Result<std::optional<TargetId>> target_of(std::string_view id) {
  const bool device = id.starts_with("hip") && id.find("amdgcn-amd-amdhsa") != std::string_view::npos;
  const size_t at = id.find("-gfx");
  if (!device || at == std::string_view::npos) return std::nullopt;
  auto target = parse_target_id(id.substr(at + 1));
  if (!target) return std::unexpected(target.error());
  return std::optional<TargetId>(std::move(*target));
}

struct Bundle {
  std::vector<ContainerEntry> entries;
  uint64_t bytes = 0;  // from the magic to the end of the last entry
};

/// One bundle at the start of `view`; `base` is its offset in the container, for texts.
Result<Bundle> read_bundle(const View& view, uint64_t base) {
  const auto count = view.read<uint64_t>(kBundleMagic.size());
  if (!count) return bad("truncated header at offset " + hex(base));
  if (*count > kMaxEntries) return bad(std::to_string(*count) + " entries at offset " + hex(base));
  Bundle out;
  uint64_t at = kBundleMagic.size() + 8;
  for (uint64_t i = 0; i < *count; ++i) {
    const std::string where = "entry " + std::to_string(i) + " at offset " + hex(base + at);
    const auto fields = view.read<std::array<uint64_t, 3>>(at);
    if (!fields) return bad(where + " is truncated");
    const auto [offset, size, id_bytes] = *fields;
    at += kFixedEntryBytes;
    if (id_bytes > kMaxIdBytes || !view.holds(at, id_bytes)) return bad(where + ": its id is truncated");
    if (!view.holds(offset, size)) {
      return bad(where + ": " + hex(size) + " bytes at " + hex(offset) + " are outside the bundle");
    }
    ContainerEntry entry;
    entry.id.assign(reinterpret_cast<const char*>(view.sub(at, id_bytes).data()), static_cast<size_t>(id_bytes));
    auto target = target_of(entry.id);
    if (!target) return std::unexpected(target.error());
    entry.target = std::move(*target);
    entry.bytes = view.sub(offset, size);
    at += id_bytes;
    out.bytes = std::max({out.bytes, at, offset + size});
    out.entries.push_back(std::move(entry));
  }
  out.bytes = std::max(out.bytes, at);
  return out;
}

// Fills in what the ELF header of an entry tells. An entry whose id names another processor than its ELF is refused:
// whoever selects by the id would run the wrong code. An image for a machine newer than our table stands beside those
// that we can run, as its id says.
Result<void> describe_elf(ContainerEntry& entry) {
  const auto header = View(entry.bytes).read<elf::FileHeader>(0);
  if (!header || !starts_with(entry.bytes, kElfMagic) || header->machine != elf::kMachineAmdgpu) return {};
  const std::string_view name = mach_name(static_cast<uint8_t>(header->flags));
  const std::string processor = name.empty() ? "machine " + hex(header->flags & 0xff) : std::string(name);
  entry.generic_version = is_generic_name(name) ? static_cast<uint8_t>(header->flags >> 24) : uint8_t{0};
  if (entry.target && !name.empty() && entry.target->processor != processor) {
    return bad("the entry '" + entry.id + "' holds an ELF image for " + processor);
  }
  if (!entry.target && entry.id.empty()) {
    entry.target = TargetId{.processor = processor,
                            .xnack = static_cast<Feature>((header->flags >> 8) & 3),
                            .sramecc = static_cast<Feature>((header->flags >> 10) & 3)};
  }
  return {};
}

std::string list_targets(const std::vector<ContainerEntry>& entries) {
  std::string out;
  for (const ContainerEntry& entry : entries) {
    if (!entry.target) continue;
    const std::string name = to_string(*entry.target);
    if (!out.empty()) out += ", ";
    out += name;
  }
  return out.empty() ? "no GPU" : out;
}

}  // namespace

Result<std::vector<ContainerEntry>> list_container(std::span<const std::byte> container) {
  if (starts_with(container, kElfMagic)) {
    std::vector<ContainerEntry> out(1);
    out[0].bytes = container;
    if (auto described = describe_elf(out[0]); !described) return std::unexpected(described.error());
    return out;
  }
  std::vector<ContainerEntry> out;
  uint64_t at = 0;
  while (at < container.size()) {
    const auto rest = container.subspan(static_cast<size_t>(at));
    if (starts_with(rest, kCompressedMagic)) return compressed(at);
    if (!starts_with(rest, kBundleMagic)) return no_container(at);
    auto bundle = read_bundle(View(rest), at);
    if (!bundle) return std::unexpected(bundle.error());
    for (ContainerEntry& entry : bundle->entries) {
      if (auto described = describe_elf(entry); !described) return std::unexpected(described.error());
      out.push_back(std::move(entry));
    }
    at += bundle->bytes;
    while (at < container.size() && container[static_cast<size_t>(at)] == std::byte{0}) ++at;  // linker's padding
  }
  if (out.empty() && at == 0) return no_container(0);
  return out;
}

Result<ContainerEntry> select_image(std::span<const std::byte> container, const TargetId& gpu) {
  auto entries = list_container(container);
  if (!entries) return std::unexpected(entries.error());
  const ContainerEntry* best = nullptr;
  Match best_match = Match::kNone;
  for (const ContainerEntry& entry : *entries) {
    if (!entry.target || entry.bytes.empty()) continue;
    const Match fits = match(*entry.target, gpu, entry.generic_version);
    if (fits > best_match) {
      best = &entry;
      best_match = fits;
    }
  }
  if (!best) {
    return fail(ErrorCode::kNoBinaryForGpu, "select code",
                "the file has code for " + list_targets(*entries) + "; the GPU is " + to_string(gpu) +
                    ". Compile for it with --offload-arch=" + gpu.processor + ".");
  }
  return *best;
}

namespace {

constexpr uint64_t kMaxImageBytes = uint64_t{1} << 40;

Result<size_t> measure_elf(const std::byte* bytes) {
  elf::FileHeader header;
  std::memcpy(&header, bytes, sizeof header);
  // Only what every linker writes is followed, so that a few bytes of nonsense do not send us through memory.
  if (header.machine != elf::kMachineAmdgpu || header.phentsize != sizeof(elf::ProgramHeader) ||
      header.phoff != sizeof header) {
    return elf::bad("the ELF header is not that of an AMDGPU image");
  }
  uint64_t end = sizeof header + uint64_t{header.phnum} * header.phentsize;
  if (header.shnum) end = std::max(end, header.shoff + uint64_t{header.shnum} * header.shentsize);
  for (unsigned i = 0; i < header.phnum; ++i) {
    elf::ProgramHeader segment;
    std::memcpy(&segment, bytes + header.phoff + uint64_t{i} * header.phentsize, sizeof segment);
    if (segment.offset > kMaxImageBytes || segment.filesz > kMaxImageBytes) {
      return elf::bad("program header " + std::to_string(i) + " describes a file of " +
                      hex(segment.offset + segment.filesz) + " bytes");
    }
    end = std::max(end, segment.offset + segment.filesz);
  }
  if (header.shoff > kMaxImageBytes) return elf::bad("e_shoff is " + hex(header.shoff));
  return static_cast<size_t>(end);
}

Result<size_t> measure_bundle(const std::byte* bytes) {
  uint64_t count;
  std::memcpy(&count, bytes + kBundleMagic.size(), sizeof count);
  if (count > kMaxEntries) return bad(std::to_string(count) + " entries");
  uint64_t at = kBundleMagic.size() + 8, end = at;
  for (uint64_t i = 0; i < count; ++i) {
    std::array<uint64_t, 3> fields;
    std::memcpy(fields.data(), bytes + at, sizeof fields);
    const auto [offset, size, id_bytes] = fields;
    if (id_bytes > kMaxIdBytes || offset > kMaxImageBytes || size > kMaxImageBytes) {
      return bad("entry " + std::to_string(i) + " at offset " + hex(at) + " is outside any bundle");
    }
    at += kFixedEntryBytes + id_bytes;
    end = std::max({end, at, offset + size});
  }
  return static_cast<size_t>(end);
}

bool begins_with(const std::byte* bytes, std::string_view magic) {
  for (size_t i = 0; i < magic.size(); ++i) {  // stops at the first difference: nothing past it is touched
    if (bytes[i] != static_cast<std::byte>(magic[i])) return false;
  }
  return true;
}

}  // namespace

Result<size_t> measure_image(const void* image) {
  if (!image) return fail(ErrorCode::kInvalidArgument, "measure image", "the image is a null pointer");
  const auto* bytes = static_cast<const std::byte*>(image);
  if (begins_with(bytes, kCompressedMagic)) return compressed(0);
  if (begins_with(bytes, kElfMagic)) return measure_elf(bytes);
  if (begins_with(bytes, kBundleMagic)) return measure_bundle(bytes);
  return no_container(0);
}

}  // namespace barehip::codeobj
