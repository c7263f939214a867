#include "kfd/key_value_file.h"

#include <algorithm>
#include <charconv>

namespace barehip::kfd {
namespace {

constexpr const char* kOperation = "read topology";

bool parse_decimal(std::string_view text, uint64_t& out) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && stop == text.data() + text.size() && !text.empty();
}

std::string quoted(std::string_view text) {
  constexpr size_t kShown = 60;
  return "'" + std::string(text.substr(0, kShown)) + (text.size() > kShown ? "...'" : "'");
}

}  // namespace

std::unexpected<Error> KeyValueFile::bad(uint32_t line, const std::string& what) const {
  return fail(ErrorCode::kSystem, kOperation, path_ + (line != 0 ? ":" + std::to_string(line) : "") + ": " + what);
}

Result<KeyValueFile> KeyValueFile::parse(std::string path, std::string_view text,
                                         std::initializer_list<std::string_view> text_keys) {
  KeyValueFile file;
  file.path_ = std::move(path);
  for (uint32_t line_number = 1; !text.empty(); ++line_number) {
    const size_t newline = text.find('\n');
    const std::string_view line = text.substr(0, newline);
    if (newline == std::string_view::npos)
      return file.bad(line_number, "the file ends inside the line " + quoted(line));
    text.remove_prefix(newline + 1);
    const size_t space = line.find(' ');
    const std::string_view key = line.substr(0, space);
    const std::string_view value_text = space == std::string_view::npos ? std::string_view() : line.substr(space + 1);
    if (std::find(text_keys.begin(), text_keys.end(), key) != text_keys.end()) continue;
    uint64_t value = 0;
    if (key.empty() || !parse_decimal(value_text, value))
      return file.bad(line_number, "expected a key and one decimal number, found " + quoted(line));
    if (const Entry* first = file.find(key))
      return file.bad(line_number,
                      "the key " + quoted(key) + " stands in line " + std::to_string(first->line) + " already");
    file.entries_.push_back({std::string(key), value, line_number});
  }
  return file;
}

const KeyValueFile::Entry* KeyValueFile::find(std::string_view key) const {
  for (const Entry& entry : entries_)
    if (entry.key == key) return &entry;
  return nullptr;
}

Result<uint64_t> KeyValueFile::u64(std::string_view key) const {
  const Entry* entry = find(key);
  if (entry == nullptr) return bad(0, "the key " + quoted(key) + " is missing");
  return entry->value;
}

Result<uint32_t> KeyValueFile::u32(std::string_view key) const {
  const Entry* entry = find(key);
  if (entry == nullptr) return bad(0, "the key " + quoted(key) + " is missing");
  if (entry->value > UINT32_MAX)
    return bad(entry->line, std::to_string(entry->value) + " is too big for " + quoted(key) + ", which has 32 bits");
  return static_cast<uint32_t>(entry->value);
}

Result<uint64_t> KeyValueFile::u64_or(std::string_view key, uint64_t absent) const {
  return find(key) == nullptr ? Result<uint64_t>(absent) : u64(key);
}

Result<uint32_t> KeyValueFile::u32_or(std::string_view key, uint32_t absent) const {
  return find(key) == nullptr ? Result<uint32_t>(absent) : u32(key);
}

Result<uint64_t> parse_number_file(const std::string& path, std::string_view text) {
  std::string_view digits = text;
  if (!digits.empty() && digits.back() == '\n') digits.remove_suffix(1);
  uint64_t value = 0;
  if (!parse_decimal(digits, value))
    return fail(ErrorCode::kSystem, kOperation, path + ":1: expected one decimal number, found " + quoted(digits));
  return value;
}

}  // namespace barehip::kfd
