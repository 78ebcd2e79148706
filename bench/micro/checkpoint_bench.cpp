// What a checkpoint costs to write and to go on from, by the memory that the program touched, with
// the file in the page cache. Run from anywhere; TMPDIR says where the files go.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <map>
#include <string>

#include "daemon/pipeline/checkpoint_files.hpp"
#include "daemon/pipeline/guest.hpp"
#include "daemon/pipeline/resume_point.hpp"
#include "epoch/capsule/snapshot.hpp"
#include "epoch/exec/memory.hpp"

namespace epochd {
namespace {

constexpr u32 kFirstPage = 0x20000000 / 8 / kPageCells;
constexpr u64 kPageMemory = u64{8} * kPageCells;
constexpr u32 kLabel = 3;

Path scratch() {
  const char* const directory = std::getenv("TMPDIR");
  std::string made =
      (Path(directory != nullptr ? directory : "/tmp") / "checkpoint-XXXXXX").string();
  if (mkdtemp(made.data()) == nullptr) std::abort();
  return made;
}

struct Setting {
  FileSystem fs;
  Bytes elf = fs.read_file(EPOCHD_GUEST_DIR "/fib.elf", 1 << 20);
  Guest guest{elf, "fib.elf"};
  RunParams params{&preset_of(SecurityPreset::kTest), 20};
  Parallel parallel;
  SnapshotReading how{parallel, best_isa()};
  JobKey key{1};
  Path directory = scratch();
  CutRun run{guest, {}, params};

  Setting() {
    for (u64 label = 1; label <= kLabel; ++label) {
      fs.create_file(directory / label_file_name(label, kEpochSuffix));
    }
  }
  ~Setting() { std::filesystem::remove_all(directory); }
};

/// A run whose every cell of `megabytes` was touched.
struct Touched {
  Scout scout;
  Stitch stitch{prover::Digest{}};

  Touched(const Setting& setting, u64 megabytes)
      : scout(setting.guest.make_scout({}, setting.params, {})) {
    std::vector<u64> values(kPageCells);
    std::vector<u32> labels(kPageCells);
    for (u64 page = 0; page < (megabytes << 20) / kPageMemory; ++page) {
      for (u32 i = 0; i < kPageCells; ++i) {
        values[i] = page * 0x9e3779b97f4a7c15 + i;
        labels[i] = 1 + (i + page) % kLabel;
      }
      const u32 first = static_cast<u32>(kFirstPage + page) * kPageCells;
      scout.memory().store_cells(first, values);
      stitch.restore_labels(first, labels);
    }
    MachineState state;
    scout.resume(state, 3 << 20);
    std::vector<u32> registers(kRegisterKeyCount, 1);
    stitch.restore_labels(kRegBase, registers);
    stitch.resume(kLabel + 1);
  }
};

void write_one(const Setting& setting, CheckpointFiles& files, const Touched& run) {
  const auto sink = files.write_checkpoint(kLabel);
  if (!sink) std::abort();
  write_snapshot(setting.how.isa, snapshot_owner(setting.key), run.scout, run.stitch, {},
                 [&](std::span<const u8> bytes) { sink->append(bytes); });
  sink->finish();
}

void set_rate(benchmark::State& state) {
  state.SetBytesProcessed(state.iterations() * (state.range(0) << 20));
}

void write(benchmark::State& state) {
  const Setting setting;
  FileSystem fs;
  const Touched run(setting, static_cast<u64>(state.range(0)));
  CheckpointFiles files(fs, setting.directory, setting.key);
  for (auto _ : state) {
    write_one(setting, files, run);
    state.PauseTiming();
    files.flush();
    files.remove_checkpoint(kLabel);
    state.ResumeTiming();
  }
  set_rate(state);
}
BENCHMARK(write)->Arg(16)->Arg(128)->Arg(1024)->Unit(benchmark::kMillisecond)->UseRealTime();

struct Written {
  Setting setting;
  CheckpointFiles files{setting.fs, setting.directory, setting.key};
  explicit Written(u64 megabytes) {
    write_one(setting, files, Touched(setting, megabytes));
    files.flush();
  }
};

/// To where the next epoch can be run and sealed.
void resume(benchmark::State& state) {
  Written written(static_cast<u64>(state.range(0)));
  for (auto _ : state) {
    auto point = find_resume_point(written.setting.run, written.setting.how, prover::Digest{},
                                   written.files);
    if (!point) std::abort();
    state.PauseTiming();
    point.reset();
    state.ResumeTiming();
  }
  set_rate(state);
}
BENCHMARK(resume)->Arg(16)->Arg(128)->Arg(1024)->Unit(benchmark::kMillisecond)->UseRealTime();

/// What the global proof needs besides, meanwhile.
void resume_run_memory(benchmark::State& state) {
  Written written(static_cast<u64>(state.range(0)));
  for (auto _ : state) {
    state.PauseTiming();
    const auto source = written.files.open_checkpoint(kLabel);
    state.ResumeTiming();
    auto memory =
        resume_memory(written.setting.run, written.setting.how, written.setting.key, *source);
    state.PauseTiming();
    memory.reset();
    state.ResumeTiming();
  }
  set_rate(state);
}
BENCHMARK(resume_run_memory)
    ->Arg(16)
    ->Arg(128)
    ->Arg(1024)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace epochd

BENCHMARK_MAIN();
