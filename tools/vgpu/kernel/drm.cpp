// The render node's requests: the table, and those that are about no buffer.
#include "tools/vgpu/kernel/drm.h"

#include <amdgpu_drm.h>
#include <drm.h>
#include <errno.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cstring>

#include "tools/vgpu/kernel/log.h"
#include "tools/vgpu/kernel/user_memory.h"

namespace vgpu {

namespace {

// The driver tells the lengths, and fills what the caller has room for.
bool give_text(char* pointer, __kernel_size_t& length, const char* text) {
  const size_t have = std::strlen(text);
  const size_t room = std::min<size_t>(length, have);
  length = have;
  return pointer == nullptr || copy_to_user(reinterpret_cast<uint64_t>(pointer), text, room);
}

int version(DrmCall& call) {
  auto& args = call.as<drm_version>();
  args.version_major = 3;
  args.version_minor = 57;
  args.version_patchlevel = 0;
  const bool given = give_text(args.name, args.name_len, "amdgpu") && give_text(args.date, args.date_len, "20150101") &&
                     give_text(args.desc, args.desc_len, "AMD GPU");
  return given ? 0 : -EFAULT;
}

int get_cap(DrmCall& call) {
  struct Capability {
    uint64_t number, value;
  };
  constexpr Capability kKnown[] = {{DRM_CAP_PRIME, DRM_PRIME_CAP_IMPORT | DRM_PRIME_CAP_EXPORT},
                                   {DRM_CAP_TIMESTAMP_MONOTONIC, 1},
                                   {DRM_CAP_SYNCOBJ, 1},
                                   {DRM_CAP_SYNCOBJ_TIMELINE, 1}};
  auto& args = call.as<drm_get_cap>();
  const auto found = std::ranges::find(kKnown, args.capability, &Capability::number);
  args.value = found == std::end(kKnown) ? 0 : found->value;
  return found == std::end(kKnown) ? -EOPNOTSUPP : 0;  // the rest is about displays
}

int context(DrmCall& call) {
  auto& args = call.as<drm_amdgpu_ctx>();
  const std::lock_guard lock(call.file.mutex);
  auto& contexts = call.file.contexts;
  const uint32_t id = args.in.ctx_id, op = args.in.op;
  switch (op) {
    case AMDGPU_CTX_OP_ALLOC_CTX: {
      if (args.in.priority > AMDGPU_CTX_PRIORITY_NORMAL && args.in.priority <= AMDGPU_CTX_PRIORITY_VERY_HIGH)
        return -EACCES;  // above normal is for the display's owner
      uint32_t free = 1;
      while (contexts.contains(free)) ++free;
      contexts.insert(free);
      std::memset(&args.out, 0, sizeof args.out);
      args.out.alloc.ctx_id = free;
      return 0;
    }
    case AMDGPU_CTX_OP_FREE_CTX: return contexts.erase(id) != 0 ? 0 : -EINVAL;
    case AMDGPU_CTX_OP_QUERY_STATE:
    case AMDGPU_CTX_OP_QUERY_STATE2:
      if (!contexts.contains(id)) return -EINVAL;
      std::memset(&args.out, 0, sizeof args.out);  // no reset happened
      return 0;
    default: return op <= AMDGPU_CTX_OP_SET_STABLE_PSTATE ? call.refuse(-EINVAL, "clocks are not set") : -EINVAL;
  }
}

int no_command_streams(DrmCall& call) { return call.refuse(-EINVAL, "no command streams but those of KFD queues"); }
int no_user_memory(DrmCall& call) { return call.refuse(-EINVAL, "user memory is taken by the KFD interface only"); }
int not_on_render_nodes(DrmCall&) { return -EACCES; }

struct DrmRow {
  unsigned number;
  const char* name;
  size_t bytes;  ///< of the kernel's own struct
  int (*handler)(DrmCall&);
};

constexpr unsigned amdgpu(unsigned number) { return DRM_COMMAND_BASE + number; }

constexpr DrmRow kRows[] = {
    {0x00, "VERSION", sizeof(drm_version), version},
    {0x01, "GET_UNIQUE", 0, not_on_render_nodes},
    {0x02, "GET_MAGIC", 0, not_on_render_nodes},
    {0x05, "GET_CLIENT", 0, not_on_render_nodes},
    {0x06, "GET_STATS", 0, not_on_render_nodes},
    {0x07, "SET_VERSION", 0, not_on_render_nodes},
    {0x09, "GEM_CLOSE", sizeof(struct drm_gem_close), drm_gem_close},
    {0x0c, "GET_CAP", sizeof(drm_get_cap), get_cap},
    {0x0d, "SET_CLIENT_CAP", 0, not_on_render_nodes},
    {0x11, "AUTH_MAGIC", 0, not_on_render_nodes},
    {0x1e, "SET_MASTER", 0, not_on_render_nodes},
    {0x1f, "DROP_MASTER", 0, not_on_render_nodes},
    {0x2d, "PRIME_HANDLE_TO_FD", sizeof(drm_prime_handle), drm_prime_handle_to_fd},
    {0x2e, "PRIME_FD_TO_HANDLE", sizeof(drm_prime_handle), drm_prime_fd_to_handle},
    {amdgpu(DRM_AMDGPU_GEM_CREATE), "AMDGPU_GEM_CREATE", sizeof(drm_amdgpu_gem_create), drm_gem_create},
    {amdgpu(DRM_AMDGPU_GEM_MMAP), "AMDGPU_GEM_MMAP", sizeof(drm_amdgpu_gem_mmap), drm_gem_mmap},
    {amdgpu(DRM_AMDGPU_CTX), "AMDGPU_CTX", sizeof(drm_amdgpu_ctx), context},
    {amdgpu(DRM_AMDGPU_BO_LIST), "AMDGPU_BO_LIST", sizeof(drm_amdgpu_bo_list), no_command_streams},
    {amdgpu(DRM_AMDGPU_CS), "AMDGPU_CS", sizeof(drm_amdgpu_cs), no_command_streams},
    {amdgpu(DRM_AMDGPU_INFO), "AMDGPU_INFO", sizeof(drm_amdgpu_info), drm_amdgpu_info_query},
    {amdgpu(DRM_AMDGPU_GEM_METADATA), "AMDGPU_GEM_METADATA", sizeof(drm_amdgpu_gem_metadata), drm_gem_metadata},
    {amdgpu(DRM_AMDGPU_GEM_WAIT_IDLE), "AMDGPU_GEM_WAIT_IDLE", sizeof(drm_amdgpu_gem_wait_idle), drm_gem_wait_idle},
    {amdgpu(DRM_AMDGPU_GEM_VA), "AMDGPU_GEM_VA", sizeof(drm_amdgpu_gem_va), drm_gem_va},
    {amdgpu(DRM_AMDGPU_WAIT_CS), "AMDGPU_WAIT_CS", sizeof(drm_amdgpu_wait_cs), no_command_streams},
    {amdgpu(DRM_AMDGPU_GEM_OP), "AMDGPU_GEM_OP", sizeof(drm_amdgpu_gem_op), drm_gem_op},
    {amdgpu(DRM_AMDGPU_GEM_USERPTR), "AMDGPU_GEM_USERPTR", sizeof(drm_amdgpu_gem_userptr), no_user_memory},
    {amdgpu(DRM_AMDGPU_WAIT_FENCES), "AMDGPU_WAIT_FENCES", sizeof(drm_amdgpu_wait_fences), no_command_streams},
    {amdgpu(DRM_AMDGPU_VM), "AMDGPU_VM", sizeof(drm_amdgpu_vm), no_command_streams},
    {amdgpu(DRM_AMDGPU_FENCE_TO_HANDLE), "AMDGPU_FENCE_TO_HANDLE", sizeof(drm_amdgpu_fence_to_handle),
     no_command_streams},
    {amdgpu(DRM_AMDGPU_SCHED), "AMDGPU_SCHED", 0, not_on_render_nodes},
};

}  // namespace

int DrmCall::refuse(int error, const std::string& why) {
  kernel.machine().log.answered_by_default(std::string("DRM ") + name + ": " + why + caller_text());
  return error;
}

const Backing* DrmFile::find_mappable(uint64_t offset) const {
  const std::lock_guard lock(mutex);
  for (const auto& [handle, buffer] : buffers) {
    if (buffer.mmap_offset == offset) return buffer.backing.get();
  }
  return nullptr;
}

// As with KFD, the number decides; the struct may be shorter or longer than ours.
int drm_ioctl(Kernel& kernel, Process& process, DrmFile& file, unsigned long request, void* arg) {
  if (_IOC_TYPE(request) != DRM_IOCTL_BASE) return -ENOTTY;
  const auto row = std::ranges::find(kRows, _IOC_NR(request), &DrmRow::number);
  Trace& trace = kernel.machine().trace;
  if (row == std::end(kRows)) {
    DrmCall unknown{kernel, process, file, "ioctl", nullptr};
    return unknown.refuse(-EINVAL, "number " + std::to_string(_IOC_NR(request)));
  }
  const size_t user_bytes = _IOC_SIZE(request);
  std::vector<std::byte> bytes(std::max(user_bytes, row->bytes));
  const auto user = reinterpret_cast<uint64_t>(arg);
  if (!copy_from_user(bytes.data(), user, user_bytes)) return -EFAULT;
  DrmCall call{kernel, process, file, row->name, bytes.data()};
  const int result = row->handler(call);
  if (trace.on()) trace.line(std::string("drm ") + row->name + " -> " + std::to_string(result));
  if ((_IOC_DIR(request) & _IOC_READ) != 0 && !copy_to_user(user, bytes.data(), user_bytes)) return -EFAULT;
  return result;
}

}  // namespace vgpu
