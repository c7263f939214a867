// BAREHIP_DEVICES.
#include <cstdlib>

#include "kfd/os_linux.h"
#include "tests/catch.h"

#include <barehip/device.h>

using namespace barehip;

namespace {

Error error_of(const char* value) {
  setenv("BAREHIP_DEVICES", value, 1);
  const Result<const barehip_os_table*> table = os_from_environment();
  unsetenv("BAREHIP_DEVICES");
  REQUIRE_FALSE(table);
  return table.error();
}

}  // namespace

TEST_CASE("without the variable the real kernel serves") {
  unsetenv("BAREHIP_DEVICES");
  CHECK(os_from_environment().value() == kfd::os_linux());
  setenv("BAREHIP_DEVICES", "", 1);
  CHECK(os_from_environment().value() == kfd::os_linux());
  unsetenv("BAREHIP_DEVICES");
}

TEST_CASE("what is no list of provider:spec is refused") {
  for (const char* bad : {"nonsense", ":gfx90a", "x:", "x:a,", "x:a,b", ",x:a", "../evil:a", "X:a"}) {
    INFO(bad);
    CHECK(error_of(bad).code == ErrorCode::kInvalidArgument);
  }
  CHECK(error_of("one:a,two:b").text.find("names two providers, one and two") != std::string::npos);
}

TEST_CASE("a provider that does not exist is named") {
  const Error error = error_of("no-such-provider:a,no-such-provider:b");
  CHECK(error.code == ErrorCode::kNotFound);
  CHECK(error.text.find("libbarehip-no-such-provider.so") != std::string::npos);
}

TEST_CASE("a provider's refusal reaches the user") {
  const Error error = error_of("kfdtest:refuse,kfdtest:more");
  CHECK(error.code == ErrorCode::kNoDevice);
  CHECK(error.text == "libbarehip-kfdtest.so refused 'refuse,more': told to");
}

TEST_CASE("a provider of another version is refused") {
  CHECK(error_of("kfdtest:version").code == ErrorCode::kNotSupported);
}

TEST_CASE("a provider's table is used") {
  setenv("BAREHIP_DEVICES", "kfdtest:ok", 1);
  const Result<const barehip_os_table*> table = os_from_environment();
  unsetenv("BAREHIP_DEVICES");
  REQUIRE(table);
  CHECK(std::string((*table)->dev_root) == "/kfdtest");
}
