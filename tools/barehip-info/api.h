// What barehip-info says about the HIP API, from the table that the library is built from.
#pragma once

namespace barehip::info {

enum class ApiFormat { kText, kJson, kMarkdown };

/// Counts by library generation and family; JSON also lists every function.
int print_api(ApiFormat format);

}  // namespace barehip::info
