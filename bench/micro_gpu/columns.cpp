// Kernels that know columns and no chips: transforms, trees, openings, DEEP, FRI, grinding, gather.
#include <cmath>
#include <random>
#include <set>

#include "bench/floor/epoch_floor.hpp"
#include "bench/micro_gpu/timing.hpp"
#include "cuda/fri/fold.hpp"
#include "cuda/gather/gather.hpp"
#include "cuda/merkle/merkle.hpp"
#include "cuda/ntt/ntt.hpp"
#include "cuda/open/open.hpp"

namespace epochd::bench {
namespace {

using prover::Digest;
using prover::Fp;
using prover::Fp3;

std::string shape(u32 log_rows, u32 columns) {
  return "/2^" + std::to_string(log_rows) + "x" + std::to_string(columns);
}

/// Transforms of one height.
void add_transforms(u32 log_n, u32 columns) {
  const auto make_tables = [log_n] {
    const u32 heights[] = {log_n};
    return std::make_shared<const cuda::NttTables>(heights, 1);
  };
  const size_t count = size_t{columns} << log_n;
  add_kernel("lde" + shape(log_n, columns), lde_work(columns, log_n, 1), [=]() -> Launch {
    const auto tables = make_tables();
    const auto in = random_elements(count);
    const auto out = device_memory(2 * count * sizeof(u64));
    const auto scratch = device_memory(cuda::lde_scratch_words(columns, log_n, 1) * sizeof(u64));
    return [=] {
      cuda::coset_lde(*tables, as<u64>(in), as<u64>(out), as<u64>(scratch), columns, log_n, 1,
                      stream().get());
    };
  });
  const Work forward = 2.0 * transform_work(columns, log_n);
  add_kernel("ntt from coefficients" + shape(log_n, columns), forward, [=]() -> Launch {
    const auto tables = make_tables();
    const auto in = random_elements(count);
    const auto out = device_memory(2 * count * sizeof(u64));
    return [=] {
      cuda::lde_from_coefficients(*tables, as<u64>(in), as<u64>(out), columns, log_n, 1,
                                  stream().get());
    };
  });
  add_kernel("interpolate" + shape(log_n + 1, columns), transform_work(columns, log_n + 1),
             [=]() -> Launch {
               const auto tables = make_tables();
               const auto data = random_elements(2 * count);
               return [=] {
                 cuda::coset_interpolate(*tables, as<u64>(data), columns, log_n + 1,
                                         stream().get());
               };
             });
}

void add_trees(u32 log_rows, u32 width) {
  const auto source = [=](const std::shared_ptr<cuda::DeviceBlock>& in) {
    cuda::TreeHeight height;
    height.log_rows = log_rows;
    height.rows.add(as<u64>(in), 1u << log_rows, width);
    return height;
  };
  const Work leaves = row_hash_work(width, std::exp2(log_rows));
  const size_t count = size_t{width} << log_rows;
  const size_t digests = cuda::tree_digests(log_rows) * sizeof(Digest);
  add_kernel("hash rows" + shape(log_rows, width), leaves, [=]() -> Launch {
    const auto in = random_elements(count);
    const auto out = device_memory(digests);
    const cuda::TreeHeight height = source(in);
    return [=] {
      (void)in;
      cuda::hash_rows(height.rows, u64{1} << log_rows, as<Digest>(out), stream().get());
    };
  });
  add_kernel("merkle" + shape(log_rows, width), leaves + tree_levels_work(log_rows),
             [=]() -> Launch {
               const auto in = random_elements(count);
               const auto out = device_memory(digests);
               const cuda::TreeHeight height = source(in);
               return [=] {
                 (void)in;
                 cuda::build_tree({&height, 1}, as<Digest>(out), stream().get());
               };
             });
}

void add_openings(u32 log_n, u32 columns) {
  const double rows = std::exp2(log_n);
  add_kernel(
      "open weights/2^" + std::to_string(log_n), {.bytes = 24 * rows, .multiplications = 21 * rows},
      [=]() -> Launch {
        const auto points = std::make_shared<cuda::PointTables>(Fp::generator(), false, log_n);
        const auto out = device_memory(3 * sizeof(Fp) << log_n);
        const cuda::WeightJob job = {points->get(log_n), log_n, 0, random_fp3(), as<Fp>(out)};
        const auto jobs = on_device(std::span<const cuda::WeightJob>(&job, 1));
        const u32 blocks = cuda::chunks_of(log_n, cuda::kWeightRows);
        return [=] {
          (void)points, (void)out;
          cuda::launch_weights(as<cuda::WeightJob>(jobs), 1, blocks, stream().get());
        };
      });
  add_kernel("open dots" + shape(log_n, columns), open_work(columns, rows), [=]() -> Launch {
    const auto data = random_elements((size_t{columns} + 3) << log_n);
    const u32 chunks = cuda::chunks_of(log_n, cuda::kDotRows);
    std::vector<cuda::DotJob> list;
    for (u32 c = 0; c < columns; c += cuda::kDotColumns) {
      cuda::DotJob job{};
      for (u32 k = 0; k < cuda::kDotColumns; ++k) {
        job.columns[k] = as<Fp>(data) + (size_t{c + k} << log_n);
      }
      job.column_count = cuda::kDotColumns;
      job.first_value = c;
      job.weights = as<Fp>(data) + (size_t{columns} << log_n);
      job.log_n = log_n;
      job.first_block = static_cast<u32>(list.size()) * chunks;
      job.scale = random_fp3();
      list.push_back(job);
    }
    const auto jobs = on_device(std::span<const cuda::DotJob>(list));
    const auto partial = device_memory(size_t{columns} * chunks * sizeof(Fp3));
    const auto values = device_memory(columns * sizeof(Fp3));
    const u32 count = static_cast<u32>(list.size());
    return [=] {
      (void)data;
      cuda::launch_dots(as<cuda::DotJob>(jobs), count, count * chunks, chunks, as<Fp3>(partial),
                        as<Fp3>(values), stream().get());
    };
  });
}

void add_deep(u32 log_rows, u32 columns) {
  add_kernel(
      "deep" + shape(log_rows, columns), deep_work(columns, std::exp2(log_rows)), [=]() -> Launch {
        const auto points = std::make_shared<cuda::PointTables>(Fp::generator(), false, log_rows);
        const auto data = random_elements(size_t{columns} << log_rows);
        std::vector<cuda::DeepColumn> list;
        for (u32 c = 0; c < columns; ++c) {
          list.push_back({as<Fp>(data) + (size_t{c} << log_rows), random_fp3()});
        }
        const auto weighted = on_device(std::span<const cuda::DeepColumn>(list));
        const auto out = device_memory(3 * sizeof(Fp) << log_rows);
        cuda::DeepJob job{};
        job.x = points->get(log_rows);
        job.log_rows = log_rows;
        job.points[0] = {as<cuda::DeepColumn>(weighted), columns, random_fp3(), random_fp3()};
        job.out = as<Fp>(out);
        const auto jobs = on_device(std::span<const cuda::DeepJob>(&job, 1));
        const u32 blocks = cuda::chunks_of(log_rows, cuda::kDeepRows);
        return [=] {
          (void)points, (void)data, (void)weighted, (void)out;
          cuda::launch_deep(as<cuda::DeepJob>(jobs), 1, blocks, stream().get());
        };
      });
}

void add_fri(u32 log_word) {
  constexpr u32 kFold = 3;
  const std::string name = "/2^" + std::to_string(log_word) + " by 8";
  const size_t word_elements = size_t{3} << log_word;
  add_kernel("fri fold" + name, fri_fold_work(log_word, kFold), [=]() -> Launch {
    const auto points = std::make_shared<cuda::PointTables>(Fp::one(), true, log_word);
    const auto word = random_elements(word_elements);
    const auto next = device_memory(word_elements * sizeof(u64) >> kFold);
    const prover::FriFold fold(log_word, kFold, random_fp3());
    return [=] {
      cuda::launch_fri_fold(fold, points->get(log_word), kFold, as<Fp>(word), log_word,
                            as<Fp>(next), stream().get());
    };
  });
  const u32 log_leaves = log_word - kFold;
  add_kernel("fri tree" + name,
             row_hash_work(3 << kFold, std::exp2(log_leaves)) + tree_levels_work(log_leaves),
             [=]() -> Launch {
               const auto word = random_elements(word_elements);
               const auto out = device_memory(cuda::tree_digests(log_leaves) * sizeof(Digest));
               return [=] {
                 cuda::build_fri_tree(as<u64>(word), size_t{1} << log_word, log_word, kFold,
                                      as<Digest>(out), stream().get());
               };
             });
}

void add_grind(u32 bits) {
  add_kernel("grind/" + std::to_string(bits), grind_work(bits), [=]() -> Launch {
    const auto nonce = device_memory(sizeof(u64));
    const auto state = std::make_shared<u64>(0);
    return [=] { cuda::grind(Digest{{++*state, 2, 3, 4}}, bits, as<u64>(nonce), stream().get()); };
  });
}

/// 193 rows of 400 columns and as many paths.
void add_gather(u32 log_rows, u32 columns) {
  constexpr u32 kQueries = 193;
  add_kernel("gather" + shape(log_rows, columns),
             {.bytes = 2.0 * kQueries * (columns * kElementBytes + log_rows * kDigestBytes)},
             [=]() -> Launch {
               const auto data = random_elements(size_t{columns} << log_rows);
               const auto tree = random_elements(4 * cuda::tree_digests(log_rows));
               std::mt19937 random(5);
               std::set<u32> chosen;
               while (chosen.size() < kQueries) chosen.insert(random() >> (32 - log_rows));
               const std::vector<u32> rows(chosen.begin(), chosen.end());
               std::vector<u64> positions;
               cuda::append_sibling_positions(log_rows, rows, positions);
               cuda::RowSource source;
               source.add(as<u64>(data), 1u << log_rows, columns);
               const auto plan = std::make_shared<cuda::GatherPlan>();
               plan->add_rows(source, rows);
               plan->add_digests(as<Digest>(tree), positions);
               const std::vector<u64> packed = plan->packed();
               const auto device = on_device(std::span<const u64>(packed));
               const auto out = device_memory(plan->words() * sizeof(u64));
               return [=] {
                 (void)data, (void)tree;
                 cuda::launch_gather(*plan, as<u64>(device), as<u64>(out), stream().get());
               };
             });
}

}  // namespace

void add_column_kernels() {
  for (const auto& [log_n, columns] : {std::pair{16u, 64u}, {18u, 64u}, {20u, 64u}, {22u, 16u}}) {
    add_transforms(log_n, columns);
  }
  for (const auto& [log_rows, width] : {std::pair{18u, 200u}, {21u, 64u}}) {
    add_trees(log_rows, width);
  }
  add_openings(20, 64);
  add_deep(21, 64);
  add_fri(21);
  add_grind(20);
  add_gather(20, 400);
}

}  // namespace epochd::bench
