// Which wave runs next. Waves that were just launched or released from a barrier come first, so that a work-group's
// registers stay in the host's caches; waves whose turn ran out queue up behind. The two take turns in an order drawn
// from the seed, so that none starves and the same seed gives the same schedule.
#pragma once

#include <cstdint>
#include <deque>

#include "tools/vgpu/shader/work_group.h"

namespace vgpu {

class Scheduler {
 public:
  explicit Scheduler(uint64_t seed) : random_(seed * 2 + 1) {}

  void push_fresh(Wave* wave) { fresh_.push_back(wave); }
  void push_tired(Wave* wave) { tired_.push_back(wave); }
  bool empty() const { return fresh_.empty() && tired_.empty(); }
  bool fresh_empty() const { return fresh_.empty(); }
  size_t size() const { return fresh_.size() + tired_.size(); }

  /// Null when empty.
  Wave* pop() {
    const bool tired_first = fresh_.empty() || (!tired_.empty() && (draw() & 3) == 0);
    std::deque<Wave*>& from = tired_first ? tired_ : fresh_;
    if (from.empty()) return nullptr;
    Wave* wave = from.front();
    from.pop_front();
    return wave;
  }

  /// Length of the next turn in instructions.
  uint64_t turn() { return 1024 + (draw() & 1023); }

  /// Forgets every wave of a dispatch.
  void drop(const DispatchState* dispatch) {
    const auto of_dispatch = [dispatch](const Wave* wave) { return wave->group->dispatch == dispatch; };
    std::erase_if(fresh_, of_dispatch);
    std::erase_if(tired_, of_dispatch);
  }

  bool flip() { return (draw() & 1) != 0; }

 private:
  uint64_t draw() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return random_ >> 20;
  }

  uint64_t random_;
  std::deque<Wave*> fresh_;
  std::deque<Wave*> tired_;
};

}  // namespace vgpu
