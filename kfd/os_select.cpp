// BAREHIP_DEVICES: the real kernel, or a provider library.
#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include <barehip/device.h>

#include "kfd/os.h"
#include "kfd/os_linux.h"

namespace barehip {
namespace {

constexpr const char* kOperation = "read BAREHIP_DEVICES";

struct Selection {
  std::string provider;
  std::string specs;  ///< joined by commas
};

bool is_provider_name(std::string_view name) {
  if (name.empty()) return false;
  for (const char c : name)
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-')) return false;
  return true;
}

Result<Selection> parse(std::string_view text) {
  Selection out;
  for (;;) {
    const size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    const size_t colon = item.find(':');
    const std::string_view provider = item.substr(0, colon);
    if (colon == std::string_view::npos || !is_provider_name(provider) || colon + 1 == item.size())
      return fail(ErrorCode::kInvalidArgument, kOperation,
                  "BAREHIP_DEVICES is a comma-separated list of provider:spec, for example "
                  "vgpu:gfx90a,vgpu:gfx1100; '" +
                      std::string(item) + "' is not of that form.");
    if (!out.provider.empty() && out.provider != provider)
      return fail(ErrorCode::kInvalidArgument, kOperation,
                  "BAREHIP_DEVICES names two providers, " + out.provider + " and " + std::string(provider) +
                      "; all devices of a process come from one.");
    if (out.provider.empty())
      out.provider = provider;
    else
      out.specs += ',';
    out.specs += item.substr(colon + 1);
    if (comma == std::string_view::npos) return out;
    text.remove_prefix(comma + 1);
  }
}

/// Folder of the object that holds this function, with the slash; empty in a static program that dladdr knows
/// nothing of.
std::string own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&os_from_environment), &info) == 0 || info.dli_fname == nullptr) return {};
  const std::string path = info.dli_fname;
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

/// The library stays loaded: its table is in use until exit.
Result<void*> load(const std::string& file) {
  std::string reasons;
  const std::string folder = own_folder();
  for (const std::string& path : {folder + file, file}) {
    if (path == file && folder.empty() && !reasons.empty()) break;
    if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    const char* why = dlerror();
    reasons += std::string(reasons.empty() ? "" : "; ") + (why != nullptr ? why : "dlopen failed");
  }
  return fail(ErrorCode::kNotFound, "load device provider",
              "The provider library " + file + " cannot be loaded: " + reasons);
}

}  // namespace

Result<const barehip_os_table*> os_from_environment() {
  const char* text = std::getenv("BAREHIP_DEVICES");
  if (text == nullptr || *text == '\0') return kfd::os_linux();
  Result<Selection> selection = parse(text);
  if (!selection) return std::unexpected(std::move(selection.error()));
  const std::string file = "libbarehip-" + selection->provider + ".so";
  Result<void*> library = load(file);
  if (!library) return std::unexpected(std::move(library.error()));
  const auto entry = reinterpret_cast<barehip_os_provider_fn>(dlsym(*library, "barehip_os_provider"));
  if (entry == nullptr)
    return fail(ErrorCode::kNotFound, "load device provider", file + " does not export barehip_os_provider.");
  char error[1024] = "";
  const barehip_os_table* table = entry(selection->specs.c_str(), error, sizeof error);
  if (table == nullptr)
    return fail(ErrorCode::kNoDevice, "start device provider",
                file + " refused '" + selection->specs + "': " + (error[0] != '\0' ? error : "no reason given"));
  if (table->version != BAREHIP_OS_TABLE_VERSION)
    return fail(ErrorCode::kNotSupported, "start device provider",
                file + " speaks version " + std::to_string(table->version) +
                    " of the device interface, this library version " + std::to_string(BAREHIP_OS_TABLE_VERSION) +
                    "; use libraries of one build.");
  return table;
}

}  // namespace barehip
