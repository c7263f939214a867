// Runs the test vectors of tests/unit/visa/vectors. What deviates on purpose is listed with its reason in
// deviations.txt; an entry that nothing needs is an error too. witnesses.txt of the instruction table has to say
// exactly which operations the vectors vouch for.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#include "tests/catch.h"
#include "tests/unit/visa/vector_runner.h"
#include "tools/vgpu/isa/inventory.h"

namespace {

std::string folder() {
  const char* path = std::getenv("VISA_VECTORS");
  REQUIRE(path != nullptr);
  return std::string(path) + "/";
}

/// Which rows may differ: by id, or by provenance letter and operation ("e:v_rndne_*").
class Deviations {
 public:
  explicit Deviations(const std::string& path) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      if (line.empty() || line[0] == '#') continue;
      std::istringstream names(line.substr(0, line.find('\t')));
      for (std::string name; names >> name;) unused_.insert(name), all_.insert(name);
    }
  }

  /// Whether the row is listed; by id it has to be listed only if it differs.
  bool allows(const std::string& id, char provenance, vgpu::Op op) {
    const std::string rule = std::string(1, provenance) + ":" + std::string(vgpu::op_name(op));
    bool found = use(id) || use(rule);
    for (size_t length = rule.size(); length > 2 && !found; --length) found = use(rule.substr(0, length) + "*");
    return found;
  }
  const std::set<std::string>& unused() const { return unused_; }

 private:
  bool use(const std::string& name) {
    if (!all_.contains(name)) return false;
    unused_.erase(name);
    return true;
  }
  std::set<std::string> all_, unused_;
};

/// Letters by operation, in the order h p r d f e.
class Witnesses {
 public:
  void add(vgpu::Op op, char letter) { letters_[op].insert(letter); }
  std::string of(vgpu::Op op) const {
    std::string text;
    const auto found = letters_.find(op);
    if (found == letters_.end()) return text;
    for (char letter : std::string("hprdfe"))
      if (found->second.contains(letter)) text += letter;
    return text;
  }

 private:
  std::map<vgpu::Op, std::set<char>> letters_;
};

struct Outcome {
  Deviations deviations{folder() + "deviations.txt"};
  Witnesses witnesses;
  size_t passed = 0, deviating = 0;
  std::vector<std::string> failures;

  void note(const std::string& id, char provenance, const std::string& target, vgpu::Op op, const std::string& text) {
    if (text.empty()) {
      ++passed;
      if (op != vgpu::Op::kNone) witnesses.add(op, provenance);
    } else if (deviations.allows(id, provenance, op)) {
      ++deviating;
    } else {
      failures.push_back(id + " " + provenance + " " + target + " " + std::string(vgpu::op_name(op)) + ": " + text);
    }
  }
};

void run_rows(Outcome& outcome) {
  for (const char* name : {"steps.txt", "gfx11.txt", "gfx9.txt", "memory.txt", "matrix.txt"}) {
    for (const vectors::Row& row : vectors::read_rows(folder() + name)) {
      for (const std::string& target : row.targets) {
        vgpu::Op op = vgpu::Op::kNone;
        const std::string text = vectors::run(row, target, op);
        outcome.note(row.id, row.provenance, target, op, text);
      }
    }
  }
}

void run_folded(Outcome& outcome) {
  for (const vectors::Folded& folded : vectors::read_folded(folder() + "folded.txt")) {
    for (const auto& [target, words] : folded.words) {
      vgpu::Op op = vgpu::Op::kNone;
      const std::string text = vectors::run(folded, target, op);
      outcome.note(folded.id, 'f', target, op, text);
    }
  }
}

void run_programs(Outcome& outcome) {
  for (const vectors::Program& program : vectors::read_programs(folder() + "programs.txt")) {
    for (const std::string& target : program.targets) {
      std::vector<vgpu::Op> ops;
      const std::string text = vectors::run(program, target, ops);
      outcome.note(program.id, 'p', target, vgpu::Op::kNone, text);
      if (!text.empty()) continue;
      for (vgpu::Op op : ops) outcome.witnesses.add(op, 'p');
    }
  }
}

const Outcome& outcome() {
  static const Outcome& all = *[] {
    auto* made = new Outcome;
    run_rows(*made);
    run_folded(*made);
    run_programs(*made);
    return made;
  }();
  return all;
}

/// witnesses.txt as it has to be.
void print_witnesses(std::ostream& out) {
  std::map<std::string, std::vector<std::string_view>> groups;
  for (size_t n = 1; n < size_t(vgpu::Op::kCount); ++n) {
    const std::string letters = outcome().witnesses.of(vgpu::Op(n));
    if (!letters.empty()) groups[letters].push_back(vgpu::op_name(vgpu::Op(n)));
  }
  for (const auto& [letters, names] : groups) {
    std::string line = letters + ":";
    for (std::string_view name : names) {
      if (line.size() + name.size() > 118) {
        out << line << "\n";
        line = " ";
      }
      line += " " + std::string(name);
    }
    out << line << "\n";
  }
}

}  // namespace

TEST_CASE("instructions and programs give the results of the vectors") {
  for (const std::string& failure : outcome().failures) FAIL_CHECK(failure);
  for (const std::string& name : outcome().deviations.unused()) FAIL_CHECK(name << " is listed and nothing deviates");
  CHECK(outcome().passed > 9000);
  CHECK(outcome().deviating < 1000);
}

TEST_CASE("the list of witnessed operations is what the vectors have") {
  if (const char* path = std::getenv("VISA_WRITE_WITNESSES")) {
    std::ofstream file(path);
    print_witnesses(file);
  }
  for (size_t n = 1; n < size_t(vgpu::Op::kCount); ++n) {
    INFO(vgpu::op_name(vgpu::Op(n)));
    CHECK(outcome().witnesses.of(vgpu::Op(n)) == vgpu::op_witnesses(vgpu::Op(n)));
  }
}
