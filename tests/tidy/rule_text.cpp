#include <algorithm>
#include <cctype>
#include <set>

#include "tests/tidy/rules.hpp"

namespace epochd::tidy {
namespace {

// Written apart, so that this file does not break its own rules.
constexpr std::string_view kTask =
    "TO"
    "DO";
constexpr std::string_view kUnfinished[] = {
    "FIX"
    "ME",
    "XX"
    "X",
    "HA"
    "CK",
    "for "
    "now",
    "place"
    "holder",
    "unimple"
    "mented",
    "not imple"
    "mented"};
constexpr std::string_view kMachinePaths[] = {
    "/ho"
    "me/",
    "/ro"
    "ot/",
    "/wo"
    "rk/",
    "/Us"
    "ers/"};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool has_word(std::string_view line, std::string_view word) {
  for (size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_word(line[at - 1])) && (end == line.size() || !is_word(line[end]))) {
      return true;
    }
  }
  return false;
}

/// The task word followed by (#123) says where the work is tracked.
bool has_untracked_task(std::string_view line) {
  const size_t at = line.find(kTask);
  if (at == std::string_view::npos) return false;
  const std::string_view rest = line.substr(at + kTask.size());
  return !(rest.starts_with("(#") && rest.size() > 2 &&
           std::isdigit(static_cast<unsigned char>(rest[2])) != 0);
}

std::string folder_of(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string{} : std::string(path.substr(0, slash));
}

/// A heading's anchor: lower case, spaces to hyphens, other punctuation dropped.
std::string anchor_of(std::string_view heading) {
  std::string anchor;
  for (const char c : heading) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_') {
      anchor.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    } else if (c == ' ') {
      anchor.push_back('-');
    }
  }
  return anchor;
}

bool has_heading(const SourceFile& file, std::string_view anchor) {
  return std::any_of(file.lines.begin(), file.lines.end(), [&](std::string_view line) {
    const size_t at = line.find_first_not_of('#');
    if (at == 0 || at == std::string_view::npos || line[at] != ' ') return false;
    return anchor_of(line.substr(at + 1)) == anchor;
  });
}

void check_link(const SourceTree& tree, const SourceFile& file, size_t line, std::string_view link,
                Violations* out) {
  if (link.find("://") != std::string_view::npos || link.starts_with("mailto:")) return;
  const size_t hash = link.find('#');
  const std::string_view path = link.substr(0, hash);
  const std::string target =
      path.empty() ? file.path : normalized(folder_of(file.path) + "/./" + std::string(path));
  const std::string relative = target.starts_with('/') ? target.substr(1) : target;
  const std::string shown(link);
  if (!tree.has_file(relative) && !tree.has_folder(relative) && !relative.starts_with("LICENSE")) {
    out->push_back({file.path, line, "the link " + shown + " leads nowhere"});
    return;
  }
  if (hash == std::string_view::npos) return;
  const SourceFile* linked = tree.find(relative);
  if (linked == nullptr || !has_heading(*linked, link.substr(hash + 1))) {
    out->push_back({file.path, line, "the link " + shown + " names no heading of that file"});
  }
}

/// `Suite.Name` in backquotes, both parts in upper camel case.
std::vector<std::string> quoted_test_names(std::string_view line) {
  std::vector<std::string> names;
  for (size_t at = line.find('`'); at != std::string_view::npos;) {
    const size_t end = line.find('`', at + 1);
    if (end == std::string_view::npos) break;
    const std::string_view quoted = line.substr(at + 1, end - at - 1);
    const size_t dot = quoted.find('.');
    const auto is_upper = [&](size_t i) {
      return i < quoted.size() && std::isupper(static_cast<unsigned char>(quoted[i])) != 0;
    };
    if (dot != std::string_view::npos && is_upper(0) && is_upper(dot + 1))
      names.emplace_back(quoted);
    at = line.find('`', end + 1);
  }
  return names;
}

/// Documents that comments name, as docs/NAME.md or docs/adr/NAME.md.
void check_named_documents(const SourceTree& tree, const SourceFile& file, size_t line,
                           Violations* out) {
  const std::string_view text = file.lines[line - 1];
  for (size_t at = text.find("docs/"); at != std::string_view::npos;
       at = text.find("docs/", at + 1)) {
    size_t end = at;
    while (end < text.size() && (is_word(text[end]) || text[end] == '/' || text[end] == '-' ||
                                 text.substr(end).starts_with(".md"))) {
      ++end;
    }

    const std::string_view name = text.substr(at, end - at);
    if (name.ends_with(".md") && !tree.has_file(name)) {
      out->push_back({file.path, line, "names " + std::string(name) + ", which is not there"});
    }
  }
}

}  // namespace

Violations check_links(const SourceTree& tree) {
  Violations out;
  for (const SourceFile& file : tree.files()) {
    if (file.extension() != ".md") {
      // The self-test's samples name documents of their own.
      const bool is_own = file.is_under("tests/tidy/");
      for (size_t i = 0; i < file.lines.size() && !is_own; ++i) {
        check_named_documents(tree, file, i + 1, &out);
      }
      continue;
    }
    bool in_fence = false;
    for (size_t i = 0; i < file.lines.size(); ++i) {
      const std::string_view line = file.lines[i];
      if (line.starts_with("```")) in_fence = !in_fence;
      if (in_fence) continue;
      for (size_t at = line.find("]("); at != std::string_view::npos;
           at = line.find("](", at + 1)) {
        const size_t close = line.find(')', at);
        if (close == std::string_view::npos) break;
        check_link(tree, file, i + 1, line.substr(at + 2, close - at - 2), &out);
      }
    }
  }
  return out;
}

Violations check_named_tests(const SourceTree& tree) {
  std::set<std::string> tests;
  for (const SourceFile& file : tree.files()) {
    if (!file.is_under("tests/") || file.extension() != ".cpp") continue;
    for (const std::string& line : file.code) {
      if (!line.starts_with("TEST")) continue;
      const size_t open = line.find('(');
      const size_t comma = line.find(", ", open);
      const size_t close = line.find(')', comma);
      if (close == std::string::npos) continue;
      tests.insert(line.substr(open + 1, comma - open - 1) + "." +
                   line.substr(comma + 2, close - comma - 2));
    }
  }
  Violations out;
  for (const SourceFile& file : tree.files()) {
    if (file.path != "docs/soundness.md" && file.path != "docs/operations.md") continue;
    for (size_t i = 0; i < file.lines.size(); ++i) {
      for (const std::string& name : quoted_test_names(file.lines[i])) {
        if (tests.contains(name)) continue;
        out.push_back({file.path, i + 1, "names the test " + name + ", which is not there"});
      }
    }
  }
  return out;
}

Violations check_unfinished_words(const SourceTree& tree) {
  Violations out;
  for (const SourceFile& file : tree.files()) {
    for (size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      if (has_untracked_task(line)) {
        out.push_back(
            {file.path, i + 1,
             std::string(kTask) + " without an issue number: write (#N) after it, or do it"});
      }
      for (const std::string_view word : kUnfinished) {
        if (!has_word(line, word)) continue;
        out.push_back({file.path, i + 1,
                       "\"" + std::string(word) +
                           "\" speaks of unfinished work: finish it, or say "
                           "plainly what is not there"});
      }
    }
  }
  return out;
}

Violations check_machine_paths(const SourceTree& tree) {
  Violations out;
  for (const SourceFile& file : tree.files()) {
    for (size_t i = 0; i < file.lines.size(); ++i) {
      for (const std::string_view path : kMachinePaths) {
        if (file.lines[i].find(path) == std::string::npos) continue;
        out.push_back({file.path, i + 1,
                       "names " + std::string(path) + ", a path of one machine: make it relative"});
      }
    }
  }
  return out;
}

Violations check_white_space(const SourceTree& tree) {
  Violations out;
  for (const SourceFile& file : tree.files()) {
    for (size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      if (line.find('\t') != std::string::npos) out.push_back({file.path, i + 1, "a tab"});
      if (!line.empty() && (line.back() == ' ' || line.back() == '\r')) {
        out.push_back({file.path, i + 1, "white space at the end of the line"});
      }
    }
    if (!file.ends_with_newline) {
      out.push_back({file.path, file.lines.size(), "no newline at the end of the file"});
    }
  }
  return out;
}

}  // namespace epochd::tidy
