// What lets a later attempt at a job go on where an earlier one was, besides its epochs: the state
// of the run at some of them, and what the run came to. All of it can be lost or refused; that
// costs the time to execute the program again and changes no byte of a proof.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "daemon/pipeline/sealed_file.hpp"
#include "daemon/queue/file_system.hpp"

namespace epochd {

/// A checkpoint being written. It is one only after finish().
class CheckpointSink {
 public:
  virtual ~CheckpointSink() = default;
  /// Errors: IoError.
  virtual void append(std::span<const u8> bytes) = 0;
  virtual void finish() = 0;
};

class CheckpointSource {
 public:
  virtual ~CheckpointSource() = default;
  /// Fills the span; returns how many bytes, fewer only at the end. Threads: any, one at a time.
  /// Errors: IoError.
  virtual size_t read(std::span<u8> bytes) = 0;
};

class ResumeStore {
 public:
  virtual ~ResumeStore() = default;

  /// Whose they are.
  virtual const JobKey& key() const = 0;

  // A checkpoint's label is that of the last epoch before it. On one thread at a time:
  /// Those that a run can go on from: every epoch up to the label is stored. Newest first.
  /// Errors: IoError.
  virtual std::vector<u64> checkpoints() = 0;
  /// Goes on reading what it opened, whatever happens to the file. Errors: IoError.
  virtual std::unique_ptr<CheckpointSource> open_checkpoint(u64 label) = 0;
  /// For one that is of no use.
  virtual void remove_checkpoint(u64 label) = 0;
  /// Nothing while an earlier one waits for its epochs: there are never more than two, and the
  /// older is removed when the newer can be used. Errors: IoError.
  virtual std::unique_ptr<CheckpointSink> write_checkpoint(u64 label) = 0;

  // Threads: any.
  /// Nothing if there are none, or they cannot be read (then the log says so).
  virtual std::optional<Bytes> load_facts() = 0;
  /// Errors: IoError.
  virtual void save_facts(std::span<const u8> bytes) = 0;
};

}  // namespace epochd
