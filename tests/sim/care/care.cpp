// care CASE [module...]: the case's result is right.
#include <cstdio>

#include "tests/sim/care/cases.h"

int main(int argc, char** argv) {
  size_t wrong = 0;
  if (argc < 2 || run_care_case(argv[1], {argv + 2, static_cast<size_t>(argc - 2)}, wrong) != 0) {
    std::fprintf(stderr, "care: no such case\n");
    return 2;
  }
  std::printf(wrong ? "FAILED: %zu wrong results\n" : "PASSED\n", wrong);
  return wrong != 0;
}
