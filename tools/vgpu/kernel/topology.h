// The KFD topology as a tree of text files, as amdkfd prints it under sysfs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace vgpu {

struct Gpu;
struct Options;

/// Files by path relative to the topology's root ("nodes/1/properties"). Folders exist through what lies in them, and
/// empty ones are named.
class FileTree {
 public:
  void add(const std::string& path, std::string content) { files_[path] = std::move(content); }
  void add_folder(const std::string& path) { folders_.push_back(path); }

  const std::string* file(std::string_view path) const;
  bool is_folder(std::string_view path) const;
  std::vector<std::string> list(std::string_view path) const;

  const std::map<std::string, std::string, std::less<>>& files() const { return files_; }
  const std::vector<std::string>& folders() const { return folders_; }

 private:
  std::map<std::string, std::string, std::less<>> files_;
  std::vector<std::string> folders_;
};

/// One line of a properties file.
std::string property_line(const char* key, uint64_t value);

/// The machine as `options` describe it: CPU nodes first, then one node a GPU. Lines that the reported version of the
/// driver's interface did not have yet are left out.
FileTree make_topology(const Options& options, const std::vector<Gpu>& gpus);

/// The node numbers, for whoever must name them.
uint32_t gpu_node(const Options& options, const Gpu& gpu);

}  // namespace vgpu
