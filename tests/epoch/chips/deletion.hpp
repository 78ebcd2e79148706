// Leaves one constraint or one interaction out of one chip, as if its `eval` had never had it, in
// everything the chip tests judge by. deletion_test runs the chip tests once for each: some test
// must fail. The environment says which: EPOCHD_DELETE="add constraint 3" or "add interaction 0".
#pragma once

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "prover/air/context.hpp"
#include "prover/air/describe.hpp"

namespace epochd::chips::harness {

constexpr u32 kNoIndex = ~0u;

struct Deletion {
  std::string chip;
  u32 constraint = kNoIndex, interaction = kNoIndex;  ///< index in order of `eval`
};

inline const Deletion& deletion() {
  static const Deletion chosen = [] {
    Deletion d;
    const char* text = std::getenv("EPOCHD_DELETE");
    if (text == nullptr) return d;
    std::string kind;
    u32 index = 0;
    std::istringstream(text) >> d.chip >> kind >> index;
    (kind == "constraint" ? d.constraint : d.interaction) = index;
    return d;
  }();
  return chosen;
}

/// A context that passes on all but the constraint of one index.
template <class Context>
class DropConstraint : public prover::ContextMixin<DropConstraint<Context>> {
 public:
  using Value = typename Context::Value;
  DropConstraint(Context& context, u32 index) : context_(context), left_(index) {}
  Value fixed(u32 i) const { return context_.fixed(i); }
  Value local(u32 i) const { return context_.local(i); }
  Value param(u32 i) const { return context_.param(i); }
  Value constant(u64 v) const { return context_.constant(v); }
  void assert_zero(const Value& v, const char* label) {
    if (left_-- != 0) context_.assert_zero(v, label);
  }
  template <class... T>
  void interact(u8 bus, bool is_send, const char* label, const T&... values) {
    context_.interact(bus, is_send, label, values...);
  }

 private:
  Context& context_;
  u32 left_;  ///< constraints before the dropped one
};

template <class Air, class Context>
void eval_after_deletion(Context& context) {
  const Deletion& d = deletion();
  if (d.constraint == kNoIndex || d.chip != Air::kName) return Air::eval(context);
  DropConstraint<Context> without(context, d.constraint);
  Air::eval(without);
}

/// The chip as data; a deleted interaction stays in its place with multiplicity 0.
template <class Air>
const prover::AirInfo& info_after_deletion() {
  static constexpr const prover::AirInfo& kAll = prover::Description<Air>::kInfo;
  const Deletion& d = deletion();
  if (d.interaction == kNoIndex || d.chip != Air::kName) return kAll;
  static std::vector<prover::LinearForm> forms;
  static const prover::AirInfo without = [&] {
    forms.assign(kAll.forms, kAll.forms + kAll.form_count);
    forms[kAll.interactions[d.interaction].first_form] = {0, 0, prover::Fp::zero()};
    prover::AirInfo info = kAll;
    info.forms = forms.data();
    return info;
  }();
  return without;
}

}  // namespace epochd::chips::harness
