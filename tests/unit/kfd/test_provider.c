// A provider library that only answers how it was asked; for test_select.cpp.
#include <stdio.h>
#include <string.h>

#include "kfd/os.h"

__attribute__((visibility("default"))) const struct barehip_os_table* barehip_os_provider(const char* spec, char* error,
                                                                                          size_t error_cap);

static const struct barehip_os_table kGood = {.version = BAREHIP_OS_TABLE_VERSION, .dev_root = "/kfdtest"};
static const struct barehip_os_table kOther = {.version = BAREHIP_OS_TABLE_VERSION + 1};

const struct barehip_os_table* barehip_os_provider(const char* spec, char* error, size_t error_cap) {
  if (strcmp(spec, "ok") == 0) return &kGood;
  if (strcmp(spec, "version") == 0) return &kOther;
  snprintf(error, error_cap, "told to");
  return NULL;
}
