#include <cctype>

#include "tests/tidy/rules.hpp"

namespace epochd::tidy {
namespace {

constexpr size_t kFileLines = 600;
constexpr size_t kTestFileLines = 800;
constexpr size_t kColumns = 100;
constexpr size_t kFunctionLines = 70;

/// Characters, not bytes: continuation bytes of UTF-8 do not count.
size_t columns_of(std::string_view line) {
  size_t columns = 0;
  for (const char c : line) columns += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return columns;
}

size_t indent_of(std::string_view line) {
  const size_t at = line.find_first_not_of(' ');
  return at == std::string_view::npos ? line.size() : at;
}

bool starts_with_word(std::string_view text, std::string_view word) {
  return text.starts_with(word) &&
         (text.size() == word.size() ||
          std::isalnum(static_cast<unsigned char>(text[word.size()])) == 0);
}

/// Formatted code opens a function with a line that ends in '{' and closes it with '}' at the same
/// indent. Scopes that may be long (namespaces, types, initialiser lists) open the same way and are
/// told by their word.
bool opens_function(std::string_view first, std::string_view last) {
  if (last.empty() || last.back() != '{' || first.find('(') == std::string_view::npos) return false;
  const std::string_view text = first.substr(indent_of(first));
  for (const std::string_view word :
       {"namespace", "class", "struct", "enum", "union", "extern", "if", "for", "while", "switch",
        "else", "do", "return", "case"}) {
    if (starts_with_word(text, word)) return false;
  }
  // A lambda is part of the function it stands in, and need not close with a '}' alone.
  if (text.find("[&](") != std::string_view::npos) return false;
  return text.find("= {") == std::string_view::npos && text.front() != '}' && text.front() != '#';
}

std::string_view trimmed(std::string_view line) {
  const size_t end = line.find_last_not_of(" \\");
  return end == std::string_view::npos ? std::string_view{} : line.substr(0, end + 1);
}

}  // namespace

Violations check_file_length(const SourceTree& tree) {
  Violations out;
  for (const SourceFile& file : tree.files()) {
    const size_t limit = file.is_under("tests/") ? kTestFileLines : kFileLines;
    if (!file.is_source() || file.lines.size() <= limit) continue;
    out.push_back({file.path, 0,
                   std::to_string(file.lines.size()) + " lines, at most " + std::to_string(limit) +
                       ": split it by idea"});
  }
  return out;
}

Violations check_line_length(const SourceTree& tree) {
  Violations out;
  for (const SourceFile& file : tree.files()) {
    if (!file.is_source()) continue;
    for (size_t i = 0; i < file.lines.size(); ++i) {
      const size_t columns = columns_of(file.lines[i]);
      if (columns <= kColumns) continue;
      out.push_back({file.path, i + 1,
                     std::to_string(columns) + " columns, at most " + std::to_string(kColumns)});
    }
  }
  return out;
}

Violations check_function_length(const SourceTree& tree) {
  Violations out;
  for (const SourceFile& file : tree.files()) {
    // A test may list its cases as long as they come.
    if (!file.is_c_family() || file.is_under("tests/")) continue;
    size_t statement = 0;  // where the declaration on the current line began
    for (size_t i = 0; i < file.code.size(); ++i) {
      const std::string_view line = trimmed(file.code[i]);
      const bool continues =
          i > 0 && !trimmed(file.code[i - 1]).empty() &&
          (trimmed(file.code[i - 1]).back() == ',' || trimmed(file.code[i - 1]).back() == '(');
      if (!continues) statement = i;
      if (!opens_function(trimmed(file.code[statement]), line)) continue;
      const size_t indent = indent_of(file.code[statement]);
      if (indent > 2) continue;
      size_t end = i + 1;
      while (end < file.code.size() && !(indent_of(file.code[end]) == indent &&
                                         trimmed(file.code[end]).substr(indent) == "}")) {
        ++end;
      }
      if (end == file.code.size()) continue;
      const size_t length = end - statement + 1;
      if (length > kFunctionLines) {
        out.push_back({file.path, statement + 1,
                       "a function of " + std::to_string(length) + " lines, at most " +
                           std::to_string(kFunctionLines)});
      }
      i = end;
    }
  }
  return out;
}

}  // namespace epochd::tidy
