#include "daemon/log/log.hpp"
#include "daemon/main/epochd.hpp"
#include "daemon/pipeline/budgets.hpp"
#include "daemon/worker/device_worker.hpp"

int main(int argc, char** argv) {
  if (const auto code = epochd::run_as_device_worker(argc, argv)) return *code;
  epochd::DeviceWorkers workers(epochd::start_device_worker);
  const epochd::DeviceAccess devices = epochd::access_through(workers);
  const auto make_prover = [&](const epochd::ProofRequest& request) {
    const auto log_text = [](std::string_view text) {
      epochd::log::debug("the guest says", {{"text", text}});
    };
    return epochd::make_engine_prover(request, log_text, devices);
  };
  const auto check = [](const epochd::Config& config, const epochd::Environment& environment) {
    return epochd::budget_refusal(config, environment);
  };
  return epochd::run_epochd(argc, argv, make_prover, devices.query, check);
}
