// Which library this is. The three sonames are linked from the same objects; only this value differs.
#pragma once

namespace barehip::runtime {

/// 5, 6 or 7: libamdhip64.so.N. The static library is 6, as the headers are.
[[gnu::visibility("hidden")]] extern const int kLibraryGeneration;

}  // namespace barehip::runtime
