#include "daemon/cli/command.hpp"

int main(int argc, char** argv) {
  return epochd::run_epoch_command(argc, argv);
}
