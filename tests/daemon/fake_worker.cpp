// A worker whose device is a script: capsule labels say what happens to it. What the worker tests
// talk to, and kill.
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "daemon/worker/process.hpp"
#include "daemon/worker/serve.hpp"
#include "tests/daemon/fake_worker.hpp"

namespace epochd {
namespace {

using namespace std::chrono_literals;

bool works = true;
std::atomic<u64> releases = 0;

ProvedEpoch proved(u32 label) {
  ProvedEpoch epoch;
  epoch.proof.record = {1, label};
  epoch.proof.boundary_log_height = 5;
  epoch.boundary = {BoundaryRecord{label, 0, 1, 2, 3, 0}};
  epoch.stages = {{"prove", 10, 20, 1}};
  return epoch;
}

class ScriptedPool : public ProverPool {
 public:
  ~ScriptedPool() override {
    if (slow_.joinable()) slow_.join();
  }

  u32 capacity() const override { return 3; }

  void submit(std::shared_ptr<const Capsule> capsule, Done done) override {
    ++proofs_;
    const u32 label = capsule->label;
    switch (label) {
      case kAbortLabel:
        std::abort();
      case kHangLabel:
        std::this_thread::sleep_for(1h);
        break;
      case kGarbageLabel:
        ::send(kWorkerChannelFd, "garbage, more than a header's worth of it", 40, 0);
        return;
      case kBadProofLabel:
        Channel(FileHandle(::dup(kWorkerChannelFd)))
            .send({MessageKind::kProved, 1, nlohmann::json::object(), {1, 2, 3}});
        return;
      case kStopLabel:
        ::raise(SIGSTOP);
        return;
      case kQuietLossLabel:
        works = false;
        break;
      case kSlowLabel:
        // A thread of its own, as a pool has: the one that serves must not wait.
        slow_ = std::thread([done] {
          std::this_thread::sleep_for(300ms);
          done({proved(kSlowLabel), ""});
        });
        return;
      case kErrorLabel:
        return done({std::nullopt, "scripted failure"});
      case kLostLabel:
        works = false;
        return done({std::nullopt, "scripted loss of the context"});
      default:
        break;
    }
    done({proved(label), ""});
  }

  bool prove_global(const BoundaryStore& boundaries, const RunMemory::Ends& ends,
                    const std::function<void(std::span<const u64>)>& emit,
                    const std::function<bool()>&) override {
    for (u32 label = 1; label <= boundaries.epochs; ++label) {
      const u64 key = boundaries.rows(label).at(0).key;
      if (key == kAbortLabel) std::abort();
      const u64 words[2] = {key, boundaries.log_height(label)};
      emit(words);
    }
    const u64 last[1] = {ends.anchors.size() + ends.last_keys[0]};
    emit(last);
    return true;
  }

  ProverUsage usage() const override {
    ProverUsage usage;
    usage.backend = "cuda";
    usage.peak_device_bytes = 7;
    usage.counters["proofs"] = proofs_.load();
    usage.counters["releases"] = releases.load();
    return usage;
  }

 private:
  std::atomic<u64> proofs_ = 0;  ///< also read by the thread of a slow one
  std::thread slow_;
};

}  // namespace
}  // namespace epochd

int main() {
  epochd::WorkerDuties duties;
  duties.query = [] {
    epochd::DeviceInfo device;
    device.device = 4;
    device.name = "Scripted";
    return epochd::DeviceList(std::vector<epochd::DeviceInfo>{device});
  };
  duties.make_pool = [](const epochd::OpenRequest& request) {
    if (request.elf_name == "refused.elf") throw std::runtime_error("scripted refusal");
    if (!epochd::works) throw std::runtime_error("scripted device that is lost");
    return std::make_unique<epochd::ScriptedPool>();
  };
  duties.device_works = [](int) { return epochd::works; };
  duties.release = [] { ++epochd::releases; };
  duties.idle = epochd::kIdle;
  return epochd::run_worker(duties);
}
