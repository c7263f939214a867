#include "codeobj/msgpack.h"

#include <cstdio>

namespace barehip::codeobj {

Error MsgPackReader::error() const {
  char where[32];
  std::snprintf(where, sizeof where, "0x%zx", base_ + value_start_);
  return {.code = ErrorCode::kInvalidImage,
          .operation = "read metadata",
          .text = std::string("code object metadata: ") + what_ + " at file offset " + where};
}

void MsgPackReader::refuse(const char* what) {
  if (!what_) what_ = what;
}

void MsgPackReader::advance(uint64_t bytes) {
  if (bytes > bytes_.size() - position_) return refuse("truncated value");
  position_ += static_cast<size_t>(bytes);
}

uint64_t MsgPackReader::number(size_t bytes) {
  if (!ok() || bytes > bytes_.size() - position_) {
    refuse("truncated value");
    return 0;
  }
  uint64_t value = 0;  // big endian
  for (size_t i = 0; i < bytes; ++i) value = value << 8 | static_cast<uint8_t>(bytes_[position_ + i]);
  position_ += bytes;
  return value;
}

uint8_t MsgPackReader::next_byte() {
  if (ok()) value_start_ = position_;
  return static_cast<uint8_t>(number(1));
}

uint32_t MsgPackReader::map() {
  const uint8_t tag = next_byte();
  if (!ok()) return 0;
  if ((tag & 0xf0) == 0x80) return tag & 0xf;
  if (tag == 0xde || tag == 0xdf) return static_cast<uint32_t>(number(tag == 0xde ? 2 : 4));
  refuse("a map is expected");
  return 0;
}

uint32_t MsgPackReader::array() {
  const uint8_t tag = next_byte();
  if (!ok()) return 0;
  if ((tag & 0xf0) == 0x90) return tag & 0xf;
  if (tag == 0xdc || tag == 0xdd) return static_cast<uint32_t>(number(tag == 0xdc ? 2 : 4));
  refuse("an array is expected");
  return 0;
}

std::string_view MsgPackReader::string() {
  const uint8_t tag = next_byte();
  if (!ok()) return {};
  uint64_t length = 0;
  if ((tag & 0xe0) == 0xa0) {
    length = tag & 0x1f;
  } else if (tag >= 0xd9 && tag <= 0xdb) {
    length = number(size_t{1} << (tag - 0xd9));
  } else {
    refuse("a string is expected");
  }
  if (!ok()) return {};
  const size_t start = position_;
  advance(length);
  if (!ok()) return {};
  return {reinterpret_cast<const char*>(bytes_.data()) + start, static_cast<size_t>(length)};
}

uint64_t MsgPackReader::unsigned_integer() {
  const uint8_t tag = next_byte();
  if (!ok()) return 0;
  if (tag < 0x80) return tag;
  if (tag >= 0xcc && tag <= 0xcf) return number(size_t{1} << (tag - 0xcc));
  if (tag >= 0xd0 && tag <= 0xd3) {  // signed encodings of a value that is not negative are valid
    const size_t bytes = size_t{1} << (tag - 0xd0);
    const uint64_t value = number(bytes);
    if (!(value >> (8 * bytes - 1))) return value;
  }
  refuse("a number that is not negative is expected");
  return 0;
}

bool MsgPackReader::boolean() {
  const uint8_t tag = next_byte();
  if (ok() && tag != 0xc2 && tag != 0xc3) refuse("a boolean is expected");
  return ok() && tag == 0xc3;
}

// Adds to `pending` the values inside this one. Depth needs no stack: only how many values are still to pass counts.
bool MsgPackReader::skip_one(uint64_t& pending) {
  const uint8_t tag = next_byte();
  if (!ok()) return false;
  if (tag < 0x80 || tag >= 0xe0 || tag == 0xc0 || tag == 0xc2 || tag == 0xc3) return true;
  if ((tag & 0xf0) == 0x80)
    pending += 2u * (tag & 0xf);
  else if ((tag & 0xf0) == 0x90)
    pending += tag & 0xf;
  else if ((tag & 0xe0) == 0xa0)
    advance(tag & 0x1f);
  else if (tag >= 0xc4 && tag <= 0xc6)
    advance(number(size_t{1} << (tag - 0xc4)));  // binary
  else if (tag >= 0xc7 && tag <= 0xc9)
    advance(number(size_t{1} << (tag - 0xc7)) + 1);  // extension
  else if (tag == 0xca || tag == 0xcb)
    advance(tag == 0xca ? 4 : 8);  // float
  else if (tag >= 0xcc && tag <= 0xcf)
    advance(uint64_t{1} << (tag - 0xcc));  // unsigned
  else if (tag >= 0xd0 && tag <= 0xd3)
    advance(uint64_t{1} << (tag - 0xd0));  // signed
  else if (tag >= 0xd4 && tag <= 0xd8)
    advance((uint64_t{1} << (tag - 0xd4)) + 1);  // fixed extension
  else if (tag >= 0xd9 && tag <= 0xdb)
    advance(number(size_t{1} << (tag - 0xd9)));  // string
  else if (tag == 0xdc || tag == 0xdd)
    pending += number(tag == 0xdc ? 2 : 4);  // array
  else if (tag == 0xde || tag == 0xdf)
    pending += 2 * number(tag == 0xde ? 2 : 4);  // map
  else
    refuse("a byte that begins no value");
  return ok();
}

void MsgPackReader::skip() {
  uint64_t pending = 1;
  while (pending > 0 && ok()) {
    --pending;
    if (!skip_one(pending)) return;
    if (pending > bytes_.size() - position_) return refuse("a map or array has more elements than bytes follow");
  }
}

}  // namespace barehip::codeobj
