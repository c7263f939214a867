// The skin of one library, loaded by dlopen(RTLD_LOCAL) as a plugin would: refusals, the last error, names and texts,
// functions by name. No GPU is needed or looked for.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <thread>

#include "runtime/api/api_table.h"
#include "tests/unit/hip/library.h"

namespace {

/// What `body` writes to stderr.
template <class Body>
std::string stderr_of(Body&& body) {
  char path[] = "/tmp/barehip-api-XXXXXX";
  const int file = mkstemp(path);
  REQUIRE(file >= 0);
  unlink(path);
  const int saved = dup(2);
  dup2(file, 2);
  body();
  dup2(saved, 2);
  close(saved);
  std::string text(static_cast<size_t>(lseek(file, 0, SEEK_END)), '\0');
  CHECK(pread(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
  close(file);
  return text;
}

size_t occurrences(const std::string& text, const std::string& word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("a refused function says so once in the log and every time in its result") {
  setenv("AMD_LOG_LEVEL", "1", 1);  // read at the library's first call; this case runs first
  hipGraph_t graph = reinterpret_cast<hipGraph_t>(0xa5a5);
  const std::string log = stderr_of([&] {
    CHECK(HIP(hipGraphCreate)(&graph, 0) == hipErrorNotSupported);
    CHECK(HIP(hipGraphCreate)(&graph, 0) == hipErrorNotSupported);
    CHECK(HIP(hipGraphDestroy)(graph) == hipErrorNotSupported);
  });
  CHECK(graph == reinterpret_cast<hipGraph_t>(0xa5a5));
  CHECK(occurrences(log, "hipGraphCreate:") == 1);
  CHECK(occurrences(log, "hipGraphDestroy:") == 1);
}

TEST_CASE("the last error follows the generation's rule") {
  const char* text = nullptr;
  (void)HIP(hipGetLastError)();
  CHECK(HIP(hipPeekAtLastError)() == hipSuccess);
  CHECK(HIP(hipDrvGetErrorName)(hipSuccess, nullptr) == hipErrorInvalidValue);
  CHECK(HIP(hipPeekAtLastError)() == hipErrorInvalidValue);
  CHECK(HIP(hipDrvGetErrorName)(hipSuccess, &text) == hipSuccess);
  // A later success hides it before generation 7 only.
  CHECK(HIP(hipPeekAtLastError)() == (generation() < 7 ? hipSuccess : hipErrorInvalidValue));
  CHECK(HIP(hipDrvGetErrorName)(hipSuccess, nullptr) == hipErrorInvalidValue);
  CHECK(HIP(hipGetLastError)() == hipErrorInvalidValue);
  CHECK(HIP(hipGetLastError)() == hipSuccess);
}

TEST_CASE("the last error belongs to its thread") {
  (void)HIP(hipGetLastError)();
  CHECK(HIP(hipDrvGetErrorName)(hipSuccess, nullptr) == hipErrorInvalidValue);
  hipError_t elsewhere = hipErrorUnknown;
  std::thread([&] { elsewhere = HIP(hipPeekAtLastError)(); }).join();
  CHECK(elsewhere == hipSuccess);
  CHECK(HIP(hipGetLastError)() == hipErrorInvalidValue);
}

TEST_CASE("error names and texts") {
  const auto name = HIP(hipGetErrorName);
  const auto text = HIP(hipGetErrorString);
  CHECK(std::string(name(hipErrorOutOfMemory)) == "hipErrorOutOfMemory");
  CHECK(std::string(text(hipErrorOutOfMemory)) == "out of memory");
  CHECK(std::string(text(hipErrorIllegalAddress)) == "an illegal memory access was encountered");
  CHECK(std::string(name(static_cast<hipError_t>(12345))) == "hipErrorUnknown");
  CHECK(std::string(text(static_cast<hipError_t>(-1))) == "unknown error");
  CHECK(std::string(name(hipErrorInvalidTexture)) == (generation() < 7 ? "hipErrorUnknown" : "hipErrorInvalidTexture"));
}

TEST_CASE("the version is the generation's") {
  int version = 0;
  CHECK(HIP(hipRuntimeGetVersion)(&version) == hipSuccess);
  CHECK(version / 10000000 == generation());
  CHECK(HIP(hipRuntimeGetVersion)(nullptr) == hipErrorInvalidValue);
}

TEST_CASE("functions by name: those of this generation, with the headers' renaming") {
  if (generation() == 5) return;  // hipGetProcAddress came with 6.1
  const auto find = HIP(hipGetProcAddress);
  void* function = nullptr;
  hipDriverProcAddressQueryResult status;
  CHECK(find("hipMalloc", &function, 600, 0, &status) == hipSuccess);
  CHECK(function == reinterpret_cast<void*>(HIP(hipMalloc)));
  CHECK(find("hipGetDeviceProperties", &function, 600, 0, &status) == hipSuccess);
  CHECK(function == reinterpret_cast<void*>(HIP(hipGetDevicePropertiesR0600)));
  CHECK(find("hipGetDeviceProperties", &function, 500, 0, &status) == hipSuccess);
  CHECK(function == reinterpret_cast<void*>(entry<void()>("hipGetDeviceProperties")));
  CHECK(find("hipMemcpy", &function, 600, 2, &status) == hipSuccess);
  CHECK(function == reinterpret_cast<void*>(HIP(hipMemcpy_spt)));
  void* const before = function;
  CHECK(find("hipNoSuchThing", &function, 600, 0, &status) == hipErrorInvalidValue);
  CHECK(status == HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  CHECK(function == before);
  const hipError_t newer = find("hipLibraryLoadData", &function, 600, 0, &status);
  CHECK(newer == (generation() == 7 ? hipSuccess : hipErrorInvalidValue));
  if (generation() == 6) CHECK(status == HIP_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
}

TEST_CASE("channel formats") {
  const hipChannelFormatDesc format = HIP(hipCreateChannelDesc)(32, 16, 8, 0, hipChannelFormatKindFloat);
  CHECK(format.x == 32);
  CHECK(format.y == 16);
  CHECK(format.z == 8);
  CHECK(format.w == 0);
  CHECK(format.f == hipChannelFormatKindFloat);
}

TEST_CASE("nothing is found where this thread left no configuration") {
  dim3 grid, block;
  size_t lds;
  hipStream_t stream;
  CHECK(HIP(__hipPopCallConfiguration)(&grid, &block, &lds, &stream) == hipErrorMissingConfiguration);
  CHECK(HIP(__hipPushCallConfiguration)(dim3(1, 2, 3), dim3(4, 5, 6), 77, nullptr) == hipSuccess);
  CHECK(HIP(__hipPopCallConfiguration)(&grid, &block, &lds, &stream) == hipSuccess);
  CHECK(grid.z == 3);
  CHECK(block.y == 5);
  CHECK(lds == 77);
}

TEST_CASE("every symbol of the table that this library exports is there") {
  size_t count = 0;
  for (const auto& function : barehip::runtime::api_table()) {
    if (!function.exported_by(generation())) continue;
    ++count;
    (void)entry<void()>(std::string(function.symbol).c_str());
  }
  CHECK(count > 400);
}
