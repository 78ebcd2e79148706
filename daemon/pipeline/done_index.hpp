// Which proofs done/ already holds, by job key: the same job submitted twice is proved once and
// answered twice. Only proved jobs are in it; a cancelled or failed job is never an answer.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/queue/queue.hpp"

namespace epochd {

class DoneIndex {
 public:
  /// Reads the results in done/.
  DoneIndex(FileSystem& fs, const Path& root);

  void add(const std::string& key_hex, const std::string& id);
  /// A job that is in done/, by what its result says.
  void add(const std::string& id);
  /// A job in done/ with that key whose bundle is still there.
  std::optional<std::string> find(const std::string& key_hex);

 private:
  FileSystem& fs_;
  Path root_;
  std::map<std::string, std::vector<std::string>> ids_;  ///< by key, the newest last
};

}  // namespace epochd
