// Takes one active job to its end: an answer in done/, failed/, quarantine/ or cancelled/, or back
// to waiting without blame. The one place where errors become outcomes.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <variant>

#include "config/config.hpp"
#include "daemon/pipeline/active_monitor.hpp"
#include "daemon/pipeline/done_index.hpp"
#include "daemon/pipeline/energy.hpp"
#include "daemon/pipeline/job_prover.hpp"
#include "daemon/pipeline/scheduler.hpp"
#include "daemon/queue/attempts.hpp"

namespace epochd {

enum class Outcome : u8 {
  kDone,
  kFailed,  ///< failed/ or quarantine/
  kCancelled,
  kRetry,     ///< stays in active/, to be tried again after the pause
  kStopped,   ///< stays in active/: the daemon was asked to stop
  kDiskFull,  ///< stays in active/ until there is room
  kYielded,   ///< stays in active/: a job that comes before it took its lane
  kTwin,      ///< stays in active/ until the equal job that is being proved has ended
};

/// Threads: any, each with another job.
class JobHandler {
 public:
  /// Settings as they are when a job begins. Threads: any.
  using ConfigSource = std::function<Config()>;

  /// All references outlive the handler.
  JobHandler(FileSystem& fs, Queue& queue, ConfigSource config, Environment environment,
             JobProverFactory make_prover, const Clock& clock, const std::atomic<bool>& stop);
  /// Settings that do not change.
  JobHandler(FileSystem& fs, Queue& queue, const Config& config, Environment environment,
             JobProverFactory make_prover, const Clock& clock, const std::atomic<bool>& stop);

  /// Pre: `id` is in active/. Errors: IoError when not even the failure can be written down.
  Outcome handle(const std::string& id);

  /// Where the results' energy is read; before the first job.
  void set_energy(EnergyReading energy) { energy_ = std::move(energy); }
  /// Says which job proves, and which leaves.
  Scheduler& scheduler() { return scheduler_; }

 private:
  class KeyHold;
  struct Answer;  ///< a bundle that is durable, and what is said of it

  Outcome attempt(const std::string& id, const Attempts& attempts, const Config& config);
  /// One of the two comes of it.
  std::variant<Answer, Outcome> try_to_prove(const std::string& id, const Attempts& attempts,
                                             const Config& config);
  Answer prove(const std::string& id, const Attempts& attempts, const Config& config);
  Outcome interrupted(const std::string& id, Interrupted::Why why);
  void publish(const std::string& id, const Answer& answer);
  Outcome give_up_or_retry(const std::string& id, const JobError& error, const Config& config);
  Outcome fail(const std::string& id, const JobError& error, Place place, const Attempts& attempts);
  Outcome disk_is_full(const std::string& id, const IoError& error);
  void take_back_attempt(const std::string& id);
  std::optional<Answer> answer_from_done(const std::string& id, JobProver& prover,
                                         const std::string& key_hex);
  /// Errors: JobError(kInput) when something else has the name.
  bool has_file(const Path& job, std::string_view name);
  JobSpec read_spec(const Path& job);
  ProofRequest read_request(const Path& job, const JobSpec& spec, const Config& config);
  nlohmann::json make_result(const std::string& id, const ProofRequest& request,
                             const ProofFacts& facts, const ProverUsage& usage,
                             const Attempts& attempts);
  double queue_wait_s(const Path& job);
  std::optional<std::string> find_done(const std::string& key_hex);

  FileSystem& fs_;
  Queue& queue_;
  ConfigSource config_;
  Environment environment_;
  JobProverFactory make_prover_;
  const Clock& clock_;
  const std::atomic<bool>& stop_;
  EnergyReading energy_;
  Scheduler scheduler_;
  std::atomic<bool> said_disk_full_ = false;

  std::mutex keys_mutex_;
  DoneIndex done_;
  std::map<std::string, std::string> proving_;  ///< key -> the job that is at it
};

}  // namespace epochd
