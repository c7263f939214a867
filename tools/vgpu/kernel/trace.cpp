#include "tools/vgpu/kernel/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "tools/vgpu/kernel/uapi.h"

namespace vgpu {

namespace {

struct FlagName {
  uint32_t bit;
  const char* name;
};

constexpr FlagName kAllocFlags[] = {
    {1u << 0, "VRAM"},           {1u << 1, "GTT"},         {1u << 2, "USERPTR"},
    {1u << 3, "DOORBELL"},       {1u << 4, "MMIO_REMAP"},  {1u << 31, "WRITABLE"},
    {1u << 30, "EXECUTABLE"},    {1u << 29, "PUBLIC"},     {1u << 28, "NO_SUBSTITUTE"},
    {1u << 27, "AQL_QUEUE_MEM"}, {1u << 26, "COHERENT"},   {1u << 25, "UNCACHED"},
    {1u << 24, "EXT_COHERENT"},  {1u << 23, "CONTIGUOUS"},
};

std::string flag_names(uint32_t flags) {
  std::string text;
  for (const FlagName& flag : kAllocFlags) {
    if (!(flags & flag.bit)) continue;
    if (!text.empty()) text += '|';
    text += flag.name;
    flags &= ~flag.bit;
  }
  return flags ? text + fmt::format("|{:#x}", flags) : text;
}

template <class T>
T as(std::span<const std::byte> bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
  return value;
}

std::string describe_alloc(std::span<const std::byte> bytes) {
  const auto args = as<uapi::AllocMemory>(bytes);
  return fmt::format(" flags={} size={:#x} va={:#x} handle={:#x}", flag_names(args.flags), args.size, args.va,
                     args.handle);
}

std::string describe_create_queue(std::span<const std::byte> bytes) {
  const auto args = as<uapi::CreateQueue>(bytes);
  return fmt::format(
      " type={} ring_size={:#x} percentage={} priority={} eop_size={:#x} ctx_save_size={:#x} "
      "ctl_stack_size={:#x} queue={}",
      args.queue_type, args.ring_size, args.queue_percentage, args.queue_priority, args.eop_buffer_size,
      args.ctx_save_restore_size, args.ctl_stack_size, args.queue_id);
}

std::string describe_create_event(std::span<const std::byte> bytes) {
  const auto args = as<uapi::CreateEvent>(bytes);
  return fmt::format(" type={} auto_reset={} event={:#x}", args.event_type, args.auto_reset, args.event_id);
}

std::string describe_free(std::span<const std::byte> bytes) {
  return fmt::format(" handle={:#x}", as<uapi::FreeMemory>(bytes).handle);
}

std::string describe_map(std::span<const std::byte> bytes) {
  const auto args = as<uapi::MapMemory>(bytes);
  return fmt::format(" handle={:#x} devices={} done={}", args.handle, args.n_devices, args.n_success);
}

std::string describe_update_queue(std::span<const std::byte> bytes) {
  const auto args = as<uapi::UpdateQueue>(bytes);
  return fmt::format(" queue={} ring_size={:#x} percentage={} priority={}", args.queue_id, args.ring_size,
                     args.queue_percentage, args.queue_priority);
}

std::string describe_destroy_queue(std::span<const std::byte> bytes) {
  return fmt::format(" queue={}", as<uapi::DestroyQueue>(bytes).queue_id);
}

std::string describe_event(std::span<const std::byte> bytes) {
  return fmt::format(" event={:#x}", as<uapi::EventId>(bytes).event_id);
}

std::string describe_wait(std::span<const std::byte> bytes) {
  const auto args = as<uapi::WaitEvents>(bytes);
  return fmt::format(" events={} all={} timeout={:#x} result={}", args.num_events, args.wait_for_all, args.timeout_ms,
                     args.wait_result);
}

std::string describe_svm(std::span<const std::byte> bytes) {
  const auto args = as<uapi::Svm>(bytes);
  std::string text = fmt::format(" op={} start={:#x} size={:#x}", args.op, args.start, args.size);
  for (uint32_t i = 0; i < args.nattr && bytes.size() >= sizeof args + (i + 1) * sizeof(uapi::SvmAttribute); ++i) {
    const auto each = as<uapi::SvmAttribute>(bytes.subspan(sizeof args + i * sizeof(uapi::SvmAttribute)));
    text += fmt::format(" {}:{:#x}", each.type, each.value);
  }
  return text;
}

std::string describe_available(std::span<const std::byte> bytes) {
  return fmt::format(" available={:#x}", as<uapi::AvailableMemory>(bytes).available);
}

std::string describe_runtime(std::span<const std::byte> bytes) {
  return fmt::format(" mode={}", as<uapi::RuntimeEnable>(bytes).mode_mask);
}

std::string describe_acquire(std::span<const std::byte> bytes) {
  return fmt::format(" gpu={}", as<uapi::AcquireVm>(bytes).gpu_id);
}

std::string describe_version(std::span<const std::byte> bytes) {
  const auto args = as<uapi::GetVersion>(bytes);
  return fmt::format(" version={}.{}", args.major, args.minor);
}

struct Printer {
  std::string_view name;
  std::string (*print)(std::span<const std::byte>);
};
constexpr Printer kPrinters[] = {
    {"GET_VERSION", describe_version},
    {"ACQUIRE_VM", describe_acquire},
    {"ALLOC_MEMORY_OF_GPU", describe_alloc},
    {"FREE_MEMORY_OF_GPU", describe_free},
    {"MAP_MEMORY_TO_GPU", describe_map},
    {"UNMAP_MEMORY_FROM_GPU", describe_map},
    {"CREATE_QUEUE", describe_create_queue},
    {"UPDATE_QUEUE", describe_update_queue},
    {"DESTROY_QUEUE", describe_destroy_queue},
    {"CREATE_EVENT", describe_create_event},
    {"DESTROY_EVENT", describe_event},
    {"SET_EVENT", describe_event},
    {"RESET_EVENT", describe_event},
    {"WAIT_EVENTS", describe_wait},
    {"SVM", describe_svm},
    {"AVAILABLE_MEMORY", describe_available},
    {"RUNTIME_ENABLE", describe_runtime},
};

}  // namespace

void Trace::line(const std::string& text) {
  const std::lock_guard lock(mutex_);
  const int fd = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) return;
  const std::string whole = text + "\n";
  [[maybe_unused]] const ssize_t written = ::write(fd, whole.data(), whole.size());
  close(fd);
}

std::string describe_ioctl(std::string_view name, std::span<const std::byte> bytes, int result) {
  std::string text = fmt::format("ioctl {}", name);
  for (const Printer& printer : kPrinters) {
    if (printer.name == name) text += printer.print(bytes);
  }
  return text + fmt::format(" -> {}", result);
}

std::string describe_unknown_ioctl(unsigned number, int error) {
  return fmt::format("ioctl {:#x} -> {}", number, error == -ENOTTY ? "ENOTTY" : "EINVAL");
}

}  // namespace vgpu
