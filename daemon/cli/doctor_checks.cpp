#include "daemon/cli/doctor_checks.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "cuda/rt/device_query.hpp"
#include "cuda/session/plan.hpp"
#include "daemon/host/host_info.hpp"
#include "daemon/pipeline/budgets.hpp"
#include "daemon/pipeline/engine_prover.hpp"
#include "daemon/queue/durable.hpp"
#include "daemon/queue/lock.hpp"
#include "daemon/queue/queue.hpp"
#include "epoch/continuation/epoch_memory.hpp"
#include "prover/core/cpu_features.hpp"

namespace epochd {
namespace {

constexpr u64 kGibibyte = 1ull << 30;
constexpr u64 kFreeDiskBytesLow = 4 * kGibibyte;

std::string gibibytes(u64 bytes) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f GiB",
                static_cast<double>(bytes) / static_cast<double>(kGibibyte));
  return text;
}

Check check_processor() {
  const unsigned threads = std::thread::hardware_concurrency();
  Check check{"processor", Verdict::kOk, "", ""};
  check.finding = cpu_model() + ", " + std::to_string(threads) + " threads, kernels for " +
                  isa_name(best_isa());
  if (best_isa() == Isa::kScalar) {
    check.verdict = Verdict::kWarn;
    check.remedy = "proving is several times faster on a processor with AVX2";
  }
  return check;
}

Check check_memory() {
  const auto total = total_memory_bytes();
  const auto available = available_memory_bytes();
  if (!total || !available) {
    return {"memory", Verdict::kWarn, "/proc/meminfo cannot be read", "mount /proc"};
  }
  Check check{"memory", Verdict::kOk, gibibytes(*available) + " available of " + gibibytes(*total),
              ""};
  if (*available < 2 * kGibibyte) {
    check.verdict = Verdict::kWarn;
    check.remedy = "an epoch of 2^18 cycles wants 2 GiB: free memory, or lower EPOCH_SIZE_LOG2";
  }
  return check;
}

/// The executor reserves the guest's whole address space; untouched pages cost nothing.
Check check_address_space() {
  constexpr size_t kGuestBytes = size_t{1} << 32;
  void* at = ::mmap(nullptr, kGuestBytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) {
    return {"address space", Verdict::kFail, "4 GiB of address space cannot be reserved",
            "raise `ulimit -v`, or set vm.overcommit_memory to 0 or 1"};
  }
  ::munmap(at, kGuestBytes);
  return {"address space", Verdict::kOk, "4 GiB for the guest can be reserved", ""};
}

Check check_open_files() {
  constexpr rlim_t kEnough = 256;
  ::rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  Check check{"open files", Verdict::kOk, std::to_string(limit.rlim_cur) + " allowed", ""};
  if (limit.rlim_cur < kEnough) {
    check.verdict = Verdict::kWarn;
    check.remedy = "raise `ulimit -n` to 256 or more";
  }
  return check;
}

Check check_allocator() {
  const auto version = jemalloc_version();
  if (version) return {"allocator", Verdict::kOk, "jemalloc " + *version, ""};
  return {"allocator", Verdict::kWarn, "not jemalloc",
          "build without EPOCHD_SANITIZE for production"};
}

/// 1000 * major + 10 * minor, as the CUDA runtime writes its versions.
std::string cuda_version(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Check device_found(const DeviceInfo& device) {
  return {"cuda", Verdict::kOk,
          "device " + std::to_string(device.device) + ": " + device.name + ", compute " +
              std::to_string(device.compute_major) + "." + std::to_string(device.compute_minor) +
              ", " + std::to_string(device.multiprocessor_count) + " multiprocessors, " +
              gibibytes(device.free_bytes) + " free of " + gibibytes(device.memory_bytes) +
              "; driver for CUDA " + cuda_version(device.driver_version) + ", runtime " +
              cuda_version(device.runtime_version),
          ""};
}

/// What provers take on a device, for every size of epoch and the one that is set.
Check check_device_plan(const DaemonSettings& settings, const ProtocolSettings& protocol,
                        const Result<std::vector<DeviceInfo>, DeviceQueryError>& devices) {
  const RunParams params{&preset_of(protocol.security), protocol.epoch_size_log2};
  Check check{"device memory", Verdict::kOk,
              std::string("for one epoch in flight, preset ") + params.preset->name + ": " +
                  cuda::describe_plans(*params.preset, settings.residency),
              ""};
  if (!devices) return check;
  const cuda::CudaPlan plan = cuda::plan_cuda(params, settings.residency);
  for (const DeviceInfo& device : *devices) {
    const u32 fit = cuda::in_flight_max(plan, device.memory_bytes);
    check.finding += "; device " + std::to_string(device.device) + " holds " + std::to_string(fit) +
                     " of 2^" + std::to_string(params.epoch_size_log2);
    if (fit > 0) continue;
    const bool is_required = settings.backend == BackendPolicy::kCudaRequired;
    check.verdict = is_required ? Verdict::kFail : Verdict::kWarn;
    check.remedy = cuda::plan_refusal(params, settings.residency, {}, device.memory_bytes);
  }
  return check;
}

void check_devices(const Config& config, const ProtocolSettings& protocol,
                   std::vector<Check>& checks) {
  const auto devices = query_devices([&](const DeviceQueryError& error) {
    checks.push_back(
        {"cuda", Verdict::kWarn,
         "device " + std::to_string(error.device) + " cannot be used: " + error.message,
         "the other devices prove without it"});
  });
  if (devices) {
    for (const DeviceInfo& device : *devices) checks.push_back(device_found(device));
  } else {
    Check check{"cuda", Verdict::kOk, "the CPU proves: " + devices.error().message, ""};
    if (config.daemon.backend == BackendPolicy::kCudaPreferred) check.verdict = Verdict::kWarn;
    if (config.daemon.backend == BackendPolicy::kCudaRequired) {
      check = {"cuda", Verdict::kFail,
               "the settings require a CUDA device: " + devices.error().message,
               "mend that, or set `backend: cpu` or `backend: cuda-preferred`"};
    }
    checks.push_back(check);
  }
  checks.push_back(check_device_plan(config.daemon, protocol, devices));
}

Check failed(const std::string& name, const std::exception& error, const std::string& remedy) {
  return {name, Verdict::kFail, error.what(), remedy};
}

/// Does what the queue relies on: a durable file and a rename that does not replace.
void try_durable_steps(FileSystem& fs, const Path& root) {
  const Path probe = root / kTmpName / (".doctor-" + std::to_string(::getpid()));
  replace_file(fs, probe, as_bytes("probe"));
  const Path other = probe.string() + "-moved";
  const auto moved = move_no_replace(fs, probe, other);
  fs.remove_file(other);
  if (moved != FileSystem::Moved::kYes) throw IoError("rename", other, EEXIST);
}

Check check_queue(const Path& root) {
  FileSystem fs;
  try {
    if (!fs.exists(root / kTmpName)) {
      return {"queue", Verdict::kWarn, "'" + root.string() + "' is not set up yet",
              "start epochd on it once; its user must be able to create it"};
    }
    try_durable_steps(fs, root);
  } catch (const IoError& error) {
    return failed("queue", error,
                  error.code() == EINVAL
                      ? "this file system lacks renameat2(RENAME_NOREPLACE); use ext4, xfs or btrfs"
                      : "run as the queue's owner, and check its file system");
  }
  const std::string served = is_queue_served(root) ? ", served by an epochd" : "";
  return {"queue", Verdict::kOk, "'" + root.string() + "' takes jobs" + served, ""};
}

Check check_disk(const Path& root) {
  const auto free = free_disk_bytes(root);
  if (!free) return {"disk", Verdict::kOk, "looked at when the queue exists", ""};
  Check check{"disk", Verdict::kOk, gibibytes(*free) + " free for the queue", ""};
  if (*free < kFreeDiskBytesLow) {
    check.verdict = Verdict::kWarn;
    check.remedy = "a bundle takes up to 3.5 MB an epoch: make room, or collect done/";
  }
  return check;
}

/// Whether the largest epoch that a run may have can be proved in this host's memory.
Check check_epochs(const ProtocolSettings& protocol) {
  const u32 threads = std::max(1u, std::thread::hardware_concurrency());
  RunParams params{&preset_of(protocol.security), protocol.epoch_size_log2};
  const u64 needed = cpu_epoch_bytes_max(params, threads);
  Check check{"epochs", Verdict::kOk,
              "2^" + std::to_string(params.epoch_size_log2) + " cycles, preset " +
                  params.preset->name + "; the largest takes " + gibibytes(needed) + " on the CPU",
              ""};
  const u64 total = total_memory_bytes().value_or(needed);
  if (total >= needed) return check;
  while (params.epoch_size_log2 > kEpochSizeLog2Min &&
         cpu_epoch_bytes_max(params, threads) > total) {
    --params.epoch_size_log2;
  }
  check.verdict = Verdict::kWarn;
  check.remedy = "this host has " + gibibytes(total) +
                 ": EPOCH_SIZE_LOG2 <= " + std::to_string(params.epoch_size_log2) +
                 " fits whatever runs";
  return check;
}

}  // namespace

std::vector<Check> run_checks(const Environment& environment, const std::string& config_file) {
  std::vector<Check> checks = {{"kernel", Verdict::kOk, kernel_release(), ""},
                               check_processor(),
                               check_memory(),
                               check_address_space(),
                               check_open_files(),
                               check_allocator()};
  Config config;
  if (!config_file.empty()) {
    FileSystem fs;
    try {
      const Bytes text = fs.read_prefix(config_file, kConfigBytesMax + 1, Links::kFollow);
      const auto parsed = parse_config(config_file, {text.begin(), text.end()});
      if (!parsed) {
        checks.push_back({"settings", Verdict::kFail, to_text(parsed.error()), "mend these lines"});
        return checks;
      }
      config = *parsed;
      if (const auto refusal = budget_refusal(config, environment)) {
        checks.push_back({"settings", Verdict::kFail, config_file + ": " + *refusal,
                          "lower protocol.epoch_size_log2 or raise the budget"});
      } else {
        checks.push_back({"settings", Verdict::kOk, config_file + " is valid", ""});
      }
    } catch (const IoError& error) {
      checks.push_back(failed("settings", error, "check the path and its permissions"));
      return checks;
    }
    checks.push_back(check_queue(config.daemon.queue));
    checks.push_back(check_disk(config.daemon.queue));
  }
  const ProtocolSettings protocol = resolve_protocol(config.protocol, environment, {}, {});
  checks.push_back(check_epochs(protocol));
  check_devices(config, protocol, checks);
  return checks;
}

}  // namespace epochd
