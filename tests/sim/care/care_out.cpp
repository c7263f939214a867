// care-out CARE CASE [module...]: takes one care out of the runtime and passes when the case's result is wrong then, or
// when the program hangs: what a user would see without that care.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string_view>
#include <thread>

#include "kfd/ioctl_table.h"
#include "kfd/os.h"
#include "kfd/uapi.h"
#include "runtime/core/fences.h"
#include "runtime/core/hw_queue.h"
#include "runtime/core/runtime.h"
#include "runtime/core/stream_impl.h"
#include "tests/sim/care/cases.h"

namespace barehip::runtime {

/// What a runtime does that takes a packet for complete when it was read: it waits for that, and uses the slot again.
struct HwQueueProbe {
  static void await_read(HwQueue& queue) {
    const uint64_t next = queue.aql().write_index();
    // The last packet of a quarter is a marker, and the launch takes the one behind it.
    const uint64_t taken = next % HwQueue::kQuarter == HwQueue::kQuarter - 1 ? next + 1 : next;
    if (taken < HwQueue::kPackets) return;
    while (queue.aql().read_index() <= taken - HwQueue::kPackets) {
    }
    queue.raise_floor(taken - HwQueue::kPackets + 1);
  }
};

}  // namespace barehip::runtime

namespace {

using barehip::aql::FenceScope;
using barehip::aql::make_header;
using barehip::aql::PacketType;
using barehip::runtime::g_fences;

constexpr std::chrono::seconds kPatience{10};

void await_read_only() {
  auto* runtime = barehip::runtime::Runtime::if_open();
  auto* context = runtime ? runtime->context_or_null(0) : nullptr;
  auto* stream = context ? context->null_stream_if_made() : nullptr;
  if (stream) barehip::runtime::HwQueueProbe::await_read(stream->queue());
}

const barehip_os_table* g_inner = nullptr;

/// The command processor looks for the queue's write index in a word that nobody writes.
int ioctl_without_write_index(void*, int fd, unsigned long request, void* arg) {
  const char* name = barehip::kfd::ioctl_name(request);
  if (name && std::string_view(name) == "CREATE_QUEUE") {
    auto& args = *static_cast<barehip::kfd::uapi::create_queue_args*>(arg);
    if (args.queue_type == barehip::kfd::uapi::kQueueTypeComputeAql)
      args.write_pointer_address = (args.write_pointer_address | 0xfff) - 0xf;  // the end of the queue's page
  }
  return g_inner->ioctl(g_inner->self, fd, request, arg);
}

bool hide_write_index() {
  auto inner = barehip::os_from_environment();
  if (!inner) return false;
  g_inner = *inner;
  static barehip_os_table table = **inner;
  table.ioctl = ioctl_without_write_index;
  barehip::runtime::Runtime::set_os_table(table);
  return true;
}

bool take_out(std::string_view care) {
  const auto barrier_packet = [](FenceScope acquire, FenceScope release) {
    return make_header(PacketType::kBarrierAnd, true, acquire, release);
  };
  if (care == "barrier-bit")
    g_fences.dispatch = g_fences.dispatch_after_outside_write =
        make_header(PacketType::kKernelDispatch, false, FenceScope::kAgent, FenceScope::kAgent);
  else if (care == "dispatch-acquire")
    g_fences.dispatch = make_header(PacketType::kKernelDispatch, true, FenceScope::kNone, FenceScope::kAgent);
  else if (care == "outside-acquire")
    g_fences.dispatch_after_outside_write = g_fences.dispatch;
  else if (care == "marker-release")
    g_fences.marker = g_fences.quarter_marker = barrier_packet(FenceScope::kSystem, FenceScope::kNone);
  else if (care == "marker-acquire")
    g_fences.marker = g_fences.quarter_marker = barrier_packet(FenceScope::kNone, FenceScope::kSystem);
  else if (care == "code-invalidation")
    g_fences.invalidate_code = false;
  else if (care == "slot-reuse")
    g_before_launch = await_read_only;
  else if (care == "write-index")
    return hide_write_index();
  else
    return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || !take_out(argv[1])) {
    std::fprintf(stderr, "care-out: no such care\n");
    return 2;
  }
  std::thread([] {
    std::this_thread::sleep_for(kPatience);
    std::printf("PASSED: without the care the program hangs\n");
    std::fflush(stdout);
    _exit(0);
  }).detach();
  size_t wrong = 0;
  if (run_care_case(argv[2], {argv + 3, static_cast<size_t>(argc - 3)}, wrong) != 0) return 2;
  if (wrong)
    std::printf("PASSED: without the care %zu results are wrong\n", wrong);
  else
    std::printf("FAILED: the result is right without the care\n");
  std::fflush(stdout);
  _exit(wrong == 0);
}
