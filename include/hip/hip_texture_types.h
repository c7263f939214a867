// An old name of texture_types.h.
#ifndef BAREHIP_HIP_HIP_TEXTURE_TYPES_H
#define BAREHIP_HIP_HIP_TEXTURE_TYPES_H

#include <hip/channel_descriptor.h>
#include <hip/texture_types.h>

#endif
