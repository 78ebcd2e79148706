// A bundle on disk, mapped rather than read: the verifier looks at it in place.
#pragma once

#include <functional>

#include "daemon/queue/file_system.hpp"
#include "epoch/continuation/verify_run.hpp"
#include "prover/core/parallel.hpp"

namespace epochd {

class BundleFile {
 public:
  /// Errors: IoError.
  BundleFile(FileSystem& fs, const Path& path, Links links);
  ~BundleFile();
  BundleFile(const BundleFile&) = delete;
  BundleFile& operator=(const BundleFile&) = delete;

  /// Whole words; a file that is not a multiple of 8 bytes long has has_tail().
  std::span<const u64> words() const { return {words_, bytes_ / sizeof(u64)}; }
  bool has_tail() const { return bytes_ % sizeof(u64) != 0; }
  u64 bytes() const { return bytes_; }
  const Path& path() const { return path_; }
  /// Whether somebody wrote to the file, or cut it, since it was opened: what was verified may not
  /// be what is there. A write through another mapping shows only when the system gets to it.
  bool has_changed() const;
  /// The words before `position` need not stay in memory; they come back when they are read again.
  void release_before(size_t position) const;

 private:
  struct Version {
    i64 mtime_ns = 0;
    u64 bytes = 0;
    bool operator==(const Version&) const = default;
  };
  Version version() const;

  Path path_;
  FileHandle file_;
  Version opened_;
  const u64* words_ = nullptr;
  u64 bytes_ = 0;
  mutable u64 released_ = 0;  ///< bytes, from the front
};

/// From now on, when a mapped file is cut short while it is read, the process says so and exits
/// with `exit_code`, where it would be killed by SIGBUS without a word.
void exit_when_a_mapped_file_is_cut(int exit_code);

/// What verifying a bundle came to.
struct Verdict {
  RunResult result;
  std::vector<u64> outputs;  ///< of an accepted bundle
};

/// Epochs are verified beside each other, as many as `parallel` has threads. `check` is called on
/// the calling thread, whenever as many parts were read, in each pass, and may throw to stop.
/// Errors: std::bad_alloc for the verifier's working memory; IoError when the file changed
/// meanwhile: the verifier reads some words twice and takes them for the same; what `check` throws.
Verdict verify_bundle(const VerifyingKey& key, const BundleFile& bundle, bool allow_test_preset,
                      const Parallel& parallel, const std::function<void()>& check = {});
/// "epoch 3: an opened row does not hash to its root (tree 1)"
std::string describe_failure(const RunResult& result);

}  // namespace epochd
