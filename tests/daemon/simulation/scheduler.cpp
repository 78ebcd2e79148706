#include "tests/daemon/simulation/scheduler.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace epochd::simulation {
namespace {

/// Of the places where somebody else may go on, one in so many is used.
constexpr u64 kSwitchOneIn = 4;
/// A schedule that takes more steps goes round in circles.
constexpr u64 kPointsMax = 20'000'000;

/// So little that the system keeps the stacks of threads that ended for the next ones.
constexpr size_t kStackBytes = size_t{512} << 10;

thread_local Scheduler* t_scheduler = nullptr;
thread_local void* t_thread = nullptr;

}  // namespace

struct Scheduler::Thread {
  Scheduler* scheduler = nullptr;
  u64 number = 0;
  sem_t baton;
  pthread_t id{};
  void* (*function)(void*) = nullptr;
  void* argument = nullptr;
  void* result = nullptr;
  bool is_ready = false;
  bool has_ended = false;
  bool is_timed_out = false;
  bool has_deadline = false;
  i64 deadline_ns = 0;
  const char* why = "";

  Thread() { ::sem_init(&baton, 0, 0); }
  ~Thread() { ::sem_destroy(&baton); }
  void take_baton() {
    while (::sem_wait(&baton) != 0 && errno == EINTR) {
    }
  }
};

Scheduler::Scheduler(u64 seed, std::function<void(const std::string&)> on_hang)
    : random_(seed), on_hang_(std::move(on_hang)) {}

Scheduler::~Scheduler() = default;

Scheduler* Scheduler::current() {
  return t_scheduler;
}

void Scheduler::run(const std::function<void()>& body) {
  threads_.push_back(std::make_unique<Thread>());
  Thread* self = threads_.back().get();
  self->scheduler = this;
  t_thread = self;
  t_scheduler = this;
  body();
  t_scheduler = nullptr;
  t_thread = nullptr;
}

void Scheduler::make_ready(Thread* thread) {
  if (thread->is_ready) return;
  thread->is_ready = true;
  if (thread->has_deadline) std::erase(timed_, thread);
  thread->has_deadline = false;
  ready_.push_back(thread);
}

void Scheduler::wake_sleepers() {
  for (size_t i = 0; i < timed_.size();) {
    Thread* thread = timed_[i];
    if (thread->deadline_ns > now_ns_) {
      ++i;
      continue;
    }
    thread->is_timed_out = true;
    make_ready(thread);  // takes it out of timed_
  }
}

Scheduler::Thread* Scheduler::choose() {
  wake_sleepers();
  if (ready_.empty()) {
    if (timed_.empty()) {
      on_hang_("everybody waits, and nobody would ever go on:" + describe());
      std::_Exit(1);
    }
    const Thread* first = *std::min_element(timed_.begin(), timed_.end(), [](auto* a, auto* b) {
      return a->deadline_ns < b->deadline_ns;
    });
    now_ns_ = first->deadline_ns;
    wake_sleepers();
  }
  const size_t index = pick(ready_.size());
  Thread* next = ready_[index];
  ready_.erase(ready_.begin() + static_cast<ptrdiff_t>(index));
  next->is_ready = false;
  return next;
}

void Scheduler::switch_to(Thread* next) {
  Thread* self = static_cast<Thread*>(t_thread);
  if (next == self) return;
  ::sem_post(&next->baton);
  self->take_baton();
}

void Scheduler::point() {
  if (++points_ > kPointsMax) {
    on_hang_("the schedule does not end:" + describe());
    std::_Exit(1);
  }
  if (!timed_.empty()) wake_sleepers();
  if (ready_.empty() || !once_in(kSwitchOneIn)) return;
  make_ready(static_cast<Thread*>(t_thread));
  switch_to(choose());
}

void Scheduler::block(const char* why, const i64* deadline_ns) {
  Thread* self = static_cast<Thread*>(t_thread);
  self->why = why;
  self->is_timed_out = false;
  if (deadline_ns != nullptr) {
    self->has_deadline = true;
    self->deadline_ns = *deadline_ns;
    timed_.push_back(self);
  }
  switch_to(choose());
  self->why = "";
}

void Scheduler::sleep(double seconds) {
  const i64 deadline_ns = now_ns_ + to_ns(seconds);
  block("time", &deadline_ns);
}

void Scheduler::lock(const void* mutex) {
  point();
  Thread* self = static_cast<Thread*>(t_thread);
  while (!owners_.try_emplace(mutex, self).second) {
    waiting_[mutex].push_back(self);
    block("a mutex", nullptr);
  }
}

bool Scheduler::try_lock(const void* mutex) {
  return owners_.try_emplace(mutex, static_cast<Thread*>(t_thread)).second;
}

void Scheduler::unlock(const void* mutex) {
  owners_.erase(mutex);
  const auto found = waiting_.find(mutex);
  if (found == waiting_.end()) return;
  for (Thread* thread : found->second) make_ready(thread);
  waiting_.erase(found);
}

bool Scheduler::wait(const void* condition, const void* mutex, const i64* deadline_ns) {
  unlock(mutex);
  const bool is_woken = wait_at(condition, deadline_ns);
  lock(mutex);
  return is_woken;
}

bool Scheduler::wait_at(const void* address, const i64* deadline_ns) {
  Thread* self = static_cast<Thread*>(t_thread);
  waiting_[address].push_back(self);
  block("a condition", deadline_ns);
  const auto found = waiting_.find(address);
  if (found != waiting_.end()) {
    std::erase(found->second, self);
    if (found->second.empty()) waiting_.erase(found);
  }
  return !self->is_timed_out;
}

void Scheduler::wake(const void* condition, bool everybody) {
  const auto found = waiting_.find(condition);
  if (found == waiting_.end()) return;
  std::vector<Thread*>& threads = found->second;
  if (everybody) {
    for (Thread* thread : threads) make_ready(thread);
    threads.clear();
  } else {
    const size_t index = pick(threads.size());
    make_ready(threads[index]);
    threads.erase(threads.begin() + static_cast<ptrdiff_t>(index));
  }
  if (threads.empty()) waiting_.erase(found);
}

void* Scheduler::enter(void* argument) {
  Thread* self = static_cast<Thread*>(argument);
  self->take_baton();
  t_thread = self;
  t_scheduler = self->scheduler;
  self->result = self->function(self->argument);
  t_scheduler = nullptr;
  self->scheduler->finish(self);
  return nullptr;
}

int Scheduler::create(pthread_t* id, void* (*function)(void*), void* argument) {
  threads_.push_back(std::make_unique<Thread>());
  Thread* thread = threads_.back().get();
  thread->scheduler = this;
  thread->number = threads_.size() - 1;
  thread->function = function;
  thread->argument = argument;
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kStackBytes);
  const int error = System::get().create(&thread->id, &attributes, enter, thread);
  ::pthread_attr_destroy(&attributes);
  if (error != 0) return error;
  *id = thread->id;
  make_ready(thread);
  point();
  return 0;
}

/// The last of a thread: passes the baton on and is never given it again.
void Scheduler::finish(Thread* self) {
  self->has_ended = true;
  const auto found = waiting_.find(self);
  if (found != waiting_.end()) {
    for (Thread* thread : found->second) make_ready(thread);
    waiting_.erase(found);
  }
  Thread* next = choose();
  ::sem_post(&next->baton);
}

int Scheduler::join(pthread_t id, void** result) {
  const auto found = std::find_if(threads_.begin(), threads_.end(), [&](const auto& thread) {
    return thread->function != nullptr && ::pthread_equal(thread->id, id) != 0;
  });
  if (found == threads_.end()) return ESRCH;
  Thread* thread = found->get();
  while (!thread->has_ended) {
    waiting_[thread].push_back(static_cast<Thread*>(t_thread));
    block("the end of a thread", nullptr);
  }
  const int error = System::get().join(id, nullptr);
  if (result != nullptr) *result = thread->result;
  thread->function = nullptr;  // its id may be used again
  return error;
}

std::string Scheduler::describe() const {
  std::string text;
  for (const auto& thread : threads_) {
    if (thread->has_ended) continue;
    text += "\n  thread " + std::to_string(thread->number) + " waits for " +
            (*thread->why != 0 ? thread->why : "its turn");
  }
  return text;
}

}  // namespace epochd::simulation
