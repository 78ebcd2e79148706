#include "daemon/pipeline/job_handler.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

#include "config/time_text.hpp"
#include "daemon/log/log.hpp"
#include "daemon/pipeline/job_key.hpp"
#include "daemon/pipeline/program_files.hpp"
#include "daemon/pipeline/proof_record.hpp"
#include "daemon/queue/finish.hpp"

namespace epochd {

/// The job is the one that proves what has this key, until the end of the scope.
class JobHandler::KeyHold {
 public:
  /// Errors: Interrupted(kTwin) when another job is at it.
  KeyHold(JobHandler& handler, std::string key, const std::string& id)
      : handler_(handler), key_(std::move(key)) {
    const std::lock_guard lock(handler_.keys_mutex_);
    const auto [found, is_first] = handler_.proving_.emplace(key_, id);
    if (is_first) return;
    log::info("an equal job is being proved; its answer is waited for",
              {{"job", id}, {"twin", found->second}});
    handler_.scheduler_.lift(found->second, id);
    throw Interrupted(Interrupted::Why::kTwin);
  }
  ~KeyHold() {
    const std::lock_guard lock(handler_.keys_mutex_);
    handler_.proving_.erase(key_);
  }
  KeyHold(const KeyHold&) = delete;
  KeyHold& operator=(const KeyHold&) = delete;

 private:
  JobHandler& handler_;
  std::string key_;
};

struct JobHandler::Answer {
  nlohmann::json result;
  std::string key_hex;
  std::unique_ptr<KeyHold> hold;  ///< until it is published
};

JobHandler::JobHandler(FileSystem& fs, Queue& queue, ConfigSource config, Environment environment,
                       JobProverFactory make_prover, const Clock& clock,
                       const std::atomic<bool>& stop)
    : fs_(fs),
      queue_(queue),
      config_(std::move(config)),
      environment_(std::move(environment)),
      make_prover_(std::move(make_prover)),
      clock_(clock),
      stop_(stop),
      scheduler_(clock),
      done_(fs, queue.root()) {}

JobHandler::JobHandler(FileSystem& fs, Queue& queue, const Config& config, Environment environment,
                       JobProverFactory make_prover, const Clock& clock,
                       const std::atomic<bool>& stop)
    : JobHandler(
          fs, queue, [&config] { return config; }, std::move(environment), std::move(make_prover),
          clock, stop) {}

Outcome JobHandler::handle(const std::string& id) {
  const Config config = config_();
  bool has_begun = false;
  try {
    if (const auto finished = finish_interrupted(queue_, fs_, id)) {
      if (finished->place != Place::kDone) return Outcome::kFailed;
      const std::lock_guard lock(keys_mutex_);
      done_.add(finished->id);
      return Outcome::kDone;
    }
    if (fs_.exists(queue_.active_path(id) / kCancelFile)) {
      return interrupted(id, Interrupted::Why::kCancel);
    }
    const Attempts attempts = begin_attempt(fs_, queue_.active_path(id), clock_.unix_ns());
    has_begun = true;
    if (is_exhausted(attempts, config.daemon.retries)) {
      const JobError error(Reason::kInternal,
                           "the daemon died " + std::to_string(attempts.crashes) +
                               " times while at this job; look at the log for the cause, then "
                               "`epoch retry` it");
      return fail(id, error, Place::kQuarantine, attempts);
    }
    return attempt(id, attempts, config);
  } catch (const IoError& error) {
    // The daemon lives: what is left must not look like a crash. One before must.
    if (has_begun) take_back_attempt(id);
    if (error.is_disk_full()) return disk_is_full(id, error);
    throw;
  }
}

Outcome JobHandler::attempt(const std::string& id, const Attempts& attempts, const Config& config) {
  const auto end = try_to_prove(id, attempts, config);
  if (const Outcome* outcome = std::get_if<Outcome>(&end)) return *outcome;
  // What fails from here on is not the job: with its answer on disk it only has to be moved.
  publish(id, std::get<Answer>(end));
  said_disk_full_ = false;
  return Outcome::kDone;
}

std::variant<JobHandler::Answer, Outcome> JobHandler::try_to_prove(const std::string& id,
                                                                   const Attempts& attempts,
                                                                   const Config& config) {
  try {
    return prove(id, attempts, config);
  } catch (const Interrupted& error) {
    return interrupted(id, error.why);
  } catch (const JobError& error) {
    if (may_pass(error.reason())) return give_up_or_retry(id, error, config);
    return fail(id, error, Place::kFailed, attempts);
  } catch (const IoError& error) {
    if (error.is_disk_full()) throw;  // not the job's fault
    return give_up_or_retry(id, JobError(Reason::kIo, error.what()), config);
  } catch (const std::bad_alloc&) {
    return give_up_or_retry(id,
                            JobError(Reason::kMemory,
                                     "out of memory; choose a smaller epoch_size_log2, or "
                                     "give the daemon more"),
                            config);
  } catch (const std::system_error& error) {
    return give_up_or_retry(id, JobError(Reason::kMemory, error.what()), config);
  } catch (const std::exception& error) {
    return give_up_or_retry(id, JobError(Reason::kInternal, error.what()), config);
  }
}

/// Nobody is to blame: the job waits in active/, or is cancelled.
Outcome JobHandler::interrupted(const std::string& id, Interrupted::Why why) {
  if (why == Interrupted::Why::kCancel) {
    log::info("job cancelled", {{"job", publish_cancelled(queue_, fs_, id)}});
    return Outcome::kCancelled;
  }
  end_attempt(fs_, queue_.active_path(id));
  if (why == Interrupted::Why::kTwin) return Outcome::kTwin;
  const bool is_yield = why == Interrupted::Why::kYield;
  log::info(is_yield ? "job makes room for another; it goes on from its last proved epoch"
                     : "job stopped; it goes on from its last proved epoch",
            {{"job", id}});
  return is_yield ? Outcome::kYielded : Outcome::kStopped;
}

JobHandler::Answer JobHandler::prove(const std::string& id, const Attempts& attempts,
                                     const Config& config) {
  const Path job = queue_.active_path(id);
  const JobSpec spec = read_spec(job);
  ProofRequest request = read_request(job, spec, config);
  const JobKey key = job_key(request);
  auto hold = std::make_unique<KeyHold>(*this, to_hex(key), id);
  JobTurn turn(scheduler_, id);
  if (energy_ && request.backend != BackendPolicy::kCpu) {
    turn.watch_energy([&] { return energy_(request.devices); });
  }
  request.turn = &turn;
  const std::unique_ptr<JobProver> prover = make_prover_(request);
  if (auto answer = answer_from_done(id, *prover, to_hex(key))) {
    answer->hold = std::move(hold);
    return *std::move(answer);
  }

  log::info("job started",
            {{"job", id}, {"attempt", attempts.attempt}, {"backend", prover->usage().backend}});
  ActiveMonitor monitor(fs_, clock_, stop_, turn, job, attempts.attempt,
                        {config.daemon.timeouts, spec.deadline_unix});
  ProofFacts facts;
  try {
    DirectoryEpochStore store(fs_, job / kEpochsName, key);
    facts = run_job(fs_, *prover, store, job / kBundleFile, monitor);
  } catch (const JobError& error) {
    // Every epoch was verified and the global proof made again, and still: nothing is trusted.
    if (error.reason() == Reason::kInternal) fs_.remove_tree(job / kEpochsName);
    throw;
  }
  nlohmann::json result = make_result(id, request, facts, prover->usage(), attempts);
  result["key"] = to_hex(key);
  const bool is_of_device = result["backend"] == "cuda";
  if (is_of_device && turn.joules()) result["energy_joules"] = *turn.joules();
  return {std::move(result), to_hex(key), std::move(hold)};
}

void JobHandler::publish(const std::string& id, const Answer& answer) {
  const nlohmann::json& result = answer.result;
  const std::string published = publish_done(queue_, fs_, id, result);
  {
    const std::lock_guard lock(keys_mutex_);
    done_.add(answer.key_hex, published);
  }
  if (result.contains("duplicate_of")) {
    log::info("job answered with the proof of an equal one",
              {{"job", published}, {"twin", result["duplicate_of"].get<std::string>()}});
    return;
  }
  log::info("job done", {{"job", published},
                         {"cycles", result["cycles"].get<u64>()},
                         {"epochs", result["epochs"].get<u64>()},
                         {"resumed", result["counters"]["epochs_resumed"].get<u64>()},
                         {"exit_code", result["exit_code"].get<u64>()},
                         {"prove_seconds", result["prove_seconds"].get<double>()}});
}

std::optional<std::string> JobHandler::find_done(const std::string& key_hex) {
  const std::lock_guard lock(keys_mutex_);
  return done_.find(key_hex);
}

/// Seconds from the job's arrival to the start of its first attempt.
double JobHandler::queue_wait_s(const Path& job) {
  constexpr double kNanosecondsPerSecond = 1e9;
  const JobTimes times = read_times(fs_, job);
  const i64 waited_ns = std::max<i64>(times.started_ns - times.queued_ns, 0);
  return static_cast<double>(waited_ns) / kNanosecondsPerSecond;
}

std::optional<JobHandler::Answer> JobHandler::answer_from_done(const std::string& id,
                                                               JobProver& prover,
                                                               const std::string& key_hex) {
  const std::optional<std::string> twin = find_done(key_hex);
  if (!twin) return std::nullopt;
  const Path twin_path = queue_.path_of(Place::kDone, *twin);
  const Path bundle = queue_.active_path(id) / kBundleFile;
  try {
    prover.verify(twin_path / kBundleFile);
    fs_.remove_file(bundle);
    fs_.link(twin_path / kBundleFile, bundle);
    fs_.sync_directory(bundle.parent_path());
    constexpr u64 kResultBytesMax = u64{1} << 28;
    auto result = nlohmann::json::parse(fs_.read_text(twin_path / kResultFile, kResultBytesMax));
    result["job"] = id;
    result["duplicate_of"] = *twin;
    result["queue_wait_seconds"] = queue_wait_s(queue_.active_path(id));
    return Answer{std::move(result), key_hex, nullptr};
  } catch (const JobError& error) {
    log::warn("the bundle of an equal job does not verify; proving again",
              {{"job", id}, {"twin", *twin}, {"why", error.what()}});
  } catch (const IoError& error) {
    if (error.code() != ENOENT) throw;
    log::info("the equal job was removed meanwhile; proving", {{"job", id}, {"twin", *twin}});
  }
  return std::nullopt;
}

bool JobHandler::has_file(const Path& job, std::string_view name) {
  const auto entry = fs_.stat(job / name);
  if (entry && entry->kind != Entry::Kind::kFile) {
    throw JobError(Reason::kInput, "the job's '" + std::string(name) +
                                       "' is not a regular file; submit the file itself");
  }
  return entry.has_value();
}

JobSpec JobHandler::read_spec(const Path& job) {
  if (!has_file(job, kJobFile)) return {};
  const Bytes text = fs_.read_prefix(job / kJobFile, kJobFileBytesMax + 1);
  const auto spec = parse_job(std::string(kJobFile), {text.begin(), text.end()});
  if (!spec) throw JobError(Reason::kInput, to_text(spec.error()));
  return *spec;
}

ProofRequest JobHandler::read_request(const Path& job, const JobSpec& spec, const Config& config) {
  ProofRequest request;
  request.elf_name = kProgramFile;
  if (!has_file(job, kProgramFile)) {
    throw JobError(Reason::kInput, "the job has no program.elf; submit it with one");
  }
  request.elf = read_elf(fs_, job / kProgramFile, Links::kRefuse);
  if (has_file(job, kInputFile)) {
    request.input = read_input(fs_, job / kInputFile, Links::kRefuse);
  }
  request.protocol = resolve_protocol(config.protocol, environment_, spec.protocol, {});
  request.cycle_limit = spec.cycle_limit.value_or(config.daemon.cycle_limit);
  request.threads = config.daemon.threads;
  request.backend = spec.backend.value_or(config.daemon.backend);
  request.pipeline_depth = config.daemon.pipeline_depth;
  const u32 percent = config.daemon.checkpoint_percent;
  request.checkpoints.reset();
  if (percent > 0) request.checkpoints = checkpoint_pace(percent);
  request.devices = config.daemon.devices;
  request.memory = config.daemon.memory;
  request.residency = spec.residency.value_or(config.daemon.residency);
  return request;
}

nlohmann::json JobHandler::make_result(const std::string& id, const ProofRequest& request,
                                       const ProofFacts& facts, const ProverUsage& usage,
                                       const Attempts& attempts) {
  nlohmann::json result = proof_record(request, facts, usage);
  result["job"] = id;
  result["state"] = "done";
  result["queue_wait_seconds"] = queue_wait_s(queue_.active_path(id));
  result["attempt"] = attempts.attempt;
  result["crashes"] = attempts.crashes;
  result["failures"] = attempts.failures;
  result["finished"] = format_utc_time(clock_.unix_seconds());
  return result;
}

Outcome JobHandler::give_up_or_retry(const std::string& id, const JobError& error,
                                     const Config& config) {
  const Attempts attempts = end_attempt_failed(fs_, queue_.active_path(id));
  if (is_exhausted(attempts, config.daemon.retries)) {
    return fail(id, error, Place::kQuarantine, attempts);
  }
  log::warn("attempt failed; the job is tried again", {{"job", id},
                                                       {"attempt", attempts.attempt},
                                                       {"reason", name_of(error.reason())},
                                                       {"message", error.what()}});
  return Outcome::kRetry;
}

Outcome JobHandler::fail(const std::string& id, const JobError& error, Place place,
                         const Attempts& attempts) {
  const std::string published = publish_failed(queue_, fs_, id, place, error, attempts);
  log::error(place == Place::kQuarantine ? "job quarantined" : "job failed",
             {{"job", published}, {"reason", name_of(error.reason())}, {"message", error.what()}});
  return Outcome::kFailed;
}

Outcome JobHandler::disk_is_full(const std::string& id, const IoError& error) {
  if (!said_disk_full_.exchange(true)) {
    log::error("the disk is full: nothing new is started until there is room; make some",
               {{"job", id}, {"message", error.what()}});
  }
  return Outcome::kDiskFull;
}

/// Removing needs no room.
void JobHandler::take_back_attempt(const std::string& id) {
  const Path job = queue_.active_path(id);
  try {
    if (fs_.exists(job)) end_attempt(fs_, job);
  } catch (const IoError& error) {
    log::warn("cannot take back the attempt", {{"job", id}, {"message", error.what()}});
  }
}

}  // namespace epochd
