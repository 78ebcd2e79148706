// From estimates to a verdict. A is what is judged, B what it is compared with.
#pragma once

#include <string>
#include <vector>

#include "bench/abba/statistics.hpp"

namespace epochd::abba {

enum class Verdict {
  kImprovement,   ///< A is better, by at least the threshold
  kRegression,    ///< A is worse, by at least the threshold
  kEquivalent,    ///< the whole interval lies within the threshold
  kInconclusive,  ///< none of these: more blocks, or less noise
  kUnproven,      ///< the numbers are not to be believed: see the reasons
};

const char* name_of(Verdict verdict);

/// 0 improvement or equivalent, 2 regression, 3 unproven, 4 inconclusive. 1 is the tool's own.
int exit_code_of(Verdict verdict);

struct Criteria {
  double threshold = 0.01;   ///< relative: 0.01 is one percent
  double confidence = 0.95;  ///< of the interval; 1 minus it is the test's level
  bool higher_is_better = false;
  bool is_aa = false;           ///< both sides run the same command
  bool warnings_count = false;  ///< a warning makes the verdict unproven
};

struct Judgement {
  Verdict verdict = Verdict::kInconclusive;
  std::string because;                ///< one sentence
  std::vector<std::string> warnings;  ///< what a reader should know before using the verdict
};

/// What the estimate alone says. An improvement or a regression needs the t interval off 0, the
/// signed-rank test at the same level where so few blocks can give it, and an estimate of at least
/// the threshold.
Verdict verdict_of(const Estimate& estimate, const Criteria& criteria);

/// The control metric moved: its interval at 99 % is off 0 and its estimate reaches the threshold.
bool control_moved(const Estimate& control, const Criteria& criteria);

/// The verdict with everything that can undo it. `control`: null where there is none; `planned`,
/// `invalid`: blocks asked for and blocks a rule struck out.
Judgement judge(const Estimate& estimate, const Estimate* control, int planned, int invalid,
                const Criteria& criteria);

}  // namespace epochd::abba
