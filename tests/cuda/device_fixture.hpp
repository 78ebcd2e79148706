// What every test on a device needs: a device or a reason to skip, a stream, and copies. Outputs
// start out poisoned, so that a word nothing wrote is seen.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "cuda/rt/device_query.hpp"
#include "cuda/rt/memory.hpp"
#include "prover/core/cpu_features.hpp"
#include "prover/core/parallel.hpp"
#include "prover/field/fp.hpp"

namespace epochd::cuda {

/// Elements in device memory.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t count) : block_(count * sizeof(T)), count_(count) { poison(); }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) { set(values); }
  // Waiting for the device, because a test's stream does not wait for these.
  void poison() const {
    EPOCHD_CUDA_CHECK(cudaMemset(data(), 0xa5, block_.bytes()));
    EPOCHD_CUDA_CHECK(cudaDeviceSynchronize());
  }
  void set(const std::vector<T>& values) const {
    EPOCHD_CUDA_CHECK(
        cudaMemcpy(data(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    EPOCHD_CUDA_CHECK(cudaDeviceSynchronize());
  }
  T* data() const { return reinterpret_cast<T*>(block_.data()); }
  size_t size() const { return count_; }
  std::vector<T> get() const { return get(0, count_); }
  std::vector<T> get(size_t first, size_t count) const {
    std::vector<T> values(count);
    EPOCHD_CUDA_CHECK(
        cudaMemcpy(values.data(), data() + first, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  DeviceBlock block_;
  size_t count_;
};

class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    static const auto devices = query_devices();
    if (!devices) GTEST_SKIP() << "no CUDA device: " << devices.error().message;
    stream_ = std::make_unique<Stream>();
  }
  /// A fault of a kernel fails the test that launched it.
  void TearDown() override {
    if (stream_ != nullptr) {
      EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    }
  }
  cudaStream_t stream() const { return stream_->get(); }
  void synchronize() const { stream_->synchronize(); }

  const Isa isa_ = best_isa();
  const Parallel pool_;

 private:
  std::unique_ptr<Stream> stream_;
};

/// Canonical values: random, with the ends of the range and of 32-bit words among them.
inline std::vector<u64> random_words(size_t count, u64 seed) {
  constexpr u64 kP = prover::Fp::kModulus;
  constexpr u64 kEdges[] = {0,          1,           kP - 1,          kP - 2,
                            0xffffffff, 0x100000000, kP - 0xffffffff, 0x8000000000000000};
  std::mt19937_64 rng(seed);
  std::vector<u64> words(count);
  for (u64& w : words) {
    const u64 r = rng();
    w = r % 4 == 0 ? kEdges[r / 4 % 8] : prover::Fp::from_u64(r).value();
  }
  return words;
}

inline const prover::Fp* as_fp(const std::vector<u64>& words) {
  return reinterpret_cast<const prover::Fp*>(words.data());
}
inline prover::Fp* as_fp(std::vector<u64>& words) {
  return reinterpret_cast<prover::Fp*>(words.data());
}

}  // namespace epochd::cuda
