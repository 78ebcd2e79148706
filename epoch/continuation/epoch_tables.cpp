#include "epoch/continuation/epoch_tables.hpp"

#include <bit>

#include "epoch/chips/fills.hpp"

namespace epochd {
namespace {

using prover::LookupSpec;

constexpr u32 kLogRange16 = 16;
constexpr size_t kSplitRowsMin = size_t{1} << 14;

/// One instance, or a full power of two and the rest where that saves at least 12 % of the padded
/// rows (docs/machine.md, "Chips").
void add_instances(ChipId chip, size_t rows, u32 limit, std::vector<TableInstance>& out) {
  if (rows == 0) return;
  const u32 a = static_cast<u32>(std::bit_width(rows)) - 1;
  const size_t full = size_t{1} << a;
  if (limit >= 2 && rows > kSplitRowsMin && rows > full) {
    const u32 c = height_for(rows - full);
    if (c < a && 100 * (full + (size_t{1} << c)) <= 88 * 2 * full) {
      out.push_back({chip, a, 0, full});
      out.push_back({chip, c, full, rows - full});
      return;
    }
  }
  out.push_back({chip, height_for(rows), 0, rows});
}

size_t record_count(const EpochRecords& r, ChipId chip) {
  switch (chip) {
    case ChipId::kUnaligned:
      return r.unaligned.size();
    case ChipId::kRefresh:
      return r.refresh.size();
    case ChipId::kBoundary:
      return r.boundary.size();
    default:
      return chip <= ChipId::kEcall ? r.instructions[static_cast<u32>(chip)].size() : 0;
  }
}

prover::TableSource source_of(const EpochRecords& r, const ProvingKey& key,
                              const TableInstance& t) {
  switch (t.chip) {
    case ChipId::kUnaligned:
      return chips::instruction_source(t.chip, r.unaligned.data() + t.first, t.rows, key.program);
    case ChipId::kRefresh:
      return chips::refresh_source(r.refresh.data() + t.first, t.rows);
    case ChipId::kBoundary:
      return chips::boundary_source(t.chip, r.boundary.data() + t.first, t.rows,
                                    r.public_values.label);
    case ChipId::kProgram:
    case ChipId::kRange16:
    case ChipId::kBytes:
      return chips::counter_source(t.chip);
    default:
      return chips::instruction_source(
          t.chip, r.instructions[static_cast<u32>(t.chip)].data() + t.first, t.rows, key.program);
  }
}

u32 index_of(const std::vector<TableInstance>& tables, ChipId chip) {
  for (u32 i = 0; i < tables.size(); ++i) {
    if (tables[i].chip == chip) return i;
  }
  return prover::kNone;
}

LookupSpec lookup(Bus bus, u32 table, u32 log_height, u32 counter) {
  LookupSpec s;
  s.bus = static_cast<u8>(bus);
  s.table = table;
  s.log_height = log_height;
  s.first_counter = counter;
  s.weights[0] = 1;
  return s;
}

}  // namespace

std::vector<TableInstance> plan_tables(const EpochRecords& records, const VerifyingKey& vk,
                                       const prover::Preset& preset) {
  std::vector<TableInstance> tables;
  for (u32 i = 0; i <= static_cast<u32>(ChipId::kBoundary); ++i) {
    const ChipId chip = static_cast<ChipId>(i);
    const size_t rows = record_count(records, chip);
    if (const u32 height = fixed_height(chip, vk); height != 0) {
      tables.push_back({chip, height, 0, 0});
    } else if (chip == ChipId::kBoundary) {
      tables.push_back({chip, height_for(rows), 0, rows});
    } else {
      add_instances(chip, rows, preset.instance_limit, tables);
    }
  }
  return tables;
}

std::vector<prover::TableSource> epoch_sources(const EpochRecords& records, const ProvingKey& key,
                                               const std::vector<TableInstance>& tables) {
  std::vector<prover::TableSource> sources;
  for (const TableInstance& t : tables) sources.push_back(source_of(records, key, t));
  return sources;
}

std::vector<LookupSpec> epoch_lookups(const ProvingKey& key,
                                      const std::vector<TableInstance>& tables) {
  const u32 range16 = index_of(tables, ChipId::kRange16);
  std::vector<LookupSpec> specs;
  specs.push_back(lookup(Bus::kRange16, range16, kLogRange16, 0));
  specs.push_back(lookup(Bus::kSign16, range16, kLogRange16, 1));
  specs.push_back(lookup(Bus::kAlign, range16, kLogRange16, 2));
  specs.back().weights = {8, 1};

  LookupSpec bytes = lookup(Bus::kBytes, index_of(tables, ChipId::kBytes), kLogRange16, 0);
  bytes.counter_count = 4;
  bytes.selects_column = true;
  bytes.weights = {0, 1, 256};
  specs.push_back(bytes);

  LookupSpec program =
      lookup(Bus::kProgram, index_of(tables, ChipId::kProgram), key.vk.log_program, 0);
  program.row_base = key.first_pc;
  program.row_shift = 2;
  program.row_of = &key.row_of_word;
  specs.push_back(program);
  return specs;
}

LookupSpec range16_lookup(u32 table, std::vector<u64>* carried) {
  LookupSpec s = lookup(Bus::kRange16, table, kLogRange16, 0);
  s.carried = carried;
  return s;
}

EpochStatement make_statement(const EpochRecords& records,
                              const std::vector<TableInstance>& tables) {
  const EpochPublic& p = records.public_values;
  EpochStatement s;
  s.label = p.label;
  s.is_final = p.is_final;
  s.pc_in = p.pc_in;
  s.pc_out = p.pc_out;
  s.cycles = p.cycles;
  s.out_in = p.out_in;
  s.output_count = static_cast<u32>(p.outputs.size());
  s.outputs = p.outputs.data();
  s.exit_code = p.exit_code;
  s.table_count = static_cast<u32>(tables.size());
  for (u32 i = 0; i < tables.size(); ++i) s.tables[i] = {tables[i].chip, tables[i].log_height};
  return s;
}

}  // namespace epochd
