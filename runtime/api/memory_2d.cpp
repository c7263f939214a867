// Pitched memory: rows that are `pitch` bytes apart.
#include "runtime/api/entry.h"
#include "runtime/core/copy.h"
#include "runtime/core/memory.h"
#include "runtime/core/stream.h"

using namespace barehip;
using namespace barehip::runtime;

namespace {

constexpr bool kSync = true;
constexpr bool kAsync = false;

CopyKind kind_of(hipMemcpyKind kind) { return static_cast<CopyKind>(kind); }
Handle per_thread(hipStream_t stream) { return stream ? handle(stream) : kStreamPerThread; }

Result<void> allocate(void** ptr, size_t* pitch, size_t width, size_t height) {
  if (!ptr || !pitch) return invalid("hipMallocPitch", "ptr or pitch is null");
  const Result<PitchedAllocation> memory = device_allocate_pitched(width, height);
  if (!memory) return std::unexpected(memory.error());
  *ptr = memory->pointer;
  *pitch = memory->pitch_bytes;
  return {};
}

/// Depth slices lie one behind the other, each ysize rows high, so a box of full height is one tall plane.
Result<void> fill_3d(const hipPitchedPtr& memory, int value, const hipExtent& extent, Handle stream, bool synchronous) {
  if (!extent.width || !extent.height || !extent.depth) return {};
  if (extent.height > memory.ysize) return invalid("hipMemset3D", "the extent is higher than the allocation");
  for (size_t z = 0; z < extent.depth; ++z) {
    auto* slice = static_cast<std::byte*>(memory.ptr) + z * memory.pitch * memory.ysize;
    if (auto filled = fill_2d(slice, memory.pitch, static_cast<uint32_t>(value), extent.width, extent.height, stream,
                              synchronous);
        !filled)
      return filled;
  }
  return {};
}

/// hipMemcpy3D between pitched pointers, slice by slice. Arrays need image support.
Result<void> copy_3d(const hipMemcpy3DParms* p, Handle stream, bool synchronous) {
  if (!p) return invalid("hipMemcpy3D", "p is null");
  if (p->srcArray || p->dstArray) return fail(ErrorCode::kNotSupported, "hipMemcpy3D", "arrays are not supported");
  const auto at = [](const hipPitchedPtr& memory, const hipPos& pos, size_t z) {
    return static_cast<std::byte*>(memory.ptr) + ((pos.z + z) * memory.ysize + pos.y) * memory.pitch + pos.x;
  };
  for (size_t z = 0; z < p->extent.depth; ++z) {
    if (auto copied =
            copy_2d(at(p->dstPtr, p->dstPos, z), p->dstPtr.pitch, at(p->srcPtr, p->srcPos, z), p->srcPtr.pitch,
                    p->extent.width, p->extent.height, kind_of(p->kind), stream, synchronous);
        !copied)
      return copied;
  }
  return {};
}

/// hip_Memcpy2D names each side by memory type, whose values changed with generation 6.
Result<void> copy_param_2d(const hip_Memcpy2D* p, Handle stream, bool synchronous) {
  if (!p) return invalid("hipMemcpyParam2D", "pCopy is null");
  const unsigned host = kLibraryGeneration < 6 ? 0 : hipMemoryTypeHost;
  const unsigned device = kLibraryGeneration < 6 ? 1 : hipMemoryTypeDevice;
  const auto side = [&](unsigned type, const void* host_pointer,
                        const void* device_pointer) -> Result<const std::byte*> {
    if (type == host) return static_cast<const std::byte*>(host_pointer);
    if (type == device) return static_cast<const std::byte*>(device_pointer);
    return fail(ErrorCode::kNotSupported, "hipMemcpyParam2D", "only host and device memory is supported");
  };
  const Result<const std::byte*> src = side(p->srcMemoryType, p->srcHost, p->srcDevice);
  if (!src) return std::unexpected(src.error());
  const Result<const std::byte*> dst = side(p->dstMemoryType, p->dstHost, p->dstDevice);
  if (!dst) return std::unexpected(dst.error());
  // A pitch of 0 means rows that follow each other.
  const size_t src_pitch = p->srcPitch ? p->srcPitch : p->srcXInBytes + p->WidthInBytes;
  const size_t dst_pitch = p->dstPitch ? p->dstPitch : p->dstXInBytes + p->WidthInBytes;
  return copy_2d(const_cast<std::byte*>(*dst) + p->dstY * dst_pitch + p->dstXInBytes, dst_pitch,
                 *src + p->srcY * src_pitch + p->srcXInBytes, src_pitch, p->WidthInBytes, p->Height, CopyKind::kDefault,
                 stream, synchronous);
}

}  // namespace

extern "C" {

hipError_t hipMallocPitch(void** ptr, size_t* pitch, size_t width, size_t height) {
  return enter(api_id("hipMallocPitch"), [&] { return allocate(ptr, pitch, width, height); });
}

hipError_t hipMemAllocPitch(hipDeviceptr_t* dptr, size_t* pitch, size_t widthInBytes, size_t height,
                            unsigned int elementSizeBytes) {
  return enter(api_id("hipMemAllocPitch"), [&]() -> Result<void> {
    if (elementSizeBytes != 4 && elementSizeBytes != 8 && elementSizeBytes != 16)
      return invalid("hipMemAllocPitch", "elementSizeBytes must be 4, 8 or 16");
    return allocate(dptr, pitch, widthInBytes, height);
  });
}

hipError_t hipMalloc3D(hipPitchedPtr* pitchedDevPtr, hipExtent extent) {
  return enter(api_id("hipMalloc3D"), [&]() -> Result<void> {
    if (!pitchedDevPtr) return invalid("hipMalloc3D", "pitchedDevPtr is null");
    size_t rows = 0;
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows))
      return fail(ErrorCode::kOutOfMemory, "hipMalloc3D", "the extent is larger than any memory");
    hipPitchedPtr out{};
    if (auto allocated = allocate(&out.ptr, &out.pitch, extent.width, rows); !allocated) return allocated;
    out.xsize = extent.width;
    out.ysize = extent.height;
    *pitchedDevPtr = out;
    return {};
  });
}

hipError_t hipMemcpy2D(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                       hipMemcpyKind kind) {
  return enter(api_id("hipMemcpy2D"),
               [&] { return copy_2d(dst, dpitch, src, spitch, width, height, kind_of(kind), kStreamNull, kSync); });
}
hipError_t hipMemcpy2D_spt(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                           hipMemcpyKind kind) {
  return enter(api_id("hipMemcpy2D_spt"), [&] {
    return copy_2d(dst, dpitch, src, spitch, width, height, kind_of(kind), kStreamPerThread, kSync);
  });
}
hipError_t hipMemcpy2DAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                            hipMemcpyKind kind, hipStream_t stream) {
  return enter(api_id("hipMemcpy2DAsync"),
               [&] { return copy_2d(dst, dpitch, src, spitch, width, height, kind_of(kind), handle(stream), kAsync); });
}
hipError_t hipMemcpy2DAsync_spt(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                                hipMemcpyKind kind, hipStream_t stream) {
  return enter(api_id("hipMemcpy2DAsync_spt"), [&] {
    return copy_2d(dst, dpitch, src, spitch, width, height, kind_of(kind), per_thread(stream), kAsync);
  });
}
hipError_t hipMemcpyParam2D(const hip_Memcpy2D* pCopy) {
  return enter(api_id("hipMemcpyParam2D"), [&] { return copy_param_2d(pCopy, kStreamNull, kSync); });
}
hipError_t hipMemcpyParam2DAsync(const hip_Memcpy2D* pCopy, hipStream_t stream) {
  return enter(api_id("hipMemcpyParam2DAsync"), [&] { return copy_param_2d(pCopy, handle(stream), kAsync); });
}
hipError_t hipDrvMemcpy2DUnaligned(const hip_Memcpy2D* pCopy) {
  return enter(api_id("hipDrvMemcpy2DUnaligned"), [&] { return copy_param_2d(pCopy, kStreamNull, kSync); });
}
hipError_t hipMemcpy3D(const hipMemcpy3DParms* p) {
  return enter(api_id("hipMemcpy3D"), [&] { return copy_3d(p, kStreamNull, kSync); });
}
hipError_t hipMemcpy3D_spt(const hipMemcpy3DParms* p) {
  return enter(api_id("hipMemcpy3D_spt"), [&] { return copy_3d(p, kStreamPerThread, kSync); });
}
hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms* p, hipStream_t stream) {
  return enter(api_id("hipMemcpy3DAsync"), [&] { return copy_3d(p, handle(stream), kAsync); });
}
hipError_t hipMemcpy3DAsync_spt(const hipMemcpy3DParms* p, hipStream_t stream) {
  return enter(api_id("hipMemcpy3DAsync_spt"), [&] { return copy_3d(p, per_thread(stream), kAsync); });
}

hipError_t hipMemset2D(void* dst, size_t pitch, int value, size_t width, size_t height) {
  return enter(api_id("hipMemset2D"),
               [&] { return fill_2d(dst, pitch, static_cast<uint32_t>(value), width, height, kStreamNull, kSync); });
}
hipError_t hipMemset2D_spt(void* dst, size_t pitch, int value, size_t width, size_t height) {
  return enter(api_id("hipMemset2D_spt"), [&] {
    return fill_2d(dst, pitch, static_cast<uint32_t>(value), width, height, kStreamPerThread, kSync);
  });
}
hipError_t hipMemset2DAsync(void* dst, size_t pitch, int value, size_t width, size_t height, hipStream_t stream) {
  return enter(api_id("hipMemset2DAsync"), [&] {
    return fill_2d(dst, pitch, static_cast<uint32_t>(value), width, height, handle(stream), kAsync);
  });
}
hipError_t hipMemset2DAsync_spt(void* dst, size_t pitch, int value, size_t width, size_t height, hipStream_t stream) {
  return enter(api_id("hipMemset2DAsync_spt"), [&] {
    return fill_2d(dst, pitch, static_cast<uint32_t>(value), width, height, per_thread(stream), kAsync);
  });
}
hipError_t hipMemset3D(hipPitchedPtr pitchedDevPtr, int value, hipExtent extent) {
  return enter(api_id("hipMemset3D"), [&] { return fill_3d(pitchedDevPtr, value, extent, kStreamNull, kSync); });
}
hipError_t hipMemset3D_spt(hipPitchedPtr pitchedDevPtr, int value, hipExtent extent) {
  return enter(api_id("hipMemset3D_spt"),
               [&] { return fill_3d(pitchedDevPtr, value, extent, kStreamPerThread, kSync); });
}
hipError_t hipMemset3DAsync(hipPitchedPtr pitchedDevPtr, int value, hipExtent extent, hipStream_t stream) {
  return enter(api_id("hipMemset3DAsync"),
               [&] { return fill_3d(pitchedDevPtr, value, extent, handle(stream), kAsync); });
}
hipError_t hipMemset3DAsync_spt(hipPitchedPtr pitchedDevPtr, int value, hipExtent extent, hipStream_t stream) {
  return enter(api_id("hipMemset3DAsync_spt"),
               [&] { return fill_3d(pitchedDevPtr, value, extent, per_thread(stream), kAsync); });
}

}  // extern "C"
