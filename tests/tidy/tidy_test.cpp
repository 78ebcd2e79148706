// The repository keeps its own rules: one test a rule, every violation listed.
#include <gtest/gtest.h>

#include "tests/tidy/rules.hpp"

namespace epochd::tidy {
namespace {

const SourceTree& repository() {
  static const SourceTree tree = SourceTree::from_disk(EPOCHD_SOURCE_DIR);
  return tree;
}

class Tidy : public testing::TestWithParam<Rule> {};

TEST_P(Tidy, HoldsEverywhere) {
  ASSERT_GT(repository().files().size(), 50u);
  for (const Violation& violation : GetParam().check(repository())) {
    ADD_FAILURE() << violation.path << ":" << violation.line << ": " << violation.message;
  }
}

INSTANTIATE_TEST_SUITE_P(Rules, Tidy, testing::ValuesIn(kRules),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace epochd::tidy
