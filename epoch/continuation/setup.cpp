#include "epoch/continuation/setup.hpp"

#include <algorithm>

#include "epoch/chips/bytes/fixed.hpp"
#include "epoch/chips/image/fixed.hpp"
#include "epoch/chips/program/fixed.hpp"
#include "epoch/chips/range16/fixed.hpp"
#include "prover/hash/blake3.hpp"

namespace epochd {
namespace {

using chips::FixedFill;
using chips::RowWriter;
using prover::Matrix;

constexpr u64 kKeyMagic = 0x3130'4b56'4350'4545ull;

/// write(row index, row) for every row of a table.
template <class Write>
Matrix make_table(u32 width, u32 log_height, const Write& write) {
  Matrix m(width, size_t{1} << log_height);
  m.fill_zero();
  for (u32 r = 0; r < m.rows; ++r) {
    RowWriter row{m.data.data() + r, m.rows};
    write(r, row);
  }
  return m;
}

Matrix range16_table() {
  return make_table(chips::Range16Air::kFixedWidth, chips::Range16Air::kLog2Height,
                    [](u32 r, RowWriter& row) { FixedFill<chips::Range16Air>::fill(r, row); });
}

/// Trees hold the tallest tables first, equal heights in table order.
std::vector<Matrix> tallest_first(std::vector<Matrix> tables) {
  std::stable_sort(tables.begin(), tables.end(),
                   [](const Matrix& a, const Matrix& b) { return a.rows > b.rows; });
  return tables;
}

void index_words(const Program& program, ProvingKey& key) {
  const auto rows = program.rows();
  key.first_pc = rows.front().pc;
  key.row_of_word.assign((rows.back().pc - key.first_pc) / 4 + 1, prover::kNone);
  for (u32 i = 0; i < rows.size(); ++i) {
    key.row_of_word[(rows[i].pc - key.first_pc) / 4] = i;
  }
}

}  // namespace

Result<ProvingKey, SetupError> make_proving_key(const Program& program,
                                                const prover::Preset& preset, Isa isa,
                                                const Parallel& pool) {
  const u64 limit = u64{1} << prover::kLogHeightMax;
  if (program.rows().size() > limit || program.image_cells().size() > limit) {
    return Unexpected{
        SetupError{"the program is larger than a table can hold (2^26 instructions or "
                   "8-byte cells): build a smaller ELF"}};
  }
  if (program.rows().empty()) {
    return Unexpected{SetupError{"the program has no executable instruction"}};
  }
  ProvingKey key;
  key.program.assign(program.rows().begin(), program.rows().end());
  key.image.assign(program.image_cells().begin(), program.image_cells().end());
  index_words(program, key);
  VerifyingKey& vk = key.vk;
  vk.preset_id = preset.id;
  vk.entry = program.entry();
  vk.log_program = height_for(key.program.size());
  vk.log_image = height_for(key.image.size());

  std::vector<Matrix> tables;
  tables.push_back(make_table(
      chips::ProgramAir::kFixedWidth, vk.log_program,
      [&](u32 r, RowWriter& row) { FixedFill<chips::ProgramAir>::fill(key.program, r, row); }));
  tables.push_back(range16_table());
  tables.push_back(
      make_table(chips::BytesAir::kFixedWidth, chips::BytesAir::kLog2Height,
                 [](u32 r, RowWriter& row) { FixedFill<chips::BytesAir>::fill(r, row); }));
  key.epoch_fixed = std::make_shared<prover::FixedTree>(
      prover::FixedTree::build(isa, tallest_first(std::move(tables)), preset.log_blowup, pool));

  std::vector<Matrix> global;
  global.push_back(range16_table());
  global.push_back(make_table(
      chips::ImageAir::kFixedWidth, vk.log_image,
      [&](u32 r, RowWriter& row) { FixedFill<chips::ImageAir>::fill(key.image, r, row); }));
  key.global_fixed = std::make_shared<prover::FixedTree>(
      prover::FixedTree::build(isa, tallest_first(std::move(global)), preset.log_blowup, pool));
  vk.epoch_root = key.epoch_fixed->tree.root();
  vk.global_root = key.global_fixed->tree.root();
  return key;
}

std::vector<u64> encode_verifying_key(const VerifyingKey& vk) {
  std::vector<u64> w{kKeyMagic, kFormatVersion, vk.preset_id, vk.entry,
                     u64{vk.log_program} | u64{vk.log_image} << 32};
  w.insert(w.end(), vk.epoch_root.words, vk.epoch_root.words + 4);
  w.insert(w.end(), vk.global_root.words, vk.global_root.words + 4);
  const prover::Digest sum = prover::blake3_hash(w.data(), w.size() * sizeof(u64));
  w.insert(w.end(), sum.words, sum.words + 4);
  return w;
}

Result<VerifyingKey, SetupError> decode_verifying_key(std::span<const u64> w) {
  constexpr size_t kWords = 17;
  if (w.size() != kWords || w[0] != kKeyMagic) {
    return Unexpected{
        SetupError{"this is not an epochd verifying key; make one with `epoch setup`"}};
  }
  const prover::Digest sum = prover::blake3_hash(w.data(), (kWords - 4) * sizeof(u64));
  if (!std::equal(sum.words, sum.words + 4, w.data() + kWords - 4)) {
    return Unexpected{SetupError{"the verifying key is damaged; make it again with `epoch setup`"}};
  }
  if (w[1] != kFormatVersion) {
    return Unexpected{SetupError{"the verifying key has format version " + std::to_string(w[1]) +
                                 ", this program reads " + std::to_string(kFormatVersion)}};
  }
  VerifyingKey vk;
  vk.preset_id = static_cast<u32>(w[2]);
  vk.entry = static_cast<u32>(w[3]);
  vk.log_program = static_cast<u32>(w[4]);
  vk.log_image = static_cast<u32>(w[4] >> 32);
  const auto in_bounds = [](u32 h) {
    return h >= prover::kLogHeightMin && h <= prover::kLogHeightMax;
  };
  if (w[2] > 0xffffffffull || w[3] > 0xffffffffull ||
      prover::find_preset(vk.preset_id) == nullptr || !in_bounds(vk.log_program) ||
      !in_bounds(vk.log_image)) {
    return Unexpected{SetupError{"the verifying key has a field out of its range"}};
  }
  std::copy_n(w.data() + 5, 4, vk.epoch_root.words);
  std::copy_n(w.data() + 9, 4, vk.global_root.words);
  return vk;
}

}  // namespace epochd
