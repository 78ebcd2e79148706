// Stage digests: every state a transcript went through, by label. Two provers of the same statement
// that should agree, on different instruction sets, thread counts or devices, are compared stage by
// stage, and the first that differs is named.
#pragma once

#include <string>
#include <vector>

#include "prover/transcript/transcript.hpp"

namespace epochd::prover {

class StageLog {
 public:
  struct Stage {
    std::string label;
    Digest state;
  };

  StageLog() = default;
  StageLog(const StageLog&) = delete;
  StageLog& operator=(const StageLog&) = delete;

  /// For Transcript::observe. Pre: the log outlives the transcript and its copies.
  TranscriptObserver observer() { return {&StageLog::record, this}; }
  const std::vector<Stage>& stages() const { return stages_; }
  /// "fri/layer 2": the label of stage i, numbered from 1 if it was not the first of that name.
  std::string name(size_t i) const {
    size_t before = 0;
    for (size_t j = 0; j < i; ++j) before += stages_[j].label == stages_[i].label ? 1 : 0;
    return before == 0 ? stages_[i].label : stages_[i].label + ' ' + std::to_string(before);
  }

 private:
  static void record(void* context, const char* label, const Digest& state) {
    static_cast<StageLog*>(context)->stages_.push_back({label, state});
  }

  std::vector<Stage> stages_;
};

/// The name of the first stage in which the logs differ, by label, state, or one log's end; empty
/// if there is none.
inline std::string first_difference(const StageLog& a, const StageLog& b) {
  const size_t common =
      a.stages().size() < b.stages().size() ? a.stages().size() : b.stages().size();
  for (size_t i = 0; i < common; ++i) {
    const StageLog::Stage& x = a.stages()[i];
    const StageLog::Stage& y = b.stages()[i];
    if (x.label != y.label || x.state != y.state) return a.name(i);
  }
  if (a.stages().size() > common) return a.name(common);
  if (b.stages().size() > common) return b.name(common);
  return {};
}

}  // namespace epochd::prover
