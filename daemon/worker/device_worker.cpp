#include "daemon/worker/device_worker.hpp"

#include <algorithm>

#include "daemon/log/log.hpp"
#include "daemon/pipeline/guest.hpp"
#include "daemon/worker/serve.hpp"
#include "prover/core/cpu_features.hpp"
#include "prover/core/parallel.hpp"

namespace epochd {
namespace {

// argv: the program, the flag, log level, log format.
constexpr std::string_view kFlag = "--device-worker";
constexpr int kArgumentCount = 4;

/// A program made ready to be proved, kept for the next job of the same.
struct PreparedProgram {
  PreparedProgram(const OpenRequest& request)
      : elf(request.elf),
        preset(request.params.preset),
        guest(request.elf, request.elf_name),
        key(make_key(guest, request.params, best_isa(), Parallel(request.threads))) {}
  bool is_for(const OpenRequest& request) const {
    return preset == request.params.preset && elf == request.elf;
  }

  Bytes elf;
  const prover::Preset* preset;
  Guest guest;
  ProvingKey key;
};

struct PoolOfProgram {
  std::shared_ptr<const PreparedProgram> program;
  std::unique_ptr<ProverPool> pool;
};

class DevicePools {
 public:
  std::shared_ptr<ProverPool> open(const OpenRequest& request) {
    if (!program_ || !program_->is_for(request)) {
      program_.reset();
      program_ = std::make_shared<const PreparedProgram>(request);
    }
    const PoolJob job{request.elf,    request.elf_name, &program_->key, &program_->guest.code(),
                      request.params, request.residency};
    const auto owned = std::make_shared<PoolOfProgram>();
    owned->program = program_;
    owned->pool = cuda_pool({request.device})(job);
    return {owned, owned->pool.get()};
  }

 private:
  std::shared_ptr<const PreparedProgram> program_;
};

/// The devices that can be used; what is wrong with the others goes to the log.
DeviceList query_and_log() {
  return query_devices([](const DeviceQueryError& error) {
    log::warn("a device cannot be used", {{"device", error.device}, {"why", error.message}});
  });
}

template <size_t N>
size_t index_of(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? 0 : static_cast<size_t>(at - names.begin());
}

}  // namespace

std::optional<int> run_as_device_worker(int argc, const char* const* argv) {
  if (argc != kArgumentCount || argv[1] != kFlag) return std::nullopt;
  log::configure(static_cast<LogLevel>(index_of(kLogLevelNames, argv[2])),
                 static_cast<LogFormat>(index_of(kLogFormatNames, argv[3])));
  const auto pools = std::make_shared<DevicePools>();
  return run_worker({query_and_log,
                     [pools](const OpenRequest& request) { return pools->open(request); },
                     device_works});
}

WorkerProcess start_device_worker() {
  const LogSettings log = log::configured();
  return WorkerProcess::start({"/proc/self/exe", std::string(kFlag),
                               std::string(kLogLevelNames[static_cast<size_t>(log.level)]),
                               std::string(kLogFormatNames[static_cast<size_t>(log.format)])});
}

DeviceAccess access_through(DeviceWorkers& workers) {
  return {[&workers] { return has_cuda_code() ? workers.query() : query_and_log(); },
          [&workers](const std::vector<int>& devices) -> PoolFactory {
            return [&workers, devices](const PoolJob& job) { return workers.open(job, devices); };
          }};
}

}  // namespace epochd
