// Setup: the fixed tables of a program, their trees, and the verifying key they give. The verifier
// runs this on the ELF itself (or reads a key made by it); nothing here depends on a run.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "epoch/continuation/proof_format.hpp"
#include "epoch/isa/program.hpp"
#include "prover/core/result.hpp"
#include "prover/pcs/fixed_tree.hpp"

namespace epochd {

struct SetupError {
  std::string message;
};

/// What proving needs of a program besides the run: the key, and both fixed trees with their data.
struct ProvingKey {
  VerifyingKey vk;
  std::vector<ProgramRow> program;
  std::vector<ImageCell> image;
  std::vector<u32> row_of_word;  ///< (pc - first_pc) / 4 -> row of `program`, or kNone
  u32 first_pc = 0;
  std::shared_ptr<const prover::FixedTree> epoch_fixed;
  std::shared_ptr<const prover::FixedTree> global_fixed;
};

/// Errors: the program has more instructions or image cells than a table can hold.
Result<ProvingKey, SetupError> make_proving_key(const Program& program,
                                                const prover::Preset& preset, Isa isa,
                                                const Parallel& pool);

/// A verifying key as a file: 17 words, the last four a checksum.
std::vector<u64> encode_verifying_key(const VerifyingKey& vk);
Result<VerifyingKey, SetupError> decode_verifying_key(std::span<const u64> words);

}  // namespace epochd
