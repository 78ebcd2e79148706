// The nearest known word to a misspelt one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "prover/core/types.hpp"

namespace epochd {

/// Insertions, deletions, substitutions and swaps of neighbours that turn a into b (each counts 1,
/// no substring edited twice).
u32 edit_distance(std::string_view a, std::string_view b);

/// The known word nearest to `word`, or "" when none is near enough to be what was meant. Ties: the
/// first in the list.
std::string nearest_word(std::string_view word, const std::vector<std::string>& known);

}  // namespace epochd
