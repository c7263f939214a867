// Reads lists of names: a line "target target:" starts a group, indented lines hold its names, "#" a comment.
#pragma once

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

namespace name_list {

/// Names by target.
inline std::map<std::string, std::set<std::string>> read(const std::string& path) {
  std::map<std::string, std::set<std::string>> all;
  std::ifstream file(path);
  std::set<std::string> targets;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    const bool group = line[0] != ' ';
    if (group) targets.clear();
    for (std::string word; words >> word;) {
      if (!group) {
        for (const std::string& target : targets) all[target].insert(word);
      } else {
        if (word.ends_with(':')) word.pop_back();
        targets.insert(word);
      }
    }
  }
  return all;
}

}  // namespace name_list
