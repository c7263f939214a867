#include "tests/unit/visa/vector_file.h"

#include <algorithm>
#include <fstream>
#include <functional>
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

uint64_t hex(const std::string& text) { return std::stoull(text, nullptr, 16); }

/// "~" and letters: indices into the row's list of values, one or two letters each.
std::vector<std::string> from_dictionary(const std::string& letters, const std::vector<std::string>& dictionary) {
  static const std::string kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const size_t width = dictionary.size() > kAlphabet.size() ? 2 : 1;
  std::vector<std::string> all;
  for (size_t n = 0; n + width <= letters.size(); n += width) {
    size_t index = 0;
    for (size_t k = 0; k < width; ++k) index = index * kAlphabet.size() + kAlphabet.find(letters[n + k]);
    all.push_back(dictionary.at(index));
  }
  return all;
}

/// "a,b,c", "value*count" and "first+step" for as many as are wanted; "." means unchanged.
void parse_list(const std::string& text, size_t count, const std::vector<std::string>& dictionary, Value& value) {
  const auto add = [&value](const std::string& item) {
    value.unchanged.push_back(item == ".");
    value.lanes.push_back(item == "." ? 0 : hex(item));
  };
  if (text[0] == '~') {
    for (const std::string& item : from_dictionary(text.substr(1), dictionary)) add(item);
    return;
  }
  const size_t plus = text.find('+');
  if (plus != std::string::npos) {
    const auto first = static_cast<uint32_t>(hex(text.substr(0, plus))),
               step = static_cast<uint32_t>(hex(text.substr(plus + 1)));
    for (size_t n = 0; n < count; ++n) {
      value.lanes.push_back(first + static_cast<uint32_t>(n) * step);
      value.unchanged.push_back(false);
    }
    return;
  }
  for (const std::string& item : split(text, ',')) {
    const size_t star = item.find('*');
    const size_t times = star == std::string::npos ? 1 : std::stoul(item.substr(star + 1));
    for (size_t n = 0; n < times; ++n) add(item.substr(0, star));
  }
}

/// "address:value;first+stride:value,value,..."
Dwords parse_dwords(const std::string& text) {
  Dwords all;
  for (const std::string& item : split(text, ';')) {
    const size_t colon = item.find(':'), plus = item.find('+');
    const auto first = static_cast<uint32_t>(hex(item.substr(0, std::min(plus, colon))));
    const bool series = plus != std::string::npos && plus < colon;
    const auto stride = series ? static_cast<uint32_t>(hex(item.substr(plus + 1, colon - plus - 1))) : 0;
    Value values;
    // Values of a series are always listed: nothing else says how many there are.
    parse_list(item.substr(colon + 1), 1, {}, values);
    for (size_t n = 0; n < values.lanes.size(); ++n)
      all[first + static_cast<uint32_t>(n) * stride] = static_cast<uint32_t>(values.lanes[n]);
  }
  return all;
}

State parse_state(const std::string& text, size_t count, const std::vector<std::string>& dictionary) {
  State state;
  if (text == "-") return state;
  for (const std::string& item : split(text, ' ')) {
    const size_t brace = item.find('{'), equal = item.find('=');
    if (brace == 3) {
      const std::string list = item.substr(4, item.size() - 5);
      (item[0] == 'l' ? state.lds : state.memory) = parse_dwords(list);
      if (item[0] == 'l') state.lds_listed = true;
    } else if (item == "lds=@") {
      state.lds_pattern = true;
    } else if (item == "mem=@") {
      state.memory_pattern = true;
    } else if (equal != std::string::npos) {
      Value value;
      value.name = item.substr(0, equal);
      std::string list = item.substr(equal + 1);
      value.relative_to_memory = list[0] == 'M';
      if (value.relative_to_memory) list.erase(0, 1);
      parse_list(list, count, dictionary, value);
      state.registers.push_back(value);
    } else {
      throw std::runtime_error("no '=' in " + item);
    }
  }
  return state;
}

/// Bytes in memory order to dwords; blanks between instructions do not matter.
std::vector<uint32_t> words_of(std::string text) {
  std::erase(text, ' ');
  std::vector<uint32_t> all(text.size() / 8);
  for (size_t n = 0; n < text.size() / 2; ++n)
    all[n / 4] |= static_cast<uint32_t>(hex(text.substr(2 * n, 2))) << (8 * (n % 4));
  return all;
}

std::vector<std::string> targets_of(const std::string& set) {
  static const std::map<std::string, std::vector<std::string>> kSets = {
      {"9", {"gfx900", "gfx906", "gfx908", "gfx90a", "gfx942"}},
      {"906+", {"gfx906", "gfx908", "gfx90a", "gfx942"}},
      {"908+", {"gfx908", "gfx90a", "gfx942"}},
      {"90a+", {"gfx90a", "gfx942"}},
      {"908", {"gfx908"}},
      {"90a", {"gfx90a"}},
      {"942", {"gfx942"}},
      {"11", {"gfx1100", "gfx1151"}},
      {"1151", {"gfx1151"}}};
  return kSets.at(set);
}

template <class T>
std::vector<T> read(const std::string& path, const std::function<T(const std::vector<std::string>&)>& parse) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<T> all;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    try {
      all.push_back(parse(split(line, '\t')));
    } catch (const std::exception& error) {
      throw std::runtime_error(path + ": " + line.substr(0, 60) + ": " + error.what());
    }
  }
  return all;
}

Row row(const std::vector<std::string>& f) {
  Row r;
  r.id = f.at(0);
  r.kind = static_cast<Kind>(f.at(1).at(0));
  r.provenance = f[1].at(1);
  r.targets = targets_of(f.at(2));
  r.wave32 = f.at(3) == "32";
  r.count = std::stoul(f.at(4));
  r.words = words_of(f.at(5));
  const std::vector<std::string> dictionary = f.size() > 9 ? split(f[9], ',') : std::vector<std::string>();
  r.in = parse_state(f.at(6), r.count, dictionary);
  r.out = parse_state(f.at(7), r.count, dictionary);
  r.notes = f.at(8);
  return r;
}

Program program(const std::vector<std::string>& f) {
  return {f.at(0),
          targets_of(f.at(1)),
          f.at(2) == "32",
          std::stoul(f.at(3)),
          words_of(f.at(4)),
          parse_state(f.at(5), std::stoul(f[3]), {}).registers,
          f.at(6) == "approx"};
}

Folded folded(const std::vector<std::string>& f) {
  Folded r;
  r.id = f.at(0);
  const std::string gfx942 = f.at(2) == "=" ? f.at(1) : f[2];
  for (const auto& [target, bytes] :
       std::map<std::string, std::string>{{"gfx90a", f[1]}, {"gfx942", gfx942}, {"gfx1100", f.at(3)}})
    if (bytes != "-") r.words[target] = words_of(bytes);
  r.types = split(f.at(4), ',');
  r.result_type = f.at(5);
  r.approximate = f.at(6) == "approx";
  for (const std::string& item : split(f.at(7), ' ')) {
    const size_t arrow = item.find('>');
    Folded::Case one;
    for (const std::string& input : split(item.substr(0, arrow), ',')) one.in.push_back(hex(input));
    one.out = hex(item.substr(arrow + 1));
    r.cases.push_back(one);
  }
  return r;
}

}  // namespace

const Value* State::find(const std::string& name) const {
  const auto found = std::find_if(registers.begin(), registers.end(), [&](const Value& v) { return v.name == name; });
  return found == registers.end() ? nullptr : &*found;
}

bool Row::has_note(const std::string& name) const {
  for (const std::string& note : split(notes, ' '))
    if (note == name) return true;
  return false;
}

uint64_t Row::weak() const {
  for (const std::string& note : split(notes, ' '))
    if (note.rfind("weak=", 0) == 0) return hex(note.substr(5));
  return 0;
}

std::vector<Row> read_rows(const std::string& path) { return read<Row>(path, row); }
std::vector<Program> read_programs(const std::string& path) { return read<Program>(path, program); }
std::vector<Folded> read_folded(const std::string& path) { return read<Folded>(path, folded); }

}  // namespace vectors
