#include "tests/daemon/fake_prover.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <new>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "daemon/pipeline/job_key.hpp"
#include "daemon/queue/reason.hpp"
#include "prover/hash/blake3.hpp"

namespace epochd {
namespace {

constexpr size_t kEpochProofBytes = 1000;

struct Program {
  u64 epochs = 1;
  u64 pause_ms = 0;
  u64 at = 0;
  std::string fault;
};

Program parse(const Bytes& elf) {
  Program program;
  std::istringstream words(std::string(elf.begin(), elf.end()));
  std::string word;
  while (words >> word) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) throw JobError(Reason::kInput, "not a fake program");
    const std::string value = word.substr(equals + 1);
    if (word.compare(0, equals, "epochs") == 0) program.epochs = std::stoull(value);
    if (word.compare(0, equals, "pause_ms") == 0) program.pause_ms = std::stoull(value);
    if (word.compare(0, equals, "at") == 0) program.at = std::stoull(value);
    if (word.compare(0, equals, "fault") == 0) program.fault = value;
  }
  return program;
}

Bytes epoch_bytes(const JobKey& key, u64 label) {
  prover::Blake3 hasher;
  hasher.update(key.data(), key.size());
  hasher.update(&label, sizeof(label));
  Bytes bytes(kEpochProofBytes);
  hasher.finalize(0, bytes.data(), bytes.size());
  return bytes;
}

class FakeProver : public JobProver {
 public:
  FakeProver(const ProofRequest& request, FakeLog* log, bool is_faulty)
      : request_(request), program_(parse(request.elf)), key_(job_key(request)), log_(log) {
    if (!is_faulty) program_.fault.clear();
    usage_.backend = "cpu";
    usage_.fallback = choose_backend(request.backend, no_devices).fallback;
  }

  RunFacts prove_epochs(EpochExchange& exchange) override {
    for (u64 label = 1; label <= program_.epochs; ++label) exchange.check();
    maybe_fault(0);
    const RunFacts facts{program_.epochs * 100, program_.epochs, 0, {42}};
    exchange.surveyed(facts);
    Turn turn(request_, log_);
    for (u64 label = 1; label <= program_.epochs; ++label) {
      exchange.check();
      const std::optional<Bytes> stored = exchange.load(label);
      const bool is_stored = stored && accept(label, *stored);
      if (!is_stored) turn.take([&] { exchange.check(); });
      exchange.save(label, is_stored ? *stored : prove(label), is_stored);
      turn.mind();
    }
    return facts;
  }

  void assemble(const EpochLoader& load, const ByteSink& bundle, const Checkpoint& check) override {
    for (u64 label = 1; label <= program_.epochs; ++label) {
      check();
      bundle(load(label));
    }
    if (log_ != nullptr) ++log_->assembled;
    std::this_thread::sleep_for(std::chrono::milliseconds(program_.pause_ms));
  }

  void verify(const Path& bundle) override {
    FileSystem fs;
    const bool is_good = fs.read_file(bundle, u64{1} << 30) == fake_bundle(request_);
    const bool is_refused_once = program_.fault == "global" && refused_++ == 0;
    if (!is_good || program_.fault == "verify" || is_refused_once) {
      throw JobError(Reason::kInternal, "the fake bundle does not verify");
    }
    if (log_ != nullptr) ++log_->verified;
  }

  ProverUsage usage() const override { return usage_; }

 private:
  /// Proves only when it may.
  class Turn {
   public:
    Turn(const ProofRequest& request, FakeLog* log) : request_(request), log_(log) {}
    ~Turn() { give_back(); }

    void take(const Checkpoint& check) {
      if (has_it_ || request_.turn == nullptr) return;
      wait_for_turn(*request_.turn, check);
      has_it_ = true;
      if (log_ == nullptr) return;
      const std::lock_guard lock(log_->mutex);
      log_->proving_max = std::max(log_->proving_max.load(), ++log_->proving);
      log_->order.emplace_back(request_.elf.begin(), request_.elf.end());
    }
    void mind() {
      if (!has_it_ || !request_.turn->is_wanted()) return;
      if (log_ != nullptr) ++log_->turns_given_back;
      give_back();
    }

   private:
    void give_back() {
      if (!std::exchange(has_it_, false)) return;
      if (log_ != nullptr) --log_->proving;
      request_.turn->give_back();
    }

    const ProofRequest& request_;
    FakeLog* log_;
    bool has_it_ = false;
  };

  Bytes prove(u64 label) {
    std::this_thread::sleep_for(std::chrono::milliseconds(program_.pause_ms));
    maybe_fault(label);
    if (log_ != nullptr) ++log_->proved;
    return epoch_bytes(key_, label);
  }

  bool accept(u64 label, const Bytes& bytes) {
    if (bytes != epoch_bytes(key_, label)) return false;
    if (log_ != nullptr) ++log_->accepted;
    return true;
  }

  void maybe_fault(u64 label) const {
    if (program_.fault.empty() || program_.at != label) return;
    if (program_.fault == "guest") throw JobError(Reason::kGuestFault, "pc 0x1000: bad load");
    if (program_.fault == "cycles") throw JobError(Reason::kCycleLimit, "no exit in 7 cycles");
    if (program_.fault == "memory") throw std::bad_alloc();
    if (program_.fault == "system") throw std::system_error(ENOMEM, std::generic_category());
    if (program_.fault == "internal") throw std::runtime_error("surprise");
    if (program_.fault == "disk") throw IoError("write", "/q/epoch", ENOSPC);
  }

  const ProofRequest& request_;
  Program program_;
  JobKey key_;
  FakeLog* log_;
  ProverUsage usage_;
  u32 refused_ = 0;
};

}  // namespace

JobProverFactory make_fake_factory(FakeLog* log, u32 faulty_provers) {
  const auto made = std::make_shared<std::atomic<u32>>(0);
  return [log, faulty_provers, made](const ProofRequest& request) {
    return std::make_unique<FakeProver>(request, log, (*made)++ < faulty_provers);
  };
}

Result<std::vector<DeviceInfo>, DeviceQueryError> no_devices() {
  return Unexpected{DeviceQueryError{DeviceQueryErrorKind::kNoDevice, -1, "there is no device"}};
}

Bytes fake_bundle(const ProofRequest& request) {
  Bytes bundle;
  const JobKey key = job_key(request);
  for (u64 label = 1; label <= parse(request.elf).epochs; ++label) {
    const Bytes bytes = epoch_bytes(key, label);
    bundle.insert(bundle.end(), bytes.begin(), bytes.end());
  }
  return bundle;
}

}  // namespace epochd
