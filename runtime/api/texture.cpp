// Channel formats: the one part of the texture family that needs no image hardware.
#include "runtime/api/entry.h"

extern "C" hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w, hipChannelFormatKind f) {
  return hipChannelFormatDesc{x, y, z, w, f};
}
