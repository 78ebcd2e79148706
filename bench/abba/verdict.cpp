#include "bench/abba/verdict.hpp"

#include <cmath>
#include <cstdio>

#include "bench/abba/student_t.hpp"

namespace epochd::abba {
namespace {

constexpr double kControlConfidence = 0.99;

bool off_zero(const Interval& interval) {
  return interval.low > 0 || interval.high < 0;
}

bool within(const Interval& interval, double bound) {
  return interval.low > -bound && interval.high < bound;
}

std::string percent(double log_ratio) {
  char text[32];
  std::snprintf(text, sizeof text, "%+.2f %%", 100 * std::expm1(log_ratio));
  return text;
}

bool wilcoxon_can_decide(const Estimate& estimate, const Criteria& criteria) {
  return wilcoxon_smallest_p(estimate.blocks) <= 1 - criteria.confidence;
}

std::string reason(const Estimate& estimate, Verdict verdict, const Criteria& criteria) {
  const std::string interval =
      "[" + percent(estimate.t.low) + ", " + percent(estimate.t.high) + "]";
  const std::string threshold = percent(std::log1p(criteria.threshold)).substr(1);
  switch (verdict) {
    case Verdict::kImprovement:
    case Verdict::kRegression:
      return "the interval " + interval +
             " leaves 0 out and the estimate reaches the threshold of " + threshold;
    case Verdict::kEquivalent:
      return "the interval " + interval + " lies within the threshold of " + threshold;
    default:
      break;
  }
  if (!off_zero(estimate.t)) {
    return "the interval " + interval + " holds 0 and more than the threshold of " + threshold;
  }
  if (std::fabs(estimate.mean) < std::log1p(criteria.threshold)) {
    return "the interval " + interval +
           " leaves 0 out, but the estimate is below the threshold of " + threshold;
  }
  return "the interval " + interval + " leaves 0 out, but the signed-rank test does not agree";
}

std::vector<std::string> warnings_of(const Estimate& estimate, int planned, int invalid,
                                     const Criteria& criteria) {
  std::vector<std::string> warnings;
  if (!wilcoxon_can_decide(estimate, criteria)) {
    warnings.push_back(
        std::to_string(estimate.blocks) +
        " blocks are too few for the signed-rank test; the t interval decides alone");
  }
  if (invalid > 0) {
    warnings.push_back(std::to_string(invalid) + " of " + std::to_string(planned + invalid) +
                       " blocks were struck out by rule");
  }
  if (off_zero(estimate.t) != off_zero(estimate.bootstrap)) {
    warnings.push_back("the t interval and the bootstrap disagree about 0");
  }
  return warnings;
}

}  // namespace

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kImprovement:
      return "improvement";
    case Verdict::kRegression:
      return "regression";
    case Verdict::kEquivalent:
      return "equivalent";
    case Verdict::kInconclusive:
      return "inconclusive";
    case Verdict::kUnproven:
      return "unproven";
  }
  return "";
}

int exit_code_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kImprovement:
    case Verdict::kEquivalent:
      return 0;
    case Verdict::kRegression:
      return 2;
    case Verdict::kUnproven:
      return 3;
    case Verdict::kInconclusive:
      return 4;
  }
  return 1;
}

Verdict verdict_of(const Estimate& estimate, const Criteria& criteria) {
  const double bound = std::log1p(criteria.threshold);
  if (within(estimate.t, bound)) return Verdict::kEquivalent;
  const bool confirmed =
      !wilcoxon_can_decide(estimate, criteria) || estimate.wilcoxon_p <= 1 - criteria.confidence;
  if (!off_zero(estimate.t) || !confirmed || std::fabs(estimate.mean) < bound) {
    return Verdict::kInconclusive;
  }
  return (estimate.mean > 0) == criteria.higher_is_better ? Verdict::kImprovement
                                                          : Verdict::kRegression;
}

bool control_moved(const Estimate& control, const Criteria& criteria) {
  const double half = student_t_quantile((1 + kControlConfidence) / 2, control.blocks - 1) *
                      control.deviation / std::sqrt(static_cast<double>(control.blocks));
  return std::fabs(control.mean) > half &&
         std::fabs(control.mean) >= std::log1p(criteria.threshold);
}

Judgement judge(const Estimate& estimate, const Estimate* control, int planned, int invalid,
                const Criteria& criteria) {
  Judgement out;
  out.verdict = verdict_of(estimate, criteria);
  out.because = reason(estimate, out.verdict, criteria);
  out.warnings = warnings_of(estimate, planned, invalid, criteria);
  if (estimate.blocks < planned) {
    out.verdict = Verdict::kUnproven;
    out.because = "only " + std::to_string(estimate.blocks) + " of " + std::to_string(planned) +
                  " blocks are valid";
  } else if (control != nullptr && control_moved(*control, criteria)) {
    out.verdict = Verdict::kUnproven;
    out.because = "the control metric moved by " + percent(control->mean) +
                  ", which no change of the measured code explains; if the control runs beside "
                  "what is measured, --control-command gives one that runs alone";
  } else if (criteria.is_aa &&
             (out.verdict == Verdict::kImprovement || out.verdict == Verdict::kRegression)) {
    out.verdict = Verdict::kUnproven;
    out.because = "both sides run the same command and differ all the same: " + out.because;
  } else if (criteria.warnings_count && !out.warnings.empty()) {
    out.verdict = Verdict::kUnproven;
    out.because = "a warning counts as a failure: " + out.warnings.front();
  }
  return out;
}

}  // namespace epochd::abba
