// Bundles that somebody else writes to while they are verified.
#include "daemon/pipeline/bundle_file.hpp"

#include <gtest/gtest.h>

#include "tests/daemon/queue_fixture.hpp"

namespace epochd {
namespace {

constexpr int kExitCode = 3;

class BundleFileTest : public ::testing::Test {
 protected:
  void write(const std::string& bytes) {
    const FileHandle file = fs_.create_file(path_);
    fs_.write(file, path_, as_bytes(bytes));
  }

  TemporaryDirectory directory_;
  FileSystem fs_;
  Path path_ = directory_.path() / "bundle.proof";
  VerifyingKey key_;
  Parallel parallel_{2};
};

TEST_F(BundleFileTest, RefusedAsWhatItIsWhenNobodyWritesToIt) {
  write(std::string(1 << 16, 'x'));
  const BundleFile bundle(fs_, path_, Links::kRefuse);
  EXPECT_FALSE(bundle.has_changed());
  EXPECT_EQ(verify_bundle(key_, bundle, true, parallel_).result.error, RunError::kBadMagic);
}

TEST_F(BundleFileTest, NoVerdictOnAFileThatChanged) {
  write(std::string(1 << 16, 'x'));
  const BundleFile bundle(fs_, path_, Links::kRefuse);
  write(std::string((1 << 16) + 8, 'x'));
  EXPECT_TRUE(bundle.has_changed());
  try {
    verify_bundle(key_, bundle, true, parallel_);
    ADD_FAILURE() << "a verdict on a file that changed";
  } catch (const IoError& error) {
    EXPECT_NE(std::string(error.what()).find("written to"), std::string::npos) << error.what();
  }
}

TEST_F(BundleFileTest, ACutFileEndsTheCommandWithAWord) {
  write(std::string(1 << 16, 'x'));
  const BundleFile bundle(fs_, path_, Links::kRefuse);
  EXPECT_EXIT(
      {
        exit_when_a_mapped_file_is_cut(kExitCode);
        write("");
        verify_bundle(key_, bundle, true, parallel_);
      },
      ::testing::ExitedWithCode(kExitCode), "cut short while it was read");
}

}  // namespace
}  // namespace epochd
