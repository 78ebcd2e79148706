#include "daemon/queue/drain.hpp"

#include "daemon/queue/durable.hpp"

namespace epochd {

bool request_drain(FileSystem& fs, const Path& root) {
  if (is_drained(fs, root)) return false;
  replace_file(fs, root / kDrainFile, {});
  return true;
}

bool withdraw_drain(FileSystem& fs, const Path& root) {
  if (!is_drained(fs, root)) return false;
  remove_durably(fs, root / kDrainFile);
  return true;
}

bool is_drained(FileSystem& fs, const Path& root) {
  return fs.exists(root / kDrainFile);
}

}  // namespace epochd
