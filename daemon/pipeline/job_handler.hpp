// Takes one active job to its end: an answer in done/, failed/, quarantine/ or cancelled/, or back
// to waiting without blame. The one place where errors become outcomes.
#pragma once

#include <atomic>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <variant>

#include "config/config.hpp"
#include "daemon/pipeline/active_monitor.hpp"
#include "daemon/pipeline/done_index.hpp"
#include "daemon/queue/attempts.hpp"

namespace epochd {

enum class Outcome : u8 {
  kDone,
  kFailed,  ///< failed/ or quarantine/
  kCancelled,
  kRetry,     ///< stays in active/, to be tried again after the pause
  kStopped,   ///< stays in active/: the daemon was asked to stop
  kDiskFull,  ///< stays in active/ until there is room
};

class JobHandler {
 public:
  /// All references outlive the handler.
  JobHandler(FileSystem& fs, Queue& queue, const Config& config, Environment environment,
             JobProverFactory make_prover, const Clock& clock, const std::atomic<bool>& stop);

  /// Pre: `id` is in active/. Errors: IoError when not even the failure can be written down.
  Outcome handle(const std::string& id);

 private:
  struct Answer;  ///< a bundle that is durable, and what is said of it

  Outcome attempt(const std::string& id, const Attempts& attempts);
  /// One of the two comes of it.
  std::variant<Answer, Outcome> try_to_prove(const std::string& id, const Attempts& attempts);
  Answer prove(const std::string& id, const Attempts& attempts);
  void publish(const std::string& id, const Answer& answer);
  Outcome give_up_or_retry(const std::string& id, const JobError& error);
  Outcome fail(const std::string& id, const JobError& error, Place place, const Attempts& attempts);
  Outcome disk_is_full(const std::string& id, const IoError& error);
  void take_back_attempt(const std::string& id);
  std::optional<Answer> answer_from_done(const std::string& id, JobProver& prover,
                                         const std::string& key_hex);
  /// Errors: JobError(kInput) when something else has the name.
  bool has_file(const Path& job, std::string_view name);
  JobSpec read_spec(const Path& job);
  ProofRequest read_request(const Path& job, const JobSpec& spec);
  nlohmann::json make_result(const std::string& id, const ProofRequest& request,
                             const ProofFacts& facts, const ProverUsage& usage,
                             const Attempts& attempts) const;

  FileSystem& fs_;
  Queue& queue_;
  const Config& config_;
  Environment environment_;
  JobProverFactory make_prover_;
  const Clock& clock_;
  const std::atomic<bool>& stop_;
  DoneIndex done_;
  bool said_disk_full_ = false;
};

}  // namespace epochd
