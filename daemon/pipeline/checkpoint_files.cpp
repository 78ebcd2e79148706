#include "daemon/pipeline/checkpoint_files.hpp"

#include <charconv>
#include <cstdio>

#include "daemon/log/log.hpp"
#include "daemon/queue/durable.hpp"

namespace epochd {
namespace {

constexpr u64 kFactsBytesMax = u64{1} << 36;
constexpr int kLabelDigits = 8;
/// What a process that was killed left of a checkpoint: as large as the guest's memory.
constexpr std::string_view kUnfinished = ".checkpoint.part";

class FileSource : public CheckpointSource {
 public:
  FileSource(FileSystem& fs, const Path& path)
      : fs_(fs), path_(path), file_(fs.open_for_reading(path)) {}

  size_t read(std::span<u8> bytes) override {
    size_t done = 0;
    while (done < bytes.size()) {
      const size_t count = fs_.read_some(file_, path_, bytes.subspan(done));
      if (count == 0) break;
      done += count;
    }
    return done;
  }

 private:
  FileSystem& fs_;
  Path path_;
  FileHandle file_;
};

void warn_of(const char* what, const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    log::warn(what, {{"why", e.what()}});
  }
}

}  // namespace

std::string label_file_name(u64 label, std::string_view suffix) {
  char name[32];
  std::snprintf(name, sizeof(name), "%0*llu", kLabelDigits, static_cast<unsigned long long>(label));
  return name + std::string(suffix);
}

std::optional<u64> label_of_file(std::string_view name, std::string_view suffix) {
  if (!name.ends_with(suffix)) return std::nullopt;
  const std::string_view digits = name.substr(0, name.size() - suffix.size());
  u64 label = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), label);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (label_file_name(label, suffix) != name) return std::nullopt;
  return label;
}

void StoredLabels::add(u64 label) {
  if (label <= prefix_) return;
  beyond_.insert(label);
  while (!beyond_.empty() && *beyond_.begin() == prefix_ + 1) {
    beyond_.erase(beyond_.begin());
    ++prefix_;
  }
}

/// Under its temporary name until it is finished.
class CheckpointFiles::Sink : public CheckpointSink {
 public:
  Sink(CheckpointFiles& files, u64 label)
      : files_(files), label_(label), file_(files.commit_.create(files.path_of(label))) {}
  ~Sink() override {
    if (is_finished_) return;
    remove_quietly(files_.fs_, file_.temporary);
    const std::lock_guard lock(files_.mutex_);
    files_.is_writing_ = false;
  }

  void append(std::span<const u8> bytes) override {
    files_.fs_.write(file_.file, file_.temporary, bytes);
  }
  void finish() override {
    file_.done = [&files = files_, label = label_](const std::exception_ptr& error) {
      if (error) warn_of("a checkpoint could not be kept", error);
      files.checkpoint_is_written(label, !error);
    };
    is_finished_ = true;
    files_.commit_.add(std::move(file_));
  }

 private:
  CheckpointFiles& files_;
  u64 label_;
  GroupCommit::File file_;
  bool is_finished_ = false;
};

CheckpointFiles::CheckpointFiles(FileSystem& fs, Path directory, const JobKey& key)
    : fs_(fs), directory_(std::move(directory)), key_(key), commit_(fs_, directory_) {
  for (const Entry& entry : fs_.list(directory_)) {
    if (const auto epoch = label_of_file(entry.name, kEpochSuffix)) stored_.add(*epoch);
    if (const auto label = label_of_file(entry.name, kCheckpointSuffix)) labels_.insert(*label);
    if (entry.name.ends_with(kUnfinished)) remove_quietly(fs_, directory_ / entry.name);
  }
}

Path CheckpointFiles::path_of(u64 label) const {
  return directory_ / label_file_name(label, kCheckpointSuffix);
}

std::vector<u64> CheckpointFiles::checkpoints() {
  const std::lock_guard lock(mutex_);
  return {std::make_reverse_iterator(labels_.upper_bound(stored_.prefix())), labels_.rend()};
}

std::unique_ptr<CheckpointSource> CheckpointFiles::open_checkpoint(u64 label) {
  return std::make_unique<FileSource>(fs_, path_of(label));
}

void CheckpointFiles::remove_checkpoint(u64 label) {
  const std::lock_guard lock(mutex_);
  remove(label);
}

std::unique_ptr<CheckpointSink> CheckpointFiles::write_checkpoint(u64 label) {
  {
    const std::lock_guard lock(mutex_);
    prune();  // of an earlier attempt, or back after a power cut
    const bool is_newest_usable = labels_.empty() || *labels_.rbegin() <= stored_.prefix();
    if (is_writing_ || !is_newest_usable) return nullptr;
    is_writing_ = true;
  }
  try {
    return std::make_unique<Sink>(*this, label);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    is_writing_ = false;
    throw;
  }
}

std::optional<Bytes> CheckpointFiles::load_facts() {
  const Path path = directory_ / kFactsFile;
  std::string why;
  try {
    if (!fs_.exists(path)) return std::nullopt;
    Bytes file = fs_.read_file(path, kFactsBytesMax);
    const auto sealed = open_sealed(SealKind::kFacts, file);
    if (sealed && sealed->key == key_) {
      file.erase(file.begin(), file.begin() + kSealHeaderBytes);
      return file;
    }
    why = sealed ? "of another job" : sealed.error();
  } catch (const IoError& error) {
    why = error.what();
  }
  log::warn("what is known of the run cannot be used; the program is run ahead again",
            {{"file", path.string()}, {"why", why}});
  return std::nullopt;
}

void CheckpointFiles::save_facts(std::span<const u8> bytes) {
  GroupCommit::File file = commit_.create(directory_ / kFactsFile);
  try {
    fs_.write(file.file, file.temporary, seal_header(SealKind::kFacts, 0, key_, bytes));
    fs_.write(file.file, file.temporary, bytes);
  } catch (...) {
    remove_quietly(fs_, file.temporary);
    throw;
  }
  file.done = [](const std::exception_ptr& error) {
    if (error) warn_of("what is known of the run could not be kept", error);
  };
  commit_.add(std::move(file));
}

void CheckpointFiles::epoch_is_durable(u64 label) {
  const std::lock_guard lock(mutex_);
  stored_.add(label);
  prune();
}

void CheckpointFiles::checkpoint_is_written(u64 label, bool is_durable) {
  const std::lock_guard lock(mutex_);
  is_writing_ = false;
  if (!is_durable) return;
  labels_.insert(label);
  prune();
}

void CheckpointFiles::remove(u64 label) {
  labels_.erase(label);
  try {
    fs_.remove_file(path_of(label));
  } catch (...) {  // found again by the next attempt
    warn_of("an old checkpoint could not be removed", std::current_exception());
  }
}

void CheckpointFiles::prune() {
  const auto after = labels_.upper_bound(stored_.prefix());
  if (after == labels_.begin()) return;
  const u64 newest = *std::prev(after);
  while (*labels_.begin() != newest) remove(*labels_.begin());
}

}  // namespace epochd
