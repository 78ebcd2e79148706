#include "daemon/worker/channel.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace epochd {
namespace {

struct FrameHeader {
  u32 magic;
  MessageKind kind;
  u64 tag;
  u64 head_bytes;
  u64 blob_bytes;
};
static_assert(sizeof(FrameHeader) == 32);

constexpr u32 kFrameMagic = 0x45504d31;  // "EPM1"
constexpr u64 kHeadBytesMax = u64{16} << 20;
constexpr u64 kBlobBytesMax = u64{1} << 36;
constexpr int kSendTimeoutMs = 30'000;
/// Memory is taken in steps, so that a wrong length costs this much and not what it says.
constexpr u64 kReceiveStep = u64{16} << 20;

}  // namespace

void Channel::await_room() {
  pollfd watched{socket_.fd(), POLLOUT, 0};
  if (::poll(&watched, 1, kSendTimeoutMs) != 0) return;
  shut_down();
  throw ChannelError("the other end does not read what it is sent");
}

void Channel::send(const Message& message) {
  const std::string head =
      message.head.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  FrameHeader header{kFrameMagic, message.kind, message.tag, head.size(), message.blob.size()};
  iovec pieces[3] = {{&header, sizeof(header)},
                     {const_cast<char*>(head.data()), head.size()},
                     {const_cast<u8*>(message.blob.data()), message.blob.size()}};
  const std::lock_guard lock(sending_);
  msghdr frame{};
  frame.msg_iov = pieces;
  frame.msg_iovlen = 3;
  while (frame.msg_iovlen > 0) {
    ssize_t sent = ::sendmsg(socket_.fd(), &frame, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) {
      await_room();
      continue;
    }
    if (sent < 0) throw ChannelError(std::string("the other end is gone: ") + std::strerror(errno));
    while (frame.msg_iovlen > 0 && static_cast<size_t>(sent) >= frame.msg_iov->iov_len) {
      sent -= static_cast<ssize_t>(frame.msg_iov->iov_len);
      ++frame.msg_iov;
      --frame.msg_iovlen;
    }
    if (frame.msg_iovlen > 0) {
      frame.msg_iov->iov_base = static_cast<u8*>(frame.msg_iov->iov_base) + sent;
      frame.msg_iov->iov_len -= static_cast<size_t>(sent);
    }
  }
}

bool Channel::receive_exactly(u8* to, size_t bytes) {
  while (bytes > 0) {
    const ssize_t got = ::recv(socket_.fd(), to, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;  // a message cut short is one that was never sent
    to += got;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

bool Channel::receive_growing(Bytes& to, u64 bytes) {
  while (to.size() < bytes) {
    const size_t before = to.size();
    to.resize(before + std::min(kReceiveStep, bytes - before));
    if (!receive_exactly(to.data() + before, to.size() - before)) return false;
  }
  return true;
}

std::optional<Message> Channel::receive() {
  FrameHeader header;
  if (!receive_exactly(reinterpret_cast<u8*>(&header), sizeof(header))) return std::nullopt;
  if (header.magic != kFrameMagic || header.kind >= MessageKind::kCount ||
      header.head_bytes > kHeadBytesMax || header.blob_bytes > kBlobBytesMax) {
    throw ChannelError("what came is not a message");
  }
  Bytes head;
  Message message;
  message.kind = header.kind;
  message.tag = header.tag;
  if (!receive_growing(head, header.head_bytes) ||
      !receive_growing(message.blob, header.blob_bytes)) {
    return std::nullopt;
  }
  message.head = nlohmann::json::parse(head, nullptr, false);
  if (!message.head.is_object()) throw ChannelError("a message's head is not a JSON object");
  return message;
}

bool Channel::is_readable_within(int milliseconds) const {
  pollfd watched{socket_.fd(), POLLIN, 0};
  return ::poll(&watched, 1, milliseconds) > 0;
}

void Channel::shut_down() noexcept {
  ::shutdown(socket_.fd(), SHUT_RDWR);
}

std::pair<FileHandle, FileHandle> make_socket_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw IoError("make", "a socket pair", errno);
  }
  return {FileHandle(ends[0]), FileHandle(ends[1])};
}

}  // namespace epochd
