#include "daemon/worker/worker_pool.hpp"

#include <algorithm>
#include <utility>

#include "daemon/log/log.hpp"

namespace epochd {
namespace {

/// A worker that dies this often without proving anything in between is not started again.
constexpr u32 kDeathsMax = 3;
/// How long an unwanted worker may take to end by itself.
constexpr double kEndSeconds = 5;
constexpr std::chrono::milliseconds kPoll{200};

/// Nothing when there is none within `patience`, or nobody to give one.
std::optional<Message> reply_within(Channel& channel, std::chrono::milliseconds patience) {
  if (!channel.is_readable_within(static_cast<int>(patience.count()))) return std::nullopt;
  return channel.receive();
}

}  // namespace

WorkerHandle::~WorkerHandle() {
  if (channel_) channel_->shut_down();
  if (process_) process_->await_end(kEndSeconds);
}

std::shared_ptr<Channel> WorkerHandle::running() {
  if (channel_) return channel_;
  WorkerProcess process = launch_();
  const std::lock_guard lock(mutex_);
  process_.emplace(std::move(process));
  channel_ = std::make_shared<Channel>(process_->take_socket());
  ++starts_;
  return channel_;
}

void WorkerHandle::kill() {
  const std::lock_guard lock(mutex_);
  if (process_) process_->kill();
}

std::string WorkerHandle::bury() {
  if (!channel_) return "was not running";
  channel_->shut_down();
  channel_.reset();
  const std::lock_guard lock(mutex_);
  std::string end = process_->await_end(kEndSeconds);
  process_.reset();
  return end;
}

DeviceList query_through(WorkerHandle& worker) {
  std::string why;
  try {
    const std::shared_ptr<Channel> channel = worker.running();
    channel->send({MessageKind::kQuery, 0, nlohmann::json::object(), {}});
    const std::optional<Message> reply = reply_within(*channel, WorkerPatience{}.silence);
    if (reply && reply->kind == MessageKind::kDevices) return decode_devices(*reply);
    why = reply && reply->kind == MessageKind::kFailed ? decode_failure(*reply).why
                                                       : "it gave no answer";
  } catch (const std::exception& error) {
    why = error.what();
  }
  const std::string end = worker.bury();
  return Unexpected{DeviceQueryError{DeviceQueryErrorKind::kRuntime, -1,
                                     "the worker process that asks for devices " + end + ": " +
                                         why + "; look at the driver's log"}};
}

WorkerPool::WorkerPool(WorkerHandle& worker, const PoolJob& job, int device, u32 threads,
                       WorkerPatience patience)
    : worker_(worker), job_(job), device_(device), threads_(threads), patience_(patience) {
  open();
  thread_ = std::thread([this] { run(); });
}

WorkerPool::~WorkerPool() {
  {
    std::unique_lock lock(mutex_);
    is_closing_ = true;
    waiting_.clear();  // what was sent is still answered
    send_close();
    changed_.notify_all();
    if (!changed_.wait_for(lock, patience_.close, [this] { return is_ended_; })) worker_.kill();
  }
  thread_.join();
}

/// Pre: mutex_ is held.
void WorkerPool::send_close() {
  try {
    if (channel_) channel_->send({MessageKind::kClose, 0, nlohmann::json::object(), {}});
  } catch (const ChannelError&) {
    // It is gone, which is what was wanted.
  }
}

/// Starts a worker if need be and opens the job on it. Errors: std::runtime_error.
void WorkerPool::open() {
  // One that was kept from an earlier job may find that its device is lost: then a new one is
  // asked.
  if (try_open() || try_open()) return;
  throw std::runtime_error("CUDA device " + std::to_string(device_) +
                           " is lost to every new worker; look at the driver's log");
}

/// False: the worker's device is lost, and the worker gone. Errors: std::runtime_error.
bool WorkerPool::try_open() {
  std::string why;
  try {
    const std::shared_ptr<Channel> channel = worker_.running();
    channel->send(encode_open(job_, device_, threads_));
    const std::optional<Message> reply = reply_within(*channel, patience_.silence);
    if (reply && reply->kind == MessageKind::kOpened) {
      const std::optional<ProverUsage> usage = decode_usage_of(*reply);
      const std::lock_guard lock(mutex_);
      capacity_ = std::max(1u, reply->head.value("capacity", 1u));
      channel_ = channel;
      current_ = usage.value_or(ProverUsage{});
      if (is_closing_) send_close();
      return true;
    }
    if (reply && reply->kind == MessageKind::kFailed) {
      const Failure failure = decode_failure(*reply);
      if (!failure.is_leaving) throw std::runtime_error(failure.why);
      worker_.bury();
      return false;
    }
    why = "gave no answer";
  } catch (const ChannelError& error) {
    why = error.what();
  } catch (const nlohmann::json::exception& error) {
    why = error.what();
  }
  worker_.kill();
  const std::string end = worker_.bury();
  throw std::runtime_error("the worker of CUDA device " + std::to_string(device_) + " " + end +
                           " when a job was opened (" + why + "); look at the driver's log");
}

void WorkerPool::submit(std::shared_ptr<const Capsule> capsule, Done done) {
  std::string broken;
  {
    const std::lock_guard lock(mutex_);
    broken = broken_;
    if (broken.empty()) {
      waiting_.push_back({std::move(capsule), std::move(done)});
      send_waiting();
      return;
    }
  }
  done({std::nullopt, broken});
}

/// Pre: mutex_ is held.
void WorkerPool::send_waiting() {
  while (channel_ != nullptr && !waiting_.empty()) {
    const u64 tag = next_tag_++;
    Message message{MessageKind::kProve, tag, nlohmann::json::object(),
                    encode_capsule(*waiting_.front().capsule)};
    sent_.emplace(tag, std::move(waiting_.front()));
    waiting_.pop_front();
    try {
      channel_->send(message);
    } catch (const ChannelError&) {
      return;  // the thread that receives sees the same end, and answers
    }
  }
}

std::shared_ptr<Channel> WorkerPool::serving() const {
  const std::lock_guard lock(mutex_);
  return channel_;
}

void WorkerPool::run() {
  for (;;) {
    std::string why;
    try {
      const std::shared_ptr<Channel> channel = serving();
      if (channel) serve_channel(*channel);
      const std::lock_guard lock(mutex_);
      if (is_closing_ && channel_ != nullptr) break;  // closed in order; the worker stays
    } catch (const std::exception& error) {
      why = std::string(": ") + error.what();
    }
    worker_died(why);
    if (!restart()) break;
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return is_closing_; });
  sent_.clear();
  is_ended_ = true;
  changed_.notify_all();
}

/// Returns when the channel ends, or the job was closed; then channel_ is still set.
/// Errors: ChannelError.
void WorkerPool::serve_channel(Channel& channel) {
  auto last_word = std::chrono::steady_clock::now();
  for (;;) {
    if (!channel.is_readable_within(static_cast<int>(kPoll.count()))) {
      const auto now = std::chrono::steady_clock::now();
      const std::lock_guard lock(mutex_);
      if (sent_.empty() && !is_global_) last_word = now;
      if (now - last_word > patience_.silence) {
        worker_.kill();
        throw ChannelError("it had work and said nothing for " +
                           std::to_string(patience_.silence.count()) + " ms");
      }
      continue;
    }
    std::optional<Message> message = channel.receive();
    last_word = std::chrono::steady_clock::now();
    if (!message) break;
    if (message->kind == MessageKind::kClosed) return;
    dispatch(*std::move(message));
  }
  const std::lock_guard lock(mutex_);
  channel_ = nullptr;
}

/// Errors: ChannelError for what is not as it should be; its task is then among those sent.
void WorkerPool::dispatch(Message message) {
  PoolAnswer answer;
  bool is_leaving = false;
  if (message.kind == MessageKind::kProved) answer.epoch = decode_proved(message);
  if (message.kind == MessageKind::kFailed) {
    const Failure failure = decode_failure(message);
    answer.error = failure.why;
    answer.is_out_of_memory = failure.is_out_of_memory;
    is_leaving = failure.is_leaving;
  }
  const std::optional<ProverUsage> usage = decode_usage_of(message);
  Task task;
  {
    const std::lock_guard lock(mutex_);
    if (usage) current_ = *usage;
    if (is_leaving) {
      is_leaving_ = true;
      channel_ = nullptr;  // what comes now waits for the next worker
    }
    const bool is_answer =
        message.kind == MessageKind::kProved || message.kind == MessageKind::kFailed;
    const auto known = is_answer ? sent_.find(message.tag) : sent_.end();
    if (known == sent_.end()) {
      is_global_settled_ |=
          message.kind == MessageKind::kFailed || message.kind == MessageKind::kGlobalDone;
      if (is_global_) global_.push_back(std::move(message));
      changed_.notify_all();
      return;
    }
    task = std::move(known->second);
    sent_.erase(known);
    if (answer.epoch) deaths_in_a_row_ = 0;
  }
  task.done(std::move(answer));
}

void WorkerPool::worker_died(const std::string& why) {
  const std::string end = worker_.bury();
  std::map<u64, Task> lost;
  std::string message;
  {
    const std::lock_guard lock(mutex_);
    channel_ = nullptr;
    lost.swap(sent_);
    add_usage(ended_, current_);
    current_ = {};
    ++deaths_in_a_row_;
    // What a worker that leaves failed at was answered. The rest was only there at the time, as are
    // all but one of those that a sudden death takes along.
    const bool is_leaving = std::exchange(is_leaving_, false);
    const bool was_alone = lost.size() == 1;
    for (auto task = lost.begin(); task != lost.end();) {
      const bool is_suspect = !is_leaving && (was_alone || ++task->second.deaths > 1);
      if (!is_suspect) waiting_.push_back(std::move(task->second));
      task = is_suspect ? std::next(task) : lost.erase(task);
    }
    message = "the worker of CUDA device " + std::to_string(device_) + " " + end + why;
    is_global_settled_ = true;
    if (is_global_) global_.push_back(encode_failure(0, {message}));
    if (is_closing_) lost.clear();
  }
  changed_.notify_all();
  log::error("a worker died", {{"device", device_}, {"how", end + why}, {"epochs", lost.size()}});
  for (auto& [tag, task] : lost) task.done({std::nullopt, message});
}

/// False: closing, or it makes no sense.
bool WorkerPool::restart() {
  std::string why;
  {
    const std::lock_guard lock(mutex_);
    if (is_closing_) return false;
    if (deaths_in_a_row_ >= kDeathsMax) {
      why = "the worker of CUDA device " + std::to_string(device_) + " died " +
            std::to_string(deaths_in_a_row_) + " times in a row";
    }
  }
  if (why.empty()) {
    try {
      open();
      const std::lock_guard lock(mutex_);
      ++restarts_;
      send_waiting();
      changed_.notify_all();
      return true;
    } catch (const std::exception& error) {
      why = error.what();
    }
  }
  std::deque<Task> refused;
  {
    const std::lock_guard lock(mutex_);
    broken_ = why;
    refused.swap(waiting_);
    if (is_closing_) refused.clear();
  }
  changed_.notify_all();
  log::error("a device is given up for this job", {{"device", device_}, {"why", why}});
  for (Task& task : refused) task.done({std::nullopt, why});
  return false;
}

std::optional<Message> WorkerPool::next_global_message() {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, kPoll, [this] { return !global_.empty(); })) return std::nullopt;
  Message message = std::move(global_.front());
  global_.pop_front();
  return message;
}

std::shared_ptr<Channel> WorkerPool::begin_global() {
  std::unique_lock lock(mutex_);
  // A worker that died after the last epoch is being started again.
  changed_.wait(lock, [this] { return channel_ != nullptr || !broken_.empty(); });
  if (channel_ == nullptr) throw std::runtime_error(broken_);
  is_global_ = true;
  is_global_settled_ = false;
  global_.clear();
  return channel_;
}

void WorkerPool::end_global() {
  const std::lock_guard lock(mutex_);
  is_global_ = false;
}

/// A worker that is still at it has no ear for anything else: it makes room for another.
void WorkerPool::abandon_global() {
  const std::lock_guard lock(mutex_);
  is_global_ = false;
  if (is_global_settled_) return;
  channel_ = nullptr;
  worker_.kill();
}

bool WorkerPool::prove_global(const BoundaryStore& boundaries, const RunMemory::Ends& ends,
                              const std::function<void(std::span<const u64>)>& emit,
                              const std::function<bool()>& cancelled) {
  const std::shared_ptr<Channel> channel = begin_global();
  try {
    channel->send(encode_global(0, boundaries, ends));
    const bool is_complete = take_global(boundaries, emit, cancelled, *channel);
    end_global();
    return is_complete;
  } catch (...) {
    abandon_global();
    throw;
  }
}

bool WorkerPool::take_global(const BoundaryStore& boundaries,
                             const std::function<void(std::span<const u64>)>& emit,
                             const std::function<bool()>& cancelled, Channel& channel) {
  bool is_cancelled = false;
  std::exception_ptr thrown;
  // The worker hears of it when it asks for rows the next time; until then it works on.
  const auto ask = [&] {
    if (is_cancelled || !cancelled) return;
    try {
      is_cancelled = cancelled();
    } catch (...) {
      thrown = std::current_exception();
      is_cancelled = true;
    }
    if (is_cancelled) channel.send({MessageKind::kCancel, 0, nlohmann::json::object(), {}});
  };
  for (;;) {
    const std::optional<Message> message = next_global_message();
    if (!message || message->kind == MessageKind::kRowsWanted) ask();
    if (!message) continue;
    switch (message->kind) {
      case MessageKind::kRowsWanted:
        if (!is_cancelled) {
          const u32 label = static_cast<u32>(message->tag);
          channel.send(encode_rows(label, boundaries.rows(label)));
        }
        break;
      case MessageKind::kWords:
        if (!is_cancelled) emit(decode_words(*message));
        break;
      case MessageKind::kGlobalDone:
        if (thrown) std::rethrow_exception(thrown);
        return !is_cancelled && message->head.value("is_complete", false);
      default:
        if (thrown) std::rethrow_exception(thrown);
        throw std::runtime_error(decode_failure(*message).why);
    }
  }
}

ProverUsage WorkerPool::usage() const {
  const std::lock_guard lock(mutex_);
  ProverUsage usage = ended_;
  add_usage(usage, current_);
  usage.counters["worker_restart"] = restarts_;
  return usage;
}

}  // namespace epochd
