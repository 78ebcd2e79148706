// docs/chips.md as the code has it: every column, constraint and interaction of every chip.
#pragma once

#include <string>

#include "tests/tidy/source_tree.hpp"

namespace epochd::tidy {

/// Counts, labels and interactions come from the compiled AIRs, the columns' names from the
/// enumerations in epoch/chips. Throws std::runtime_error when the two disagree.
std::string chip_listing(const SourceTree& tree);

}  // namespace epochd::tidy
