// What the engine's prover is put together from: the keys, the pools and the two verifiers. The
// product uses them as they are; tests put others in the place of what proves.
#pragma once

#include <functional>

#include "daemon/pipeline/bundle_file.hpp"
#include "daemon/pipeline/checked_pool.hpp"
#include "daemon/pipeline/guest.hpp"
#include "daemon/pipeline/pools.hpp"

namespace epochd {

/// Verifies epochs against a key, which outlives it.
CheckedPool::MakeVerify verify_epochs_with(const VerifyingKey& key, const RunParams& params);
/// Verifies the bundle in a file, as verify_bundle().
Verdict verify_bundle_file(const VerifyingKey& key, const Path& path, bool allow_test_preset,
                           const Parallel& parallel, const std::function<void()>& check);

struct EngineParts {
  DeviceAccess devices;
  std::function<PoolFactory(Isa, const Parallel&)> cpu = cpu_pool;
  std::function<ProvingKey(const Guest&, const RunParams&, Isa, const Parallel&)> key = make_key;
  std::function<CheckedPool::MakeVerify(const VerifyingKey&, const RunParams&)> epochs =
      verify_epochs_with;
  std::function<Verdict(const VerifyingKey&, const Path&, bool allow_test_preset, const Parallel&,
                        const std::function<void()>& check)>
      bundle = verify_bundle_file;
};

/// The prover of these parts. Errors: as JobProverFactory says.
std::unique_ptr<JobProver> make_engine_prover(const ProofRequest& request, EngineParts parts,
                                              DebugText debug = {});

}  // namespace epochd
