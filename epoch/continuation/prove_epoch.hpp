// One epoch proof over any backend.
#pragma once

#include <memory>

#include "epoch/continuation/epoch_tables.hpp"
#include "epoch/continuation/statement.hpp"
#include "prover/prove/prove.hpp"

namespace epochd {

/// An epoch record as it stands in a bundle (its leading word count included), and what the global
/// proof needs.
struct EpochProof {
  std::vector<u64> record;
  prover::Digest boundary_root{};
  u32 boundary_log_height = 0;
};

/// Who listens to a proof being made.
struct ProveHooks {
  prover::TranscriptObserver transcript;
  StageListener* stages = nullptr;
};

/// Appends a record's leading count. Pre: words[0] is the place for it.
inline void close_record(std::vector<u64>& words) {
  words[0] = words.size() - 1;
}

/// Backend: `Session(backend, layout)` is a ProverSession that also has load_fixed and fill.
/// Pre: the records' tables fit the layout limits (EPOCHD_ASSERT).
template <class Backend>
EpochProof prove_epoch(const Backend& backend, const ProvingKey& key, const RunParams& params,
                       const EpochRecords& records, const ProveHooks& hooks = {}) {
  const std::vector<TableInstance> tables = plan_tables(records, key.vk, *params.preset);
  const EpochStatement statement = make_statement(records, tables);
  const auto layout = std::make_unique<prover::Layout>();
  EPOCHD_ASSERT(table_list_ok(statement, key.vk, params) &&
                epoch_layout(statement, params, *layout));
  typename Backend::Session session(backend, *layout);
  session.load_fixed(kEpochFixedTree, key.epoch_fixed);
  {
    const Stage stage(hooks.stages, "fill");
    session.fill(epoch_sources(records, key, tables), epoch_lookups(key, tables));
  }
  prover::Digest roots[kEpochTreeCount];
  for (u32 t = 0; t < kEpochTreeCount; ++t) {
    roots[t] = prover::commit_stage(session, t, hooks.stages, "commit main");
  }

  EpochProof proof;
  proof.boundary_root = roots[kEpochBoundaryTree];
  proof.boundary_log_height = boundary_height(statement);
  u64 words[kStatementWordsMax];
  proof.record.push_back(0);
  proof.record.insert(proof.record.end(), words, words + statement_words(statement, words));
  proof.record.insert(proof.record.end(), statement.outputs,
                      statement.outputs + statement.output_count);
  prover::push_digest(proof.record, roots[kEpochBoundaryTree]);
  prover::push_digest(proof.record, roots[kEpochMainTree]);
  prover::Transcript transcript = epoch_transcript(params, key.vk.digest(), statement, roots);
  transcript.observe(hooks.transcript);
  const prover::Challenges challenges = prover::draw_lookup_challenges(transcript);
  prover::prove_argument(session, transcript, challenges, proof.record, hooks.stages);
  close_record(proof.record);
  return proof;
}

}  // namespace epochd
