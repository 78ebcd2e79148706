// Documents whose tables are made from results. A line `<!-- table KIND FILE -->` says what stands
// up to `<!-- end of table -->`; FILE is a path from the repository's root. Prose is left alone.
#pragma once

#include <functional>
#include <string>

namespace epochd::bench {

/// The Markdown of a table, with a line end.
using MakeTable = std::function<std::string(const std::string& kind, const std::string& file)>;

/// The document with every table made again. Errors: std::runtime_error when a table has no end, or
/// what `make` throws.
std::string regenerate(const std::string& document, const MakeTable& make);

}  // namespace epochd::bench
