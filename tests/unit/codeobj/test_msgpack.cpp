// The MessagePack reader against the encodings of the specification, cut and hostile input.
#include "codeobj/msgpack.h"

#include <vector>

#include "tests/catch.h"

using namespace barehip;
using barehip::codeobj::MsgPackReader;

namespace {

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> out;
  for (int value : values) out.push_back(static_cast<std::byte>(value));
  return out;
}

template <class Read>
std::string failure(std::initializer_list<int> values, Read read) {
  const auto data = bytes(values);
  MsgPackReader in(data, 0x100);
  read(in);
  REQUIRE_FALSE(in.ok());
  CHECK(in.error().code == ErrorCode::kInvalidImage);
  return in.error().text;
}

}  // namespace

TEST_CASE("every width of number, string, array and map is read") {
  const auto number = [](std::initializer_list<int> values) {
    const auto data = bytes(values);
    MsgPackReader in(data, 0);
    const uint64_t value = in.unsigned_integer();
    CHECK(in.ok());
    CHECK(in.at_end());
    return value;
  };
  CHECK(number({0x7f}) == 0x7f);
  CHECK(number({0xcc, 0xff}) == 0xff);
  CHECK(number({0xcd, 0x12, 0x34}) == 0x1234);
  CHECK(number({0xce, 1, 2, 3, 4}) == 0x01020304);
  CHECK(number({0xcf, 1, 2, 3, 4, 5, 6, 7, 8}) == 0x0102030405060708);
  CHECK(number({0xd1, 0x12, 0x34}) == 0x1234);

  const auto data = bytes({0x82, 0xa1, 'a', 0xc3, 0xd9, 2, 'b', 'c', 0x92, 1, 0xda, 0, 1, 'd'});
  MsgPackReader in(data, 0);
  CHECK(in.map() == 2);
  CHECK(in.string() == "a");
  CHECK(in.boolean());
  CHECK(in.string() == "bc");
  CHECK(in.array() == 2);
  CHECK(in.unsigned_integer() == 1);
  CHECK(in.string() == "d");
  CHECK(in.ok());
  CHECK(in.at_end());

  const auto wide = bytes({0xde, 0, 1, 0xdb, 0, 0, 0, 1, 'k', 0xdd, 0, 0, 0, 2, 0xc2, 0xc2});
  MsgPackReader wide_in(wide, 0);
  CHECK(wide_in.map() == 1);
  CHECK(wide_in.string() == "k");
  CHECK(wide_in.array() == 2);
  CHECK_FALSE(wide_in.boolean());
  CHECK_FALSE(wide_in.boolean());
  CHECK(wide_in.ok());
}

TEST_CASE("skip passes over one value of every kind") {
  for (auto data : {bytes({0xc0}), bytes({0xe0}), bytes({0xc4, 1, 9}), bytes({0xc5, 0, 1, 9}),
                    bytes({0xca, 0, 0, 0, 0}), bytes({0xcb, 0, 0, 0, 0, 0, 0, 0, 0}), bytes({0xd0, 0xff}),
                    bytes({0xd4, 1, 2}), bytes({0xd8, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
                    bytes({0xc7, 1, 5, 9}), bytes({0x93, 1, 0x91, 2, 0x81, 3, 4}), bytes({0xdc, 0, 1, 7}),
                    bytes({0xdf, 0, 0, 0, 1, 7, 8}), bytes({0xa2, 'x', 'y'})}) {
    CAPTURE(static_cast<int>(data[0]));
    data.push_back(std::byte{42});
    MsgPackReader in(data, 0);
    in.skip();
    CHECK(in.unsigned_integer() == 42);
    CHECK(in.ok());
    CHECK(in.at_end());
  }
}

TEST_CASE("errors name what was expected and where, and stick") {
  CHECK(failure({0xa1, 'x'}, [](auto& in) { in.map(); }) ==
        "code object metadata: a map is expected at file offset 0x100");
  CHECK(failure({1, 0xc0}, [](auto& in) {
          in.unsigned_integer();
          in.array();
          in.string();
        }) == "code object metadata: an array is expected at file offset 0x101");
  CHECK(failure({0xd9, 200, 'x'}, [](auto& in) { in.string(); }).find("truncated value") != std::string::npos);
  CHECK(failure({0xff}, [](auto& in) { in.unsigned_integer(); }).find("not negative") != std::string::npos);
  CHECK(failure({0xd0, 0x80}, [](auto& in) { in.unsigned_integer(); }).find("not negative") != std::string::npos);
  CHECK(failure({}, [](auto& in) { in.boolean(); }).find("truncated") != std::string::npos);
  CHECK(failure({0xc1}, [](auto& in) { in.skip(); }).find("begins no value") != std::string::npos);
}

TEST_CASE("nesting and counts that the input cannot hold end at once") {
  std::vector<std::byte> deep(100000, std::byte{0x91});
  MsgPackReader in(deep, 0);
  in.skip();
  CHECK_FALSE(in.ok());
  CHECK(failure({0xdd, 0xff, 0xff, 0xff, 0xff, 1}, [](auto& r) { r.skip(); }).find("more elements") !=
        std::string::npos);
  CHECK(failure({0xdf, 0xff, 0xff, 0xff, 0xff, 1}, [](auto& r) { r.skip(); }).find("more elements") !=
        std::string::npos);
}
