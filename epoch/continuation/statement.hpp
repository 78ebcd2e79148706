// The transcripts' beginnings: what epoch proof and global proof absorb before their first
// challenge, and the verifier's own terms on the buses. Shared by prover and verifier;
// freestanding.
#pragma once

#include "epoch/continuation/proof_format.hpp"
#include "prover/transcript/transcript.hpp"

namespace epochd {

/// Words of a statement as they stand in an epoch record, without the outputs: 7 + tables.
constexpr u32 kStatementWordsMax = 7 + prover::kTablesMax;
u32 statement_words(const EpochStatement& s, u64* out);

/// Absorbs format version, parameters, program, label, is_final, the statement and the three base
/// roots. What follows is the draw of gamma, beta.
prover::Transcript epoch_transcript(const RunParams& params, const prover::Digest& program,
                                    const EpochStatement& s, const prover::Digest* base_roots);

/// The verifier's terms of an epoch: State in and out, the outputs, the exit. False if a
/// fingerprint vanishes.
[[nodiscard]] bool epoch_public_sum(const EpochStatement& s, prover::Fp3 gamma, prover::Fp3 beta,
                                    prover::Fp3& sum);

/// The global transcript up to the roots: the run's parameters, program, numbers of epochs and
/// anchors, chain ends and the fixed root. The caller then absorbs every boundary's height and root
/// in label order (absorb_boundary), then every sub-proof's main root, and draws.
prover::Transcript global_transcript(const RunParams& params, const prover::Digest& program,
                                     u32 epochs, u64 anchors, const u64* last_keys,
                                     const prover::Digest& fixed_root);
void absorb_boundary(prover::Transcript& t, u32 log_height, const prover::Digest& root);

/// The chain ends of the Order bus.
[[nodiscard]] bool global_public_sum(const u64* last_keys, prover::Fp3 gamma, prover::Fp3 beta,
                                     prover::Fp3& sum);

}  // namespace epochd
