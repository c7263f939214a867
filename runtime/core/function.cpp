#include "runtime/core/function.h"

#include <algorithm>

#include "codeobj/bundle.h"
#include "runtime/core/context.h"
#include "runtime/core/copy_engine.h"
#include "runtime/core/hw_queue.h"
#include "runtime/core/runtime.h"

namespace barehip::runtime {
namespace {

/// What a kernel with calls that the compiler cannot bound gets for its stack, as stock's hipLimitStackSize. Bytes.
constexpr uint32_t kDynamicStackBytes = 1024;

/// Bytes of the code object, in the GPU's memory.
Result<void> upload(DeviceContext& context, const codeobj::CodeObject& object, const Memory& memory) {
  Device& device = context.device();
  const uint64_t bytes = object.load_bytes();
  if (memory.host() && (device.can_flush_hdp() || device.properties().coherent_host)) {
    auto placed = object.place(memory.gpu_address(), {memory.host_as<std::byte>(), bytes});
    __builtin_ia32_sfence();
    device.flush_hdp();
    return placed;
  }
  auto staging = Memory::allocate(device, bytes, {.kind = MemoryKind::kHostCoherent});
  if (!staging) return std::unexpected(staging.error());
  if (auto placed = object.place(memory.gpu_address(), {staging->host_as<std::byte>(), bytes}); !placed) return placed;
  auto engine = context.engine(CopyDirection::kToDevice);
  if (!engine) return std::unexpected(engine.error());
  auto done = context.signals().take();
  if (!done) return std::unexpected(done.error());
  auto submitted =
      (*engine)->submit({.dst = memory.gpu_address(), .src = staging->gpu_address(), .row_bytes = bytes}, {}, *done);
  if (!submitted) return submitted;
  auto seen = (*done)->wait(WaitCondition::kLess, 1, &device);
  if (!seen) return std::unexpected(seen.error());
  return {};
}

}  // namespace

Function::Function(DeviceContext& owner, const codeobj::Kernel& described, uint64_t load_address)
    : context(owner),
      kernel(described),
      max_threads(described.max_flat_workgroup_size ? described.max_flat_workgroup_size : kMaxThreadsPerBlock),
      descriptor(load_address + described.descriptor_offset),
      private_bytes(described.private_bytes + (described.uses_dynamic_stack ? kDynamicStackBytes : 0)),
      group_bytes(described.group_bytes),
      kernarg(described, owner.device().properties()) {
  if (!kernarg.refusal().empty()) return;
  const DeviceProperties& device = context.properties();
  thread_limit = std::min(max_threads, device.max_threads_per_block);
  if (group_bytes <= device.lds_bytes_per_block) dynamic_lds_end = device.lds_bytes_per_block - group_bytes + 1;
  big_kernarg = kernel.kernarg_bytes > HwQueue::kKernargSlotBytes;
  if (!big_kernarg && !kernarg.has_rest() && !context.launch_blocking)
    quick_thread_limit = std::min(thread_limit, kMaxThreadsPerBlock);
}

LoadedCode::LoadedCode(DeviceContext& context, codeobj::CodeObject object, std::shared_ptr<Allocation> memory)
    : context_(context), object_(std::move(object)), memory_(std::move(memory)) {
  for (const codeobj::Kernel& kernel : object_.kernels())
    functions_.push_back(std::make_unique<Function>(context_, kernel, memory_->gpu));
}

LoadedCode::~LoadedCode() {
  Runtime* runtime = Runtime::if_open();
  for (const auto& function : functions_)
    if (const Handle handle = function->handle.load(std::memory_order_relaxed)) runtime->functions.erase(handle);
  runtime->allocations.remove(reinterpret_cast<const void*>(memory_->gpu), AllocationKind::kCode);
}

Function* LoadedCode::find_function(std::string_view name) const {
  const codeobj::Kernel* kernel = object_.find_kernel(name);
  return kernel ? functions_[static_cast<size_t>(kernel - object_.kernels().data())].get() : nullptr;
}

/// clang keeps the bytes of a managed variable NAME in a variable NAME.managed.
Result<void> refuse_managed(const codeobj::CodeObject& object) {
  constexpr std::string_view kSuffix = ".managed";
  for (const codeobj::Variable& variable : object.variables())
    if (std::string_view(variable.name).ends_with(kSuffix))
      return fail(ErrorCode::kNotSupported, kMissingFeature,
                  "The code has the __managed__ variable '" +
                      variable.name.substr(0, variable.name.size() - kSuffix.size()) +
                      "': barehip does not support managed memory yet, so none of its kernels can run.");
  return {};
}

Result<std::unique_ptr<LoadedCode>> LoadedCode::load(DeviceContext& context, std::span<const std::byte> container) {
  auto image = codeobj::select_image(container, context.target());
  if (!image) return std::unexpected(image.error());
  auto object = codeobj::CodeObject::parse(image->bytes);
  if (!object) return std::unexpected(object.error());
  if (auto refused = refuse_managed(*object); !refused) return std::unexpected(refused.error());
  auto memory =
      Memory::allocate(context.device(), std::max<uint64_t>(object->load_bytes(), 1),
                       {.kind = MemoryKind::kVram, .executable = true, .alignment = object->load_alignment()});
  if (!memory) return std::unexpected(memory.error());
  if (auto uploaded = upload(context, *object, *memory); !uploaded) return std::unexpected(uploaded.error());
  context.note_code_load();

  auto allocation = std::make_shared<Allocation>();
  allocation->kind = AllocationKind::kCode;
  allocation->context = &context;
  allocation->gpu = memory->gpu_address();
  allocation->host = reinterpret_cast<uint64_t>(memory->host());
  allocation->bytes = object->load_bytes();
  allocation->memory = std::move(*memory);
  Runtime::if_open()->allocations.insert(allocation);
  return std::unique_ptr<LoadedCode>(new LoadedCode(context, std::move(*object), std::move(allocation)));
}

}  // namespace barehip::runtime
