#include "cuda/session/residency.hpp"

namespace epochd::cuda {
namespace {

std::string message(ResidencyErrorKind kind, const std::string& table, DeviceStage stage,
                    const std::string& why) {
  std::string text = "table " + table + ", stage " + name_of(stage) + ": ";
  switch (kind) {
    case ResidencyErrorKind::kHostTraceEmpty:
      text += "it would read the host's copy of the trace, which is empty";
      break;
    case ResidencyErrorKind::kNoHostPath:
      text += "it cannot read the device's copy and does not work on the host's";
      break;
    case ResidencyErrorKind::kWrongRows:
      text += "the device's rows are not the host's";
      break;
  }
  return why.empty() ? text : text + " (" + why + ")";
}

}  // namespace

ResidencyError::ResidencyError(ResidencyErrorKind kind, const std::string& table, DeviceStage stage,
                               const std::string& why)
    : std::runtime_error(message(kind, table, stage, why)),
      kind_(kind),
      table_(table),
      stage_(stage) {}

}  // namespace epochd::cuda
