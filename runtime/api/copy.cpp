// Linear copies and fills, and those to and from device variables.
#include "runtime/core/copy.h"

#include "runtime/api/entry.h"
#include "runtime/core/module.h"
#include "runtime/core/stream.h"

using namespace barehip;
using namespace barehip::runtime;

namespace {

constexpr bool kSync = true;
constexpr bool kAsync = false;

CopyKind kind_of(hipMemcpyKind kind) { return static_cast<CopyKind>(kind); }
Handle per_thread(hipStream_t stream) { return stream ? handle(stream) : kStreamPerThread; }

/// The part of a device variable that [offset, offset + bytes) names.
Result<void*> inside_symbol(const void* host_variable, size_t bytes, size_t offset) {
  const Result<GlobalVariable> variable = symbol(host_variable);
  if (!variable) return std::unexpected(variable.error());
  if (offset > variable->bytes || bytes > variable->bytes - offset)
    return fail(ErrorCode::kInvalidArgument, "copy to or from a variable", "the range ends beyond the variable");
  return static_cast<std::byte*>(variable->address) + offset;
}

Result<void> to_symbol(const void* variable, const void* src, size_t bytes, size_t offset, hipMemcpyKind kind,
                       Handle stream, bool synchronous) {
  if (kind != hipMemcpyHostToDevice && kind != hipMemcpyDeviceToDevice && kind != hipMemcpyDefault)
    return fail(ErrorCode::kInvalidCopyDirection, "copy to a variable", "the destination is device memory");
  const Result<void*> to = inside_symbol(variable, bytes, offset);
  if (!to) return std::unexpected(to.error());
  return copy(*to, src, bytes, kind_of(kind), stream, synchronous);
}

Result<void> from_symbol(void* dst, const void* variable, size_t bytes, size_t offset, hipMemcpyKind kind,
                         Handle stream, bool synchronous) {
  if (kind != hipMemcpyDeviceToHost && kind != hipMemcpyDeviceToDevice && kind != hipMemcpyDefault)
    return fail(ErrorCode::kInvalidCopyDirection, "copy from a variable", "the source is device memory");
  const Result<void*> from = inside_symbol(variable, bytes, offset);
  if (!from) return std::unexpected(from.error());
  return copy(dst, *from, bytes, kind_of(kind), stream, synchronous);
}

}  // namespace

extern "C" {

hipError_t hipMemcpy(void* dst, const void* src, size_t sizeBytes, hipMemcpyKind kind) {
  return enter(api_id("hipMemcpy"), [&] { return copy(dst, src, sizeBytes, kind_of(kind), kStreamNull, kSync); });
}
hipError_t hipMemcpy_spt(void* dst, const void* src, size_t sizeBytes, hipMemcpyKind kind) {
  return enter(api_id("hipMemcpy_spt"),
               [&] { return copy(dst, src, sizeBytes, kind_of(kind), kStreamPerThread, kSync); });
}
hipError_t hipMemcpyAsync(void* dst, const void* src, size_t sizeBytes, hipMemcpyKind kind, hipStream_t stream) {
  return enter(api_id("hipMemcpyAsync"),
               [&] { return copy(dst, src, sizeBytes, kind_of(kind), handle(stream), kAsync); });
}
hipError_t hipMemcpyAsync_spt(void* dst, const void* src, size_t sizeBytes, hipMemcpyKind kind, hipStream_t stream) {
  return enter(api_id("hipMemcpyAsync_spt"),
               [&] { return copy(dst, src, sizeBytes, kind_of(kind), per_thread(stream), kAsync); });
}
hipError_t hipMemcpyWithStream(void* dst, const void* src, size_t sizeBytes, hipMemcpyKind kind, hipStream_t stream) {
  return enter(api_id("hipMemcpyWithStream"),
               [&] { return copy(dst, src, sizeBytes, kind_of(kind), handle(stream), kSync); });
}
hipError_t hipMemcpyHtoD(hipDeviceptr_t dst, void* src, size_t sizeBytes) {
  return enter(api_id("hipMemcpyHtoD"),
               [&] { return copy(dst, src, sizeBytes, CopyKind::kHostToDevice, kStreamNull, kSync); });
}
hipError_t hipMemcpyDtoH(void* dst, hipDeviceptr_t src, size_t sizeBytes) {
  return enter(api_id("hipMemcpyDtoH"),
               [&] { return copy(dst, src, sizeBytes, CopyKind::kDeviceToHost, kStreamNull, kSync); });
}
hipError_t hipMemcpyDtoD(hipDeviceptr_t dst, hipDeviceptr_t src, size_t sizeBytes) {
  return enter(api_id("hipMemcpyDtoD"),
               [&] { return copy(dst, src, sizeBytes, CopyKind::kDeviceToDevice, kStreamNull, kSync); });
}
hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t dst, void* src, size_t sizeBytes, hipStream_t stream) {
  return enter(api_id("hipMemcpyHtoDAsync"),
               [&] { return copy(dst, src, sizeBytes, CopyKind::kHostToDevice, handle(stream), kAsync); });
}
hipError_t hipMemcpyDtoHAsync(void* dst, hipDeviceptr_t src, size_t sizeBytes, hipStream_t stream) {
  return enter(api_id("hipMemcpyDtoHAsync"),
               [&] { return copy(dst, src, sizeBytes, CopyKind::kDeviceToHost, handle(stream), kAsync); });
}
hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t dst, hipDeviceptr_t src, size_t sizeBytes, hipStream_t stream) {
  return enter(api_id("hipMemcpyDtoDAsync"),
               [&] { return copy(dst, src, sizeBytes, CopyKind::kDeviceToDevice, handle(stream), kAsync); });
}

hipError_t hipMemcpyToSymbol(const void* symbol, const void* src, size_t sizeBytes, size_t offset, hipMemcpyKind kind) {
  return enter(api_id("hipMemcpyToSymbol"),
               [&] { return to_symbol(symbol, src, sizeBytes, offset, kind, kStreamNull, kSync); });
}
hipError_t hipMemcpyToSymbol_spt(const void* symbol, const void* src, size_t sizeBytes, size_t offset,
                                 hipMemcpyKind kind) {
  return enter(api_id("hipMemcpyToSymbol_spt"),
               [&] { return to_symbol(symbol, src, sizeBytes, offset, kind, kStreamPerThread, kSync); });
}
hipError_t hipMemcpyToSymbolAsync(const void* symbol, const void* src, size_t sizeBytes, size_t offset,
                                  hipMemcpyKind kind, hipStream_t stream) {
  return enter(api_id("hipMemcpyToSymbolAsync"),
               [&] { return to_symbol(symbol, src, sizeBytes, offset, kind, handle(stream), kAsync); });
}
hipError_t hipMemcpyToSymbolAsync_spt(const void* symbol, const void* src, size_t sizeBytes, size_t offset,
                                      hipMemcpyKind kind, hipStream_t stream) {
  return enter(api_id("hipMemcpyToSymbolAsync_spt"),
               [&] { return to_symbol(symbol, src, sizeBytes, offset, kind, per_thread(stream), kAsync); });
}
hipError_t hipMemcpyFromSymbol(void* dst, const void* symbol, size_t sizeBytes, size_t offset, hipMemcpyKind kind) {
  return enter(api_id("hipMemcpyFromSymbol"),
               [&] { return from_symbol(dst, symbol, sizeBytes, offset, kind, kStreamNull, kSync); });
}
hipError_t hipMemcpyFromSymbol_spt(void* dst, const void* symbol, size_t sizeBytes, size_t offset, hipMemcpyKind kind) {
  return enter(api_id("hipMemcpyFromSymbol_spt"),
               [&] { return from_symbol(dst, symbol, sizeBytes, offset, kind, kStreamPerThread, kSync); });
}
hipError_t hipMemcpyFromSymbolAsync(void* dst, const void* symbol, size_t sizeBytes, size_t offset, hipMemcpyKind kind,
                                    hipStream_t stream) {
  return enter(api_id("hipMemcpyFromSymbolAsync"),
               [&] { return from_symbol(dst, symbol, sizeBytes, offset, kind, handle(stream), kAsync); });
}
hipError_t hipMemcpyFromSymbolAsync_spt(void* dst, const void* symbol, size_t sizeBytes, size_t offset,
                                        hipMemcpyKind kind, hipStream_t stream) {
  return enter(api_id("hipMemcpyFromSymbolAsync_spt"),
               [&] { return from_symbol(dst, symbol, sizeBytes, offset, kind, per_thread(stream), kAsync); });
}

// Fills. As on all platforms the synchronous forms wait.
hipError_t hipMemset(void* dst, int value, size_t sizeBytes) {
  return enter(api_id("hipMemset"),
               [&] { return fill(dst, static_cast<uint32_t>(value), 1, sizeBytes, kStreamNull, kSync); });
}
hipError_t hipMemset_spt(void* dst, int value, size_t sizeBytes) {
  return enter(api_id("hipMemset_spt"),
               [&] { return fill(dst, static_cast<uint32_t>(value), 1, sizeBytes, kStreamPerThread, kSync); });
}
hipError_t hipMemsetAsync(void* dst, int value, size_t sizeBytes, hipStream_t stream) {
  return enter(api_id("hipMemsetAsync"),
               [&] { return fill(dst, static_cast<uint32_t>(value), 1, sizeBytes, handle(stream), kAsync); });
}
hipError_t hipMemsetAsync_spt(void* dst, int value, size_t sizeBytes, hipStream_t stream) {
  return enter(api_id("hipMemsetAsync_spt"),
               [&] { return fill(dst, static_cast<uint32_t>(value), 1, sizeBytes, per_thread(stream), kAsync); });
}
hipError_t hipMemsetD8(hipDeviceptr_t dest, unsigned char value, size_t count) {
  return enter(api_id("hipMemsetD8"), [&] { return fill(dest, value, 1, count, kStreamNull, kSync); });
}
hipError_t hipMemsetD16(hipDeviceptr_t dest, unsigned short value, size_t count) {
  return enter(api_id("hipMemsetD16"), [&] { return fill(dest, value, 2, count, kStreamNull, kSync); });
}
hipError_t hipMemsetD32(hipDeviceptr_t dest, int value, size_t count) {
  return enter(api_id("hipMemsetD32"),
               [&] { return fill(dest, static_cast<uint32_t>(value), 4, count, kStreamNull, kSync); });
}
hipError_t hipMemsetD8Async(hipDeviceptr_t dest, unsigned char value, size_t count, hipStream_t stream) {
  return enter(api_id("hipMemsetD8Async"), [&] { return fill(dest, value, 1, count, handle(stream), kAsync); });
}
hipError_t hipMemsetD16Async(hipDeviceptr_t dest, unsigned short value, size_t count, hipStream_t stream) {
  return enter(api_id("hipMemsetD16Async"), [&] { return fill(dest, value, 2, count, handle(stream), kAsync); });
}
hipError_t hipMemsetD32Async(hipDeviceptr_t dst, int value, size_t count, hipStream_t stream) {
  return enter(api_id("hipMemsetD32Async"),
               [&] { return fill(dst, static_cast<uint32_t>(value), 4, count, handle(stream), kAsync); });
}

}  // extern "C"
