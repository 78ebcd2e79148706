// What a simulation knows of its jobs besides the queue, and what it holds the queue to.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "daemon/pipeline/job_handler.hpp"
#include "tests/daemon/simulation/disk.hpp"
#include "tests/daemon/simulation/guest.hpp"

namespace epochd::simulation {

struct Job {
  std::string elf, input;
  bool has_guest_fault = false;
  bool has_deadline = false;
  BackendPolicy policy = BackendPolicy::kCpu;
  bool is_certain = false;  ///< the submitter was told so
  // What users tried, whether it came to anything or not:
  bool was_cancelled = false;
  bool was_held = false;
  bool was_retried = false;
  // What they were told:
  bool is_cancel_due = false;  ///< it is at work, and will be cancelled
  bool must_be_cancelled = false;
  bool must_be_held = false;
  bool may_be_half = false;  ///< whoever copied it ended in the middle
  // What its attempts must be charged with, and may be:
  u32 crashes_min = 0, crashes_max = 0;
  u32 failures_min = 0, failures_max = 0;
  bool was_done = false;
  bool may_be_removed = false;  ///< retention is at work
  /// An epoch's proof, from when it is made; from when it is saved, once it is.
  struct Proved {
    u64 life = 0;
    double time_s = 0;
    bool is_saved = false;
  };
  std::map<u64, Proved> proved;
};

/// How a life of the daemon ended.
struct LifeEnd {
  u64 life = 0;
  bool is_crash = false;
  double time_s = 0;
};

class Ledger {
 public:
  Ledger(Disk& disk, const Config& config) : disk_(disk), config_(config) {}

  Job& job(const std::string& tag) { return jobs_[tag]; }
  const std::map<std::string, Job>& jobs() const { return jobs_; }

  /// The name in the job's job.yaml, by which a job is known whatever its directory is called.
  std::string tag_of(const Path& job) const;
  /// Everywhere in the queue that this job is.
  std::vector<Path> places_of(const std::string& tag) const;

  /// Between two lives, and at the end: every job is somewhere, once; answers are whole and right.
  void check_places(bool is_end);
  /// At the end: nobody waits, nothing is left lying about.
  void check_end();
  /// `tag` is about to prove what it did not find stored.
  void check_proving(const std::string& tag, const Path& job, const JobKey& key, u64 label);
  /// `tag` goes on after the epoch `label`, without a look at those before.
  void check_resumed(const std::string& tag, const Path& job, u64 label);
  /// A file is about to be called `path`.
  void check_naming(const Path& path);
  /// `tag` is done, and `proofs_of_cpu` of its proofs are the CPU's.
  void check_usage(const std::string& tag, u64 proofs_of_cpu);

  void violate(const std::string& what);
  const std::vector<std::string>& violations() const { return violations_; }

  u64 life = 0;
  std::vector<LifeEnd> ends;
  bool has_faults = false;             ///< the disk fails now and then, so that work may be lost
  bool is_sync_certain = true;         ///< no fsync failed
  double last_fault_s = -1;            ///< when something went wrong that may cost stored work
  std::map<std::string, JobKey> keys;  ///< of those begun
  ExpectedRuns expected;

 private:
  void check_answer(const Path& job, const std::string& tag, Place place);
  void check_done(const Path& job, const std::string& tag);
  void check_failed(const Path& job, const std::string& tag, Place place);
  void check_charges(const std::string& tag, const nlohmann::json& record);
  void check_litter(const Path& directory, bool has_ended, bool is_done);
  void check_equal(const std::string& tag, const JobKey& key);
  std::optional<nlohmann::json> result_of(const std::string& tag) const;
  std::optional<Bytes> bytes_of(const Path& path) const;

  Disk& disk_;
  const Config& config_;
  std::map<std::string, Job> jobs_;
  std::vector<std::string> violations_;
};

}  // namespace epochd::simulation
