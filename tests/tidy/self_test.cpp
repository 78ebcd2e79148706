// Each rule is shown a tree that breaks it and a tree that does not: a check that cannot fail
// checks nothing.
#include <gtest/gtest.h>

#include <set>

#include "tests/tidy/rules.hpp"

namespace epochd::tidy {
namespace {

std::string repeated(const std::string& text, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += text;
  return all;
}

struct Sample {
  std::string rule;
  std::string path;
  std::string text;
  size_t line;  ///< of the violation
  std::string message_part;
};

std::vector<Sample> bad_samples() {
  return {
      {"include_arrows", "prover/air/a.cpp", "#include \"epoch/machine.hpp\"\n", 1,
       "knows nothing"},
      {"include_arrows", "epoch/exec/a.hpp", "\n#include \"daemon/log/log.hpp\"\n", 2, "alone"},
      {"include_arrows", "config/a.cpp", "#include \"epoch/isa/elf.hpp\"\n", 1, "reads nobody"},
      {"include_arrows", "config/a.cpp", "#include \"prover/prove/prove.hpp\"\n", 1,
       "reads nobody"},
      {"include_arrows", "cuda/rt/a.cu", "#include \"daemon/log/log.hpp\"\n", 1, "stands on"},
      {"include_arrows", "daemon/a.cpp", "#include \"tests/oracle/a.hpp\"\n", 1, "except tests"},
      {"include_arrows", "prover/verify/a.cpp", "#include \"prover/prove/p.hpp\"\n", 1, "verifier"},
      {"include_arrows", "epoch/exec/a.cpp", "#include <chrono>\n", 1, "no clock"},
      {"include_arrows", "prover/pcs/a.cpp", "#include <thread>\n", 1, "no clock"},
      {"include_arrows", "prover/pcs/a.cpp", "#include <sys/socket.h>\n", 1, "no clock"},
      {"banned_functions", "cuda/ntt/a.cu", "cudaMalloc(&p, 8);\n", 1, "cuda/rt"},
      {"banned_functions", "daemon/a.cpp", "int x = std::stoi(text);\n", 1, "from_chars"},
      {"banned_functions", "daemon/a.cpp", "/* a\n*/ int x = atoi (text);\n", 2, "from_chars"},
      {"banned_functions", "daemon/a.cpp", "strcpy(to, from);\n", 1, "length"},
      {"banned_functions", "epoch/exec/a.cpp", "std::printf(\"x\");\n", 1, "do not print"},
      {"banned_functions", "prover/air/a.cpp", "std::cerr << 1;\n", 1, "do not print"},
      {"banned_functions", "prover/air/a.cpp", "assert(x);\n", 1, "EPOCHD_ASSERT"},
      {"file_length", "epoch/a.cpp", repeated("\n", 601), 0, "at most 600"},
      {"file_length", "tests/a.cpp", repeated("\n", 801), 0, "at most 800"},
      {"line_length", "epoch/a.cpp", "\n" + repeated("x", 101) + "\n", 2, "101 columns"},
      {"line_length", "config/a.cmake", repeated("x", 101) + "\n", 1, "101 columns"},
      {"function_length", "epoch/a.cpp", "void f() {\n" + repeated("  g();\n", 69) + "}\n", 1,
       "71 lines"},
      {"function_length", "epoch/a.hpp",
       "struct S {\n  void f(int a,\n         int b) const {\n" + repeated("    g();\n", 69) +
           "  }\n};\n",
       2, "72 lines"},
      {"dead_files", "epoch/lost.cpp", "int x;\n", 0, "names this source"},
      {"dead_files", "bench/lost.c", "int x;\n", 0, "names this source"},
      {"dead_files", "epoch/lost.hpp", "#pragma once\n", 0, "includes this header"},
      {"header_guards", "epoch/a.hpp", "// #pragma once\nint x;\n", 1, "#pragma once"},
      {"links", "docs/a.md", "see [b](b.md)\n", 1, "leads nowhere"},
      {"links", "docs/a.md", "# One\nsee [two](#two)\n", 2, "no heading"},
      {"links", "docs/a.md", "see [out](../../elsewhere.md)\n", 1, "leads nowhere"},
      {"links", "epoch/a.hpp", "// see docs/lost-page.md, section 2\n", 1, "not there"},
      {"named_tests", "docs/soundness.md", "| x | `Suite.LostTest` |\n", 1, "Suite.LostTest"},
      {"named_tests", "docs/operations.md", "| x | `Suite.LostTest` |\n", 1, "Suite.LostTest"},
      {"unfinished_words", "epoch/a.cpp", std::string("// TO") + "DO: later\n", 1, "issue number"},
      {"unfinished_words", "docs/a.md", std::string("FIX") + "ME\n", 1, "unfinished"},
      {"unfinished_words", "epoch/a.cpp", std::string("\n// good enough for") + " now.\n", 2,
       "unfinished"},
      {"machine_paths", "docs/a.md", std::string("/ho") + "me/someone/x\n", 1, "one machine"},
      {"white_space", "docs/a.md", "a \n", 1, "end of the line"},
      {"white_space", "docs/a.md", "\ta\n", 1, "tab"},
      {"white_space", "docs/a.md", "a", 1, "no newline"},
  };
}

const Rule& rule_named(const std::string& name) {
  for (const Rule& rule : kRules) {
    if (rule.name == name) return rule;
  }
  throw std::runtime_error("no rule named " + name);
}

TEST(TidySelf, EveryRuleCatchesItsBadSamples) {
  for (const Sample& sample : bad_samples()) {
    SCOPED_TRACE(sample.rule + ": " + sample.text.substr(0, 60));
    SourceTree tree;
    tree.add(sample.path, sample.text);
    const Violations found = rule_named(sample.rule).check(tree);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].path, sample.path);
    EXPECT_EQ(found[0].line, sample.line);
    EXPECT_NE(found[0].message.find(sample.message_part), std::string::npos) << found[0].message;
  }
}

TEST(TidySelf, EveryRuleHasABadSample) {
  std::set<std::string> shown;
  for (const Sample& sample : bad_samples()) shown.insert(sample.rule);
  for (const Rule& rule : kRules) EXPECT_TRUE(shown.contains(std::string(rule.name))) << rule.name;
}

TEST(TidySelf, AcceptsWhatTheRulesAllow) {
  SourceTree tree;
  tree.add("epoch/CMakeLists.txt", "epochd_library(epoch SOURCES exec/run.cpp)\n");
  tree.add("epoch/exec/run.hpp",
           "#pragma once\n#include <vector>\n#include \"prover/core/t.hpp\"\n");
  tree.add("epoch/exec/run.cpp",
           "#include \"epoch/exec/run.hpp\"\n"
           "// atoi(x) and printf(x) in a comment, and \"printf(\" in text\n"
           "const char* text = \"printf(x) \\\" atoi(x)\";\n"
           "int run_system(int operand) { return file.system(operand) + 1'000'000; }\n" +
               std::string("// TO") + "DO(#12): tracked\n" + "void f() {\n" +
               repeated("  g();\n", 68) + "}\n");
  tree.add("tests/CMakeLists.txt", "epochd_test(t SOURCES a.cpp b.cpp)\n");
  tree.add("tests/a.cpp", "int x = std::stoi(text);\n");
  tree.add("tests/loop/CMakeLists.txt", "foreach(NAME one two)\n  f(SOURCES ${NAME}_test.cpp)\n");
  tree.add("tests/loop/two_test.cpp", "");
  tree.add("tests/elsewhere.cpp", "");
  tree.add("tests/other/CMakeLists.txt",
           "f(SOURCES ${CMAKE_SOURCE_DIR}/tests/elsewhere.cpp ../up.cpp)\n");
  tree.add("tests/up.cpp", "");
  tree.add("cuda/k.cu.in", "#include \"cuda/k.cuh\"\n");
  tree.add("cuda/k.cuh", "#pragma once\n");
  tree.add("tests/b.cpp", "TEST_F(Suite, Here) {}\n");
  tree.add("docs/soundness.md", "`Suite.Here`, `a.hpp`, `file.NAME`\n");
  tree.add("config/CMakeLists.txt", "epochd_library(config SOURCES a.cpp)\n");
  tree.add("config/a.cpp", "#include \"epoch/machine.hpp\"\n#include <fstream>\n");
  tree.add("prover/core/t.hpp", "#pragma once\n#include <thread>\n");
  tree.add("docs/a.md",
           "# The title\n[code](../epoch/exec/run.cpp) [folder](../epoch) [top](#the-title)\n"
           "[web](https://example.org/x) [licence](../LICENSE-MIT)\n"
           "```\n[not a link](nowhere.md)\n```\n" +
               repeated("long ", 40) + "prose\n");
  for (const Rule& rule : kRules) {
    for (const Violation& violation : rule.check(tree)) {
      ADD_FAILURE() << rule.name << ": " << violation.path << ":" << violation.line << ": "
                    << violation.message;
    }
  }
}

TEST(TidySelf, LineLengthCountsCharactersNotBytes) {
  SourceTree tree;
  tree.add("epoch/a.cpp", "// " + repeated("\xE2\x80\xA6", 97) + "\n");
  EXPECT_TRUE(check_line_length(tree).empty());
}

}  // namespace
}  // namespace epochd::tidy
