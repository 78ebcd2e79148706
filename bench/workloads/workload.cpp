#include "bench/workloads/workload.hpp"

#include <charconv>

#include "bench/workloads/ledger/fixture.hpp"

namespace epochd::bench {
namespace {

struct Fixed {
  const char* name;
  const char* guest;
  const char* about;
  std::vector<uint64_t> input;
};

/// 64 KiB without a short period, for the hashes.
std::vector<uint64_t> hash_input() {
  std::vector<uint64_t> words(8192);
  uint64_t x = 1;
  for (uint64_t& word : words) word = x = x * 6364136223846793005u + 1442695040888963407u;
  return words;
}

const std::vector<Fixed>& fixed_workloads() {
  static const std::vector<Fixed> workloads = {
      {"ackermann", "ackermann", "A(3, 7): calls and a deep stack", {3, 7}},
      {"bigtext", "bigtext", "60,000 calls in 68,000 instructions of code", {1, 60'000}},
      {"keccak", "keccak", "Keccak-256 of 64 KiB", hash_input()},
      {"matmul", "matmul", "96 x 96 matrices of u64s", {1, 96}},
      {"memcpy", "memcpy", "16 MiB copied twice", {16 << 20, 2, 0}},
      {"scatter", "scatter", "400,000 random cells of 32 MiB", {1, 400'000, 22}},
      {"sha256", "sha256", "SHA-256 of 64 KiB", hash_input()},
      {"sort", "sort", "heap sort of 40,000 u64s", {1, 40'000}},
  };
  return workloads;
}

/// The number in a name such as fib-372k; 0 when it is none.
uint64_t parse_count(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  if (error != std::errc() || value > UINT32_MAX) return 0;
  if (unit.empty()) return value;
  return unit == "k" ? value * 1000 : unit == "m" ? value * 1'000'000 : 0;
}

}  // namespace

std::optional<Workload> make_workload(std::string_view name, uint64_t transfers) {
  for (const Fixed& fixed : fixed_workloads()) {
    if (name == fixed.name) return Workload{fixed.name, fixed.guest, fixed.about, fixed.input};
  }
  const bool is_ledger = name == "ledger" || name.starts_with("ledger-");
  if (!is_ledger && !name.starts_with("fib-")) return std::nullopt;
  uint64_t count = name == "ledger" ? transfers : parse_count(name.substr(name.find('-') + 1));
  if (count == 0) return std::nullopt;
  if (!is_ledger) {
    return Workload{std::string(name), "fib", std::to_string(count) + " iterations", {count}};
  }
  if (count > kLedgerTransfersMax) return std::nullopt;
  return Workload{std::string(name), "ledger", std::to_string(count) + " signed transfers",
                  make_ledger_block({.transfers = count})};
}

std::vector<std::string> workload_names() {
  std::vector<std::string> names = {"fib-372k", "fib-1m",   "fib-2m",    "fib-4m",
                                    "ledger-1", "ledger-5", "ledger-10", "ledger-20"};
  for (const Fixed& fixed : fixed_workloads()) names.emplace_back(fixed.name);
  return names;
}

}  // namespace epochd::bench
