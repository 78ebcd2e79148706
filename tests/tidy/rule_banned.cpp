#include <array>
#include <cctype>

#include "tests/tidy/rules.hpp"

namespace epochd::tidy {
namespace {

struct Ban {
  std::string_view word;     ///< found as a whole word, outside comments and literals
  std::string_view instead;  ///< what to write
  std::array<std::string_view, 3> allowed_under = {};
  bool libraries_only = false;
};

constexpr std::string_view kParse = "use std::from_chars, which reports errors and overflow";
constexpr std::string_view kBounded =
    "use std::string, std::format_to_n or std::memcpy with a length";
constexpr std::string_view kDevice = "use the owners in cuda/rt, which free in stream order";
constexpr std::string_view kOutput =
    "return it, or log it through daemon/log; libraries do not print";

constexpr Ban kBans[] = {
    {"cudaMalloc", kDevice, {"cuda/rt/"}},
    {"cudaMallocAsync", kDevice, {"cuda/rt/"}},
    {"cudaMallocHost", kDevice, {"cuda/rt/"}},
    {"cudaFree", kDevice, {"cuda/rt/"}},
    {"cudaFreeAsync", kDevice, {"cuda/rt/"}},
    {"cudaStreamCreate", kDevice, {"cuda/rt/"}},
    {"stoi", kParse, {"tests/", "bench/"}},
    {"stol", kParse, {"tests/", "bench/"}},
    {"stoll", kParse, {"tests/", "bench/"}},
    {"stoul", kParse, {"tests/", "bench/"}},
    {"stoull", kParse, {"tests/", "bench/"}},
    {"stod", kParse, {"tests/", "bench/"}},
    {"atoi", kParse, {"tests/", "bench/"}},
    {"atol", kParse, {"tests/", "bench/"}},
    {"atoll", kParse, {"tests/", "bench/"}},
    {"atof", kParse, {"tests/", "bench/"}},
    {"strtol", kParse, {"tests/", "bench/"}},
    {"strtoul", kParse, {"tests/", "bench/"}},
    {"strtoull", kParse, {"tests/", "bench/"}},
    {"sscanf", kParse, {"tests/", "bench/"}},
    {"strcpy", kBounded},
    {"strcat", kBounded},
    {"sprintf", kBounded},
    {"gets", "use std::getline"},
    {"strtok", "use std::string_view::find"},
    {"rand", "use std::mt19937_64 with a seed the test prints"},
    {"srand", "use std::mt19937_64 with a seed the test prints"},
    {"assert", "use EPOCHD_ASSERT, which is always on, or EPOCHD_DASSERT in a hot loop"},
    {"tmpnam", "use mkstemp"},
    {"system", "use posix_spawn with an argument vector"},
    {"printf", kOutput, {"epoch/guest/", "prover/core/assert.cpp"}, true},
    {"fprintf", kOutput, {"epoch/guest/", "prover/core/assert.cpp", "cuda/rt/"}, true},
    {"puts", kOutput, {"epoch/guest/"}, true},
    {"cout", kOutput, {}, true},
    {"cerr", kOutput, {}, true},
};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// The position of `word` in `code`, not part of a longer name and not a member (x.system,
/// x->rand).
size_t find_word(std::string_view code, std::string_view word) {
  for (size_t at = code.find(word); at != std::string_view::npos; at = code.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool starts = at == 0 || !(is_word(code[at - 1]) || code[at - 1] == '.' ||
                                     (at > 1 && code.substr(at - 2, 2) == "->"));
    if (starts && (end == code.size() || !is_word(code[end]))) return at;
  }
  return std::string_view::npos;
}

/// A function is banned where it is called; a stream object wherever it is named.
bool is_use(std::string_view code, size_t at, std::string_view word) {
  if (word == "cout" || word == "cerr") return true;
  const size_t next = code.find_first_not_of(' ', at + word.size());
  return next != std::string_view::npos && code[next] == '(';
}

bool is_library(const SourceFile& file) {
  return file.is_under("prover/") || file.is_under("epoch/") || file.is_under("config/") ||
         file.is_under("cuda/");
}

bool applies(const Ban& ban, const SourceFile& file) {
  if (ban.libraries_only && !is_library(file)) return false;
  for (const std::string_view place : ban.allowed_under) {
    if (!place.empty() && file.path.starts_with(place)) return false;
  }
  return true;
}

}  // namespace

Violations check_banned_functions(const SourceTree& tree) {
  Violations out;
  for (const SourceFile& file : tree.files()) {
    if (!file.is_c_family()) continue;
    for (const Ban& ban : kBans) {
      if (!applies(ban, file)) continue;
      for (size_t i = 0; i < file.code.size(); ++i) {
        const size_t at = find_word(file.code[i], ban.word);
        if (at == std::string_view::npos || !is_use(file.code[i], at, ban.word)) continue;
        out.push_back(
            {file.path, i + 1, std::string(ban.word) + " is banned: " + std::string(ban.instead)});
      }
    }
  }
  return out;
}

}  // namespace epochd::tidy
