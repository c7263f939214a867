// Runs a fuzz target without a fuzzer: every seed file given, every prefix of the small ones, then a fixed number of
// mutations of the seeds. The same arguments always give the same inputs, so a failure is repeated by running again;
// the input that was being tried is left in the file named by --keep.
//
//   fuzz-x-run [--rounds N] [--keep FILE] [seed files]
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Bytes = std::vector<uint8_t>;

class Random {
 public:
  uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }
  size_t below(size_t limit) { return limit ? static_cast<size_t>(next() % limit) : 0; }

 private:
  uint64_t state_ = 0x9e3779b97f4a7c15;
};

constexpr uint64_t kInteresting[] = {0,      1,          0x7f,       0x80,        0xff,         0x7fff,
                                     0xffff, 0x7fffffff, 0xffffffff, 0x100000000, ~uint64_t{0}, uint64_t{1} << 63};

void mutate(Bytes& input, Random& random) {
  const size_t edits = 1 + random.below(4);
  for (size_t i = 0; i < edits && !input.empty(); ++i) {
    const size_t at = random.below(input.size());
    switch (random.below(6)) {
      case 0: input[at] = static_cast<uint8_t>(random.next()); break;
      case 1: input[at] = static_cast<uint8_t>(input[at] ^ (1u << random.below(8))); break;
      case 2: {
        const uint64_t value = kInteresting[random.below(std::size(kInteresting))];
        const size_t width = size_t{1} << random.below(4);
        for (size_t b = 0; b < width && at + b < input.size(); ++b)
          input[at + b] = static_cast<uint8_t>(value >> (8 * b));
        break;
      }
      case 3: input.resize(at); break;
      case 4:
        input.insert(input.begin() + static_cast<ptrdiff_t>(at), random.below(16), static_cast<uint8_t>(random.next()));
        break;
      default: {
        const size_t from = random.below(input.size());
        const size_t length = std::min({random.below(64), input.size() - at, input.size() - from});
        std::memmove(input.data() + at, input.data() + from, length);
      }
    }
  }
}

class Runner {
 public:
  explicit Runner(std::string keep) : keep_(std::move(keep)) {}

  void run(const Bytes& input) {
    if (!keep_.empty())
      std::ofstream(keep_, std::ios::binary)
          .write(reinterpret_cast<const char*>(input.data()), static_cast<std::streamsize>(input.size()));
    // A copy of exactly this size, so that a sanitizer sees a read past its end.
    uint8_t* exact = static_cast<uint8_t*>(std::malloc(input.empty() ? 1 : input.size()));
    if (!exact) std::abort();
    if (!input.empty()) std::memcpy(exact, input.data(), input.size());
    LLVMFuzzerTestOneInput(exact, input.size());
    std::free(exact);
    ++runs_;
  }
  [[nodiscard]] size_t runs() const { return runs_; }

 private:
  std::string keep_;
  size_t runs_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  size_t rounds = 20000;
  std::string keep;
  std::vector<Bytes> seeds;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--rounds" && i + 1 < argc) {
      rounds = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--keep" && i + 1 < argc) {
      keep = argv[++i];
    } else {
      std::ifstream file(argument, std::ios::binary);
      if (!file) {
        std::fprintf(stderr, "cannot read seed %s\n", argv[i]);
        return 2;
      }
      seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
  }
  Runner runner(keep);
  runner.run({});
  Random random;
  if (seeds.empty()) {
    for (int i = 0; i < 8; ++i) {
      Bytes noise(256);
      for (uint8_t& byte : noise) byte = static_cast<uint8_t>(random.next());
      seeds.push_back(noise);
    }
  }
  for (const Bytes& seed : seeds) {
    runner.run(seed);
    for (size_t size = 0; size < seed.size() && seed.size() <= 4096; ++size) {
      runner.run(Bytes(seed.begin(), seed.begin() + static_cast<ptrdiff_t>(size)));
    }
  }
  for (size_t i = 0; i < rounds; ++i) {
    Bytes input = seeds[random.below(seeds.size())];
    mutate(input, random);
    runner.run(input);
  }
  std::printf("%zu inputs, all survived\n", runner.runs());
  return 0;
}
