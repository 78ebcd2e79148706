// Rows from records, chip by chip: the tables of a real epoch of fib and of sha256. Random records
// would not do, since they say which row of the program they are of.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "bench/micro_gpu/timing.hpp"
#include "cuda/trace/fill.hpp"
#include "epoch/capsule/stitch.hpp"
#include "epoch/chips/airs.hpp"
#include "epoch/continuation/area.hpp"
#include "epoch/continuation/epoch_tables.hpp"
#include "epoch/exec/replay.hpp"
#include "epoch/exec/scout.hpp"
#include "prover/core/parallel.hpp"

namespace epochd::bench {
namespace {

constexpr u32 kLogCycles = 20;
/// Shorter tables are all launch.
constexpr size_t kRowsMin = size_t{1} << 12;

/// The second epoch of a guest's run; null where the guest cannot be read.
struct RecordedEpoch {
  RunParams params{&prover::kPresets[0], kLogCycles};
  std::unique_ptr<Program> program;
  std::unique_ptr<ProvingKey> key;
  EpochRecords records;
  std::vector<TableInstance> tables;
  std::vector<prover::TableSource> sources;

  static std::shared_ptr<RecordedEpoch> make(const std::string& elf, std::vector<u64> input) {
    std::ifstream file(elf, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    auto image = parse_elf({reinterpret_cast<const u8*>(bytes.data()), bytes.size()});
    if (!image) return nullptr;
    auto epoch = std::make_shared<RecordedEpoch>();
    epoch->program = std::make_unique<Program>(*std::move(image));
    const Parallel pool;
    auto key = make_proving_key(*epoch->program, *epoch->params.preset, best_isa(), pool);
    if (!key) return nullptr;
    epoch->key = std::make_unique<ProvingKey>(*std::move(key));
    const Code code(*epoch->program);
    const std::span<const u8> in(reinterpret_cast<const u8*>(input.data()), 8 * input.size());
    auto scout = Scout::create(code, in, epoch_area(epoch->params));
    Stitch stitch(epoch->key->vk.digest());
    Replayer replayer(code);
    for (int e = 0; e < 2; ++e) {
      auto run = scout->run_epoch(1u << kLogCycles);
      if (!run || replayer.run(stitch.seal(*run), epoch->records)) return nullptr;
    }
    epoch->tables = plan_tables(epoch->records, epoch->key->vk, *epoch->params.preset);
    epoch->sources = epoch_sources(epoch->records, *epoch->key, epoch->tables);
    return epoch;
  }
};

void add_fill(const std::string& name, const std::shared_ptr<RecordedEpoch>& epoch, size_t index) {
  const prover::TableSource& source = epoch->sources[index];
  const prover::AirInfo* air = chips::find_air(epoch->tables[index].chip);
  const double rows = static_cast<double>(source.used_rows);
  const size_t height = size_t{1} << epoch->tables[index].log_height;
  Work work;
  work.bytes = rows * (source.block.record_bytes + air->main_width * kElementBytes);
  add_kernel(name, work, [=]() -> Launch {
    prover::RecordBlock block = epoch->sources[index].block;
    const size_t used = epoch->sources[index].used_rows;
    const auto host = [](const void* data, size_t bytes) {
      return on_device(std::span<const u8>(static_cast<const u8*>(data), bytes));
    };
    const auto records = host(block.records, used * block.record_bytes);
    const auto shared = host(block.shared, block.shared == nullptr ? 0 : block.shared_bytes);
    const auto columns = random_elements(air->main_width * height);
    block.records = records->data();
    if (block.shared != nullptr) block.shared = shared->data();
    return [=] {
      (void)records, (void)shared;
      if (!cuda::launch_fill(block, used, as<prover::Fp>(columns), height, stream().get())) {
        std::abort();  // every chip with records has a fill
      }
    };
  });
}

void add_guest(const std::string& guest, const std::string& folder, std::vector<u64> input) {
  const auto epoch = RecordedEpoch::make(folder + "/" + guest + ".elf", std::move(input));
  if (epoch == nullptr) {
    std::fprintf(stderr, "no %s.elf in %s: filling is not timed\n", guest.c_str(), folder.c_str());
    return;
  }
  for (size_t i = 0; i < epoch->tables.size(); ++i) {
    const bool is_first = i == 0 || epoch->tables[i].chip != epoch->tables[i - 1].chip;
    const prover::TableSource& source = epoch->sources[i];
    if (!is_first || source.block.records == nullptr || source.used_rows < kRowsMin) continue;
    add_fill("fill/" + guest + "/" + chips::find_air(epoch->tables[i].chip)->name + "/" +
                 std::to_string(source.used_rows),
             epoch, i);
  }
}

}  // namespace

void add_fill_kernels(const std::string& guests) {
  add_guest("fib", guests, {1'000'000});
  add_guest("sha256", guests, std::vector<u64>(1 << 14, 7));
}

}  // namespace epochd::bench
