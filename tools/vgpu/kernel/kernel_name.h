// The name of a kernel from nothing but GPU memory: the loaded code object still holds its ELF header and symbols.
#pragma once

#include <string>

#include "tools/vgpu/memory/address_space.h"

namespace vgpu {

/// The demangled name of the kernel whose dispatch packet lies at packet_va; empty when nothing there tells it.
std::string kernel_name_of_packet(const AddressSpace& space, uint64_t packet_va);

/// The symbol without ".kd" whose descriptor lies at that address; empty when there is none.
std::string kernel_name_of_descriptor(const AddressSpace& space, uint64_t kernel_object);

}  // namespace vgpu
