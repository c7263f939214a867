// Random instruction words through our decoder and LLVM's. Where both take them, size and text must agree. Where only
// LLVM refuses, fields that the instruction does not use are not zero: allowed if LLVM takes the same operation in the
// same format with other words. Everything else must be in random_differences.tsv with its reason.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/visa/oracle.h"
#include "tools/vgpu/isa/decoder.h"

namespace {

struct Rule {
  std::string target, kind, mnemonic, part, reason;  ///< `part`: what either text has to contain, "-" anything
  bool used = false;
};

/// Patterns end in '*' for a prefix.
bool matches(const std::string& pattern, const std::string& text) {
  if (pattern.ends_with('*')) return text.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == text;
}

std::vector<Rule> read_rules(const std::string& path) {
  std::ifstream file(path);
  std::vector<Rule> rules;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    Rule rule;
    std::getline(fields, rule.target, '\t');
    std::getline(fields, rule.kind, '\t');
    std::getline(fields, rule.mnemonic, '\t');
    std::getline(fields, rule.part, '\t');
    std::getline(fields, rule.reason, '\t');
    rules.push_back(rule);
  }
  return rules;
}

struct Prefix {
  uint32_t value, mask;
};
constexpr Prefix kGfx9[] = {{0x80000000, 0xc0000000}, {0xb0000000, 0xf0000000}, {0xbe800000, 0xff800000},
                            {0xbf000000, 0xff800000}, {0xbf800000, 0xff800000}, {0xc0000000, 0xfc000000},
                            {0, 0x80000000},          {0x7e000000, 0xfe000000}, {0x7c000000, 0xfe000000},
                            {0xd0000000, 0xfc000000}, {0xd3800000, 0xff800000}, {0xd8000000, 0xfc000000},
                            {0xdc000000, 0xfc000000}, {0xe0000000, 0xfc000000}};
constexpr Prefix kGfx11[] = {{0x80000000, 0xc0000000}, {0xb0000000, 0xf0000000}, {0xbe800000, 0xff800000},
                             {0xbf000000, 0xff800000}, {0xbf800000, 0xff800000}, {0xf4000000, 0xfc000000},
                             {0, 0x80000000},          {0x7e000000, 0xfe000000}, {0x7c000000, 0xfe000000},
                             {0xd4000000, 0xfc000000}, {0xcc000000, 0xff800000}, {0xd8000000, 0xfc000000},
                             {0xdc000000, 0xfc000000}, {0xe0000000, 0xfc000000}, {0xc8000000, 0xfc000000}};

/// Masks that clear fields: of the first word, and of the second, where memory instructions have a register per byte
/// and VOP3 three sources.
constexpr uint32_t kLow[] = {~0u,        0xffff80ff, 0xfffff8ff, 0xffff0000, 0xffff007f, 0xfdff80ff,
                             0xfdffffff, 0xfffd0000, 0xffffff00, 0xfff800ff, 0xfffe0000, 0xfffc00ff,
                             0xfffe01ff, 0xfc7c0000, 0xfeffff7f, 0xfffeff7f, 0xfefeff7f};
constexpr uint32_t kBytes[] = {~0u,        0xff,       0xffff,     0xffffff,   0xff0000ff, 0xff00ffff, 0xff000000,
                               0xff00,     0xff00ff00, 0xff7fff00, 0xff7fffff, 0xff7f00ff, 0x7fffff,   0x7f00ff,
                               0x7f7f7f7f, 0x1ff,      0x3ffff,    0xe00001ff, 0xe003ffff, 0x07ffffff, 0x60000000,
                               0x007cffff, 0x007c00ff, 0x007cff00, 0x1fffff,   0};

class Words {
 public:
  explicit Words(bool gfx11) : gfx11_(gfx11) {}
  std::vector<uint32_t> next() {
    const std::span<const Prefix> prefixes = gfx11_ ? std::span<const Prefix>(kGfx11) : std::span<const Prefix>(kGfx9);
    const Prefix prefix = prefixes[random_() % prefixes.size()];
    std::vector<uint32_t> words(4);
    for (uint32_t& w : words) w = random_();
    // Few bits set: fields that have to be zero often are.
    if (random_() % 2 == 0) words[0] &= random_() | 0xfff00000;
    if (random_() % 2 == 0) words[1] &= random_();
    if (random_() % 4 == 0) words[1] &= random_();
    if (random_() % 2 == 0) words[1] &= kBytes[random_() % std::size(kBytes)];
    words[0] &= kLow[random_() % std::size(kLow)];
    words[0] = (words[0] & ~prefix.mask) | prefix.value;
    const bool vop32 = (words[0] >> 31) == 0;
    static constexpr uint32_t kSpecial[] = {249, 250, 233, 255};
    if (vop32 && random_() % 2 == 0) {
      const uint32_t source = kSpecial[random_() % 4];
      words[0] = (words[0] & ~0x1ffu) | source;
      if (source == 249) words[1] = sdwa();
      if (source == 250) words[1] = dpp();
    }
    return words;
  }

 private:
  /// Second words whose selectors and unused bits are as they have to be.
  uint32_t sdwa() {
    const bool compare = random_() % 2 == 0;
    const uint32_t destination = compare ? 0 : random_() % 7 << 8 | random_() % 3 << 11;
    return (random_() & 0xff) | destination | random_() % 7 << 16 | (random_() % 2 == 0 ? random_() % 7 << 24 : 0);
  }
  uint32_t dpp() {
    static constexpr uint32_t kControls[] = {0x1b, 0x101, 0x112, 0x123, 0x140, 0x141, 0x152};
    return (random_() & 0xff) | kControls[random_() % 7] << 8 |
           (random_() & (random_() % 2 == 0 ? 0xff080000 : 0xff000000));
  }

  bool gfx11_;
  std::mt19937 random_{7};
};

/// LLVM 19 crashes on some SDWA and DPP words that are no instructions.
bool crashes_llvm(const std::vector<uint32_t>& words, bool ours) {
  const uint32_t source = words[0] & 0x1ff;
  return !ours && (words[0] >> 31) == 0 && (source == 249 || source == 250 || source == 233 || source == 234);
}

class Comparison {
 public:
  Comparison(const std::string& cpu, std::vector<Rule>& rules)
      : cpu_(cpu), target_(*vgpu::find_isa_target(cpu)), decoder_(target_), llvm_(cpu, ""), rules_(rules) {}

  void run(size_t count) {
    Words words(vgpu::is_gfx11(target_));
    for (size_t n = 0; n < count; ++n) one(words.next());
    for (const auto& [form, refused] : only_ours_)
      if (!accepted_.contains(form) && !accepts_sparser(form, refused.words))
        report("llvm-refuses", std::string(vgpu::op_mnemonic(form.first, target_)), refused.text);
  }
  size_t agreed() const { return agreed_; }

 private:
  using Form = std::pair<vgpu::Op, vgpu::Format>;
  struct Refused {
    std::vector<uint32_t> words;
    std::string text;
  };

  void one(const std::vector<uint32_t>& words) {
    vgpu::Inst inst;
    const bool ours = decoder_.decode(words, vgpu::is_gfx11(target_), inst);
    if (crashes_llvm(words, ours)) return;
    oracle::Line llvm = llvm_.disassemble(words);
    // Operands of a wrong register class are printed with a comment; that is a refusal.
    if (llvm.text.find("/*") != std::string::npos) llvm.size = 0;
    if (llvm.size == 0 && !ours) return void(++agreed_);
    std::ostringstream where;
    where << std::hex << words[0] << " " << words[1] << " " << words[2] << " llvm[" << llvm.size << "] " << llvm.text;
    if (!ours) return report("we-refuse", llvm.text.substr(0, llvm.text.find(' ')), where.str());
    const std::string text = oracle::tidy(decoder_.text(inst));
    where << " | ours[" << unsigned{inst.size} << "] " << text;
    const Form form{inst.op, inst.format};
    if (llvm.size == 0) return void(only_ours_.emplace(form, Refused{words, where.str()}));
    accepted_.insert(form);
    const std::string mnemonic(text.substr(0, text.find(' ')));
    if (llvm.size != inst.size) return report("size", mnemonic, where.str());
    if (llvm.text != text) return report("text", mnemonic, where.str());
    ++agreed_;
  }

  /// Whether LLVM takes the same operation once fields of the refused words are cleared.
  bool accepts_sparser(const Form& form, const std::vector<uint32_t>& refused) {
    for (uint32_t low : kLow) {
      for (uint32_t bytes : kBytes) {
        std::vector<uint32_t> words = refused;
        words[0] &= low;
        words[1] &= bytes;
        if (agrees(words, form)) return true;
        words[1] = (words[1] & 0xff80ffff) | 0x007c0000;  // flat on gfx11: no scalar address
        if (agrees(words, form)) return true;
      }
    }
    return false;
  }

  bool agrees(const std::vector<uint32_t>& words, const Form& form) {
    vgpu::Inst inst;
    if (!decoder_.decode(words, vgpu::is_gfx11(target_), inst) || Form{inst.op, inst.format} != form) return false;
    const oracle::Line llvm = llvm_.disassemble(words);
    return llvm.size == inst.size && llvm.text == oracle::tidy(decoder_.text(inst));
  }

  void report(const std::string& kind, const std::string& mnemonic, const std::string& text) {
    for (Rule& rule : rules_) {
      if (!matches(rule.target, cpu_)) continue;
      if (rule.kind != kind || !matches(rule.mnemonic, mnemonic)) continue;
      if (rule.part != "-" && text.find(rule.part) == std::string::npos) continue;
      rule.used = true;
      return;
    }
    FAIL_CHECK(cpu_ << " " << kind << " " << mnemonic << ": " << text);
  }

  std::string cpu_;
  vgpu::IsaTarget target_;
  vgpu::Decoder decoder_;
  oracle::Llvm llvm_;
  std::vector<Rule>& rules_;
  std::set<Form> accepted_;
  std::map<Form, Refused> only_ours_;
  size_t agreed_ = 0;
};

}  // namespace

TEST_CASE("random words decode as LLVM decodes them, but for listed differences") {
  const char* path = std::getenv("VISA_DIFFERENCES");
  REQUIRE(path != nullptr);
  std::vector<Rule> rules = read_rules(path);
  for (const char* cpu : {"gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx1100", "gfx1101", "gfx1102", "gfx1103",
                          "gfx1150", "gfx1151"}) {
    Comparison comparison(cpu, rules);
    comparison.run(120000);
    CHECK(comparison.agreed() > 20000);
  }
  for (const Rule& rule : rules) {
    INFO("rule without a case: " << rule.target << " " << rule.kind << " " << rule.mnemonic);
    CHECK(rule.used);
  }
}
