#include "tests/unit/visa/vector_file.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace vectors {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::vector<Value> values(const std::string& text) {
  std::vector<Value> all;
  if (text == "-") return all;
  for (const std::string& item : split(text, ' ')) {
    const size_t equal = item.find('=');
    if (equal == std::string::npos) throw std::runtime_error("no '=' in " + item);
    Value value{item.substr(0, equal), {}};
    for (const std::string& lane : split(item.substr(equal + 1), ','))
      value.lanes.push_back(std::stoull(lane, nullptr, 16));
    all.push_back(value);
  }
  return all;
}

/// Bytes in memory order to dwords.
std::vector<uint32_t> words(const std::string& hex) {
  std::vector<uint32_t> all;
  for (size_t at = 0; at + 8 <= hex.size(); at += 8) {
    uint32_t word = 0;
    for (size_t n = 0; n < 4; ++n)
      word |= static_cast<uint32_t>(std::stoul(hex.substr(at + 2 * n, 2), nullptr, 16)) << (8 * n);
    all.push_back(word);
  }
  return all;
}

Row row(const std::string& line) {
  const std::vector<std::string> f = split(line, '\t');
  if (f.size() != 10) throw std::runtime_error("ten fields wanted: " + line.substr(0, 40));
  Row r;
  r.id = f[0];
  r.scalar = f[1] == "s";
  r.provenance = f[2];
  r.target = f[3];
  r.mode = static_cast<uint32_t>(std::stoul(f[4], nullptr, 16));
  r.words = words(f[5]);
  r.count = std::stoul(f[6]);
  r.in = values(f[7]);
  r.out = values(f[8]);
  r.notes = f[9];
  return r;
}

}  // namespace

bool Row::has_note(const std::string& name) const {
  for (const std::string& note : split(notes, ' '))
    if (note == name || note.starts_with(name + "=")) return true;
  return false;
}

uint64_t Row::weak() const {
  const size_t at = notes.find("weak=");
  return at == std::string::npos ? 0 : std::stoull(notes.substr(at + 5), nullptr, 16);
}

std::vector<Row> read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot open " + path);
  std::vector<Row> rows;
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line[0] != '#') rows.push_back(row(line));
  return rows;
}

}  // namespace vectors
