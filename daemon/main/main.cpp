#include "daemon/log/log.hpp"
#include "daemon/main/epochd.hpp"
#include "daemon/pipeline/engine_prover.hpp"

int main(int argc, char** argv) {
  const auto make_prover = [](const epochd::ProofRequest& request) {
    return epochd::make_engine_prover(request, [](std::string_view text) {
      epochd::log::debug("the guest says", {{"text", text}});
    });
  };
  return epochd::run_epochd(argc, argv, make_prover, epochd::query_devices);
}
