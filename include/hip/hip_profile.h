// Markers of profilers: none is attached, so they are nothing.
#ifndef BAREHIP_HIP_HIP_PROFILE_H
#define BAREHIP_HIP_HIP_PROFILE_H

#define HIP_SCOPED_MARKER(markerName, group)
#define HIP_BEGIN_MARKER(markerName, group)
#define HIP_END_MARKER()

#endif
