#include "daemon/pipeline/bundle_file.hpp"

#include <sys/mman.h>

#include <memory>

namespace epochd {

BundleFile::BundleFile(FileSystem& fs, const Path& path, Links links) {
  const FileHandle file = fs.open_for_reading(path, links);
  bytes_ = fs.file_bytes(file, path);
  if (bytes_ == 0) return;
  void* at = ::mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file.fd(), 0);
  if (at == MAP_FAILED) throw IoError("map", path, errno);
  words_ = static_cast<const u64*>(at);
}

BundleFile::~BundleFile() {
  if (words_ != nullptr) ::munmap(const_cast<u64*>(words_), bytes_);
}

Verdict verify_bundle(const VerifyingKey& key, const BundleFile& bundle, bool allow_test_preset) {
  Verdict verdict;
  if (bundle.has_tail()) {
    verdict.result.error = RunError::kTrailing;
    return verdict;
  }
  const auto scratch = std::make_unique<RunScratch>();
  const std::span<const u64> words = bundle.words();
  verdict.result = verify_run(key, words.data(), words.size(), {allow_test_preset}, *scratch);
  if (verdict.result.ok()) {
    for_each_output(
        words.data(), words.size(),
        [](void* list, u64 word) { static_cast<std::vector<u64>*>(list)->push_back(word); },
        &verdict.outputs);
  }
  return verdict;
}

std::string describe_failure(const RunResult& result) {
  const std::string what = describe(result.error);
  if (result.error == RunError::kEpochProof || result.error == RunError::kGlobalProof) {
    const bool is_epoch = result.error == RunError::kEpochProof;
    const u32 number = result.index + (is_epoch ? 1 : 0);
    return what + ": " + (is_epoch ? "epoch " : "sub-proof ") + std::to_string(number) + ": " +
           prover::describe(result.argument.error) + " (" + std::to_string(result.argument.detail) +
           ")";
  }
  return what;
}

}  // namespace epochd
