// <linux/kfd_ioctl.h> includes <drm/drm.h>, which Debian installs as <libdrm/drm.h>.
#pragma once
#include <libdrm/drm.h>
