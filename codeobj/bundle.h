// Containers of code: a plain ELF image, or clang's offload bundles (one after another, as a linker gathers them in
// .hip_fatbin). Finds what is inside and picks the image for a GPU.
#pragma once

#include <barehip/error.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codeobj/target.h"

namespace barehip::codeobj {

/// One image in a container. `bytes` points into the container.
struct ContainerEntry {
  std::string id;                  ///< as in the bundle ("hipv4-amdgcn-amd-amdhsa--gfx90a"); "" for a plain ELF
  std::optional<TargetId> target;  ///< not set for host entries and for what is not AMDGPU code
  uint8_t generic_version = 0;     ///< of a generic target, 0 when unknown
  std::span<const std::byte> bytes;
};

/// Lists every entry. Errors: kInvalidImage (neither ELF nor bundle, truncated, entry outside, bad target id),
/// kNotSupported (a compressed bundle).
Result<std::vector<ContainerEntry>> list_container(std::span<const std::byte> container);

/// The best image for `gpu`: a processor with named features before one without, a generic target last; of equal
/// ones the first. kNoBinaryForGpu when none fits; the text lists what the container has and what the GPU wants.
Result<ContainerEntry> select_image(std::span<const std::byte> container, const TargetId& gpu);

/// How long the ELF image or single bundle at `image` is, from its own headers, for callers that were given a bare
/// pointer. The headers are trusted as far as they are read. Errors as list_container.
Result<size_t> measure_image(const void* image);

}  // namespace barehip::codeobj
