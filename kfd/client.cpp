#include "kfd/client.h"

#include <cerrno>
#include <cstring>

namespace barehip::kfd {

int Client::call(uint32_t command, void* args) const {
  for (;;) {
    const int rc = os_->ioctl(os_->self, fd_, command, args);
    if (rc != -EINTR && rc != -EAGAIN) return rc;
  }
}

std::string hex_text(uint64_t value) {
  char text[20];
  int at = sizeof text;
  do {
    text[--at] = "0123456789abcdef"[value & 15];
    value >>= 4;
  } while (value != 0);
  return "0x" + std::string(text + at, sizeof text - static_cast<size_t>(at));
}

std::string errno_text(int positive_errno) {
  if (positive_errno == uapi::kErrnoNotSupported) return "ENOTSUPP (not supported by this driver)";
  const char* name = strerrorname_np(positive_errno);
  const char* meaning = strerrordesc_np(positive_errno);
  if (name == nullptr || meaning == nullptr) return "errno " + std::to_string(positive_errno);
  return std::string(name) + " (" + meaning + ")";
}

namespace {

struct Meaning {
  int positive_errno;
  ErrorCode code;
  const char* hint;  ///< appended to the text
};

// What these mean whatever the call was. Other errnos are kSystem.
constexpr Meaning kMeanings[] = {
    {ENOMEM, ErrorCode::kOutOfMemory, ""},
    {ENOSPC, ErrorCode::kOutOfResources, ""},
    {EMFILE, ErrorCode::kOutOfResources, "; raise the limit of open files (ulimit -n)"},
    {ENFILE, ErrorCode::kOutOfResources, ""},
    {EIO, ErrorCode::kDeviceLost, "; the GPU is being reset or was removed, see the kernel log"},
    {EBADF, ErrorCode::kInvalidHandle,
     "; the GPU was opened by the process that this one was forked from, and cannot be used here"},
    {uapi::kErrnoNotSupported, ErrorCode::kNotSupported, ""},
    {ENOTTY, ErrorCode::kNotSupported, "; the driver does not know this request"},
};

}  // namespace

Error call_error(const char* operation, int rc, const std::string& what) {
  const int positive = -rc;
  ErrorCode code = ErrorCode::kSystem;
  const char* hint = "";
  for (const Meaning& meaning : kMeanings) {
    if (meaning.positive_errno != positive) continue;
    code = meaning.code;
    hint = meaning.hint;
  }
  return Error{code, positive, operation,
               std::string(operation) + " failed while " + what + ": " + errno_text(positive) + hint};
}

}  // namespace barehip::kfd
