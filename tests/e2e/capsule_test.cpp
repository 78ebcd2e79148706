// A run proved apart: sealed by one command, its epochs proved one by one, and joined to the very
// bytes that `epoch prove` makes.
#include "tests/e2e/support.hpp"

namespace epochd::e2e {
namespace {

namespace files = std::filesystem;

class CapsuleTest : public E2eTest {
 protected:
  CapsuleTest() : input_(file("input", little_endian(100))) {}

  Strings with_protocol(Strings args, const std::string& input) const {
    args.insert(args.end(), {"--input", input, "--security", "test", "--epoch-size-log2", "8"});
    return args;
  }
  /// The folder of a sealed run.
  nlohmann::json seal(const std::string& folder, const std::string& input) const {
    return epoch_json(
        with_protocol({"execute", guest("fib"), "--capsules", path(folder).string()}, input));
  }
  std::string capsule(const std::string& folder, int label) const {
    return (path(folder) / "capsules" / ("0000000" + std::to_string(label) + ".capsule")).string();
  }
  std::string proved(const std::string& folder, const std::string& name) const {
    return (path(folder) / "epochs" / (name + ".epoch")).string();
  }
  nlohmann::json prove(const std::string& capsule, const std::string& output) const {
    return epoch_json({"prove-capsule", capsule, "-o", output, "--backend", "cpu"});
  }
  Outcome assemble(const std::string& folder) const {
    return epoch(
        {"assemble", path(folder).string(), "-o", path("joined").string(), "--backend", "cpu"});
  }
  void expect_refused(const std::string& folder, const std::string& message) const {
    const Outcome outcome = assemble(folder);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << outcome.err;
    EXPECT_FALSE(files::exists(path("joined")));
  }

  std::string input_;
};

TEST_F(CapsuleTest, ProvedApartAndJoinedItIsTheSameBundle) {
  const auto sealed = seal("job", input_);
  ASSERT_EQ(sealed["epochs"], 3);
  EXPECT_GT(sealed["capsule_bytes"], 1000);
  // Anywhere: the file alone is enough. In any order, under any name.
  const Strings names = {"one", "second", "00000003"};
  for (int label = 3; label >= 1; --label) {
    const std::string moved = path("moved.capsule").string();
    files::copy_file(capsule("job", label), moved, files::copy_options::overwrite_existing);
    const auto json = prove(moved, proved("job", names[static_cast<size_t>(label) - 1]));
    EXPECT_EQ(json["epoch"], label);
    EXPECT_EQ(json["is_final"], label == 3);
    EXPECT_EQ(json["backend"], "cpu");
    EXPECT_GT(json["prove_seconds"], 0);
  }
  files::remove_all(path("job") / "capsules");
  const auto joined = epoch_json({"assemble", path("job").string(), "-o", path("joined").string()});
  EXPECT_EQ(joined["cycles"], sealed["cycles"]);
  EXPECT_EQ(joined["outputs"], sealed["outputs"]);
  EXPECT_EQ(joined["proof_bytes"], files::file_size(path("joined")));
  epoch_json(with_protocol({"prove", guest("fib"), "-o", path("whole").string()}, input_));
  EXPECT_TRUE(read_file(path("joined")) == read_file(path("whole")));
  EXPECT_FALSE(files::exists(path("joined.unverified")));
}

TEST_F(CapsuleTest, AFolderThatCannotBeJoinedSaysWhichEpochIsWrong) {
  seal("job", input_);
  expect_refused("job", "epochs 1, 2, 3 are missing (3 of 3)");
  for (int label = 1; label <= 3; ++label) {
    prove(capsule("job", label), proved("job", std::to_string(label)));
  }
  const std::string second = read_file(proved("job", "2"));
  files::rename(proved("job", "2"), path("kept"));
  expect_refused("job", "epoch 2 is missing (1 of 3)");

  std::string damaged = second;
  damaged[damaged.size() / 2] ^= 1;
  write_file(proved("job", "2"), damaged);
  expect_refused("job", "2.epoch' is damaged; prove its capsule again");
  write_file(proved("job", "2"), second.substr(0, second.size() - 8));
  expect_refused("job", "2.epoch' is cut short or too long");

  seal("other", file("other input", little_endian(101)));
  prove(capsule("other", 2), proved("job", "2"));
  expect_refused("job", "2.epoch' is epoch 2 of another job; remove it");

  write_file(proved("job", "2"), second);
  write_file(proved("job", "again"), second);
  expect_refused("job", "epoch 2 is there twice: ");
  files::remove(proved("job", "again"));
  EXPECT_EQ(assemble("job").code, 0);
}

TEST_F(CapsuleTest, WhatIsNoSealedRunIsRefused) {
  seal("job", input_);
  const Outcome twice =
      epoch(with_protocol({"execute", guest("fib"), "--capsules", path("job").string()}, input_));
  EXPECT_EQ(twice.code, 2);
  EXPECT_NE(twice.err.find("is not empty; choose a new directory"), std::string::npos);
  files::remove(path("job") / "epochs" / "run.facts");
  expect_refused("job", "is no job whose program ran to its end");
  expect_refused("nowhere", "is no job whose program ran to its end");

  std::string damaged = read_file(capsule("job", 1));
  damaged[damaged.size() - 40] ^= 1;
  for (const std::string& bytes : {damaged, std::string("no capsule"), std::string()}) {
    const Outcome outcome = epoch({"prove-capsule", file("bad", bytes), "-o", path("p").string()});
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_NE(outcome.err.find("bad' is no capsule that can be proved"), std::string::npos)
        << outcome.err;
  }
  const Outcome absent = epoch({"prove-capsule", path("none").string(), "-o", path("p").string()});
  EXPECT_EQ(absent.code, 3);
  const Outcome unwritable =
      epoch({"prove-capsule", capsule("job", 1), "-o", path("no/p").string(), "--backend", "cpu"});
  EXPECT_EQ(unwritable.code, 3);
  EXPECT_FALSE(files::exists(path("p")));
}

}  // namespace
}  // namespace epochd::e2e
