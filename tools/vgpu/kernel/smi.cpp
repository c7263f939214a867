#include "tools/vgpu/kernel/smi.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>

namespace vgpu {

SmiStreams::~SmiStreams() {
  for (const Stream& stream : streams_) close(stream.fd);
}

// A pair of sockets: the client's end never blocks, because an empty stream answers EAGAIN.
int SmiStreams::open() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0) return -errno;
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  const std::lock_guard lock(mutex_);
  streams_.push_back({ends[1], 0});
  return ends[0];
}

void SmiStreams::raise(SmiEvent event, const std::string& text) {
  const std::lock_guard lock(mutex_);
  char number[16];
  snprintf(number, sizeof number, "%x ", static_cast<unsigned>(event));
  const std::string line = number + text + "\n";
  std::erase_if(streams_, [&](Stream& stream) {
    ssize_t got = 0;
    for (uint64_t mask = 0; (got = recv(stream.fd, &mask, sizeof mask, MSG_DONTWAIT)) == sizeof mask;)
      stream.mask = mask;
    if (got == 0) {  // the client closed it
      close(stream.fd);
      return true;
    }
    if ((stream.mask >> (static_cast<unsigned>(event) - 1) & 1) != 0)
      send(stream.fd, line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    return false;
  });
}

}  // namespace vgpu
