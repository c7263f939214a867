#include "tools/vgpu/memory/page_store.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace vgpu {

namespace {

constexpr uint64_t kMinSpan = 1ull << 32;
constexpr uint32_t kMostRanges = 1u << 15;
constexpr uint32_t kMostHolders = 8;
constexpr uint32_t kReady = 0x76677075;

struct Holder {
  int32_t pid = 0;
  uint32_t count = 0;
  bool used() const { return count != 0; }
};

struct Range {
  uint64_t offset, bytes;
  uint32_t file_holds;
  Holder holders[kMostHolders];

  bool held() const {
    return file_holds != 0 ||
           std::any_of(std::begin(holders), std::end(holders), [](const Holder& h) { return h.used(); });
  }
};

// A zombie has a number still, and no memory.
bool alive(int32_t pid) {
  if (kill(pid, 0) != 0) return errno == EPERM;
  FILE* stat = fopen(("/proc/" + std::to_string(pid) + "/stat").c_str(), "re");
  if (stat == nullptr) return true;
  char state = '?';
  const int found = fscanf(stat, "%*d (%*[^)]) %c", &state);
  fclose(stat);
  return found != 1 || (state != 'Z' && state != 'X');
}

int open_store(const std::string& name, const std::string& folder) {
  if (folder.empty()) return memfd_create(name.c_str(), MFD_CLOEXEC);
  return open((folder + "/" + name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

}  // namespace

// At the end of the file, after the pages. Ranges are sorted by offset.
struct PageStore::Ledger {
  uint32_t ready;
  uint32_t count;
  uint64_t used;
  pthread_mutex_t mutex;
  Range ranges[kMostRanges];
};

// A process may die with the lock; whoever comes next counts anew.
class PageStore::Lock {
 public:
  explicit Lock(Ledger& ledger) : ledger_(ledger) {
    if (pthread_mutex_lock(&ledger_.mutex) != EOWNERDEAD) return;
    ledger_.used = 0;
    for (uint32_t i = 0; i < ledger_.count; ++i) ledger_.used += ledger_.ranges[i].bytes;
    pthread_mutex_consistent(&ledger_.mutex);
  }
  ~Lock() { pthread_mutex_unlock(&ledger_.mutex); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  Ledger& ledger_;
};

std::unique_ptr<PageStore> PageStore::create(const std::string& name, uint64_t capacity, const std::string& folder) {
  std::unique_ptr<PageStore> store(new PageStore);
  store->capacity_ = capacity;
  store->span_ = std::max(kMinSpan, capacity * 4) & ~uint64_t{4095};
  store->fd_ = open_store(name, folder);
  if (store->fd_ < 0) return nullptr;
  // Two processes may come first at once: one of them makes the ledger.
  if (!folder.empty() && flock(store->fd_, LOCK_EX) != 0) return nullptr;
  const uint64_t whole = store->span_ + ((sizeof(Ledger) + 4095) & ~uint64_t{4095});
  if (ftruncate(store->fd_, static_cast<off_t>(whole)) != 0) return nullptr;
  void* ledger =
      mmap(nullptr, sizeof(Ledger), PROT_READ | PROT_WRITE, MAP_SHARED, store->fd_, static_cast<off_t>(store->span_));
  if (ledger == MAP_FAILED) return nullptr;
  store->ledger_ = static_cast<Ledger*>(ledger);
  if (store->ledger_->ready != kReady) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&store->ledger_->mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    store->ledger_->ready = kReady;
  }
  if (!folder.empty()) flock(store->fd_, LOCK_UN);
  return store;
}

PageStore::~PageStore() {
  if (ledger_ != nullptr) munmap(ledger_, sizeof(Ledger));
  if (fd_ >= 0) close(fd_);
}

// The first gap that is large enough.
uint64_t PageStore::find_gap(uint64_t bytes) const {
  uint64_t at = 0;
  for (uint32_t i = 0; i < ledger_->count; ++i) {
    const Range& range = ledger_->ranges[i];
    if (range.offset - at >= bytes) return at;
    at = range.offset + range.bytes;
  }
  return span_ - at >= bytes ? at : kNoRange;
}

int32_t PageStore::index_of(uint64_t offset) const {
  const Range* begin = ledger_->ranges;
  const Range* end = begin + ledger_->count;
  const Range* found =
      std::lower_bound(begin, end, offset, [](const Range& range, uint64_t at) { return range.offset < at; });
  return found == end || found->offset != offset ? -1 : static_cast<int32_t>(found - begin);
}

uint64_t PageStore::allocate(uint64_t bytes) {
  if (bytes == 0 || bytes > capacity_) return kNoRange;
  const Lock lock(*ledger_);
  if (bytes > capacity_ - ledger_->used || ledger_->count == kMostRanges) collect_dead();
  if (bytes > capacity_ - ledger_->used || ledger_->count == kMostRanges) return kNoRange;
  const uint64_t offset = find_gap(bytes);
  if (offset == kNoRange) return kNoRange;
  Range* end = ledger_->ranges + ledger_->count;
  Range* place =
      std::lower_bound(ledger_->ranges, end, offset, [](const Range& range, uint64_t at) { return range.offset < at; });
  std::memmove(static_cast<void*>(place + 1), place, static_cast<size_t>(end - place) * sizeof(Range));
  *place = Range{.offset = offset, .bytes = bytes, .file_holds = 0, .holders = {}};
  place->holders[0] = {getpid(), 1};
  ++ledger_->count;
  ledger_->used += bytes;
  return offset;
}

bool PageStore::hold(uint64_t offset) {
  const Lock lock(*ledger_);
  const int32_t index = index_of(offset);
  if (index < 0) return false;
  Range& range = ledger_->ranges[index];
  Holder* free = nullptr;
  for (Holder& holder : range.holders) {
    if (holder.used() && holder.pid == getpid()) return ++holder.count, true;
    if (!holder.used() || !alive(holder.pid)) free = &holder;
  }
  if (free == nullptr) return false;
  *free = {getpid(), 1};
  return true;
}

void PageStore::release(uint64_t offset) {
  const Lock lock(*ledger_);
  const int32_t index = index_of(offset);
  if (index < 0) return;
  for (Holder& holder : ledger_->ranges[index].holders) {
    if (holder.used() && holder.pid == getpid()) --holder.count;
  }
  drop(static_cast<uint32_t>(index));
}

bool PageStore::hold_for_file(uint64_t offset) {
  const Lock lock(*ledger_);
  const int32_t index = index_of(offset);
  if (index < 0) return false;
  ++ledger_->ranges[index].file_holds;
  return true;
}

void PageStore::release_for_file(uint64_t offset) {
  const Lock lock(*ledger_);
  const int32_t index = index_of(offset);
  if (index < 0) return;
  --ledger_->ranges[index].file_holds;
  drop(static_cast<uint32_t>(index));
}

// Frees the range when nobody holds it.
void PageStore::drop(uint32_t index) {
  Range& range = ledger_->ranges[index];
  if (range.held()) return;
  fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(range.offset),
            static_cast<off_t>(range.bytes));
  ledger_->used -= range.bytes;
  std::memmove(static_cast<void*>(&range), &range + 1, (ledger_->count - index - 1) * sizeof(Range));
  --ledger_->count;
}

void PageStore::collect_dead() {
  for (uint32_t i = ledger_->count; i-- > 0;) {
    for (Holder& holder : ledger_->ranges[i].holders) {
      if (holder.used() && !alive(holder.pid)) holder.count = 0;
    }
    drop(i);
  }
}

void PageStore::forget_earlier_process() {
  const Lock lock(*ledger_);
  for (uint32_t i = ledger_->count; i-- > 0;) {
    for (Holder& holder : ledger_->ranges[i].holders) {
      if (holder.used() && holder.pid == getpid()) holder.count = 0;
    }
    drop(i);
  }
}

uint64_t PageStore::used() {
  const Lock lock(*ledger_);
  collect_dead();
  return ledger_->used;
}

std::unique_ptr<PageView> PageView::create(PageStore& store) {
  std::unique_ptr<PageView> view(new PageView(store));
  void* base = mmap(nullptr, store.span_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, store.fd_, 0);
  if (base == MAP_FAILED) return nullptr;
  view->base_ = static_cast<std::byte*>(base);
  madvise(base, store.span_, MADV_DONTFORK);
  madvise(base, store.span_, MADV_DONTDUMP);
  return view;
}

PageView::~PageView() {
  if (base_ != nullptr) munmap(base_, store_.span_);
}

}  // namespace vgpu
