// The choice of instruction set and its override.
#include "prover/core/cpu_features.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace epochd {
namespace {

class CpuFeatures : public testing::Test {
 protected:
  void SetUp() override {
    const char* old = std::getenv("EPOCHD_ISA");
    was_set_ = old != nullptr;
    if (was_set_) old_ = old;
  }
  void TearDown() override {
    if (was_set_) {
      setenv("EPOCHD_ISA", old_.c_str(), 1);
    } else {
      unsetenv("EPOCHD_ISA");
    }
  }
  bool was_set_ = false;
  std::string old_;
};

TEST_F(CpuFeatures, ScalarIsAlwaysThereAndTheBestIsSupported) {
  unsetenv("EPOCHD_ISA");
  EXPECT_TRUE(isa_supported(Isa::kScalar));
  EXPECT_TRUE(isa_supported(best_isa()));
  for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512}) {
    if (isa_supported(isa)) {
      EXPECT_GE(best_isa(), isa);
    }
  }
}

TEST_F(CpuFeatures, TheEnvironmentOverrides) {
  for (const Isa isa : {Isa::kScalar, Isa::kAvx2, Isa::kAvx512}) {
    setenv("EPOCHD_ISA", isa_name(isa), 1);
    if (isa_supported(isa)) {
      EXPECT_EQ(best_isa(), isa);
    } else {
      EXPECT_THROW(best_isa(), std::runtime_error);
    }
  }
}

TEST_F(CpuFeatures, UnknownNamesAreRefused) {
  setenv("EPOCHD_ISA", "avx1024", 1);
  EXPECT_THROW(best_isa(), std::runtime_error);
}

}  // namespace
}  // namespace epochd
