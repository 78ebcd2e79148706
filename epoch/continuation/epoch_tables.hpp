// From an epoch's records to its tables: which chips appear, in how many instances of which height,
// and what each table is filled from.
#pragma once

#include <vector>

#include "epoch/continuation/setup.hpp"
#include "epoch/exec/records.hpp"
#include "prover/prove/table_source.hpp"

namespace epochd {

/// `rows` records of `chip` from `first` on, in a table of 2^log_height rows.
struct TableInstance {
  ChipId chip;
  u32 log_height;
  size_t first;
  size_t rows;
};

/// The statement's table list for these records, in canonical order.
std::vector<TableInstance> plan_tables(const EpochRecords& records, const VerifyingKey& vk,
                                       const prover::Preset& preset);

/// One source a table. Pre: `records` and `key` outlive the sources.
std::vector<prover::TableSource> epoch_sources(const EpochRecords& records, const ProvingKey& key,
                                               const std::vector<TableInstance>& tables);

/// Where sends on the lookup buses of an epoch proof are counted.
std::vector<prover::LookupSpec> epoch_lookups(const ProvingKey& key,
                                              const std::vector<TableInstance>& tables);
/// The one of Range16 in the global proof; table = kNone in all sub-proofs but the last.
prover::LookupSpec range16_lookup(u32 table, std::vector<u64>* carried);

/// The statement of an epoch. Pre: `records` outlives it (outputs point into it).
EpochStatement make_statement(const EpochRecords& records,
                              const std::vector<TableInstance>& tables);

}  // namespace epochd
