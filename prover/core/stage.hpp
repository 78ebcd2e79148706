// Stages of a proof by name, told to whoever listens: timings, traces, NVTX ranges and logs all
// hang on this one scope. The prover itself has no clock.
#pragma once

namespace epochd {

class StageListener {
 public:
  virtual ~StageListener() = default;
  /// `name` is a literal.
  virtual void stage_begins(const char* name) = 0;
  virtual void stage_ends(const char* name) = 0;
};

class Stage {
 public:
  Stage(StageListener* listener, const char* name) : listener_(listener), name_(name) {
    if (listener_ != nullptr) listener_->stage_begins(name_);
  }
  ~Stage() {
    if (listener_ != nullptr) listener_->stage_ends(name_);
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

 private:
  StageListener* listener_;
  const char* name_;
};

}  // namespace epochd
