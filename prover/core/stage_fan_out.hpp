// One listener of stages in front of several.
#pragma once

#include <initializer_list>
#include <vector>

#include "prover/core/stage.hpp"

namespace epochd {

/// Null listeners are left out. Ends go in the opposite order of beginnings, so that scopes nest.
class StageFanOut : public StageListener {
 public:
  StageFanOut(std::initializer_list<StageListener*> listeners) {
    for (StageListener* l : listeners) {
      if (l != nullptr) listeners_.push_back(l);
    }
  }
  void stage_begins(const char* name) override {
    for (StageListener* l : listeners_) l->stage_begins(name);
  }
  void stage_ends(const char* name) override {
    for (auto l = listeners_.rbegin(); l != listeners_.rend(); ++l) (*l)->stage_ends(name);
  }

 private:
  std::vector<StageListener*> listeners_;
};

}  // namespace epochd
