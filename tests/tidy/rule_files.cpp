#include <algorithm>
#include <cctype>

#include "tests/tidy/rules.hpp"

namespace epochd::tidy {
namespace {

std::string folder_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string{} : std::string(path.substr(0, slash));
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// `word` stands in the script on its own.
bool has_word(const SourceFile& script, std::string_view word) {
  for (const std::string& line : script.lines) {
    for (size_t at = line.find(word); at != std::string::npos; at = line.find(word, at + 1)) {
      const size_t end = at + word.size();
      if ((at == 0 || !is_word(line[at - 1])) && (end == line.size() || !is_word(line[end]))) {
        return true;
      }
    }
  }
  return false;
}

/// The entry is the name, or a loop's pattern such as ${NAME}_test.cpp that the name fits, where
/// the script has what the variable stands for as a word.
bool entry_names(const SourceFile& script, std::string_view entry, std::string_view name) {
  const size_t open = entry.find("${");
  const size_t close = entry.find('}', open);
  if (open == std::string_view::npos || close == std::string_view::npos) return entry == name;
  const std::string_view before = entry.substr(0, open);
  const std::string_view after = entry.substr(close + 1);
  if (name.size() <= before.size() + after.size()) return false;
  return name.starts_with(before) && name.ends_with(after) &&
         has_word(script, name.substr(before.size(), name.size() - before.size() - after.size()));
}

bool names_file(const SourceFile& script, std::string_view name) {
  constexpr std::string_view kSeparators = " ()\";";
  for (const std::string_view line : script.lines) {
    for (size_t at = line.find_first_not_of(kSeparators); at != std::string_view::npos;) {
      const size_t end = std::min(line.find_first_of(kSeparators, at), line.size());
      const std::string_view entry = line.substr(at, end - at);
      if (entry_names(script, entry, name)) return true;
      // ${CMAKE_SOURCE_DIR}/a/b.cpp and the like: a path from the repository's root.
      const size_t slash = entry.find('/');
      if (entry.starts_with("${") && slash != std::string_view::npos &&
          entry.substr(slash + 1) == name) {
        return true;
      }
      if (entry.starts_with("../") &&
          normalized(folder_of(script.path) + "/" + std::string(entry)) == name) {
        return true;
      }
      at = line.find_first_not_of(kSeparators, end);
    }
  }
  return false;
}

/// A source is built when a CMakeLists.txt of its folder or one above names it by its path from
/// there, or any names it by its path from the root, or a module of config/cmake names it.
bool is_built(const SourceTree& tree, const SourceFile& file) {
  for (std::string folder = folder_of(file.path);; folder = folder_of(folder)) {
    const std::string lists = folder.empty() ? "CMakeLists.txt" : folder + "/CMakeLists.txt";
    const std::string relative = folder.empty() ? file.path : file.path.substr(folder.size() + 1);
    const SourceFile* script = tree.find(lists);
    if (script != nullptr && names_file(*script, relative)) return true;
    if (folder.empty()) break;
  }
  return std::any_of(tree.files().begin(), tree.files().end(), [&](const SourceFile& script) {
    return script.is_build_script() && names_file(script, file.path);
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
