#include "runtime/core/copy.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <vector>

#include "runtime/core/copy_engine.h"
#include "runtime/core/runtime.h"
#include "runtime/core/staging.h"
#include "runtime/core/stream_impl.h"

namespace barehip::runtime {
namespace {

/// Copies of at most this many bytes into visible VRAM are plain stores when nothing in the stream is pending.
constexpr size_t kBarStoreBytes = 16384;

/// One side of a copy: what the CPU and the GPU call its first byte.
struct Side {
  uint8_t* host = nullptr;  ///< null when the CPU cannot touch it
  uint64_t gpu = 0;         ///< 0 when no GPU can
  bool device = false;
  DeviceContext* context = nullptr;  ///< owner of device memory
  size_t pitch = 0;
};

struct Shape {
  size_t row_bytes = 0;
  size_t rows = 0;
};

/// Bytes from the first to the last byte that rows at `pitch` touch.
size_t extent(const Shape& shape, size_t pitch) { return (shape.rows - 1) * pitch + shape.row_bytes; }

Result<Side> find_side(Runtime& runtime, const void* pointer, size_t pitch, const Shape& shape, const char* operation) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  Side side{.host = reinterpret_cast<uint8_t*>(address), .pitch = pitch};
  auto found = runtime.allocations.find(pointer);
  if (!found) return side;
  if (!found->contains(address, extent(shape, pitch)))
    return fail(ErrorCode::kInvalidArgument, operation, "the range ends beyond its allocation");
  side.gpu = found->gpu_of(address);
  side.host = reinterpret_cast<uint8_t*>(found->host_of(address));
  side.device = found->on_device();
  side.context = found->context;
  return side;
}

/// A transfer on its way. The engine needs both signals until `done` is seen.
struct Submission {
  SignalRef done;
  SignalRef after;  ///< what it waits for; null when nothing
};

/// The host waits: nothing of the transfer has to go into the stream's queue.
Result<void> wait_done(Stream& stream, const Submission& transfer) {
  auto seen = transfer.done->wait(WaitCondition::kLess, 1, &stream.context().device());
  if (!seen) return std::unexpected(seen.error());
  stream.context().note_host_write();
  return stream.context().check();
}

/// Hands a transfer to an SDMA queue, behind the stream's work so far. Needs copy_mutex.
Result<Submission> submit_locked(Stream& stream, const Transfer& transfer, CopyDirection direction) {
  auto engine = stream.context().engine(direction);
  if (!engine) return std::unexpected(engine.error());
  if (auto joined = stream.join(); !joined) return std::unexpected(joined.error());
  auto done = stream.context().signals().take();
  if (!done) return std::unexpected(done.error());

  Submission out{.done = *done, .after = {}};
  const Stream::Tail tail = stream.tail();
  if (tail.end && tail == stream.copy_barrier) {
    out.after = stream.copy_done;  // copy behind copy: no need to go through the AQL queue
  } else {
    auto signal = stream.tail_signal();
    if (!signal) return std::unexpected(signal.error());
    out.after = *signal;
  }
  if (out.after && out.after.done()) out.after = {};
  auto submitted = (*engine)->submit(transfer, {&out.after, out.after ? 1u : 0u}, out.done);
  if (!submitted) return std::unexpected(submitted.error());
  return out;
}

/// For a transfer that the host waits for.
Result<Submission> submit(Stream& stream, const Transfer& transfer, CopyDirection direction) {
  std::lock_guard lock(stream.copy_mutex);
  return submit_locked(stream, transfer, direction);
}

/// For one that only the stream's later work waits for.
Result<Submission> submit_in_order(Stream& stream, const Transfer& transfer, CopyDirection direction) {
  std::lock_guard lock(stream.copy_mutex);
  auto submission = submit_locked(stream, transfer, direction);
  if (!submission) return submission;
  auto waits = stream.wait_for({&submission->done, 1}, {&submission->after, submission->after ? 1u : 0u});
  if (!waits) return std::unexpected(waits.error());
  stream.note_outside_write();
  stream.copy_done = submission->done;
  stream.copy_barrier = stream.tail();
  return submission;
}

Result<void> run(Stream& stream, const Transfer& transfer, CopyDirection direction, bool synchronous) {
  auto submission = synchronous ? submit(stream, transfer, direction) : submit_in_order(stream, transfer, direction);
  if (!submission) return std::unexpected(submission.error());
  return synchronous ? wait_done(stream, *submission) : Result<void>{};
}

/// Both sides are memory that the stream's GPU can reach.
Result<void> copy_direct(Stream& stream, const Side& dst, const Side& src, const Shape& shape, bool synchronous) {
  const bool flat = shape.rows == 1 || (dst.pitch == shape.row_bytes && src.pitch == shape.row_bytes);
  Transfer transfer{.dst = dst.gpu,
                    .src = src.gpu,
                    .row_bytes = shape.row_bytes,
                    .rows = shape.rows,
                    .dst_pitch = dst.pitch,
                    .src_pitch = src.pitch};
  if (flat) transfer.row_bytes *= shape.rows, transfer.rows = 1;
  return run(stream, transfer, dst.device ? CopyDirection::kToDevice : CopyDirection::kToHost, synchronous);
}

void copy_rows(uint8_t* dst, size_t dst_pitch, const uint8_t* src, size_t src_pitch, const Shape& shape) {
  for (size_t row = 0; row < shape.rows; ++row)
    std::memcpy(dst + row * dst_pitch, src + row * src_pitch, shape.row_bytes);
}

/// A part of a copy that fits one staging chunk: some rows, or a part of one row.
struct Piece {
  size_t dst_offset = 0;
  size_t src_offset = 0;
  Shape shape;
};

/// Calls `each` for the pieces in order until one fails.
template <class Each>
Result<void> for_pieces(const Shape& shape, size_t dst_pitch, size_t src_pitch, Each each) {
  const size_t rows_at_once = std::max<size_t>(Staging::kChunkBytes / shape.row_bytes, 1);
  for (size_t row = 0; row < shape.rows; row += rows_at_once) {
    const size_t rows = std::min(rows_at_once, shape.rows - row);
    for (size_t column = 0; column < shape.row_bytes; column += Staging::kChunkBytes) {
      const size_t bytes = std::min(Staging::kChunkBytes, shape.row_bytes - column);
      auto result = each(Piece{row * dst_pitch + column, row * src_pitch + column, {bytes, rows}});
      if (!result) return result;
    }
  }
  return {};
}

/// A flat copy is one row.
void flatten(Shape& shape, Side& dst, Side& src) {
  if (shape.rows > 1 && dst.pitch == shape.row_bytes && src.pitch == shape.row_bytes) {
    shape = {shape.row_bytes * shape.rows, 1};
    dst.pitch = src.pitch = shape.row_bytes;
  }
}

bool try_bar_store(Stream& stream, const Side& dst, const Side& src, const Shape& shape) {
  const Device& device = stream.context().device();
  const bool reachable = dst.host != nullptr && (device.can_flush_hdp() || device.properties().coherent_host);
  if (!reachable || shape.row_bytes * shape.rows > kBarStoreBytes || !stream.idle()) return false;
  copy_rows(dst.host, dst.pitch, src.host, src.pitch, shape);
  __builtin_ia32_sfence();
  device.flush_hdp();
  stream.context().note_host_write();
  return true;
}

Result<void> copy_from_pageable(Stream& stream, Side dst, Side src, Shape shape, bool synchronous) {
  flatten(shape, dst, src);
  if (auto joined = stream.join(); !joined) return joined;
  if (try_bar_store(stream, dst, src, shape)) return {};
  auto staging = stream.context().staging();
  if (!staging) return std::unexpected(staging.error());
  std::lock_guard lock((*staging)->mutex);
  std::vector<Submission> pieces;  // of a synchronous copy: the engine needs them until the last one is done
  auto result = for_pieces(shape, dst.pitch, src.pitch, [&](const Piece& piece) -> Result<void> {
    auto chunk = (*staging)->next();
    if (!chunk) return std::unexpected(chunk.error());
    const size_t row_bytes = piece.shape.row_bytes;
    copy_rows(chunk->data, row_bytes, src.host + piece.src_offset, src.pitch, piece.shape);
    const Transfer transfer{.dst = dst.gpu + piece.dst_offset,
                            .src = reinterpret_cast<uint64_t>(chunk->data),
                            .row_bytes = row_bytes,
                            .rows = piece.shape.rows,
                            .dst_pitch = dst.pitch,
                            .src_pitch = row_bytes};
    auto submission = synchronous ? submit(stream, transfer, CopyDirection::kToDevice)
                                  : submit_in_order(stream, transfer, CopyDirection::kToDevice);
    if (!submission) return std::unexpected(submission.error());
    (*staging)->use(*chunk, submission->done);
    if (synchronous) pieces.push_back(std::move(*submission));
    return {};
  });
  if (!result) return result;
  return synchronous ? wait_done(stream, pieces.back()) : Result<void>{};
}

Result<void> copy_to_pageable(Stream& stream, Side dst, Side src, Shape shape) {
  flatten(shape, dst, src);
  auto staging = stream.context().staging();
  if (!staging) return std::unexpected(staging.error());
  struct Flight {
    Staging::Chunk chunk;
    Submission transfer;
    Piece piece;
  };
  std::deque<Flight> flights;
  const auto land = [&]() -> Result<void> {
    const Flight flight = std::move(flights.front());
    flights.pop_front();
    if (auto waited = wait_done(stream, flight.transfer); !waited) return waited;
    copy_rows(dst.host + flight.piece.dst_offset, dst.pitch, flight.chunk.data, flight.piece.shape.row_bytes,
              flight.piece.shape);
    return {};
  };
  std::lock_guard lock((*staging)->mutex);
  auto result = for_pieces(shape, dst.pitch, src.pitch, [&](const Piece& piece) -> Result<void> {
    if (flights.size() == Staging::kChunks)
      if (auto landed = land(); !landed) return landed;
    auto chunk = (*staging)->next();
    if (!chunk) return std::unexpected(chunk.error());
    const size_t row_bytes = piece.shape.row_bytes;
    auto done = submit(stream,
                       {.dst = reinterpret_cast<uint64_t>(chunk->data),
                        .src = src.gpu + piece.src_offset,
                        .row_bytes = row_bytes,
                        .rows = piece.shape.rows,
                        .dst_pitch = row_bytes,
                        .src_pitch = src.pitch},
                       CopyDirection::kToHost);
    if (!done) return std::unexpected(done.error());
    (*staging)->use(*chunk, done->done);
    flights.push_back({*chunk, *done, piece});
    return {};
  });
  while (result && !flights.empty()) result = land();
  return result;
}

/// Through host memory, as the two need not reach each other; the host waits for each half.
Result<void> copy_between_gpus(Stream& stream, Side dst, Side src, Shape shape) {
  flatten(shape, dst, src);
  if (auto waited = stream.synchronize(); !waited) return waited;
  auto from = src.context->null_stream();
  if (!from) return std::unexpected(from.error());
  auto to = dst.context->null_stream();
  if (!to) return std::unexpected(to.error());
  auto staging = src.context->staging();
  if (!staging) return std::unexpected(staging.error());
  std::lock_guard lock((*staging)->mutex);
  return for_pieces(shape, dst.pitch, src.pitch, [&](const Piece& piece) -> Result<void> {
    auto chunk = (*staging)->next();
    if (!chunk) return std::unexpected(chunk.error());
    const auto half = reinterpret_cast<uint64_t>(chunk->data);
    const size_t row_bytes = piece.shape.row_bytes, rows = piece.shape.rows;
    auto out = submit(**from,
                      {.dst = half,
                       .src = src.gpu + piece.src_offset,
                       .row_bytes = row_bytes,
                       .rows = rows,
                       .dst_pitch = row_bytes,
                       .src_pitch = src.pitch},
                      CopyDirection::kToHost);
    if (!out) return std::unexpected(out.error());
    if (auto waited = wait_done(**from, *out); !waited) return waited;
    auto in = submit(**to,
                     {.dst = dst.gpu + piece.dst_offset,
                      .src = half,
                      .row_bytes = row_bytes,
                      .rows = rows,
                      .dst_pitch = dst.pitch,
                      .src_pitch = row_bytes},
                     CopyDirection::kToDevice);
    if (!in) return std::unexpected(in.error());
    return wait_done(**to, *in);
  });
}

Result<void> copy_on_host(Stream& stream, const Side& dst, const Side& src, const Shape& shape) {
  if (auto waited = stream.synchronize(); !waited) return waited;
  copy_rows(dst.host, dst.pitch, src.host, src.pitch, shape);
  return {};
}

Result<void> copy_region(void* dst, size_t dst_pitch, const void* src, size_t src_pitch, Shape shape, CopyKind kind,
                         Handle stream_handle, bool synchronous) {
  constexpr const char* kOperation = "copy";
  if (static_cast<uint32_t>(kind) > static_cast<uint32_t>(CopyKind::kDefault))
    return fail(ErrorCode::kInvalidCopyDirection, kOperation,
                "copy kind " + std::to_string(static_cast<uint32_t>(kind)) + " does not exist");
  auto stream = find_stream(stream_handle);
  if (!stream) return std::unexpected(stream.error());
  if (auto healthy = (*stream)->context().check(); !healthy) return healthy;
  if (shape.row_bytes == 0 || shape.rows == 0) return {};
  if (dst == nullptr || src == nullptr)
    return fail(ErrorCode::kInvalidArgument, kOperation, dst ? "the source is null" : "the destination is null");
  Runtime& runtime = *Runtime::if_open();
  auto to = find_side(runtime, dst, dst_pitch, shape, kOperation);
  if (!to) return std::unexpected(to.error());
  auto from = find_side(runtime, src, src_pitch, shape, kOperation);
  if (!from) return std::unexpected(from.error());
  if ((kind == CopyKind::kHostToDevice && from->device && !to->device) ||
      (kind == CopyKind::kDeviceToHost && to->device && !from->device))
    return fail(ErrorCode::kInvalidArgument, kOperation, "the copy kind says the opposite of where the pointers lie");
  if (!to->device && !from->device) return copy_on_host(**stream, *to, *from, shape);
  if (to->device && from->device && to->context != from->context) return copy_between_gpus(**stream, *to, *from, shape);
  // A GPU reaches its own memory only: another GPU's stream hands the copy over when its earlier work is done.
  DeviceContext& owner = to->device ? *to->context : *from->context;
  if (&owner != &(*stream)->context()) {
    if (auto waited = (*stream)->synchronize(); !waited) return waited;
    stream = owner.null_stream();
    if (!stream) return std::unexpected(stream.error());
    synchronous = true;
  }
  if (to->gpu && from->gpu) return copy_direct(**stream, *to, *from, shape, synchronous);
  if (from->gpu == 0) return copy_from_pageable(**stream, *to, *from, shape, synchronous);
  return copy_to_pageable(**stream, *to, *from, shape);
}

Result<void> fill_region(void* dst, size_t pitch, uint32_t pattern, const Shape& shape, Handle stream_handle,
                         bool synchronous) {
  constexpr const char* kOperation = "fill";
  auto stream = find_stream(stream_handle);
  if (!stream) return std::unexpected(stream.error());
  if (auto healthy = (*stream)->context().check(); !healthy) return healthy;
  if (shape.row_bytes == 0 || shape.rows == 0) return {};
  if (dst == nullptr) return fail(ErrorCode::kInvalidArgument, kOperation, "the destination is null");
  auto to = find_side(*Runtime::if_open(), dst, pitch, shape, kOperation);
  if (!to) return std::unexpected(to.error());
  if (to->gpu == 0)
    return fail(ErrorCode::kInvalidArgument, kOperation, "the destination is neither device nor pinned host memory");
  if (to->device && to->context != &(*stream)->context()) {
    if (auto waited = (*stream)->synchronize(); !waited) return waited;
    stream = to->context->null_stream();
    if (!stream) return std::unexpected(stream.error());
    synchronous = true;
  }
  Transfer transfer{.dst = to->gpu,
                    .row_bytes = shape.row_bytes,
                    .rows = shape.rows,
                    .dst_pitch = pitch,
                    .is_fill = true,
                    .pattern = pattern};
  if (pitch == shape.row_bytes) transfer.row_bytes *= shape.rows, transfer.rows = 1;
  return run(**stream, transfer, CopyDirection::kToDevice, synchronous);
}

/// The value's low bytes, repeated over four.
uint32_t repeat(uint32_t value, size_t element_bytes) {
  if (element_bytes == 1) return (value & 0xff) * 0x01010101u;
  if (element_bytes == 2) return (value & 0xffff) * 0x00010001u;
  return value;
}

}  // namespace

Result<void> copy(void* dst, const void* src, size_t bytes, CopyKind kind, Handle stream, bool synchronous) {
  return copy_region(dst, bytes, src, bytes, {bytes, 1}, kind, stream, synchronous);
}

Result<void> copy_2d(void* dst, size_t dst_pitch, const void* src, size_t src_pitch, size_t width_bytes, size_t height,
                     CopyKind kind, Handle stream, bool synchronous) {
  if (width_bytes > dst_pitch || width_bytes > src_pitch)
    return fail(ErrorCode::kInvalidArgument, "copy rows", "a pitch is less than the width of a row");
  return copy_region(dst, dst_pitch, src, src_pitch, {width_bytes, height}, kind, stream, synchronous);
}

Result<void> fill(void* dst, uint32_t value, size_t element_bytes, size_t count, Handle stream, bool synchronous) {
  if (element_bytes != 1 && element_bytes != 2 && element_bytes != 4)
    return fail(ErrorCode::kInvalidArgument, "fill", "elements have 1, 2 or 4 bytes");
  if (count > SIZE_MAX / element_bytes) return fail(ErrorCode::kInvalidArgument, "fill", "the size overflows");
  const size_t bytes = element_bytes * count;
  return fill_region(dst, bytes, repeat(value, element_bytes), {bytes, 1}, stream, synchronous);
}

Result<void> fill_2d(void* dst, size_t pitch, uint32_t value, size_t width_bytes, size_t height, Handle stream,
                     bool synchronous) {
  if (width_bytes > pitch)
    return fail(ErrorCode::kInvalidArgument, "fill rows", "the pitch is less than the width of a row");
  return fill_region(dst, pitch, repeat(value, 1), {width_bytes, height}, stream, synchronous);
}

}  // namespace barehip::runtime
