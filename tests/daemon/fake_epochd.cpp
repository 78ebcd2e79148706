// The daemon with the fake prover: what the crash tests kill.
#include "daemon/main/epochd.hpp"
#include "tests/daemon/fake_prover.hpp"

int main(int argc, char** argv) {
  return epochd::run_epochd(argc, argv, epochd::make_fake_factory(), epochd::no_devices);
}
