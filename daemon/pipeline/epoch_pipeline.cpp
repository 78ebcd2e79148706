#include "daemon/pipeline/epoch_pipeline.hpp"

#include <algorithm>
#include <chrono>

#include "daemon/log/log.hpp"
#include "daemon/queue/reason.hpp"

namespace epochd {
namespace {

/// How often the owner is asked whether to go on while nothing happens.
constexpr std::chrono::milliseconds kCheckPause(20);

class Joined {
 public:
  explicit Joined(std::thread thread) : thread_(std::move(thread)) {}
  ~Joined() { join(); }
  Joined(const Joined&) = delete;
  Joined& operator=(const Joined&) = delete;
  void join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::thread thread_;
};

}  // namespace

EpochPipeline::EpochPipeline(CheckedPool& pool, EpochExchange& exchange, StageLog& log, u32 depth,
                             ProvingTurn* turn)
    : pool_(pool), exchange_(exchange), log_(log), depth_(depth), turn_(turn) {
  if (turn_ == nullptr) return;
  turn_->on_turn([this] {
    const std::lock_guard lock(mutex_);
    is_our_turn_ = true;
    changed_.notify_all();
  });
}

EpochPipeline::~EpochPipeline() {
  if (turn_ != nullptr) turn_->on_turn({});
}

RunFacts EpochPipeline::run(const EpochRun& run, const Absorb& absorb) {
  next_ = run.first;
  const auto survey_run = [this, &run](const JobProver::Checkpoint& checkpoint) {
    const LoggedStage stage(log_, "survey", "survey");
    return run.survey(checkpoint);
  };
  const Survey survey(survey_run, [this] {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  });
  Joined scout_thread(std::thread([this, &run, context = log::context()] {
    log::join(context);
    scout(run);
  }));
  try {
    return coordinate(survey, absorb);
  } catch (...) {
    const std::exception_ptr error = std::current_exception();
    stop();
    scout_thread.join();
    // No answer may come after this: it would find nobody.
    pool_.end();
    if (is_stopped_by_check_) salvage();
    std::rethrow_exception(error);
  }
}

void EpochPipeline::scout(const EpochRun& run) {
  std::exception_ptr error;
  try {
    scout_all(run);
  } catch (...) {
    error = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  has_scout_ended_ = true;
  if (!error_) error_ = std::move(error);
  changed_.notify_all();
}

void EpochPipeline::scout_all(const EpochRun& run) {
  for (bool is_final = false; !is_final && wait_for_room();) {
    std::optional<Capsule> next = run.next();
    if (!next) return;
    const auto capsule = std::make_shared<const Capsule>(*std::move(next));
    const u64 label = capsule->label;
    is_final = capsule->is_final;
    std::optional<Bytes> stored = exchange_.load(label);
    {
      const std::lock_guard lock(mutex_);
      ++outstanding_;
      outstanding_max_ = std::max(outstanding_max_, outstanding_);
      if (is_final) last_label_ = label;
    }
    pool_.submit(capsule, std::move(stored),
                 [this, label](CheckedAnswer answer) { finish(label, std::move(answer)); });
  }
}

bool EpochPipeline::wait_for_room() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return is_stopping_ || outstanding_ < limit(); });
  return !is_stopping_;
}

void EpochPipeline::finish(u64 label, CheckedAnswer answer) {
  const std::lock_guard lock(mutex_);
  if (answer.epoch) finished_.emplace(label, *std::move(answer.epoch));
  if (!error_) error_ = std::move(answer.error);
  changed_.notify_all();
}

RunFacts EpochPipeline::coordinate(const Survey& survey, const Absorb& absorb) {
  for (;;) {
    check();
    report(survey);
    mind_turn();
    if (std::optional<CheckedEpoch> epoch = wait(survey)) {
      absorb(static_cast<u32>(next_), epoch->boundary);
      save(next_, *epoch);
      const std::lock_guard lock(mutex_);
      --outstanding_;
      ++next_;
      changed_.notify_all();
      continue;
    }
    const std::lock_guard lock(mutex_);
    if (!is_surveyed_ || !is_idle()) continue;
    RunFacts facts = survey.facts();
    if (last_label_ != facts.epochs) {
      throw JobError(Reason::kInternal, "the program ran differently the second time");
    }
    return facts;
  }
}

std::optional<CheckedEpoch> EpochPipeline::wait(const Survey& survey) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kCheckPause, [&] {
    const bool is_news = survey.has_ended() && (!is_surveyed_ || is_idle());
    return error_ || finished_.count(next_) > 0 || is_news || is_our_turn_;
  });
  is_our_turn_ = false;
  if (error_) std::rethrow_exception(error_);
  const auto found = finished_.find(next_);
  if (found == finished_.end()) return std::nullopt;
  CheckedEpoch epoch = std::move(found->second);
  finished_.erase(found);
  return epoch;
}

void EpochPipeline::report(const Survey& survey) {
  if (is_surveyed_ || !survey.has_ended()) return;
  exchange_.surveyed(survey.facts());
  is_surveyed_ = true;
}

/// What is being proved when another job wants the turn is finished, and saved as it comes.
void EpochPipeline::mind_turn() {
  if (turn_ == nullptr) return;
  if (pool_.is_open()) {
    if (!turn_->is_wanted()) return;
    const LoggedStage stage(log_, "main", "close pool");
    pool_.close();
    turn_->give_back();
  } else if (pool_.is_wanting() && turn_->try_take()) {
    const LoggedStage stage(log_, "main", "open pool");
    pool_.open();
    const std::lock_guard lock(mutex_);
    changed_.notify_all();  // there is room for more
  }
}

void EpochPipeline::check() {
  try {
    exchange_.check();
  } catch (...) {
    is_stopped_by_check_ = true;
    throw;
  }
}

void EpochPipeline::save(u64 label, const CheckedEpoch& epoch) {
  const LoggedStage stage(log_, "save", "save", label);
  exchange_.save(label, epoch.payload, epoch.was_stored);
}

void EpochPipeline::stop() {
  const std::lock_guard lock(mutex_);
  is_stopping_ = true;
  changed_.notify_all();
}

void EpochPipeline::salvage() {
  try {
    // Some between these may be missing: what is stored is looked for label by label.
    for (const auto& [label, epoch] : finished_) save(label, epoch);
  } catch (const std::exception& error) {
    log::warn("epochs that were being proved could not be kept", {{"why", error.what()}});
  }
}

}  // namespace epochd
