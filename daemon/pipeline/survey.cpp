#include "daemon/pipeline/survey.hpp"

#include "prover/core/assert.hpp"

namespace epochd {
namespace {

struct Stopped : std::exception {
  const char* what() const noexcept override { return "the survey was stopped"; }
};

}  // namespace

Survey::Survey(Run run, std::function<void()> on_end) : on_end_(std::move(on_end)) {
  thread_ = std::thread([this, run = std::move(run)] { work(run); });
}

Survey::~Survey() {
  is_stopping_ = true;
  thread_.join();
}

void Survey::work(const Run& run) {
  std::optional<RunFacts> facts;
  std::exception_ptr error;
  try {
    facts = run([this] {
      if (is_stopping_) throw Stopped();
    });
  } catch (...) {
    error = std::current_exception();
  }
  {
    const std::lock_guard lock(mutex_);
    facts_ = std::move(facts);
    error_ = std::move(error);
  }
  on_end_();
}

bool Survey::has_ended() const {
  const std::lock_guard lock(mutex_);
  return facts_ || error_;
}

RunFacts Survey::facts() const {
  const std::lock_guard lock(mutex_);
  if (error_) std::rethrow_exception(error_);
  EPOCHD_ASSERT(facts_.has_value());
  return *facts_;
}

}  // namespace epochd
