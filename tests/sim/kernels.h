// The kernels of the sim tests, as host stub addresses for hipLaunchKernel. kernels.hip is compiled by clang for both
// simulated targets; the tests themselves are plain C++.
#pragma once

#include <cstdint>

namespace sim {

// Each constant is the stub's address. The argument list stands behind it.
extern const void* const kVectorAdd;       // (const float* a, const float* b, float* sum, int count)
extern const void* const kScale;           // (uint32_t* data, uint32_t factor, uint32_t add, uint32_t count)
extern const void* const kIncrement;       // (uint32_t* cell): one thread's plain load, add, store
extern const void* const kCoordinates;     // (uint32_t* out): marks every work-item of a grid of blocks
extern const void* const kDynamicLds;      // (uint32_t* out, uint32_t words): reverses a block through dynamic LDS
extern const void* const kStaticLds;       // (uint32_t* out): 32 KiB of static LDS
extern const void* const kScratch;         // (uint32_t* out, uint32_t rounds): a private array, indexed at run time
extern const void* const kBigScratch;      // the same with 8 KiB for each work-item
extern const void* const kManyArguments;   // (Block block, uint64_t* out): a 600-byte structure by value
extern const void* const kMixedArguments;  // (uint8_t, uint64_t, uint16_t, float3-like struct, uint64_t* out)
extern const void* const kNoArguments;     // (): adds 1 to the variable g_counter
extern const void* const kReadVariables;   // (uint32_t* out): out[0] = g_counter, out[1 + i] = g_table[i]
extern const void* const kBounded;         // (uint32_t* out), __launch_bounds__(64)
extern const void* const kSpin;            // (volatile uint32_t* flag): waits until the host makes it nonzero
extern const void* const kStore;           // (uint32_t* to, uint32_t value): a store anywhere
extern const void* const kLoad;            // (const uint32_t* from, uint32_t* to)
extern const void* const kTrap;            // (): __builtin_trap
extern const void* const kDebugTrap;       // (uint32_t* out): __builtin_debugtrap, then out[0] = 1
extern const void* const kIllegal;
extern const void* const kUnmodelled;  // (): an instruction that vgpu refuses by name
extern const void* const kAtomicSum;   // (uint32_t* sum, uint32_t count): atomic adds of all work-items
extern const void* const kClock;       // (uint64_t* out, uint64_t ticks): waits that many counter ticks

constexpr uint32_t kTableWords = 16;
extern const void* const kCounterSymbol;  // uint32_t g_counter
extern const void* const kTableSymbol;    // __constant__ uint32_t g_table[kTableWords]

/// For kManyArguments: word i should be i + 1.
struct Block {
  uint32_t words[150];
};
struct Triple {
  float x, y, z;
};

}  // namespace sim
