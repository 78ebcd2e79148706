#include "bench/report/document.hpp"

#include <sstream>
#include <stdexcept>

namespace epochd::bench {
namespace {

constexpr std::string_view kBegin = "<!-- table ";
constexpr std::string_view kEnd = "<!-- end of table -->";

}  // namespace

std::string regenerate(const std::string& document, const MakeTable& make) {
  std::string out;
  std::istringstream lines(document);
  std::string open;  // the marker of the table being skipped
  for (std::string line; std::getline(lines, line);) {
    if (!open.empty()) {
      if (line != kEnd) continue;
      open.clear();
    }
    out += line + "\n";
    if (!line.starts_with(kBegin)) continue;
    open = line;
    std::istringstream words(line.substr(kBegin.size()));
    std::string kind, file, close;
    if (!(words >> kind >> file >> close) || close != "-->") {
      throw std::runtime_error("a table's marker is `<!-- table KIND FILE -->`, not: " + line);
    }
    out += "\n" + make(kind, file) + "\n";
  }
  if (!open.empty()) throw std::runtime_error("no \"" + std::string(kEnd) + "\" after: " + open);
  return out;
}

}  // namespace epochd::bench
