#include "tools/vgpu/kernel/dma_buf.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace vgpu {

namespace {

constexpr uint32_t kMostRecords = 4096;
constexpr size_t kMostMetadata = 256;
constexpr uint32_t kReady = 0x76676462;

}  // namespace

struct DmaBufs::Record {
  bool used, public_vram, writable;
  uint64_t device, inode;
  uint32_t store;
  uint64_t offset, bytes;
  int32_t maker;     // the process whose probe_fd it is
  int32_t probe_fd;  // another open file of it, where there is no path
  uint64_t number;   // of the path
  uint64_t flags, tiling;
  uint32_t metadata_bytes;
  std::byte metadata[kMostMetadata];
};

struct DmaBufs::Table {
  uint32_t ready;
  uint64_t next_number;
  pthread_mutex_t mutex;
  Record records[kMostRecords];
};

class DmaBufs::Lock {
 public:
  explicit Lock(Table& table) : table_(table) {
    if (pthread_mutex_lock(&table_.mutex) == EOWNERDEAD) pthread_mutex_consistent(&table_.mutex);
  }
  ~Lock() { pthread_mutex_unlock(&table_.mutex); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  Table& table_;
};

std::unique_ptr<DmaBufs> DmaBufs::create(const std::string& folder) {
  std::unique_ptr<DmaBufs> made(new DmaBufs);
  made->folder_ = folder;
  const int fd = folder.empty() ? memfd_create("vgpu-dmabufs", MFD_CLOEXEC)
                                : open((folder + "/dmabufs").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return nullptr;
  flock(fd, LOCK_EX);
  void* table = MAP_FAILED;
  if (ftruncate(fd, sizeof(Table)) == 0) {
    table = mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  if (table != MAP_FAILED) {
    made->table_ = static_cast<Table*>(table);
    if (made->table_->ready != kReady) {
      pthread_mutexattr_t attributes;
      pthread_mutexattr_init(&attributes);
      pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
      pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
      pthread_mutex_init(&made->table_->mutex, &attributes);
      pthread_mutexattr_destroy(&attributes);
      made->table_->ready = kReady;
    }
  }
  flock(fd, LOCK_UN);
  close(fd);
  return made->table_ == nullptr ? nullptr : std::move(made);
}

DmaBufs::~DmaBufs() {
  if (table_ != nullptr) munmap(table_, sizeof(Table));
}

// The client's descriptor, locked; the record learns how to find the file again.
int DmaBufs::make_file(Record& record, int flags) {
  int fd = -1;
  record.maker = getpid();
  record.probe_fd = -1;
  record.number = table_->next_number++;
  if (folder_.empty()) {
    record.probe_fd = memfd_create("dmabuf", MFD_CLOEXEC);
    if (record.probe_fd < 0) return -errno;
    fd = open(("/proc/self/fd/" + std::to_string(record.probe_fd)).c_str(), O_RDWR | (flags & O_CLOEXEC));
  } else {
    fd = open((folder_ + "/dmabuf-" + std::to_string(record.number)).c_str(),
              O_RDWR | O_CREAT | O_EXCL | (flags & O_CLOEXEC), 0600);
  }
  struct stat info{};
  if (fd < 0 || ftruncate(fd, static_cast<off_t>(record.bytes)) != 0 || fstat(fd, &info) != 0 ||
      flock(fd, LOCK_SH | LOCK_NB) != 0) {
    const int error = -errno;
    if (fd >= 0) close(fd);
    if (record.probe_fd >= 0) close(record.probe_fd);
    return error;
  }
  record.device = info.st_dev;
  record.inode = info.st_ino;
  return fd;
}

int DmaBufs::export_range(const Backing& backing, int flags) {
  const Lock lock(*table_);
  const auto free = std::ranges::find(table_->records, false, &Record::used);
  if (free == std::end(table_->records)) return -ENOMEM;
  Record record{};
  record.public_vram = backing.public_vram;
  record.writable = backing.writable;
  record.store = backing.store();
  record.offset = backing.offset();
  record.bytes = backing.bytes();
  record.flags = backing.metadata.flags;
  record.tiling = backing.metadata.tiling;
  record.metadata_bytes = static_cast<uint32_t>(std::min(kMostMetadata, backing.metadata.data.size()));
  std::copy_n(backing.metadata.data.begin(), record.metadata_bytes, record.metadata);
  const int fd = make_file(record, flags);
  if (fd < 0) return fd;
  if (!backing.view().store().hold_for_file(record.offset)) {
    close(fd);
    return -EINVAL;
  }
  record.used = true;
  *free = record;
  return fd;
}

int DmaBufs::find(int fd, Found& out) {
  struct stat info{};
  if (fstat(fd, &info) != 0) return -EBADF;
  const Lock lock(*table_);
  const auto found = std::ranges::find_if(table_->records, [&](const Record& record) {
    return record.used && record.device == info.st_dev && record.inode == info.st_ino;
  });
  if (found == std::end(table_->records)) return -EINVAL;
  out = {.store = found->store,
         .offset = found->offset,
         .bytes = found->bytes,
         .public_vram = found->public_vram,
         .writable = found->writable,
         .metadata = {found->flags, found->tiling, {found->metadata, found->metadata + found->metadata_bytes}}};
  return 0;
}

// Our own open file gets the exclusive lock only when no client's open file is left, in flight or not.
bool DmaBufs::open_somewhere(const Record& record) const {
  if (folder_.empty()) {
    if (record.maker != getpid()) return kill(record.maker, 0) == 0;
    if (flock(record.probe_fd, LOCK_EX | LOCK_NB) != 0) return true;
    close(record.probe_fd);
    return false;
  }
  const std::string path = folder_ + "/dmabuf-" + std::to_string(record.number);
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return false;
  const bool open_elsewhere = flock(fd, LOCK_EX | LOCK_NB) != 0;
  close(fd);
  if (!open_elsewhere) unlink(path.c_str());
  return open_elsewhere;
}

void DmaBufs::collect(const std::vector<std::unique_ptr<PageStore>>& stores) {
  const Lock lock(*table_);
  for (Record& record : table_->records) {
    if (!record.used || open_somewhere(record)) continue;
    stores[record.store]->release_for_file(record.offset);
    record.used = false;
  }
}

}  // namespace vgpu
