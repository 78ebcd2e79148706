// The style guide's mechanical part. Each rule looks at the whole tree and names every place that
// breaks it, with what to write instead. self_test.cpp shows each rule failing.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/tidy/source_tree.hpp"

namespace epochd::tidy {

struct Violation {
  std::string path;
  size_t line;  ///< from 1; 0: the file as a whole
  std::string message;
};
using Violations = std::vector<Violation>;

/// Which folders may include which, and no clock, thread, file or socket in epoch/ and prover/.
Violations check_include_arrows(const SourceTree& tree);
/// Functions with a better replacement.
Violations check_banned_functions(const SourceTree& tree);
/// At most 600 lines a file (tests 800), 100 columns a line, 70 lines a function.
Violations check_file_length(const SourceTree& tree);
Violations check_line_length(const SourceTree& tree);
Violations check_function_length(const SourceTree& tree);
/// Every source is in a CMake list, every header is included by somebody, every header starts with
/// a guard.
Violations check_dead_files(const SourceTree& tree);
Violations check_header_guards(const SourceTree& tree);
/// Relative links in Markdown lead to a file, and to a heading where they name one; documents that
/// comments name exist.
Violations check_links(const SourceTree& tree);
/// Tests that docs/soundness.md names exist.
Violations check_named_tests(const SourceTree& tree);
/// No words of unfinished work, no path of one developer's machine.
Violations check_unfinished_words(const SourceTree& tree);
Violations check_machine_paths(const SourceTree& tree);
/// No tab, no space at a line's end, a newline at the file's end.
Violations check_white_space(const SourceTree& tree);

struct Rule {
  std::string_view name;
  Violations (*check)(const SourceTree& tree);

  friend std::ostream& operator<<(std::ostream& out, const Rule& rule) { return out << rule.name; }
};

inline constexpr Rule kRules[] = {
    {"include_arrows", check_include_arrows},   {"banned_functions", check_banned_functions},
    {"file_length", check_file_length},         {"line_length", check_line_length},
    {"function_length", check_function_length}, {"dead_files", check_dead_files},
    {"header_guards", check_header_guards},     {"links", check_links},
    {"named_tests", check_named_tests},         {"unfinished_words", check_unfinished_words},
    {"machine_paths", check_machine_paths},     {"white_space", check_white_space},
};

/// The target of a #include on this line as written: `"a/b.hpp"` or `<vector>`; empty when there is
/// none.
std::string_view include_target(std::string_view line);

}  // namespace epochd::tidy
