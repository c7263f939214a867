#include "kfd/os_recording.h"

#include <cerrno>
#include <cstring>
#include <type_traits>

#include "kfd/client.h"
#include "kfd/ioctl_table.h"
#include "kfd/uapi.h"

namespace barehip::kfd {
namespace {

enum class Way { In, Out, InOut };
enum class Format { Hex, Dec, Flags, Pad };

struct FlagName {
  uint32_t bit;
  const char* name;
};
constexpr FlagName kMemoryFlags[] = {
    {uapi::kMemVram, "VRAM"},
    {uapi::kMemGtt, "GTT"},
    {uapi::kMemUserptr, "USERPTR"},
    {uapi::kMemDoorbell, "DOORBELL"},
    {uapi::kMemMmioRemap, "MMIO_REMAP"},
    {uapi::kMemWritable, "WRITABLE"},
    {uapi::kMemExecutable, "EXECUTABLE"},
    {uapi::kMemPublic, "PUBLIC"},
    {uapi::kMemNoSubstitute, "NO_SUBSTITUTE"},
    {uapi::kMemAqlQueueMem, "AQL_QUEUE_MEM"},
    {uapi::kMemCoherent, "COHERENT"},
    {uapi::kMemUncached, "UNCACHED"},
    {uapi::kMemExtCoherent, "EXT_COHERENT"},
    {uapi::kMemContiguous, "CONTIGUOUS"},
};

std::string flags_text(uint64_t flags) {
  std::string text;
  for (const FlagName& flag : kMemoryFlags) {
    if ((flags & flag.bit) == 0) continue;
    text += (text.empty() ? "" : "|") + std::string(flag.name);
    flags &= ~uint64_t{flag.bit};
  }
  if (flags != 0) text += (text.empty() ? "" : "|") + hex_text(flags);
  return text.empty() ? "0" : text;
}

struct Printer {
  std::string in, out;
  bool after = false;  ///< the call has returned: results are in place

  template <class T>
  void field(const char* name, T value, Way way, Format format) {
    if (format == Format::Pad) return;
    if (after ? way == Way::In : way == Way::Out) return;
    std::string& line = after ? out : in;
    line += std::string(" ") + name + "=";
    const auto wide = static_cast<uint64_t>(static_cast<std::make_unsigned_t<T>>(value));
    line += format == Format::Flags ? flags_text(wide) : format == Format::Hex ? hex_text(wide) : std::to_string(value);
  }
};

#define KFD_IOCTL(NAME, name, nr, direction, minor) \
  void print(Printer& printer, [[maybe_unused]] const uapi::name##_args& args) {
#define KFD_FIELD(ioctl, type, field_name, way, format) \
  printer.field(#field_name, args.field_name, Way::way, Format::format);
#define KFD_IOCTL_END(name) }
#define KFD_REFUSED(NAME, nr, direction, bytes, minor, why)
#include "kfd/ioctls.def"

struct Row {
  uint32_t nr;
  void (*print)(Printer& printer, const void* args);
};

constexpr Row kRows[] = {
#define KFD_IOCTL(NAME, name, nr, direction, minor) \
  {nr, [](Printer& printer, const void* args) { print(printer, *static_cast<const uapi::name##_args*>(args)); }},
#define KFD_FIELD(ioctl, type, field, way, format)
#define KFD_IOCTL_END(name)
#define KFD_REFUSED(NAME, nr, direction, bytes, minor, why)
#include "kfd/ioctls.def"
};

/// Prints the fields of a command that barehip issues; of others only the name is known.
void print_fields(unsigned long request, Printer& printer, const void* args) {
  if (ioctl_name(request) == nullptr) return;
  for (const Row& row : kRows)
    if (row.nr == (request & 0xff)) row.print(printer, args);
}

std::string outcome(int64_t rc) {
  if (rc >= 0) return std::to_string(rc);
  const std::string text = errno_text(static_cast<int>(-rc));
  return text.substr(0, text.find(' '));
}

RecordingOs& of(void* self) { return *static_cast<RecordingOs*>(self); }

int recording_open(void* self, const char* path, int flags) {
  const int rc = of(self).inner().open(of(self).inner().self, path, flags);
  of(self).add(std::string("open ") + path + " -> " + outcome(rc));
  return rc;
}

int recording_close(void* self, int fd) {
  const int rc = of(self).inner().close(of(self).inner().self, fd);
  of(self).add("close " + std::to_string(fd) + " -> " + outcome(rc));
  return rc;
}

int recording_ioctl(void* self, int fd, unsigned long request, void* arg) {
  RecordingOs& os = of(self);
  Printer printer;
  print_fields(request, printer, arg);
  const int rc = os.inner().ioctl(os.inner().self, fd, request, arg);
  printer.after = true;
  if (rc >= 0) print_fields(request, printer, arg);
  const char* name = ioctl_name(request);
  std::string line = "ioctl " + (name != nullptr ? std::string(name) : hex_text(request)) + printer.in;
  os.add(line + " ->" + (rc < 0 ? " " + outcome(rc) : printer.out.empty() ? " 0" : printer.out));
  return rc;
}

int recording_mmap(void* self, void* addr, size_t length, int prot, int flags, int fd, uint64_t offset, void** out) {
  RecordingOs& os = of(self);
  const int rc = os.inner().mmap(os.inner().self, addr, length, prot, flags, fd, offset, out);
  os.add("mmap addr=" + hex_text(reinterpret_cast<uint64_t>(addr)) + " length=" + hex_text(length) + " prot=" +
         std::to_string(prot) + " flags=" + hex_text(static_cast<uint64_t>(flags)) + " fd=" + std::to_string(fd) +
         " offset=" + hex_text(offset) + " -> " + (rc < 0 ? outcome(rc) : hex_text(reinterpret_cast<uint64_t>(*out))));
  return rc;
}

int recording_munmap(void* self, void* addr, size_t length) {
  const int rc = of(self).inner().munmap(of(self).inner().self, addr, length);
  of(self).add("munmap addr=" + hex_text(reinterpret_cast<uint64_t>(addr)) + " length=" + hex_text(length) + " -> " +
               outcome(rc));
  return rc;
}

int recording_madvise(void* self, void* addr, size_t length, int advice) {
  const int rc = of(self).inner().madvise(of(self).inner().self, addr, length, advice);
  of(self).add("madvise addr=" + hex_text(reinterpret_cast<uint64_t>(addr)) + " length=" + hex_text(length) +
               " advice=" + std::to_string(advice) + " -> " + outcome(rc));
  return rc;
}

int64_t recording_read_file(void* self, const char* path, char* buf, size_t cap) {
  const int64_t rc = of(self).inner().read_file(of(self).inner().self, path, buf, cap);
  of(self).add(std::string("read ") + path + " -> " + outcome(rc));
  return rc;
}

int recording_list_dir(void* self, const char* path, int (*each)(void* user, const char* name), void* user) {
  const int rc = of(self).inner().list_dir(of(self).inner().self, path, each, user);
  of(self).add(std::string("list ") + path + " -> " + outcome(rc));
  return rc;
}

int recording_stat(void* self, const char* path, barehip_os_stat* out) {
  const int rc = of(self).inner().stat(of(self).inner().self, path, out);
  of(self).add(std::string("stat ") + path + " -> " + outcome(rc));
  return rc;
}

uint64_t recording_clock_ns(void* self, int clock_id) {
  return of(self).inner().clock_ns(of(self).inner().self, clock_id);
}

int recording_gpu_info(void* self, int fd, drm_amdgpu_info_device* out, size_t size) {
  const int rc = of(self).inner().gpu_info(of(self).inner().self, fd, out, size);
  of(self).add("gpu_info fd=" + std::to_string(fd) + " -> " + outcome(rc));
  return rc;
}

}  // namespace

RecordingOs::RecordingOs(const barehip_os_table& inner) : inner_(inner), table_(inner) {
  table_.self = this;
  table_.open = recording_open;
  table_.close = recording_close;
  table_.ioctl = recording_ioctl;
  table_.mmap = recording_mmap;
  table_.munmap = recording_munmap;
  table_.madvise = recording_madvise;
  table_.read_file = recording_read_file;
  table_.list_dir = recording_list_dir;
  table_.stat = recording_stat;
  table_.clock_ns = recording_clock_ns;
  table_.gpu_info = recording_gpu_info;
}

void RecordingOs::add(std::string line) {
  const std::lock_guard lock(mutex_);
  lines_.push_back(std::move(line));
}

std::vector<std::string> RecordingOs::lines() const {
  const std::lock_guard lock(mutex_);
  return lines_;
}

std::vector<std::string> RecordingOs::ioctl_names() const {
  std::vector<std::string> names;
  for (const std::string& line : lines()) {
    constexpr size_t kPrefix = 6;  // "ioctl "
    if (line.compare(0, kPrefix, "ioctl ") == 0)
      names.push_back(line.substr(kPrefix, line.find(' ', kPrefix) - kPrefix));
  }
  return names;
}

void RecordingOs::clear() {
  const std::lock_guard lock(mutex_);
  lines_.clear();
}

}  // namespace barehip::kfd
