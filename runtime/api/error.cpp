// Errors: names, texts and the thread's last one.
#include "runtime/api/entry.h"

using namespace barehip;
using namespace barehip::runtime;

namespace {

struct ErrorText {
  hipError_t value;
  const char* name;
  const char* text;
};

constexpr ErrorText kTexts[] = {
#define HIP_ERROR(name, text) {name, #name, text},
#include "runtime/api/error_texts.inc"
#undef HIP_ERROR
};

const ErrorText& find(hipError_t error) {
  const ErrorText* unknown = nullptr;
  for (const ErrorText& entry : kTexts) {
    // Values that came with generation 7 have no name before it.
    if (entry.value == error && (kLibraryGeneration >= 7 || (error != 911 && error != 912))) return entry;
    if (entry.value == hipErrorUnknown) unknown = &entry;
  }
  return *unknown;
}

const char* text_of(hipError_t error) {
  if (kLibraryGeneration >= 7 && error == hipErrorInvalidChannelDescriptor)
    return "invalid resource description of texture passed to the api";
  if (kLibraryGeneration >= 7 && error == hipErrorInvalidTexture) return "invalid texture object passed to the api";
  return find(error).text;
}

}  // namespace

extern "C" {

const char* hipGetErrorName(hipError_t hip_error) { return find(hip_error).name; }
const char* hipGetErrorString(hipError_t hipError) { return text_of(hipError); }

hipError_t hipDrvGetErrorName(hipError_t hipError, const char** errorString) {
  return enter(api_id("hipDrvGetErrorName"), [&]() -> Result<void> {
    if (!errorString) return invalid("hipDrvGetErrorName", "errorString is null");
    *errorString = find(hipError).name;
    return {};
  });
}

hipError_t hipDrvGetErrorString(hipError_t hipError, const char** errorString) {
  return enter(api_id("hipDrvGetErrorString"), [&]() -> Result<void> {
    if (!errorString) return invalid("hipDrvGetErrorString", "errorString is null");
    *errorString = text_of(hipError);
    return {};
  });
}

hipError_t hipGetLastError(void) { return std::exchange(t_last_error.last, hipSuccess); }
hipError_t hipPeekAtLastError(void) { return t_last_error.last; }
hipError_t hipExtGetLastError(void) { return std::exchange(t_last_error.last_command, hipSuccess); }

}  // extern "C"
