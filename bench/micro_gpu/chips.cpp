// What each chip's tables cost by kernel: its constraints, its LogUp columns, and their share of
// the quotient, on random columns.
#include <cmath>

#include "bench/floor/epoch_floor.hpp"
#include "bench/micro_gpu/timing.hpp"
#include "cuda/logup/logup.hpp"
#include "cuda/quotient/quotient.hpp"
#include "epoch/chips/airs.hpp"

namespace epochd::bench {
namespace {

using prover::AirInfo;
using prover::Fp;
using prover::Fp3;

constexpr u32 kLogRows = 18;
constexpr size_t kRows = size_t{1} << kLogRows;

/// Columns of a chip, random, on the device.
struct DeviceColumns {
  const AirInfo* air;
  std::shared_ptr<cuda::DeviceBlock> block;

  DeviceColumns(const AirInfo* of, size_t rows)
      : air(of), block(random_elements((of->fixed_width + of->main_width) * rows)), rows_(rows) {}
  prover::TableColumns view() const {
    return {as<Fp>(block), as<Fp>(block) + air->fixed_width * rows_, rows_, air->fixed_width};
  }

 private:
  size_t rows_;
};

/// A chip's interactions as the kernels read them.
struct DeviceProgram {
  cuda::LogupProgram program;
  std::shared_ptr<cuda::DeviceBlock> block;

  explicit DeviceProgram(const AirInfo* air) {
    prover::TableShape shape;
    shape.air = air;
    shape.log_height = kLogRows;
    for (Fp& param : shape.params) param = random_fp();
    std::vector<u64> words;
    program = cuda::append_program(prover::lower_table(shape, random_fp3(), random_fp3()), words);
    block = on_device(std::span<const u64>(words));
    program.words = as<u64>(block);
  }
};

Launch constraints(ChipId chip) {
  const DeviceColumns columns(chips::find_air(chip), 2 * kRows);
  const std::vector<Fp3> alphas(columns.air->total_constraints(), random_fp3());
  const auto device_alphas = on_device(std::span<const Fp3>(alphas));
  const auto out = random_elements(3 * 2 * kRows);
  prover::FoldArgs args{};
  args.columns = columns.view();
  args.alpha_powers = as<Fp3>(device_alphas);
  const cuda::LaunchConstraints launch = cuda::constraints_of(chip);
  return [=] {
    (void)columns, (void)device_alphas;
    launch(args, 2 * kRows, as<Fp>(out), 2 * kRows, stream().get());
  };
}

Launch logup_columns(ChipId chip) {
  const DeviceColumns columns(chips::find_air(chip), kRows);
  const DeviceProgram program(columns.air);
  const u32 pairs = program.program.pairs;
  const auto aux = device_memory(size_t{3} * pairs * kRows * sizeof(Fp));
  const auto scratch = device_memory(size_t{2} * pairs * kRows * sizeof(u64));
  const u32 blocks = cuda::blocks_of(kLogRows, cuda::kLogupRows);
  const auto sums = device_memory((blocks + 1) * sizeof(Fp3));
  cuda::LogupJob job{};
  job.program = program.program;
  job.trace = columns.view();
  job.log_rows = kLogRows;
  job.inverse_rows = Fp::from_u64(kRows).inverse();
  job.aux = as<Fp>(aux);
  job.scratch = as<u64>(scratch);
  job.block_sums = as<Fp3>(sums);
  job.sum = as<Fp3>(sums) + blocks;
  const auto jobs = on_device(std::span<const cuda::LogupJob>(&job, 1));
  const u32 shared = cuda::logup_bytes(program.program);
  return [=] {
    (void)columns, (void)program, (void)aux, (void)scratch, (void)sums;
    cuda::launch_logup({as<cuda::LogupJob>(jobs), 1, blocks, shared}, stream().get());
  };
}

Launch logup_quotient(ChipId chip) {
  const DeviceColumns columns(chips::find_air(chip), 2 * kRows);
  const DeviceProgram program(columns.air);
  const u32 pairs = program.program.pairs;
  const auto aux = random_elements(size_t{3} * pairs * 2 * kRows);
  const auto out = device_memory(size_t{3} * 2 * kRows * sizeof(Fp));
  const std::vector<Fp3> alphas(pairs, random_fp3());
  const auto device_alphas = on_device(std::span<const Fp3>(alphas));
  cuda::LogupQuotientJob job{};
  job.program = program.program;
  job.columns = columns.view();
  job.aux = as<Fp>(aux);
  job.aux_stride = 2 * kRows;
  job.log_half = kLogRows;
  job.sum_over_height = random_fp3();
  job.alpha_powers = as<Fp3>(device_alphas);
  cuda::LogupQuotientHeight height{};
  height.job_count = 1;
  height.rows = 2 * kRows;
  height.out = as<Fp>(out);
  const auto jobs = on_device(std::span<const cuda::LogupQuotientJob>(&job, 1));
  const auto heights = on_device(std::span<const cuda::LogupQuotientHeight>(&height, 1));
  const u32 shared = cuda::logup_quotient_bytes(program.program);
  return [=] {
    (void)columns, (void)program, (void)aux, (void)out, (void)device_alphas;
    cuda::launch_logup_quotient(
        {as<cuda::LogupQuotientHeight>(heights), 1, as<cuda::LogupQuotientJob>(jobs),
         cuda::blocks_of(kLogRows + 1, cuda::kLogupRows), shared},
        stream().get());
  };
}

void add_divide() {
  Work work;
  work.multiplications = 3 * 2 * kRows;
  work.bytes = 2 * work.multiplications * kElementBytes;
  add_kernel("divide/2^19", work, []() -> Launch {
    const auto data = random_elements(3 * 2 * kRows);
    const Fp inverse = random_fp();
    return [=] { cuda::launch_divide(as<Fp>(data), kLogRows, inverse, inverse, stream().get()); };
  });
}

}  // namespace

void add_chip_kernels() {
  for (u32 id = 0; id < kChipCount; ++id) {
    const ChipId chip = static_cast<ChipId>(id);
    const AirInfo* air = chips::find_air(chip);
    if (air == nullptr) continue;
    const std::string name = air->name;
    if (air->constraint_count > 0) {
      add_kernel("constraints/" + name, constraints_work(*air, 2 * kRows),
                 [=] { return constraints(chip); });
    }
    if (air->interaction_count == 0) continue;
    add_kernel("logup/" + name, logup_work(*air, kRows), [=] { return logup_columns(chip); });
    add_kernel("logup_quotient/" + name, logup_quotient_work(*air, 2 * kRows),
               [=] { return logup_quotient(chip); });
  }
  add_divide();
}

}  // namespace epochd::bench
