// A job that was stopped anywhere goes on from its newest checkpoint, to the same bytes; whatever
// is wrong with checkpoints costs time and nothing else.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

#include "daemon/pipeline/engine_prover.hpp"
#include "daemon/pipeline/epoch_store.hpp"
#include "daemon/pipeline/guest.hpp"
#include "daemon/pipeline/job_folder.hpp"
#include "daemon/pipeline/job_key.hpp"
#include "daemon/pipeline/memory_load.hpp"
#include "daemon/pipeline/resume_point.hpp"
#include "daemon/pipeline/run_job.hpp"
#include "daemon/queue/layout.hpp"
#include "tests/daemon/queue_fixture.hpp"

namespace epochd {
namespace {

namespace files = std::filesystem;

/// From step n on nothing reaches the disk: what a killed process leaves.
class DyingFileSystem : public FileSystem {
 public:
  explicit DyingFileSystem(size_t last) : left_(last) {}
  size_t steps() const { return steps_; }

 protected:
  void before(Step, const Path& path) override {
    if (steps_++ >= left_) throw IoError("reach, being dead,", path, EIO);
  }

 private:
  size_t left_;
  std::atomic<size_t> steps_ = 0;
};

class StopAt : public std::exception {};

/// Stops the job when so many epochs are saved.
class Monitor : public JobMonitor {
 public:
  explicit Monitor(u64 stop_at = ~u64{0}) : stop_at_(stop_at) {}
  void enter(Phase) override {}
  void surveyed(u64) override {}
  void saved(u64 label, bool) override { last_ = label; }
  void check() override {
    if (last_ >= stop_at_) throw StopAt();
  }

 private:
  u64 stop_at_;
  u64 last_ = 0;
};

class CheckpointTest : public ::testing::Test {
 protected:
  CheckpointTest() {
    request_.elf = fs_.read_file(EPOCHD_GUEST_DIR "/fib.elf", 1 << 20);
    request_.elf_name = "fib.elf";
    const u64 n = 60;
    request_.input.resize(sizeof(n));
    std::memcpy(request_.input.data(), &n, sizeof(n));
    request_.protocol = {6, true, SecurityPreset::kTest};
    request_.cycle_limit = 1'000'000;
    request_.threads = 1;
    request_.checkpoints = CheckpointPace{0, 0, 0};  // at every epoch, if there is not one waiting
    key_ = job_key(request_);
  }

  Path job(const std::string& name) const { return directory().path() / name; }
  Path epochs(const std::string& name) const { return job(name) / "epochs"; }
  Path checkpoint(const std::string& name, u64 label) const {
    return epochs(name) / label_file_name(label, kCheckpointSuffix);
  }
  Path epoch(const std::string& name, u64 label) const {
    return epochs(name) / label_file_name(label, kEpochSuffix);
  }

  ProofFacts attempt(FileSystem& fs, const std::string& name, u64 stop_at = ~u64{0}) {
    files::create_directories(job(name));
    const auto prover = make_engine_prover(request_);
    DirectoryEpochStore store(fs, epochs(name), key_);
    Monitor monitor(stop_at);
    return run_job(fs, *prover, store, job(name) / "bundle", monitor);
  }
  ProofFacts attempt(const std::string& name) { return attempt(fs_, name); }
  /// As attempt(), with what the log says.
  std::pair<ProofFacts, std::string> attempt_with_log(const std::string& name) {
    ::testing::internal::CaptureStderr();
    const ProofFacts facts = attempt(name);
    return {facts, ::testing::internal::GetCapturedStderr()};
  }
  Bytes bundle(const std::string& name) { return fs_.read_file(job(name) / "bundle", 1 << 28); }

  std::vector<u64> checkpoints_in(const std::string& name) {
    std::vector<u64> labels;
    for (const Entry& entry : fs_.list(epochs(name))) {
      if (const auto label = label_of_file(entry.name, kCheckpointSuffix)) labels.push_back(*label);
    }
    return labels;
  }

  /// A finished job, "whole", and a checkpoint after every epoch but the last. Made once.
  struct Reference {
    ProofFacts facts;
    std::map<u64, Bytes> checkpoints;
  };
  const Reference& reference() {
    static std::optional<Reference> made;
    if (made) return *made;
    made.emplace();
    made->facts = attempt("whole");
    const Guest guest(request_.elf, "fib");
    const RunParams params{&preset_of(request_.protocol.security),
                           request_.protocol.epoch_size_log2};
    Scout scout = guest.make_scout(request_.input, params, {});
    Stitch stitch(prover::Digest{});
    std::vector<u64> outputs;
    for (;;) {
      const ScoutEpoch epoch = scout.run_epoch(1u << params.epoch_size_log2).value();
      outputs.insert(outputs.end(), epoch.outputs.begin(), epoch.outputs.end());
      const u64 label = stitch.seal(epoch).label;
      if (scout.halted()) return *made;
      Bytes& bytes = made->checkpoints[label];
      write_snapshot(best_isa(), snapshot_owner(key_), scout, stitch, outputs,
                     [&](std::span<const u8> piece) {
                       bytes.insert(bytes.end(), piece.begin(), piece.end());
                     });
    }
  }
  /// The first epochs of a job, as another.
  void copy_prefix(const std::string& from, const std::string& to, u64 count) {
    files::remove_all(job(to));
    files::create_directories(epochs(to));
    for (u64 label = 1; label <= count; ++label) {
      files::copy_file(epoch(from, label), epoch(to, label));
    }
  }
  void write(const Path& path, const Bytes& bytes) {
    fs_.write(fs_.create_file(path), path, bytes);
  }

  static TemporaryDirectory& directory() {
    static TemporaryDirectory made;
    return made;
  }
  FileSystem fs_;
  ProofRequest request_;
  JobKey key_{};
};

TEST_F(CheckpointTest, ResumesFromEachToTheSameBytes) {
  const Reference& reference = this->reference();
  const u64 count = reference.facts.run.epochs;
  ASSERT_GE(count, 4u);
  ASSERT_EQ(reference.checkpoints.size(), count - 1);
  const Bytes expected = bundle("whole");
  for (const auto& [label, bytes] : reference.checkpoints) {
    copy_prefix("whole", "again", label);
    write(checkpoint("again", label), bytes);
    const auto [facts, said] = attempt_with_log("again");
    EXPECT_EQ(facts.epochs_resumed, label);
    EXPECT_EQ(facts.resumed_at, label);
    EXPECT_EQ(said.find("cannot be used"), std::string::npos) << said;
    EXPECT_EQ(facts.run.outputs, reference.facts.run.outputs);
    EXPECT_EQ(facts.run.cycles, reference.facts.run.cycles);
    EXPECT_TRUE(bundle("again") == expected) << "from " << label;
    EXPECT_LE(checkpoints_in("again").size(), 2u);
  }
}

TEST_F(CheckpointTest, TheNewestWhoseEpochsAreStoredIsTaken) {
  const Reference& reference = this->reference();
  copy_prefix("whole", "again", 2);
  for (const auto& [label, bytes] : reference.checkpoints) write(checkpoint("again", label), bytes);
  {
    DirectoryEpochStore store(fs_, epochs("again"), key_);
    EXPECT_EQ(store.resume_store()->checkpoints(), (std::vector<u64>{2, 1}));
  }
  const auto [facts, said] = attempt_with_log("again");
  EXPECT_EQ(facts.resumed_at, 2u);
  EXPECT_TRUE(bundle("again") == bundle("whole"));
}

TEST_F(CheckpointTest, WhatCannotBeUsedIsLeftAlone) {
  const Reference& reference = this->reference();
  const auto& [label, honest] = *reference.checkpoints.rbegin();
  const Bytes expected = bundle("whole");
  std::map<std::string, Bytes> cases = {{"empty", {}}, {"cut", honest}};
  cases["cut"].resize(honest.size() / 2);
  // A byte of each part: header, registers, table of pages, the first page, the last, the checksum.
  u64 outputs = 0;
  std::memcpy(&outputs, honest.data() + 24, sizeof outputs);
  const size_t table = 480 + 8 * outputs;
  for (const size_t at : {size_t{13}, size_t{100}, table + 1, table + 200, honest.size() / 2,
                          honest.size() - 33, honest.size() - 1}) {
    const std::string name = "flipped at " + std::to_string(at);
    cases[name] = honest;
    cases[name].at(at) ^= 1;
  }
  cases["another label"] = reference.checkpoints.begin()->second;
  for (const auto& [what, bytes] : cases) {
    copy_prefix("whole", "again", label);
    write(checkpoint("again", label), bytes);
    const auto [facts, said] = attempt_with_log("again");
    EXPECT_NE(said.find("a checkpoint cannot be used"), std::string::npos) << what << said;
    EXPECT_EQ(facts.resumed_at, 0u) << what;
    EXPECT_EQ(facts.epochs_resumed, label) << "its epochs can still be used";
    EXPECT_TRUE(bundle("again") == expected) << what;
  }
  // Of another input, though the files are there.
  copy_prefix("whole", "again", label);
  write(checkpoint("again", label), honest);
  request_.input[0] = 61;
  key_ = job_key(request_);
  const auto [facts, said] = attempt_with_log("again");
  EXPECT_NE(said.find("is of another run"), std::string::npos) << said;
  EXPECT_EQ(facts.epochs_resumed, 0u);
  EXPECT_FALSE(bundle("again") == expected);
}

TEST_F(CheckpointTest, AnOlderOneStandsIn) {
  const Reference& reference = this->reference();
  const u64 newest = reference.checkpoints.rbegin()->first;
  const auto& [older, bytes] = *std::next(reference.checkpoints.rbegin());
  copy_prefix("whole", "again", newest);
  write(checkpoint("again", newest), Bytes(3, 1));
  write(checkpoint("again", older), bytes);
  const auto [facts, said] = attempt_with_log("again");
  EXPECT_NE(said.find("a checkpoint cannot be used"), std::string::npos);
  EXPECT_EQ(facts.resumed_at, older);
  EXPECT_EQ(facts.epochs_resumed, newest);
  EXPECT_TRUE(bundle("again") == bundle("whole"));
}

TEST_F(CheckpointTest, ADamagedEpochBeforeItIsProvedAgain) {
  const Reference& reference = this->reference();
  const auto& [label, bytes] = *reference.checkpoints.rbegin();
  ASSERT_GE(label, 2u);
  copy_prefix("whole", "again", label);
  write(checkpoint("again", label), bytes);
  Bytes damaged = fs_.read_file(epoch("again", 2), 1 << 28);
  damaged[damaged.size() / 2] ^= 1;
  write(epoch("again", 2), damaged);
  const auto [facts, said] = attempt_with_log("again");
  EXPECT_NE(said.find("epoch file cannot be used"), std::string::npos) << said;
  EXPECT_EQ(facts.resumed_at, label);
  EXPECT_EQ(facts.epochs_resumed, label - 1);
  EXPECT_TRUE(bundle("again") == bundle("whole"));
}

TEST_F(CheckpointTest, WhatTheRunCameToIsKept) {
  const Reference& reference = this->reference();
  const Bytes kept = fs_.read_file(epochs("whole") / kFactsFile, 1 << 20);
  copy_prefix("whole", "again", 2);
  write(epochs("again") / kFactsFile, kept);
  EXPECT_EQ(attempt("again").run.outputs, reference.facts.run.outputs);
  EXPECT_TRUE(bundle("again") == bundle("whole"));
  // Damaged, or of a run that would be over its limit now: the program is run ahead.
  Bytes damaged = kept;
  damaged.at(50) ^= 1;
  copy_prefix("whole", "again", 2);
  write(epochs("again") / kFactsFile, damaged);
  const auto [facts, said] = attempt_with_log("again");
  EXPECT_NE(said.find("what is known of the run cannot be used"), std::string::npos) << said;
  EXPECT_TRUE(bundle("again") == bundle("whole"));
  write(epochs("again") / kFactsFile, kept);
  request_.cycle_limit = 100;
  EXPECT_THROW(attempt("again"), JobError);
}

TEST_F(CheckpointTest, AKillAtAnyStepChangesNoByte) {
  reference();
  const Bytes expected = bundle("whole");
  DyingFileSystem counting(~size_t{0});
  attempt(counting, "counted");
  const size_t steps = counting.steps();
  ASSERT_GT(steps, 40u);
  constexpr size_t kStride = 13;  // it comes to every kind of step
  size_t resumed = 0;
  for (size_t step = 1; step < steps; step += kStride) {
    files::remove_all(job("killed"));
    DyingFileSystem dying(step);
    try {
      attempt(dying, "killed");
    } catch (const IoError&) {
    }
    const ProofFacts facts = attempt("killed");
    resumed += facts.resumed_at > 0;
    EXPECT_TRUE(bundle("killed") == expected) << "killed at step " << step;
    for (const Entry& entry : fs_.list(epochs("killed"))) {
      EXPECT_FALSE(entry.name.ends_with(".checkpoint.part")) << entry.name;
    }
  }
  EXPECT_GT(resumed, 0u);
}

TEST_F(CheckpointTest, WhatAJobKeptCanBeAssembledByHand) {
  reference();
  write(job("whole") / kProgramFile, request_.elf);
  GatheredEpochs gathered(fs_, job("whole"));
  ProofRequest request = request_;
  request.input.clear();
  request.protocol = protocol_of(gathered.facts().params);
  const auto engine = make_epoch_engine(request);
  const auto load = [&](u64 label) { return *gathered.load(label); };
  EXPECT_EQ(engine->adopt(gathered.facts().run, load, [] {}), std::nullopt);
  Monitor monitor;
  ProofFacts facts;
  assemble_job(fs_, *engine, gathered, job("whole") / "by hand", monitor, {}, facts);
  EXPECT_TRUE(fs_.read_file(job("whole") / "by hand", 1 << 28) == bundle("whole"));
}

/// A checkpoint of the reference's run that says it touched 32 MiB besides. Only for loading.
class WideCheckpointTest : public CheckpointTest {
 protected:
  static constexpr u32 kLabel = 2;
  static constexpr u32 kFirstPage = 0x20000000 / 8 / kPageCells;
  static constexpr u32 kPages = 4096;

  WideCheckpointTest() {
    reference();
    copy_prefix("whole", "wide", kLabel);
    Scout scout = guest_.make_scout(request_.input, run_.params, {});
    Stitch stitch(prover::Digest{});
    std::vector<u64> outputs;
    for (u32 label = 1; label <= kLabel; ++label) {
      const ScoutEpoch epoch = scout.run_epoch(1u << run_.params.epoch_size_log2).value();
      outputs.insert(outputs.end(), epoch.outputs.begin(), epoch.outputs.end());
      stitch.seal(epoch);
    }
    for (u32 page = kFirstPage; page < kFirstPage + kPages; ++page) {
      const std::vector<u32> labels(kPageCells, 1);
      stitch.restore_labels(page * kPageCells, labels);
    }
    const Path path = checkpoint("wide", kLabel);
    const FileHandle file = fs_.create_file(path);
    write_snapshot(best_isa(), snapshot_owner(key_), scout, stitch, outputs,
                   [&](std::span<const u8> piece) { fs_.write(file, path, piece); });
  }

  bool is_there() { return fs_.exists(checkpoint("wide", kLabel)); }

  const Guest guest_{request_.elf, "fib"};
  const CutRun run_{guest_,
                    request_.input,
                    {&preset_of(request_.protocol.security), request_.protocol.epoch_size_log2}};
  Parallel parallel_{2};
};

TEST_F(WideCheckpointTest, AStopDuringTheLoadIsNoFaultOfTheCheckpoint) {
  CheckpointFiles files(fs_, epochs("wide"), key_);
  u32 looks = 0;
  const SnapshotReading stopping{parallel_, best_isa(), [&] {
                                   if (++looks == 5) throw IoError("look for", "cancel", EIO);
                                 }};
  EXPECT_THROW(find_resume_point(run_, stopping, prover::Digest{}, files), IoError);
  EXPECT_EQ(looks, 5u);
  EXPECT_TRUE(is_there());
  const SnapshotReading reading{parallel_, best_isa()};
  const auto point = find_resume_point(run_, reading, prover::Digest{}, files);
  ASSERT_TRUE(point);
  EXPECT_EQ(point->at.snapshot.label, kLabel);
}

/// Stops at a number of steps forward that are no epochs.
class LoadingExchange : public EpochExchange {
 public:
  LoadingExchange(EpochStore& store, u32 last) : store_(store), last_(last) {}
  std::optional<Bytes> load(u64 label) override { return store_.load(label); }
  ResumeStore* resume_store() override { return store_.resume_store(); }
  void resumed(u64) override { has_resumed = true; }
  void save(u64, std::span<const u8>, bool) override { has_saved = true; }
  void surveyed(const RunFacts&) override {}
  void check() override {
    if (steps >= last_) throw StopAt();
  }
  void advanced() override { ++steps; }

  u32 steps = 0;
  bool has_resumed = false;
  bool has_saved = false;

 private:
  EpochStore& store_;
  u32 last_;
};

TEST_F(WideCheckpointTest, AJobIsStoppedWhileItLoadsAndIsSeenToGoForward) {
  const auto prover = make_engine_prover(request_);
  DirectoryEpochStore store(fs_, epochs("wide"), key_);
  LoadingExchange exchange(store, 5);
  EXPECT_THROW(prover->prove_epochs(exchange), StopAt);
  EXPECT_EQ(exchange.steps, 5u);
  EXPECT_FALSE(exchange.has_resumed);
  EXPECT_TRUE(is_there());
}

/// A slow disk's; counts what is read.
class SlowSource : public CheckpointSource {
 public:
  SlowSource(std::unique_ptr<CheckpointSource> source, std::atomic<u32>& reads)
      : source_(std::move(source)), reads_(reads) {}
  size_t read(std::span<u8> bytes) override {
    ++reads_;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return source_->read(bytes);
  }

 private:
  std::unique_ptr<CheckpointSource> source_;
  std::atomic<u32>& reads_;
};

TEST_F(WideCheckpointTest, TheRunMemoryIsLoadedBesideAndTheLoadCanBeStopped) {
  CheckpointFiles files(fs_, epochs("wide"), key_);
  std::atomic<u32> reads = 0;
  const auto source = [&] {
    return std::make_unique<SlowSource>(files.open_checkpoint(kLabel), reads);
  };
  bool went_forward = false;
  {
    MemoryLoad load(run_, parallel_, best_isa(), key_, source());
    const auto memory = load.get([&](bool forward) { went_forward |= forward; });
    ASSERT_NE(memory, nullptr);
    EXPECT_GT(memory->finish({}).anchors.size(), size_t{kPages} * kPageCells);
  }
  EXPECT_TRUE(went_forward);
  const u32 whole = reads.exchange(0);
  ASSERT_GT(whole, 20u);
  {
    MemoryLoad load(run_, parallel_, best_isa(), key_, source());
    while (reads == 0) std::this_thread::yield();
    EXPECT_THROW(load.get([](bool) { throw StopAt(); }), StopAt);
  }
  EXPECT_LT(reads, whole / 2) << "what nobody waits for is not read on";
}

/// Of a store alone: bytes that are no snapshot do as well.
TEST_F(CheckpointTest, ThereAreNeverMoreThanTwoAndTheOlderGoes) {
  files::create_directories(job("store"));
  CheckpointFiles store(fs_, job("store"), key_);
  const auto write_one = [&](u64 label) {
    const auto sink = store.write_checkpoint(label);
    if (!sink) return false;
    sink->append(Bytes(8, static_cast<u8>(label)));
    sink->finish();
    store.flush();
    return true;
  };
  const auto labels = [&] {
    std::vector<u64> found;
    for (const Entry& e : fs_.list(job("store"))) {
      if (const auto l = label_of_file(e.name, kCheckpointSuffix)) found.push_back(*l);
    }
    return found;
  };
  EXPECT_TRUE(write_one(2));
  EXPECT_TRUE(store.checkpoints().empty()) << "its epochs are not stored";
  EXPECT_FALSE(write_one(3)) << "while one waits for its epochs";
  store.epoch_is_durable(2);
  EXPECT_TRUE(store.checkpoints().empty()) << "the first epoch is missing";
  store.epoch_is_durable(1);
  EXPECT_EQ(store.checkpoints(), std::vector<u64>{2});
  EXPECT_TRUE(write_one(4));
  EXPECT_EQ(labels(), (std::vector<u64>{2, 4}));
  store.epoch_is_durable(3);
  EXPECT_EQ(store.checkpoints(), std::vector<u64>{2});
  store.epoch_is_durable(4);
  EXPECT_EQ(labels(), std::vector<u64>{4}) << "the older one is gone";
  { const auto abandoned = store.write_checkpoint(6); }
  EXPECT_TRUE(write_one(5)) << "one that was given up is no hindrance";
  EXPECT_EQ(labels(), (std::vector<u64>{4, 5}));
}

TEST_F(CheckpointTest, NamesOfFilesAreReadBackOrRefused) {
  EXPECT_EQ(label_file_name(12, kEpochSuffix), "00000012.epoch");
  EXPECT_EQ(label_of_file("00000012.epoch", kEpochSuffix), 12u);
  EXPECT_EQ(label_of_file("123456789.epoch", kEpochSuffix), 123456789u);
  for (const char* name : {"12.epoch", "00000012.epoch.part", ".epoch", "0000001x.epoch",
                           "-0000012.epoch", "00000012.checkpoint"}) {
    EXPECT_EQ(label_of_file(name, kEpochSuffix), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace epochd
