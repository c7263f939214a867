#include "runtime/api/generation.h"

namespace barehip::runtime {

const int kLibraryGeneration = BAREHIP_LIBRARY_GENERATION;

}  // namespace barehip::runtime
