#include <algorithm>

#include "config/config.hpp"

namespace epochd {
namespace {

constexpr i64 kTxCountMax = 100'000'000;

/// Reads variables one by one and collects what is wrong with them.
class EnvironmentReader {
 public:
  explicit EnvironmentReader(const GetEnv& get_env) : get_env_(get_env) {}

  std::optional<u32> integer(const char* name, i64 min, i64 max) {
    const std::string text = value_of(name);
    if (text.empty()) return std::nullopt;
    const std::optional<i64> value = parse_integer(text);
    if (value && *value >= min && *value <= max) return static_cast<u32>(*value);
    report(name, "must be " + integer_range(min, max) + ", not '" + text + "'");
    return std::nullopt;
  }

  std::optional<bool> boolean(const char* name) {
    const std::string text = value_of(name);
    if (text.empty()) return std::nullopt;
    if (text == "1" || text == "true") return true;
    if (text == "0" || text == "false") return false;
    report(name, "must be 1, 0, true or false, not '" + text + "'");
    return std::nullopt;
  }

  std::vector<std::string> words(const char* name) {
    std::vector<std::string> found(1);
    for (const char c : value_of(name)) {
      const bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '-' || c == '_';
      if (is_word) {
        found.back() += c;
      } else if (c == ',' || c == ' ') {
        found.emplace_back();
      } else {
        report(name, "must be words of letters, digits, '-' and '_' joined by commas or spaces");
        return {};
      }
    }
    found.erase(std::remove(found.begin(), found.end(), ""), found.end());
    return found;
  }

  Diagnostics take() { return std::move(findings_); }

 private:
  std::string value_of(const char* name) const {
    const char* value = get_env_(name);
    return value == nullptr ? "" : value;
  }

  void report(const char* name, const std::string& message) {
    findings_.push_back({"environment", 0, 0, std::string(name) + " " + message});
  }

  const GetEnv& get_env_;
  Diagnostics findings_;
};

}  // namespace

Result<Environment, Diagnostics> parse_environment(const GetEnv& get_env) {
  EnvironmentReader reader(get_env);
  Environment environment;
  environment.protocol.epoch_size_log2 =
      reader.integer("EPOCH_SIZE_LOG2", kEpochSizeLog2Min, kEpochSizeLog2Max);
  environment.protocol.continuations = reader.boolean("CONTINUATIONS");
  environment.tx_count = reader.integer("TX_COUNT", 1, kTxCountMax);
  environment.bench_features = reader.words("BENCH_FEATURES");
  Diagnostics findings = reader.take();
  if (!findings.empty()) return Unexpected{std::move(findings)};
  return environment;
}

}  // namespace epochd
