#include "daemon/pipeline/stored_check.hpp"

#include <chrono>
#include <future>

#include "daemon/pipeline/epoch_payload.hpp"

namespace epochd {
namespace {

constexpr std::chrono::milliseconds kCheckPause(20);

}  // namespace

StoredCheck::StoredCheck(EpochExchange& exchange, u64 last)
    : exchange_(exchange), thread_([this, last] { work(last); }) {}

StoredCheck::~StoredCheck() {
  is_stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

std::vector<u32> StoredCheck::missing() {
  if (thread_.joinable()) thread_.join();
  if (error_) std::rethrow_exception(error_);
  return missing_;
}

void StoredCheck::work(u64 last) {
  try {
    for (u64 label = 1; label <= last && !is_stopping_; ++label) {
      const std::optional<Bytes> stored = exchange_.load(label);
      if (!stored || !decode_payload(*stored)) missing_.push_back(static_cast<u32>(label));
    }
  } catch (...) {
    error_ = std::current_exception();
  }
  has_ended_ = true;
}

CheckedEpoch prove_one(CheckedPool& pool, Capsule capsule, const JobProver::Checkpoint& check) {
  const auto answered = std::make_shared<std::promise<CheckedAnswer>>();
  std::future<CheckedAnswer> future = answered->get_future();
  pool.submit(std::make_shared<const Capsule>(std::move(capsule)), std::nullopt,
              [answered](CheckedAnswer answer) { answered->set_value(std::move(answer)); });
  while (future.wait_for(kCheckPause) != std::future_status::ready) check();
  CheckedAnswer answer = future.get();
  if (answer.error) std::rethrow_exception(answer.error);
  return *std::move(answer.epoch);
}

void prove_missing(const std::vector<u32>& labels,
                   const std::function<std::optional<Capsule>()>& next, CheckedPool& pool,
                   EpochExchange& exchange) {
  const auto check = [&] { exchange.check(); };
  for (const u32 label : labels) {
    std::optional<Capsule> capsule;
    do {
      check();
      capsule = next();
    } while (capsule && capsule->label < label);
    EPOCHD_ASSERT(capsule && capsule->label == label);  // it ran past there before
    exchange.save(label, prove_one(pool, *std::move(capsule), check).payload, false);
  }
}

}  // namespace epochd
