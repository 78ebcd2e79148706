// Records come up beside what runs on the device, and never over what it still reads.
#include "cuda/session/record_uploads.hpp"

#include <numeric>

#include "tests/cuda/device_fixture.hpp"
#include "tests/cuda/session/record_uploads.hpp"

namespace epochd::cuda {
namespace {

using testing::launch_slow_sum;

constexpr size_t kWords = size_t{4} << 20;
constexpr size_t kBytes = kWords * sizeof(u64);

class TimedEvent {
 public:
  TimedEvent() { EPOCHD_CUDA_CHECK(cudaEventCreate(&event_)); }
  ~TimedEvent() { cudaEventDestroy(event_); }
  TimedEvent(const TimedEvent&) = delete;
  TimedEvent& operator=(const TimedEvent&) = delete;
  void record(cudaStream_t stream) const { EPOCHD_CUDA_CHECK(cudaEventRecord(event_, stream)); }
  /// Milliseconds from this to `later`.
  float until(const TimedEvent& later) const {
    float ms = 0;
    EPOCHD_CUDA_CHECK(cudaEventElapsedTime(&ms, event_, later.event_));
    return ms;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

class CudaRecordUploads : public DeviceTest {
 protected:
  /// What next() and copy() do together.
  const u64* upload(const void* pinned) {
    u8* const to = uploads_->next(kBytes, stream());
    uploads_->copy(to, pinned, kBytes, stream());
    return reinterpret_cast<const u64*>(to);
  }
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped()) return;
    uploads_.emplace();
  }
  void TearDown() override {
    uploads_.reset();
    DeviceTest::TearDown();
  }
  std::optional<RecordUploads> uploads_;
};

TEST_F(CudaRecordUploads, ComeUpWhileKernelsRun) {
  const PinnedBlock host(kBytes);
  std::fill_n(reinterpret_cast<u64*>(host.data()), kWords, 1);
  const DeviceBlock place(2 * kBytes);
  const DeviceArray<u64> sums(2);
  uploads_->begin(place.data(), place.bytes());
  const TimedEvent first_ends;
  const TimedEvent copy_begins;
  const TimedEvent copy_ends;
  const TimedEvent second_begins;
  for (int warm_up = 0; warm_up < 2; ++warm_up) {
    uploads_->begin(place.data(), place.bytes());
    launch_slow_sum(upload(host.data()), kWords, 200, sums.data(), stream());
    first_ends.record(stream());
    copy_begins.record(uploads_->stream());
    const u64* second = upload(host.data());
    copy_ends.record(uploads_->stream());
    second_begins.record(stream());
    launch_slow_sum(second, kWords, 1, sums.data() + 1, stream());
    synchronize();
  }
  const float copy_ms = copy_begins.until(copy_ends);
  const float left_ms = copy_ends.until(first_ends);
  std::printf("32 MiB came up in %.2f ms, %.2f ms before the kernel in front of it ended\n",
              copy_ms, left_ms);
  EXPECT_GT(copy_ms, 0);
  EXPECT_GT(left_ms, 0) << "the copy waited for the kernel";
  EXPECT_GE(copy_ends.until(second_begins), 0) << "what reads it did not wait";
  EXPECT_EQ(sums.get(), (std::vector<u64>{200 * kWords, kWords}));
}

TEST_F(CudaRecordUploads, NeverOverwriteWhatIsStillRead) {
  constexpr u32 kPieces = 40;
  constexpr u32 kRounds = 20;
  const PinnedBlock host(kPieces * kBytes / 8);
  constexpr size_t kCount = kWords / 8;
  u64* const words = reinterpret_cast<u64*>(host.data());
  const std::vector<u64> values = random_words(kPieces * kCount, 7);
  std::copy(values.begin(), values.end(), words);
  // Two pieces and a half: every third goes over the first again.
  const DeviceBlock place(kCount * sizeof(u64) * 5 / 2);
  const DeviceArray<u64> sums(kPieces);
  uploads_->begin(place.data(), place.bytes());
  for (u32 i = 0; i < kPieces; ++i) {
    u8* const to = uploads_->next(kCount * sizeof(u64), stream());
    uploads_->copy(to, words + i * kCount, kCount * sizeof(u64), stream());
    launch_slow_sum(reinterpret_cast<const u64*>(to), kCount, kRounds, sums.data() + i, stream());
  }
  synchronize();
  const std::vector<u64> got = sums.get();
  for (u32 i = 0; i < kPieces; ++i) {
    const u64 want =
        kRounds * std::accumulate(words + i * kCount, words + (i + 1) * kCount, u64{0});
    EXPECT_EQ(got[i], want) << "piece " << i;
  }
}

}  // namespace
}  // namespace epochd::cuda
