// What is wrong with a settings file, and where.
#pragma once

#include <string>
#include <vector>

namespace epochd {

/// One finding. Lines and columns count from 1; 0 means the file as a whole.
struct Diagnostic {
  std::string file;
  int line = 0;
  int column = 0;
  std::string message;

  /// "file:line:column: message", the form editors jump to.
  std::string text() const {
    std::string where = file;
    if (line > 0) where += ":" + std::to_string(line) + ":" + std::to_string(column);
    return where + ": " + message;
  }
};

using Diagnostics = std::vector<Diagnostic>;

inline std::string to_text(const Diagnostics& diagnostics) {
  std::string all;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!all.empty()) all += '\n';
    all += diagnostic.text();
  }
  return all;
}

}  // namespace epochd
