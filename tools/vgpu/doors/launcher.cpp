#include "tools/vgpu/doors/launcher.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "tools/vgpu/doors/fake_root.h"

namespace vgpu {

namespace fs = std::filesystem;
using Failure = std::unexpected<std::string>;

namespace {

constexpr char kPreloadName[] = "libvgpu-preload.so";
pid_t running_child = 0;

// The program gets the signals that a terminal or a test runner sends to the launcher.
void pass_on(int signal) {
  if (running_child > 0) kill(running_child, signal);
}

std::expected<std::string, std::string> find_preload_library() {
  std::error_code ignored;
  const fs::path self = fs::canonical("/proc/self/exe", ignored);
  for (const char* folder : {".", "../lib", "../lib/barehip", "../tools/vgpu/doors"}) {
    const fs::path candidate = self.parent_path() / folder / kPreloadName;
    if (fs::exists(candidate)) return fs::canonical(candidate).string();
  }
  return Failure(fmt::format("{} is neither beside {} nor in ../lib", kPreloadName, self.string()));
}

std::expected<std::string, std::string> find_program(const std::string& name) {
  if (name.find('/') != name.npos) {
    if (access(name.c_str(), X_OK) == 0) return name;
    return Failure(fmt::format("cannot run '{}': {}", name, strerror(errno)));
  }
  std::istringstream folders(getenv("PATH") != nullptr ? getenv("PATH") : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0 && fs::is_regular_file(candidate)) return candidate;
  }
  return Failure(fmt::format("there is no program '{}' in PATH", name));
}

/// A folder that goes away with its owner.
class Folder {
 public:
  Folder() {
    std::string pattern = (place() / "vgpu-XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  // In memory when there is room: thousands of small files, each of which a journal would wait for.
  static fs::path place() {
    constexpr uint64_t kRoom = 32ull << 20;
    const fs::path memory = "/dev/shm";
    std::error_code ignored;
    const bool usable = access(memory.c_str(), W_OK | X_OK) == 0 && fs::space(memory, ignored).available > kRoom;
    return usable && !ignored ? memory : fs::temp_directory_path();
  }

  std::string path_;
};

/// The shared runtime of the sanitizer that this program and so the preload library was built with; usually empty.
std::string sanitizer_runtime() {
  for (const char* entry : {"__asan_init", "__tsan_init"}) {
    Dl_info found{};
    const void* address = dlsym(RTLD_DEFAULT, entry);
    if (address == nullptr || dladdr(address, &found) == 0) continue;
    if (std::string(found.dli_fname).find(".so") != std::string::npos) return found.dli_fname;
  }
  return {};
}

void set_environment(const std::string& preload, const std::string& spec, const std::string& root) {
  const char* before = getenv("LD_PRELOAD");
  std::string all = before != nullptr && *before != '\0' ? preload + ":" + before : preload;
  // It has to come first in a program that was not built with it.
  if (const std::string runtime = sanitizer_runtime(); !runtime.empty()) all = runtime + ":" + all;
  setenv("LD_PRELOAD", all.c_str(), 1);
  setenv(kEnvSpec, spec.c_str(), 1);
  setenv(kEnvRoot, root.c_str(), 1);
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// Lays the machine's memories where its processes find them: descriptors of ours, which live as long as we do.
bool share_memory(const Machine& machine, const std::string& root) {
  const std::string folder = root + kStoresFolder;
  if (mkdir(folder.c_str(), 0700) != 0) return false;
  for (size_t i = 0; i < machine.stores.size(); ++i) {
    const std::string target = fmt::format("/proc/{}/fd/{}", getpid(), machine.stores[i]->fd());
    if (symlink(target.c_str(), (folder + "/" + store_name(i)).c_str()) != 0) return false;
  }
  return true;
}

/// Says what was answered by a default. Returns whether there was anything.
bool report_defaults(const std::string& root) {
  std::ifstream file(root + kDefaultsFile);
  std::set<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.insert(line);
  if (lines.empty()) return false;
  fmt::print(stderr, "vgpu: {} request(s) that a real driver serves were refused or answered by a default:\n",
             lines.size());
  for (const std::string& line : lines) fmt::print(stderr, "vgpu:   {}\n", line);
  return true;
}

// A shared object that names itself: as a program, that is the dynamic loader (`ld.so PROGRAM`), which preloads like
// any.
bool has_soname(std::ifstream& file, const Elf64_Phdr& dynamic) {
  file.seekg(static_cast<std::streamoff>(dynamic.p_offset));
  for (uint64_t i = 0; i < dynamic.p_filesz / sizeof(Elf64_Dyn); ++i) {
    Elf64_Dyn entry{};
    if (!file.read(reinterpret_cast<char*>(&entry), sizeof entry) || entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_SONAME) return true;
  }
  return false;
}

}  // namespace

std::string why_not_preloadable(const std::string& program) {
  struct stat info{};
  if (stat(program.c_str(), &info) == 0 && (info.st_mode & (S_ISUID | S_ISGID)) != 0 && geteuid() != 0) {
    return "it is setuid, and the system preloads nothing into such programs";
  }
  std::ifstream file(program, std::ios::binary);
  Elf64_Ehdr header{};
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return {};
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return {};  // a script: its interpreter is looked at by the system
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return "it is a 32-bit program, which the driver refuses too";
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    file.seekg(static_cast<std::streamoff>(header.e_phoff + i * header.e_phentsize));
    if (!file.read(reinterpret_cast<char*>(&segment), sizeof segment)) break;
    if (segment.p_type == PT_INTERP || (segment.p_type == PT_DYNAMIC && has_soname(file, segment))) return {};
  }
  return "it is statically linked: its system calls do not pass through the C library, so they cannot be answered";
}

std::expected<int, std::string> run_program(const RunRequest& request) {
  auto options = parse_options(request.spec);
  if (!options) return Failure(options.error());
  const auto program = find_program(request.command.front());
  if (!program) return Failure(program.error());
  if (const std::string why = why_not_preloadable(*program); !why.empty()) {
    return Failure(fmt::format("cannot run '{}' on a simulated GPU: {}", *program, why));
  }
  const auto preload = find_preload_library();
  if (!preload) return Failure(preload.error());
  const Folder root;
  if (root.path().empty()) return Failure(fmt::format("cannot make a temporary folder: {}", strerror(errno)));
  const Machine machine(*std::move(options));
  if (auto written = write_fake_root(machine, root.path()); !written) return Failure(written.error());
  if (!share_memory(machine, root.path())) return Failure(fmt::format("cannot share memory: {}", strerror(errno)));

  const pid_t launcher = getpid();
  const pid_t child = fork();
  if (child < 0) return Failure(fmt::format("fork: {}", strerror(errno)));
  if (child == 0) {
    // The GPU's memory is the launcher's: a program that outlived it would wait for ever.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != launcher) _exit(128 + SIGKILL);
    set_environment(*preload, request.spec, root.path());
    std::vector<char*> arguments;
    for (const std::string& each : request.command) arguments.push_back(const_cast<char*>(each.c_str()));
    arguments.push_back(nullptr);
    execv(program->c_str(), arguments.data());
    fmt::print(stderr, "vgpu: cannot run '{}': {}\n", *program, strerror(errno));
    _exit(127);
  }
  running_child = child;
  for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) signal(each, pass_on);
  const int status = wait_for(child);
  const bool defaults = report_defaults(root.path());
  return defaults && request.strict_log_empty && status == 0 ? 3 : status;
}

}  // namespace vgpu
