// The keys that keep every use of BLAKE3 apart: derive_key of a written context, no key material.
// Compile-time constants, so the freestanding verifier has no static initialisers. A change of any
// string changes every proof. Source: protocol.md section 2.
#pragma once

#include "prover/hash/blake3_compress.hpp"

namespace epochd::prover::domains {

/// A row of a commitment.
inline constexpr Blake3Key kLeaf = blake3::derive_domain_key("epochd v1 merkle leaf");
/// Two children of a tree node.
inline constexpr Blake3Key kNode = blake3::derive_domain_key("epochd v1 merkle node");
/// A node and the rows of a shorter height that joins at its level.
inline constexpr Blake3Key kInject = blake3::derive_domain_key("epochd v1 merkle inject");
/// The transcript takes bytes in.
inline constexpr Blake3Key kAbsorb = blake3::derive_domain_key("epochd v1 transcript absorb");
/// The transcript gives challenges out.
inline constexpr Blake3Key kDraw = blake3::derive_domain_key("epochd v1 transcript draw");
/// Proof of work on the transcript's state.
inline constexpr Blake3Key kGrind = blake3::derive_domain_key("epochd v1 transcript grind");

}  // namespace epochd::prover::domains
