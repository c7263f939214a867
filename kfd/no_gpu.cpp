#include "kfd/no_gpu.h"

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "kfd/client.h"
#include "kfd/os_file.h"
#include "kfd/topology.h"

namespace barehip::kfd {
namespace {

constexpr const char* kOpenKfd = "open /dev/kfd";
constexpr const char* kOpenRender = "open render node";

/// Whether the driver shows a GPU, though its device may be hidden from this process.
bool topology_shows_gpu(const barehip_os_table& os) {
  const Result<Topology> topology = read_topology(os);
  return topology && std::ranges::any_of(topology->nodes, [](const TopologyNode& n) { return n.gpu_id || n.denied; });
}

/// "render" for its number, from /etc/group; "number 109" when it has no name there (containers).
std::string group_name(const barehip_os_table& os, uint32_t gid) {
  const std::string unnamed = "number " + std::to_string(gid);
  const Result<std::string> text = read_whole_file(os, "/etc/group");
  if (!text) return unnamed;
  size_t at = 0;
  while (at < text->size()) {  // name:password:number:members
    const size_t end = std::min(text->find('\n', at), text->size());
    const std::string line = text->substr(at, end - at);
    at = end + 1;
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    uint32_t number = 0;
    const auto [stop, error] = std::from_chars(line.data() + second + 1, line.data() + line.size(), number);
    if (error == std::errc() && stop != line.data() + second + 1 && number == gid)
      return "'" + line.substr(0, first) + "'";
  }
  return unnamed;
}

/// What keeps this user from a node that exists, and the remedy.
std::string permission_text(const barehip_os_table& os, const std::string& path) {
  barehip_os_stat st{};
  if (os.stat(os.self, path.c_str(), &st) != 0) return path + " may not be opened by this user.";
  constexpr char kOctal[] = "01234567";
  std::string mode = "0";
  for (int shift = 6; shift >= 0; shift -= 3) mode += kOctal[(st.mode >> shift) & 7];
  const std::string what = path + " (mode " + mode + ") may not be opened by this user. ";
  const bool group_may = (st.mode & 060) == 060;
  if (!group_may || st.gid == 0)
    return what + "Only its owner, user " + std::to_string(st.uid) +
           ", may: the administrator gives it a group, for example by a udev rule with GROUP=\"render\", "
           "MODE=\"0660\".";
  const std::string group = group_name(os, st.gid);
  return what + "It belongs to the group " + group + ": join that group (usermod -a -G " +
         (group.front() == '\'' ? group.substr(1, group.size() - 2) : std::to_string(st.gid)) +
         " USER, then log in again; in a container --group-add " + std::to_string(st.gid) + ").";
}

std::string cgroup_text(const std::string& path) {
  if (sizeof(void*) == 4) return path + " cannot be opened by a 32-bit process; use a 64-bit one.";
  return path +
         " is refused by this process's device cgroup (containers, systemd DeviceAllow=): pass the device to "
         "the container "
         "(--device /dev/kfd --device /dev/dri).";
}

}  // namespace

Error explain_kfd_open(const barehip_os_table& os, const std::string& path, int rc) {
  const auto error = [&](ErrorCode code, std::string text) { return Error{code, -rc, kOpenKfd, std::move(text)}; };
  switch (-rc) {
    case ENOENT:
      if (topology_shows_gpu(os))
        return error(ErrorCode::kDeviceHidden,
                     path +
                         " does not exist, though the kernel's amdgpu driver shows a GPU: in a container, pass "
                         "the device (--device /dev/kfd --device /dev/dri).");
      return error(ErrorCode::kNoDevice, path +
                                             " does not exist: the kernel has no amdgpu driver with compute "
                                             "support loaded (modprobe amdgpu), or there is no AMD GPU.");
    case ENXIO:
    case ENODEV:
      return error(ErrorCode::kNoDevice, path + " exists, but no driver answers (" + errno_text(-rc) +
                                             "): the amdgpu driver is not loaded, or its device number has "
                                             "changed since the node was made.");
    case EINVAL:
      return error(ErrorCode::kNoDevice, path +
                                             " refuses to open with EINVAL: the amdgpu driver is loaded and "
                                             "has found no GPU that computes.");
    case EACCES: return error(ErrorCode::kNoPermission, permission_text(os, path));
    case EPERM:
      return error(sizeof(void*) == 4 ? ErrorCode::kNotSupported : ErrorCode::kNoPermission, cgroup_text(path));
    default: return call_error(kOpenKfd, rc, "opening " + path);
  }
}

Error explain_render_open(const barehip_os_table& os, const std::string& path, uint32_t node_id, int rc) {
  const std::string gpu = "The GPU of topology node " + std::to_string(node_id) + " is left out: ";
  const auto error = [&](ErrorCode code, const std::string& text) { return Error{code, -rc, kOpenRender, gpu + text}; };
  switch (-rc) {
    case ENOENT:
      return error(ErrorCode::kDeviceHidden,
                   path + " does not exist; in a container, pass it (--device " + path + ").");
    case ENXIO:
    case ENODEV: return error(ErrorCode::kDeviceHidden, "no driver answers at " + path + " (" + errno_text(-rc) + ").");
    case EACCES: return error(ErrorCode::kNoPermission, permission_text(os, path));
    case EPERM: return error(ErrorCode::kNoPermission, cgroup_text(path));
    default: return call_error(kOpenRender, rc, "opening " + path);
  }
}

Error explain_no_gpu_node(const barehip_os_table& os) {
  return Error{ErrorCode::kNoDevice, 0, "read topology",
               "The amdgpu driver works, but " + std::string(os.topology_root) +
                   "/nodes shows no GPU: there is no AMD GPU that computes, or the driver gave it up (see "
                   "the kernel log)."};
}

Error explain_denied_node(uint32_t node_id) {
  return Error{ErrorCode::kNoPermission, EPERM, "read topology",
               "The GPU of topology node " + std::to_string(node_id) +
                   " is left out: this process's device cgroup refuses its render device; in a container, "
                   "pass it (--device /dev/dri)."};
}

}  // namespace barehip::kfd
