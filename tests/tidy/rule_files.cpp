#include <algorithm>

#include "tests/tidy/rules.hpp"

namespace epochd::tidy {
namespace {

std::string folder_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string{} : std::string(path.substr(0, slash));
}

bool names_file(const SourceFile& script, const std::string& name) {
  for (const std::string& line : script.lines) {
    for (size_t at = line.find(name); at != std::string::npos; at = line.find(name, at + 1)) {
      const bool starts =
          at == 0 || std::string_view(" /(\"").find(line[at - 1]) != std::string::npos;
      const size_t end = at + name.size();
      if (starts &&
          (end == line.size() || std::string_view(" )\"").find(line[end]) != std::string::npos)) {
        return true;
      }
    }
  }
  return false;
}

/// A source is built when a CMakeLists.txt of its folder or one above names it by its path from
/// there, or a module of config/cmake names it. A guest NAME.c may also be named by epochd_guest's
/// loop variable, hence the stem.
bool is_built(const SourceTree& tree, const SourceFile& file) {
  for (std::string folder = folder_of(file.path);; folder = folder_of(folder)) {
    const std::string lists = folder.empty() ? "CMakeLists.txt" : folder + "/CMakeLists.txt";
    if (const SourceFile* script = tree.find(lists)) {
      const std::string relative = folder.empty() ? file.path : file.path.substr(folder.size() + 1);
      const bool is_guest = file.extension() == ".c" && file.is_under("bench/workloads/");
      const std::string stem = relative.substr(0, relative.rfind('.'));
      if (names_file(*script, relative) || (is_guest && names_file(*script, stem))) return true;
    }
    if (folder.empty()) break;
  }
  return std::any_of(tree.files().begin(), tree.files().end(), [&](const SourceFile& script) {
    return script.extension() == ".cmake" && names_file(script, std::string(file.name()));
  });
}

bool is_included(const SourceTree& tree, const SourceFile& header) {
  for (const SourceFile& file : tree.files()) {
    if (!file.is_c_family() || &file == &header) continue;
    for (const std::string& line : file.lines) {
      const std::string_view written = include_target(line);
      if (written.empty() || written.front() != '"') continue;
      const std::string_view target = written.substr(1, written.size() - 2);
      if (target == header.path) return true;
      // Guests are built with the SDK's folder, and their own, on the include path.
      if (target == header.name() && (file.extension() == ".c" || file.is_under("epoch/guest/") ||
                                      file.is_under("bench/workloads/"))) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

Violations check_dead_files(const SourceTree& tree) {
  Violations out;
  for (const SourceFile& file : tree.files()) {
    const std::string_view kind = file.extension();
    if (file.is_header()) {
      if (!is_included(tree, file)) {
        out.push_back({file.path, 0, "nothing includes this header: include it or delete it"});
      }
    } else if (kind == ".cpp" || kind == ".c" || kind == ".cu" || kind == ".S") {
      if (!is_built(tree, file)) {
        out.push_back({file.path, 0, "no CMakeLists.txt names this source: build it or delete it"});
      }
    }
  }
  return out;
}

Violations check_header_guards(const SourceTree& tree) {
  Violations out;
  for (const SourceFile& file : tree.files()) {
    if (!file.is_header()) continue;
    const bool guarded =
        std::any_of(file.code.begin(), file.code.end(), [](const std::string& line) {
          return line.starts_with("#pragma once") || line.starts_with("#ifndef ");
        });
    if (!guarded)
      out.push_back({file.path, 1, "a header needs #pragma once (C: an include guard)"});
  }
  return out;
}

}  // namespace epochd::tidy
