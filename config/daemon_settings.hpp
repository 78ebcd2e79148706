// Daemon settings: where and how proofs are made. None of them changes a byte of a proof.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "config/residency.hpp"
#include "prover/core/types.hpp"

namespace epochd {

enum class BackendPolicy : u8 { kCpu, kCudaPreferred, kCudaRequired };
constexpr std::array<std::string_view, 3> kBackendPolicyNames = {"cpu", "cuda-preferred",
                                                                 "cuda-required"};

enum class LogLevel : u8 { kDebug, kInfo, kWarn, kError };
constexpr std::array<std::string_view, 4> kLogLevelNames = {"debug", "info", "warn", "error"};

enum class LogFormat : u8 { kText, kJson };
constexpr std::array<std::string_view, 2> kLogFormatNames = {"text", "json"};

/// How often a job is tried again before it is quarantined.
struct RetrySettings {
  u32 failures = 2;  ///< handled failures (I/O, memory, device) forgiven
  u32 crashes = 3;   ///< deaths of the daemon during the job forgiven
  u32 delay_s = 1;   ///< pause before the next attempt

  bool operator==(const RetrySettings&) const = default;
};

/// Limits on the phases of a job, checked between epochs. 0: no limit.
struct TimeoutSettings {
  u32 execute_s = 3600;
  u32 prove_s = 0;
  u32 assemble_s = 0;

  bool operator==(const TimeoutSettings&) const = default;
};

struct LogSettings {
  LogLevel level = LogLevel::kInfo;
  LogFormat format = LogFormat::kText;

  bool operator==(const LogSettings&) const = default;
};

/// The pages for people and monitors. Fixed while the daemon runs.
struct HttpSettings {
  bool enabled = true;
  std::string address = "127.0.0.1";  ///< an IPv4 or IPv6 address of this host
  u16 port = 9477;                    ///< 0: any free one

  bool operator==(const HttpSettings&) const = default;
};

/// How long finished jobs are kept. 0: no limit.
struct RetentionSettings {
  u32 done_days = 0;
  u64 done_bytes = 0;
  u32 failed_days = 0;
  u64 failed_bytes = 0;

  bool operator==(const RetentionSettings&) const = default;
};

/// What is asked of the allocator, where it is jemalloc.
struct JemallocSettings {
  bool background_threads = true;  ///< fixed while the daemon runs
  bool purge_after_job = true;

  bool operator==(const JemallocSettings&) const = default;
};

/// What one job's proving may take at most, in bytes. 0: no limit but what there is.
struct MemorySettings {
  u64 host_bytes = 0;
  u64 device_bytes = 0;  ///< of each device
  u64 pinned_bytes = 0;  ///< of page-locked host memory, for each device

  bool operator==(const MemorySettings&) const = default;
};

constexpr u32 kJobsAtOnceMax = 8;
constexpr u32 kPipelineDepthMax = 64;
constexpr u32 kCheckpointPercentMax = 50;
constexpr int kDeviceMax = 1023;

struct DaemonSettings {
  std::filesystem::path queue = "/var/lib/epochd/queue";
  u32 rescan_s = 5;
  u32 jobs_at_once = 2;  ///< 1 to kJobsAtOnceMax; fixed while the daemon runs
  u32 ageing_s = 60;     ///< of waiting, weigh as much as one point of priority
  BackendPolicy backend = BackendPolicy::kCpu;
  std::vector<int> devices;  ///< ordinals, ascending; empty: all there are
  Residency residency = Residency::kDeviceOnly;
  u32 threads = 0;             ///< 0: one per hardware thread
  u32 pipeline_depth = 2;      ///< epochs under way besides those that keep the prover busy
  u32 checkpoint_percent = 2;  ///< of the time of running a program; 0: none are kept
  MemorySettings memory;
  u64 cycle_limit = 100'000'000'000;
  RetrySettings retries;
  TimeoutSettings timeouts;
  RetentionSettings retention;
  HttpSettings http;
  JemallocSettings jemalloc;
  LogSettings log;

  bool operator==(const DaemonSettings&) const = default;
};

}  // namespace epochd
