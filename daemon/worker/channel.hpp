// Messages between the daemon and its worker processes, over a socket pair. Both ends are the same
// binary, yet a process with a broken device may send anything: lengths are checked, and memory
// grows only with what has arrived.
#pragma once

#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include "daemon/queue/file_system.hpp"

namespace epochd {

enum class MessageKind : u32 {
  kQuery,       ///< which devices are there?
  kDevices,     ///< the answer
  kOpen,        ///< a job: the ELF, parameters and a device
  kOpened,      ///< its pool is ready
  kClose,       ///< the job is over
  kClosed,      ///< its pool is gone
  kProve,       ///< a capsule
  kProved,      ///< its epoch's proof and boundary
  kGlobal,      ///< the run's memory: make the global proof
  kRowsWanted,  ///< the boundary rows of an epoch are needed for it
  kRows,        ///< the answer
  kCancel,      ///< the answer, when the proof is not wanted any more
  kWords,       ///< a piece of the global proof
  kGlobalDone,  ///< it is complete, or given up
  kFailed,      ///< what the tag names did not work
  kCount
};

/// `tag` ties an answer to its question. `head` is small; bulk goes into `blob`.
struct Message {
  MessageKind kind = MessageKind::kFailed;
  u64 tag = 0;
  nlohmann::json head = nlohmann::json::object();
  Bytes blob;
};

class ChannelError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Channel {
 public:
  explicit Channel(FileHandle socket) : socket_(std::move(socket)) {}

  /// Threads: any. Errors: ChannelError when the other end is gone, or has not read for half a
  /// minute; then the channel is shut down.
  void send(const Message& message);
  /// The next message; nothing when the other end is gone. Threads: one at a time.
  /// Errors: ChannelError when what came is not a message.
  std::optional<Message> receive();
  /// Is there something to receive, or nobody to receive from, within `milliseconds`?
  bool is_readable_within(int milliseconds) const;
  /// Ends both directions: receive() returns on both ends. Threads: any.
  void shut_down() noexcept;

 private:
  void await_room();
  bool receive_exactly(u8* to, size_t bytes);
  bool receive_growing(Bytes& to, u64 bytes);

  FileHandle socket_;
  std::mutex sending_;
};

/// The two ends of a new channel. Errors: IoError.
std::pair<FileHandle, FileHandle> make_socket_pair();

}  // namespace epochd
