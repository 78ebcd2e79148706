#include "daemon/worker/serve.hpp"

#include <csignal>
#include <cstdlib>

#include "daemon/cli/exit_code.hpp"
#include "daemon/log/log.hpp"
#include "daemon/worker/process.hpp"

namespace epochd {
namespace {

/// The global proof is not wanted any more.
struct Cancelled : std::exception {
  const char* what() const noexcept override { return "cancelled"; }
};

}  // namespace

struct WorkerServer::Job {
  OpenRequest request;
  std::shared_ptr<ProverPool> pool;
};

WorkerServer::WorkerServer(Channel& channel, WorkerDuties duties)
    : channel_(channel), duties_(std::move(duties)) {}

WorkerServer::~WorkerServer() = default;

WorkerServer::End WorkerServer::serve() {
  try {
    while (std::optional<Message> message = next_message()) {
      if (!handle(*std::move(message))) break;
    }
  } catch (const ChannelError& error) {
    log::error("the worker cannot talk to the daemon", {{"why", error.what()}});
  }
  return is_device_lost_ ? End::kDeviceLost : End::kReleased;
}

std::optional<Message> WorkerServer::next_message() {
  if (!job_ && !channel_.is_readable_within(static_cast<int>(duties_.idle.count()))) {
    duties_.release();
  }
  return channel_.receive();
}

bool WorkerServer::handle(Message message) {
  const u64 tag = message.tag;
  try {
    switch (message.kind) {
      case MessageKind::kQuery:
        channel_.send(encode_devices(tag, duties_.query()));
        return true;
      case MessageKind::kOpen:
        open(std::move(message));
        return true;
      case MessageKind::kClose:
        close();
        return true;
      case MessageKind::kProve:
        prove(message);
        return true;
      case MessageKind::kGlobal:
        prove_global(message);
        return true;
      case MessageKind::kCancel:
        return true;  // of a global proof that was complete by then
      default:
        throw ChannelError("a message that no worker expects");
    }
  } catch (const ChannelError&) {
    throw;
  } catch (const std::exception& error) {
    const bool is_out_of_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
    fail(tag, error.what(), is_out_of_memory);
    return !is_device_lost_;
  }
}

void WorkerServer::open(Message message) {
  job_.reset();
  // What is kept from the last job is of no use then.
  if (device_ >= 0 && !duties_.device_works(device_)) {
    throw std::runtime_error("the device is lost");
  }
  auto job = std::make_unique<Job>(decode_open(std::move(message)));
  device_ = job->request.device;
  job->pool = duties_.make_pool(job->request);
  job_ = std::move(job);
  Message reply{MessageKind::kOpened, 0, {{"capacity", job_->pool->capacity()}}, {}};
  reply.head["usage"] = encode_usage(job_->pool->usage());
  channel_.send(reply);
}

void WorkerServer::close() {
  job_.reset();
  channel_.send({MessageKind::kClosed, 0, nlohmann::json::object(), {}});
}

void WorkerServer::prove(const Message& message) {
  if (!job_) throw ChannelError("a capsule before a job");
  auto capsule = decode_capsule(message.blob);
  if (!capsule) throw ChannelError("a damaged capsule: " + capsule.error().message);
  job_->pool->submit(std::make_shared<const Capsule>(std::move(capsule).value()),
                     [this, job = job_.get(), tag = message.tag](const PoolAnswer& given) {
                       answer(*job, tag, given);
                     });
}

/// On a thread of the pool; the job lives until its pool is gone.
void WorkerServer::answer(Job& job, u64 tag, const PoolAnswer& answer) {
  try {
    if (answer.epoch) {
      channel_.send(encode_proved(tag, *answer.epoch, job.pool->usage()));
    } else {
      fail(tag, answer.error, answer.is_out_of_memory);
    }
  } catch (const ChannelError&) {
    channel_.shut_down();  // nobody listens: the serving thread ends
  }
}

/// Reports a failure, and leaves if the device is lost: what else is being proved here is lost with
/// it, by no fault of its own, which the daemon is told.
void WorkerServer::fail(u64 tag, const std::string& why, bool is_out_of_memory) {
  const int device = device_;
  const bool is_leaving = device >= 0 && !duties_.device_works(device);
  channel_.send(encode_failure(tag, {why, is_out_of_memory, is_leaving}));
  if (!is_leaving) return;
  is_device_lost_ = true;
  channel_.shut_down();
}

std::vector<BoundaryRecord> WorkerServer::fetch_rows(u32 label) {
  channel_.send({MessageKind::kRowsWanted, label, nlohmann::json::object(), {}});
  const std::optional<Message> reply = channel_.receive();
  if (!reply) throw ChannelError("the daemon is gone");
  if (reply->kind == MessageKind::kCancel) throw Cancelled();
  if (reply->kind != MessageKind::kRows || reply->tag != label) {
    throw ChannelError("an answer to another question");
  }
  return decode_rows(*reply);
}

void WorkerServer::prove_global(const Message& message) {
  if (!job_) throw ChannelError("a run's memory before a job");
  const GlobalTask task = decode_global(message);
  BoundaryStore store;
  store.epochs = static_cast<u32>(task.roots.size());
  store.rows = [this](u32 label) { return fetch_rows(label); };
  store.root = [&task](u32 label) { return task.roots[label - 1]; };
  store.log_height = [&task](u32 label) { return task.log_heights[label - 1]; };
  bool is_complete = false;
  try {
    is_complete = job_->pool->prove_global(
        store, task.ends,
        [&](std::span<const u64> words) { channel_.send(encode_words(message.tag, words)); }, {});
  } catch (const Cancelled&) {
  }
  Message reply{MessageKind::kGlobalDone, message.tag, {{"is_complete", is_complete}}, {}};
  reply.head["usage"] = encode_usage(job_->pool->usage());
  channel_.send(reply);
}

int run_worker(const WorkerDuties& duties) {
  // Signals are the daemon's business, but a terminal or a service manager sends them to all.
  for (const int number : kDaemonsSignals) std::signal(number, SIG_IGN);
  Channel channel{FileHandle(kWorkerChannelFd)};
  WorkerServer server(channel, duties);
  const WorkerServer::End end = server.serve();
  // Not by way of destructors: a device that hangs must not keep the process.
  std::_Exit(static_cast<int>(end == WorkerServer::End::kReleased ? ExitCode::kOk : ExitCode::kIo));
}

}  // namespace epochd
