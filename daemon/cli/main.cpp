#include "daemon/cli/command.hpp"
#include "daemon/worker/device_worker.hpp"

int main(int argc, char** argv) {
  if (const auto code = epochd::run_as_device_worker(argc, argv)) return *code;
  return epochd::run_epoch_command(argc, argv);
}
