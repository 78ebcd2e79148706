#include "daemon/pipeline/bundle_file.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <memory>
#include <mutex>

#include "prover/core/assert.hpp"

namespace epochd {
namespace {

/// A multiple of every page size.
constexpr u64 kReleaseStep = u64{4} << 20;

int exit_code_when_cut = 1;

/// Only calls that a signal handler may make.
void exit_when_cut(int) {
  constexpr std::string_view kText =
      "error: the file was cut short while it was read; give a copy that nothing writes to\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kText.data(), kText.size());
  ::_exit(exit_code_when_cut);
}

}  // namespace

void exit_when_a_mapped_file_is_cut(int exit_code) {
  exit_code_when_cut = exit_code;
  struct ::sigaction action {};
  action.sa_handler = exit_when_cut;
  ::sigaction(SIGBUS, &action, nullptr);
}

BundleFile::BundleFile(FileSystem& fs, const Path& path, Links links)
    : path_(path), file_(fs.open_for_reading(path, links)), opened_(version()) {
  bytes_ = opened_.bytes;
  if (bytes_ == 0) return;
  void* at = ::mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file_.fd(), 0);
  if (at == MAP_FAILED) throw IoError("map", path, errno);
  words_ = static_cast<const u64*>(at);
}

BundleFile::~BundleFile() {
  if (words_ != nullptr) ::munmap(const_cast<u64*>(words_), bytes_);
}

BundleFile::Version BundleFile::version() const {
  struct ::stat status {};
  if (::fstat(file_.fd(), &status) != 0) throw IoError("look at", path_, errno);
  constexpr i64 kNsPerSecond = 1'000'000'000;
  return {status.st_mtim.tv_sec * kNsPerSecond + status.st_mtim.tv_nsec,
          static_cast<u64>(status.st_size)};
}

bool BundleFile::has_changed() const {
  return version() != opened_;
}

void BundleFile::release_before(size_t position) const {
  const u64 bytes = position * sizeof(u64) / kReleaseStep * kReleaseStep;
  if (bytes < released_) released_ = 0;  // another pass from the front
  if (bytes == released_) return;
  u8* const first = reinterpret_cast<u8*>(const_cast<u64*>(words_));
  ::madvise(first + released_, bytes - released_, MADV_DONTNEED);  // advice: it may fail
  released_ = bytes;
}

namespace {

/// The verifier's tasks, on the threads of a Parallel.
class TaskRunner {
 public:
  /// Errors: std::bad_alloc.
  explicit TaskRunner(const Parallel& parallel) : parallel_(parallel) {
    for (u32 i = 0; i < parallel.threads(); ++i) free_.push_back(std::make_unique<RunScratch>());
  }

  VerifyTasks tasks() {
    // Two for each thread: the last ones of a round leave fewer threads without work.
    return {[](void* self, u32 count, VerifyTasks::Task task, void* state) {
              static_cast<TaskRunner*>(self)->run(count, task, state);
            },
            this, 2 * parallel_.threads()};
  }
  /// For the calling thread, between the tasks.
  RunScratch& scratch() { return *free_.back(); }

 private:
  void run(u32 count, VerifyTasks::Task task, void* state) {
    parallel_.for_ranges(count, 1, [&](size_t index, size_t) {
      std::unique_ptr<RunScratch> scratch = take();
      task(state, static_cast<u32>(index), *scratch);
      give_back(std::move(scratch));
    });
  }

  std::unique_ptr<RunScratch> take() {
    const std::lock_guard lock(mutex_);
    EPOCHD_ASSERT(!free_.empty());  // one for each thread
    std::unique_ptr<RunScratch> scratch = std::move(free_.back());
    free_.pop_back();
    return scratch;
  }
  void give_back(std::unique_ptr<RunScratch> scratch) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(scratch));
  }

  const Parallel& parallel_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<RunScratch>> free_;
};

}  // namespace

Verdict verify_bundle(const VerifyingKey& key, const BundleFile& bundle, bool allow_test_preset,
                      const Parallel& parallel, const std::function<void()>& check) {
  Verdict verdict;
  if (bundle.has_tail()) {
    verdict.result.error = RunError::kTrailing;
    return verdict;
  }
  TaskRunner runner(parallel);
  const std::span<const u64> words = bundle.words();
  VerifyOptions options{.allow_test_preset = allow_test_preset, .tasks = runner.tasks()};
  struct Reading {
    const BundleFile& bundle;
    const std::function<void()>& check;
  } reading{bundle, check};
  // The verifier holds nothing: an exception may pass through it.
  options.on_read = [](void* context, size_t position) {
    const Reading& self = *static_cast<const Reading*>(context);
    self.bundle.release_before(position);
    if (self.check) self.check();
  };
  options.context = &reading;
  verdict.result = verify_run(key, words.data(), words.size(), options, runner.scratch());
  if (verdict.result.ok()) {
    for_each_output(
        words.data(), words.size(),
        [](void* list, u64 word) { static_cast<std::vector<u64>*>(list)->push_back(word); },
        &verdict.outputs);
  }
  if (bundle.has_changed())
    throw IoError("verify, for it is being written to,", bundle.path(), EBUSY);
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
