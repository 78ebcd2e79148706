#include "daemon/pipeline/memory_load.hpp"

#include <chrono>

#include "daemon/log/log.hpp"

namespace epochd {
namespace {

constexpr std::chrono::milliseconds kCheckPause(20);

struct Stopped : std::exception {
  const char* what() const noexcept override { return "the load was stopped"; }
};

}  // namespace

MemoryLoad::MemoryLoad(const CutRun& run, const Parallel& parallel, Isa isa, const JobKey& key,
                       std::unique_ptr<CheckpointSource> source) {
  const SnapshotReading how{parallel, isa, [this] {
                              if (is_stopping_) throw Stopped();
                              went_forward_ = true;
                            }};
  thread_ =
      std::thread([this, run, how, key, source = std::move(source), context = log::context()] {
        log::join(context);
        work(run, how, key, *source);
      });
}

MemoryLoad::~MemoryLoad() {
  is_stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

void MemoryLoad::work(const CutRun& run, const SnapshotReading& how, const JobKey& key,
                      CheckpointSource& source) {
  try {
    memory_ = resume_memory(run, how, key, source);
  } catch (...) {
    error_ = std::current_exception();
  }
  has_ended_ = true;
}

std::unique_ptr<RunMemory> MemoryLoad::get(const std::function<void(bool)>& waiting) {
  while (!has_ended_) {
    waiting(went_forward_.exchange(false));
    std::this_thread::sleep_for(kCheckPause);
  }
  thread_.join();
  if (error_) std::rethrow_exception(error_);
  return std::move(memory_);
}

}  // namespace epochd
