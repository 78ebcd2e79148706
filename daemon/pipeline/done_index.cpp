#include "daemon/pipeline/done_index.hpp"

#include <nlohmann/json.hpp>

namespace epochd {
namespace {

constexpr u64 kResultBytesMax = u64{1} << 28;

}  // namespace

DoneIndex::DoneIndex(FileSystem& fs, const Path& root) : fs_(fs), root_(root) {
  for (const Entry& entry : fs_.list(place_path(root_, Place::kDone))) {
    if (entry.kind == Entry::Kind::kDirectory) add(entry.name);
  }
}

void DoneIndex::add(const std::string& id) {
  const Path result = place_path(root_, Place::kDone) / id / kResultFile;
  try {
    const auto json = nlohmann::json::parse(fs_.read_text(result, kResultBytesMax), nullptr, false);
    if (json.is_object()) add(json.value("key", std::string()), id);
  } catch (const IoError&) {
    // Not an answer of ours, or just collected: it only costs a proof made again.
  } catch (const nlohmann::json::exception&) {
  }
}

void DoneIndex::add(const std::string& key_hex, const std::string& id) {
  if (!key_hex.empty()) ids_[key_hex].push_back(id);
}

std::optional<std::string> DoneIndex::find(const std::string& key_hex) {
  const auto found = ids_.find(key_hex);
  if (found == ids_.end()) return std::nullopt;
  // Any of them may have been collected.
  for (std::vector<std::string>& ids = found->second; !ids.empty(); ids.pop_back()) {
    const Path job = place_path(root_, Place::kDone) / ids.back();
    if (fs_.exists(job / kBundleFile) && fs_.exists(job / kResultFile)) return ids.back();
  }
  ids_.erase(found);
  return std::nullopt;
}

}  // namespace epochd
