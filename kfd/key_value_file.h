// Strict reader of the "key value" files of the KFD topology.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <barehip/error.h>

namespace barehip::kfd {

/// One parsed file. Every line is `key decimal`; anything else is an error that names the file and the line.
/// Unknown keys are kept and may be ignored by the caller; a key that comes twice is an error.
class KeyValueFile {
 public:
  /// `text_keys`: keys whose value is not a number and is skipped.
  static Result<KeyValueFile> parse(std::string path, std::string_view text,
                                    std::initializer_list<std::string_view> text_keys = {});

  /// Value of a key that must be there and fit 32 bits (or 64).
  Result<uint32_t> u32(std::string_view key) const;
  Result<uint64_t> u64(std::string_view key) const;
  /// The same for keys that older kernels lack.
  Result<uint32_t> u32_or(std::string_view key, uint32_t absent) const;
  Result<uint64_t> u64_or(std::string_view key, uint64_t absent) const;

  const std::string& path() const { return path_; }

 private:
  struct Entry {
    std::string key;
    uint64_t value;
    uint32_t line;
  };
  const Entry* find(std::string_view key) const;
  std::unexpected<Error> bad(uint32_t line, const std::string& what) const;

  std::string path_;
  std::vector<Entry> entries_;
};

/// A file that holds one decimal number.
Result<uint64_t> parse_number_file(const std::string& path, std::string_view text);

}  // namespace barehip::kfd
