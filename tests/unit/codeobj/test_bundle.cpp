// Offload bundles as clang's bundler writes them, several in a row, and every way to be wrong.
#include "codeobj/bundle.h"

#include <cstring>

#include "codeobj/code_object.h"
#include "tests/unit/codeobj/images.h"

using namespace barehip;
using namespace barehip::codeobj;

namespace {

TargetId gpu(const char* text) { return *parse_target_id(text); }

std::string select_error(const images::Bytes& bytes, const char* id, ErrorCode code) {
  auto selected = select_image(bytes, gpu(id));
  REQUIRE_FALSE(selected.has_value());
  CHECK(selected.error().code == code);
  return selected.error().text;
}

void put(images::Bytes& out, uint64_t value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), bytes, bytes + 8);
}
void put(images::Bytes& out, std::string_view text) {
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  out.insert(out.end(), bytes, bytes + text.size());
}

struct Entry {
  std::string id;
  std::string content;
};

// A bundle of our own making, for ids that the bundler would not accept together.
images::Bytes make_bundle(const std::vector<Entry>& entries) {
  images::Bytes out;
  put(out, "__CLANG_OFFLOAD_BUNDLE__");
  put(out, uint64_t{entries.size()});
  uint64_t offset = out.size();
  for (const Entry& entry : entries) offset += 24 + entry.id.size();
  for (const Entry& entry : entries) {
    put(out, offset);
    put(out, uint64_t{entry.content.size()});
    put(out, uint64_t{entry.id.size()});
    put(out, entry.id);
    offset += entry.content.size();
  }
  for (const Entry& entry : entries) put(out, entry.content);
  return out;
}

std::string hip(const char* target) { return std::string("hipv4-amdgcn-amd-amdhsa--") + target; }

std::string selected_content(const images::Bytes& bytes, const char* id) {
  auto selected = select_image(bytes, gpu(id));
  INFO((selected ? std::string() : selected.error().text));
  REQUIRE(selected.has_value());
  return {reinterpret_cast<const char*>(selected->bytes.data()), selected->bytes.size()};
}

}  // namespace

TEST_CASE("the bundler's output gives each GPU its image") {
  const images::Bytes bundle = images::read("two.bundle");
  for (const std::string name : {"gfx90a", "gfx1100"}) {
    auto selected = select_image(bundle, gpu((name == "gfx90a" ? name + ":sramecc+:xnack-" : name).c_str()));
    REQUIRE(selected.has_value());
    const images::Bytes expected = images::read(name + "-v5.elf");
    CHECK(std::equal(selected->bytes.begin(), selected->bytes.end(), expected.begin(), expected.end()));
    auto code = CodeObject::parse(selected->bytes);
    REQUIRE(code.has_value());
    CHECK(code->target().processor == name);
  }
  auto entries = list_container(bundle);
  REQUIRE(entries.has_value());
  REQUIRE(entries->size() == 3);
  CHECK_FALSE((*entries)[0].target.has_value());
  CHECK(measure_image(bundle.data()).value() == bundle.size());
}

TEST_CASE("no code for this GPU: the text lists both sides") {
  const std::string text =
      select_error(images::read("two.bundle"), "gfx906:sramecc+:xnack-", ErrorCode::kNoBinaryForGpu);
  CHECK(text.find("gfx90a, gfx1100") != std::string::npos);
  CHECK(text.find("the GPU is gfx906:sramecc+:xnack-") != std::string::npos);
  CHECK(select_error(make_bundle({{"host-x86_64-unknown-linux-gnu", ""}}), "gfx90a", ErrorCode::kNoBinaryForGpu)
            .find("no GPU") != std::string::npos);
}

TEST_CASE("several bundles in a row are one container") {
  images::Bytes fatbin = images::read("two.bundle");
  fatbin.resize((fatbin.size() + 4095) / 4096 * 4096);
  const images::Bytes more = make_bundle({{hip("gfx906"), "six"}, {hip("gfx1101"), "eleven"}});
  fatbin.insert(fatbin.end(), more.begin(), more.end());
  CHECK(selected_content(fatbin, "gfx1101") == "eleven");
  CHECK(list_container(fatbin)->size() == 5);
}

TEST_CASE("the most specific image wins, generic code comes last") {
  const auto bundle = make_bundle({{hip("gfx90a"), "any"},
                                   {hip("gfx90a:xnack-"), "off"},
                                   {hip("gfx90a:xnack+"), "on"},
                                   {hip("gfx9-generic"), "generic9"},
                                   {hip("gfx11-generic"), "generic11"},
                                   {hip("gfx1103"), "phoenix"},
                                   {"hip-spirv64-amd-amdhsa--amdgcnspirv", "spirv"}});
  CHECK(selected_content(bundle, "gfx90a:sramecc+:xnack-") == "off");
  CHECK(selected_content(bundle, "gfx90a:sramecc+:xnack+") == "on");
  CHECK(selected_content(bundle, "gfx906:sramecc+:xnack-") == "generic9");
  CHECK(selected_content(bundle, "gfx1100") == "generic11");
  CHECK(selected_content(bundle, "gfx1103") == "phoenix");
  CHECK(select_error(make_bundle({{hip("gfx90a:xnack+"), "on"}}), "gfx90a:sramecc+:xnack-", ErrorCode::kNoBinaryForGpu)
            .find("gfx90a:xnack+") != std::string::npos);
}

TEST_CASE("code for a machine that we do not know does not spoil the code beside it") {
  constexpr size_t kFlagsAt = 0x30;
  images::Bytes newer = images::read("gfx1100-v5.elf");
  newer[kFlagsAt] = std::byte{0xee};
  const std::string unknown(reinterpret_cast<const char*>(newer.data()), newer.size());
  const auto bundle = make_bundle({{hip("gfx1399"), unknown}, {hip("gfx90a"), "code"}});
  CHECK(selected_content(bundle, "gfx90a:sramecc+:xnack-") == "code");
  CHECK(select_error(bundle, "gfx1100", ErrorCode::kNoBinaryForGpu).find("gfx1399, gfx90a") != std::string::npos);
  // Selected by an id that lies, it is refused when it is parsed.
  auto lied = select_image(make_bundle({{hip("gfx1100"), unknown}}), gpu("gfx1100"));
  REQUIRE(lied.has_value());
  CHECK_FALSE(CodeObject::parse(lied->bytes).has_value());
}

TEST_CASE("a plain ELF image is a container of one") {
  const images::Bytes elf = images::read("gfx90a-v5.elf");
  auto selected = select_image(elf, gpu("gfx90a:sramecc+:xnack-"));
  REQUIRE(selected.has_value());
  CHECK(selected->bytes.size() == elf.size());
  CHECK(select_error(elf, "gfx1100", ErrorCode::kNoBinaryForGpu).find("code for gfx90a") != std::string::npos);
  CHECK(measure_image(elf.data()).value() == elf.size());
}

TEST_CASE("compressed bundles are refused by name") {
  const images::Bytes compressed = images::read("compressed.bundle");
  CHECK(select_error(compressed, "gfx90a", ErrorCode::kNotSupported).find("compressed") != std::string::npos);
  CHECK(measure_image(compressed.data()).error().code == ErrorCode::kNotSupported);
}

TEST_CASE("malformed bundles are named") {
  const images::Bytes good = make_bundle({{hip("gfx90a"), "code"}});
  for (size_t size = 0; size + 1 < good.size(); ++size) {  // every truncation
    auto listed = list_container(std::span(good).first(size));
    CHECK_FALSE(listed.has_value());
    if (!listed) CHECK(listed.error().code == ErrorCode::kInvalidImage);
  }
  const auto patched = [&](size_t offset, uint64_t value) {
    images::Bytes bytes = good;
    std::memcpy(bytes.data() + offset, &value, sizeof value);
    return select_error(bytes, "gfx90a", ErrorCode::kInvalidImage);
  };
  CHECK(patched(24, ~uint64_t{0}).find("entries") != std::string::npos);
  CHECK(patched(32, ~uint64_t{0}).find("entry 0 at offset 0x20") != std::string::npos);
  CHECK(patched(40, ~uint64_t{0}).find("outside the bundle") != std::string::npos);
  CHECK(patched(48, ~uint64_t{0}).find("its id is truncated") != std::string::npos);
  CHECK(select_error(make_bundle({{hip("gfx90a:foo+"), "x"}}), "gfx90a", ErrorCode::kInvalidImage).find("foo") !=
        std::string::npos);
  CHECK(select_error(images::Bytes(64, std::byte{'x'}), "gfx90a", ErrorCode::kInvalidImage).find("neither") !=
        std::string::npos);
  CHECK(measure_image("nonsense").error().code == ErrorCode::kInvalidImage);
  CHECK(measure_image(nullptr).error().code == ErrorCode::kInvalidArgument);

  // An id that names another processor than the image inside.
  const std::string elf = images::read_text("gfx1100-v5.elf");
  CHECK(select_error(make_bundle({{hip("gfx90a"), elf}}), "gfx90a", ErrorCode::kInvalidImage).find("gfx1100") !=
        std::string::npos);
}
