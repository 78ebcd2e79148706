#include "daemon/pipeline/engine_parts.hpp"

#include "daemon/pipeline/epoch_checker.hpp"

namespace epochd {

CheckedPool::MakeVerify verify_epochs_with(const VerifyingKey& key, const RunParams& params) {
  return [&key, params]() -> CheckedPool::Verify {
    const auto checker = std::make_shared<EpochChecker>(key, params);
    return [checker](const Capsule& capsule, const EpochProof& proof,
                     std::span<const BoundaryRecord> boundary) {
      return checker->accepts(capsule, proof, boundary);
    };
  };
}

Verdict verify_bundle_file(const VerifyingKey& key, const Path& path, bool allow_test_preset,
                           const Parallel& parallel, const std::function<void()>& check) {
  FileSystem fs;
  const BundleFile file(fs, path, Links::kRefuse);
  return verify_bundle(key, file, allow_test_preset, parallel, check);
}

}  // namespace epochd
