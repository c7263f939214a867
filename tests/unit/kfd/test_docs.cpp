// The ioctl table of docs/kfd.md is the one of kfd/ioctls.def.
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "kfd/ioctl_table.h"
#include "tests/catch.h"

using namespace barehip::kfd;

namespace {

std::string table_text() {
  std::string text = "| nr | name | argument bytes | since KFD | barehip |\n|---|---|---|---|---|\n";
  for (const IoctlRow& row : ioctl_table()) {
    constexpr char kDigits[] = "0123456789abcdef";
    text += std::string("| 0x") + kDigits[row.nr >> 4] + kDigits[row.nr & 15] + " | " + row.name + " | " +
            std::to_string(row.bytes) + " | 1." + std::to_string(row.minor) + " | " +
            (row.refused_for != nullptr ? std::string("not used: ") + row.refused_for : "issues it") + " |\n";
  }
  return text;
}

}  // namespace

TEST_CASE("docs/kfd.md shows the ioctl table as it is") {
  const char* path = getenv("KFD_DOC");
  REQUIRE(path != nullptr);
  std::ifstream file(path);
  const std::string document{std::istreambuf_iterator<char>(file), {}};
  INFO("the table should read:\n" << table_text());
  CHECK(document.find(table_text()) != std::string::npos);
}
