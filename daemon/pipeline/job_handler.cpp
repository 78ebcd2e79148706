#include "daemon/pipeline/job_handler.hpp"

#include <nlohmann/json.hpp>
#include <system_error>

#include "config/time_text.hpp"
#include "daemon/log/log.hpp"
#include "daemon/pipeline/job_key.hpp"
#include "daemon/pipeline/program_files.hpp"
#include "daemon/pipeline/proof_record.hpp"
#include "daemon/queue/finish.hpp"

namespace epochd {

struct JobHandler::Answer {
  nlohmann::json result;
  std::string key_hex;
};

JobHandler::JobHandler(FileSystem& fs, Queue& queue, const Config& config, Environment environment,
                       JobProverFactory make_prover, const Clock& clock,
                       const std::atomic<bool>& stop)
    : fs_(fs),
      queue_(queue),
      config_(config),
      environment_(std::move(environment)),
      make_prover_(std::move(make_prover)),
      clock_(clock),
      stop_(stop),
      done_(fs, queue.root()) {}

Outcome JobHandler::handle(const std::string& id) {
  bool has_begun = false;
  try {
    if (const auto finished = finish_interrupted(queue_, fs_, id)) {
      if (finished->place != Place::kDone) return Outcome::kFailed;
      done_.add(finished->id);
      return Outcome::kDone;
    }
    if (fs_.exists(queue_.active_path(id) / kCancelFile)) {
      log::info("job cancelled", {{"job", publish_cancelled(queue_, fs_, id)}});
      return Outcome::kCancelled;
    }
    const Attempts attempts = begin_attempt(fs_, queue_.active_path(id));
    has_begun = true;
    if (is_exhausted(attempts, config_.daemon.retries)) {
      const JobError error(Reason::kInternal,
                           "the daemon died " + std::to_string(attempts.crashes) +
                               " times while at this job; look at the log for the cause, then "
                               "`epoch retry` it");
      return fail(id, error, Place::kQuarantine, attempts);
    }
    return attempt(id, attempts);
  } catch (const IoError& error) {
    // The daemon lives: what is left must not look like a crash. One before must.
    if (has_begun) take_back_attempt(id);
    if (error.is_disk_full()) return disk_is_full(id, error);
    throw;
  }
}

Outcome JobHandler::attempt(const std::string& id, const Attempts& attempts) {
  const auto end = try_to_prove(id, attempts);
  if (const Outcome* outcome = std::get_if<Outcome>(&end)) return *outcome;
  // What fails from here on is not the job: with its answer on disk it only has to be moved.
  publish(id, std::get<Answer>(end));
  said_disk_full_ = false;
  return Outcome::kDone;
}

std::variant<JobHandler::Answer, Outcome> JobHandler::try_to_prove(const std::string& id,
                                                                   const Attempts& attempts) {
  try {
    return prove(id, attempts);
  } catch (const Interrupted& interrupted) {
    if (interrupted.why == Interrupted::Why::kCancel) {
      log::info("job cancelled", {{"job", publish_cancelled(queue_, fs_, id)}});
      return Outcome::kCancelled;
    }
    end_attempt(fs_, queue_.active_path(id));
    log::info("job stopped; it goes on from its last proved epoch", {{"job", id}});
    return Outcome::kStopped;
  } catch (const JobError& error) {
    if (may_pass(error.reason())) return give_up_or_retry(id, error);
    return fail(id, error, Place::kFailed, attempts);
  } catch (const IoError& error) {
    if (error.is_disk_full()) throw;  // not the job's fault
    return give_up_or_retry(id, JobError(Reason::kIo, error.what()));
  } catch (const std::bad_alloc&) {
    return give_up_or_retry(id, JobError(Reason::kMemory,
                                         "out of memory; choose a smaller epoch_size_log2, or "
                                         "give the daemon more"));
  } catch (const std::system_error& error) {
    return give_up_or_retry(id, JobError(Reason::kMemory, error.what()));
  } catch (const std::exception& error) {
    return give_up_or_retry(id, JobError(Reason::kInternal, error.what()));
  }
}

JobHandler::Answer JobHandler::prove(const std::string& id, const Attempts& attempts) {
  const Path job = queue_.active_path(id);
  const JobSpec spec = read_spec(job);
  const ProofRequest request = read_request(job, spec);
  const JobKey key = job_key(request);
  const std::unique_ptr<JobProver> prover = make_prover_(request);
  if (auto answer = answer_from_done(id, *prover, to_hex(key))) return *std::move(answer);

  log::info("job started",
            {{"job", id}, {"attempt", attempts.attempt}, {"backend", prover->usage().backend}});
  ActiveMonitor monitor(fs_, clock_, stop_, job, attempts.attempt,
                        {config_.daemon.timeouts, spec.deadline_unix});
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
  return {std::move(result), to_hex(key)};
}

void JobHandler::publish(const std::string& id, const Answer& answer) {
  const nlohmann::json& result = answer.result;
  const std::string published = publish_done(queue_, fs_, id, result);
  done_.add(answer.key_hex, published);
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

std::optional<JobHandler::Answer> JobHandler::answer_from_done(const std::string& id,
                                                               JobProver& prover,
                                                               const std::string& key_hex) {
  const std::optional<std::string> twin = done_.find(key_hex);
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
    return Answer{std::move(result), key_hex};
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

ProofRequest JobHandler::read_request(const Path& job, const JobSpec& spec) {
  ProofRequest request;
  request.elf_name = kProgramFile;
  if (!has_file(job, kProgramFile)) {
    throw JobError(Reason::kInput, "the job has no program.elf; submit it with one");
  }
  request.elf = read_elf(fs_, job / kProgramFile, Links::kRefuse);
  if (has_file(job, kInputFile)) {
    request.input = read_input(fs_, job / kInputFile, Links::kRefuse);
  }
  request.protocol = resolve_protocol(config_.protocol, environment_, spec.protocol, {});
  request.cycle_limit = spec.cycle_limit.value_or(config_.daemon.cycle_limit);
  request.threads = config_.daemon.threads;
  request.backend = spec.backend.value_or(config_.daemon.backend);
  request.residency = spec.residency.value_or(config_.daemon.residency);
  return request;
}

nlohmann::json JobHandler::make_result(const std::string& id, const ProofRequest& request,
                                       const ProofFacts& facts, const ProverUsage& usage,
                                       const Attempts& attempts) const {
  nlohmann::json result = proof_record(request, facts, usage);
  result["job"] = id;
  result["state"] = "done";
  result["attempt"] = attempts.attempt;
  result["crashes"] = attempts.crashes;
  result["failures"] = attempts.failures;
  result["finished"] = format_utc_time(clock_.unix_seconds());
  return result;
}

Outcome JobHandler::give_up_or_retry(const std::string& id, const JobError& error) {
  const Attempts attempts = end_attempt_failed(fs_, queue_.active_path(id));
  if (is_exhausted(attempts, config_.daemon.retries)) {
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
  if (!said_disk_full_) {
    log::error("the disk is full: nothing new is started until there is room; make some",
               {{"job", id}, {"message", error.what()}});
    said_disk_full_ = true;
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
