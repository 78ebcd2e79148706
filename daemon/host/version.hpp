// Which program this is.
#pragma once

#include <string>

namespace epochd {

/// "epochd 0.1.0 (commit 1234abcd, proof format 1, parameters 0123456789abcdef)"
std::string version_text();

}  // namespace epochd
