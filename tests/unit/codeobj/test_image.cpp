// Real images of code object versions 4, 5 and 6, compared with what LLVM's own reader says of them.
#include <cstdlib>
#include <map>
#include <sstream>

#include "codeobj/code_object.h"
#include "tests/unit/codeobj/images.h"

using namespace barehip;
using namespace barehip::codeobj;

namespace {

CodeObject parse(const images::Bytes& bytes) {
  auto parsed = CodeObject::parse(bytes);
  INFO((parsed ? std::string() : parsed.error().text));
  REQUIRE(parsed.has_value());
  return std::move(*parsed);
}

using Map = std::map<std::string, std::string>;
struct WitnessKernel {
  Map values;
  std::vector<Map> arguments;
};
struct Witness {
  std::vector<WitnessKernel> kernels;
  std::map<std::string, std::pair<uint64_t, uint64_t>> objects;  // value, size of dynamic OBJECT symbols
};

// Reads the text of `llvm-readelf --notes --dyn-syms`: kernels are list items at depth 2, arguments at depth 6.
Witness read_witness(const std::string& text) {
  Witness out;
  std::istringstream lines(text);
  bool in_kernels = false;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string number, value, size, type, rest, name;
    if (line.find(" OBJECT ") != std::string::npos) {
      words >> number >> value >> size >> type >> rest >> rest >> rest >> name;
      out.objects[name] = {std::stoull(value, nullptr, 16), std::stoull(size)};
    }
    if (line.starts_with("amdhsa.kernels:"))
      in_kernels = true;
    else if (line.starts_with("amdhsa."))
      in_kernels = false;
    if (!in_kernels) continue;
    const size_t start = line.find_first_not_of(' ');
    if (start == std::string::npos) continue;
    const bool item = line.compare(start, 2, "- ") == 0;
    if (item && start == 2) out.kernels.emplace_back();
    if (item && start == 6) out.kernels.back().arguments.emplace_back();
    const std::string pair = line.substr(item ? start + 2 : start);
    const size_t colon = pair.find(':');
    if (colon == std::string::npos || out.kernels.empty()) continue;
    const size_t from = pair.find_first_not_of(' ', colon + 1);
    const bool argument = start + (item ? 2 : 0) == 8;
    Map& map = argument ? out.kernels.back().arguments.back() : out.kernels.back().values;
    map[pair.substr(0, colon)] = from == std::string::npos ? "" : pair.substr(from);
  }
  return out;
}

uint64_t number(const Map& map, const char* key, uint64_t missing = 0) {
  const auto it = map.find(key);
  return it == map.end() ? missing : std::stoull(it->second);
}

void check_kernel(const Kernel& kernel, const WitnessKernel& witness) {
  const Map& v = witness.values;
  CHECK(kernel.symbol == v.at(".symbol"));
  CHECK(kernel.kernarg_bytes == number(v, ".kernarg_segment_size"));
  CHECK(kernel.kernarg_align == number(v, ".kernarg_segment_align"));
  CHECK(kernel.group_bytes == number(v, ".group_segment_fixed_size"));
  CHECK(kernel.private_bytes == number(v, ".private_segment_fixed_size"));
  CHECK(kernel.wavefront_size == number(v, ".wavefront_size"));
  CHECK(kernel.sgpr_count == number(v, ".sgpr_count"));
  CHECK(kernel.vgpr_count == number(v, ".vgpr_count"));
  CHECK(kernel.agpr_count == number(v, ".agpr_count"));
  CHECK(kernel.max_flat_workgroup_size == number(v, ".max_flat_workgroup_size"));
  if (const auto it = v.find(".uses_dynamic_stack"); it != v.end()) {  // version 4 has no such key
    CHECK(kernel.uses_dynamic_stack == (it->second == "true"));
  }
  REQUIRE(kernel.arguments.size() == witness.arguments.size());
  for (size_t i = 0; i < kernel.arguments.size(); ++i) {
    CAPTURE(i);
    CHECK(kernel.arguments[i].offset == number(witness.arguments[i], ".offset"));
    CHECK(kernel.arguments[i].size == number(witness.arguments[i], ".size"));
    CHECK(to_string(kernel.arguments[i].kind) == witness.arguments[i].at(".value_kind"));
  }
}

}  // namespace

TEST_CASE("kernels and variables are what LLVM's reader prints") {
  for (const std::string name : images::kNames) {
    CAPTURE(name);
    const images::Bytes bytes = images::read(name + ".elf");
    const CodeObject code = parse(bytes);
    const Witness witness = read_witness(images::read_text(name + ".notes"));
    CHECK(to_string(code.target()) == name.substr(0, name.find('-')));
    CHECK(code.version() == static_cast<unsigned>(name.back() - '0'));
    REQUIRE(witness.kernels.size() == 5);
    REQUIRE(code.kernels().size() == witness.kernels.size());
    for (const WitnessKernel& expected : witness.kernels) {
      const Kernel* kernel = code.find_kernel(expected.values.at(".name"));
      CAPTURE(expected.values.at(".name"));
      REQUIRE(kernel);
      CHECK(code.find_kernel(kernel->symbol) == kernel);
      check_kernel(*kernel, expected);
      CHECK(kernel->descriptor_offset == witness.objects.at(kernel->symbol).first);
    }
    size_t variables = 0;
    for (const auto& [symbol, where] : witness.objects) {
      if (symbol.ends_with(".kd")) continue;
      ++variables;
      CAPTURE(symbol);
      const Variable* variable = code.find_variable(symbol);
      REQUIRE(variable);
      CHECK(variable->offset == where.first);
      CHECK(variable->size == where.second);
    }
    CHECK(code.variables().size() == variables);
    CHECK(variables >= 5);
  }
}

TEST_CASE("explicit and hidden arguments are told apart") {
  const images::Bytes v4 = images::read("gfx90a-v4.elf"), v5 = images::read("gfx90a-v5.elf");
  const CodeObject old_code = parse(v4), new_code = parse(v5);
  const Kernel* vadd = new_code.find_kernel("vadd");
  REQUIRE(vadd);
  CHECK(vadd->explicit_count == 4);
  CHECK(vadd->explicit_bytes == 28);
  const Kernel* by_value = new_code.find_kernel("by_value");
  REQUIRE(by_value);
  CHECK(by_value->explicit_count == 3);
  CHECK(by_value->arguments[0].size == 16);
  CHECK(by_value->arguments[1].size == 2);
  CHECK(by_value->arguments[2].kind == ValueKind::kGlobalBuffer);
  CHECK(old_code.find_kernel("vadd")->explicit_count == 4);

  // Hidden arguments that a kernel has lie where the layout of its version says.
  for (const std::string name : images::kNames) {
    CAPTURE(name);
    const images::Bytes bytes = images::read(name + ".elf");
    const CodeObject code = parse(bytes);
    for (const Kernel& kernel : code.kernels()) {
      const uint32_t block = (kernel.explicit_bytes + 7) & ~7u;
      for (size_t i = kernel.explicit_count; i < kernel.arguments.size(); ++i) {
        const KernelArgument& argument = kernel.arguments[i];
        CAPTURE(kernel.name, to_string(argument.kind));
        REQUIRE(is_hidden(argument.kind));
        if (argument.kind == ValueKind::kHiddenNone) continue;
        const auto table = hidden_arguments(code.version());
        const auto row = std::find_if(table.begin(), table.end(), [&](auto& h) { return h.kind == argument.kind; });
        REQUIRE(row != table.end());
        CHECK(argument.offset == block + row->offset);
        CHECK(argument.size == row->size);
      }
    }
  }
}

TEST_CASE("descriptors say what the metadata says") {
  for (const std::string name : images::kNames) {
    CAPTURE(name);
    const images::Bytes bytes = images::read(name + ".elf");
    const CodeObject code = parse(bytes);
    const Target& target = *find_target(code.target().processor);
    for (const Kernel& kernel : code.kernels()) {
      CAPTURE(kernel.name, describe(kernel.descriptor));
      const DescriptorInfo info = describe_descriptor(kernel.descriptor, target);
      CHECK(kernel.descriptor.kernarg_size == kernel.kernarg_bytes);
      CHECK(kernel.descriptor.group_segment_fixed_size == kernel.group_bytes);
      CHECK(kernel.descriptor.private_segment_fixed_size == kernel.private_bytes);
      CHECK(info.wave_size == kernel.wavefront_size);
      CHECK(info.vgprs >= kernel.vgpr_count);
      CHECK(info.vgprs < kernel.vgpr_count + target.vgpr_encoding_granule * (info.wave_size == 32 ? 2u : 1u) +
                             (kernel.vgpr_count == 0 ? 1u : 0u));
      CHECK(info.uses_dynamic_stack == kernel.uses_dynamic_stack);
    }
    CHECK(code.find_kernel("with_private")->private_bytes >= 256);
    CHECK(code.find_kernel("with_stack")->private_bytes > 0);
    CHECK(code.find_kernel("with_stack")->uses_dynamic_stack);
    CHECK_FALSE(code.find_kernel("vadd")->uses_dynamic_stack);
  }
}
