// Runs a program with given standard input and collects its standard output, for tests that compare
// guests.
#pragma once

#include <string>
#include <vector>

#include "prover/core/types.hpp"

namespace epochd::test {

struct ProgramRun {
  int exit_code = 0;  ///< -1 when it ended by a signal
  std::string output;
};

/// Throws std::runtime_error when the program cannot be started.
ProgramRun run_program(const std::vector<std::string>& arguments, const std::string& input);

/// Output bytes as little-endian words. Throws when they are not a whole number of words.
std::vector<u64> words_of(const std::string& bytes);

/// Little-endian bytes of words: what a guest's input looks like.
std::string bytes_of(const std::vector<u64>& words);

}  // namespace epochd::test
