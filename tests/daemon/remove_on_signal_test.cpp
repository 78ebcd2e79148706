// What Ctrl-C leaves behind: nothing.
#include "daemon/cli/remove_on_signal.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include "tests/daemon/queue_fixture.hpp"

namespace epochd {
namespace {

class RemoveOnSignalTest : public QueueTest {
 protected:
  /// A child with two files to remove, ended by `signal`; how it ended, as wait() says.
  int end_by(int signal, bool is_ignored = false) {
    write(root() / "a", "unfinished");
    write(root() / "b", "unverified");
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    const pid_t pid = ::fork();
    if (pid == 0) {
      if (is_ignored) ::signal(signal, SIG_IGN);
      const RemoveOnSignal guard({root() / "a", root() / "b", root() / "not there"});
      EXPECT_EQ(::write(ready[1], "x", 1), 1);
      if (is_ignored) ::kill(::getpid(), signal);
      for (int i = 0; !is_ignored && i < 1000; ++i) ::usleep(10'000);
      ::_exit(7);
    }
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
    ::close(ready[1]);
    if (!is_ignored) ::kill(pid, signal);
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    return status;
  }
};

TEST_F(RemoveOnSignalTest, RemovesTheFilesAndEndsAsTheSignalSays) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const int status = end_by(signal);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), signal);
    EXPECT_TRUE(fs_.list(root()).empty());
  }
}

TEST_F(RemoveOnSignalTest, WhatIsIgnoredStaysIgnored) {
  const int status = end_by(SIGHUP, true);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_TRUE(fs_.exists(root() / "a"));
}

TEST_F(RemoveOnSignalTest, KeepsEverythingWithoutASignal) {
  write(root() / "a", "good");
  { const RemoveOnSignal guard({root() / "a"}); }
  EXPECT_TRUE(fs_.exists(root() / "a"));
  ::sigset_t mask;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  EXPECT_EQ(sigismember(&mask, SIGINT), 0) << "as it was before";
}

}  // namespace
}  // namespace epochd
