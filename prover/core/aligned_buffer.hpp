// Uninitialised, 64-byte aligned memory for columns. Move-only; throws std::bad_alloc.
#pragma once

#include <type_traits>
#include <utility>

#include "prover/core/types.hpp"

namespace epochd {

/// Bytes that all owning AlignedBuffers hold now, and the most they held since the last reset: what
/// memory plans are checked against. Counted from any thread.
u64 aligned_bytes_live();
u64 aligned_bytes_peak();
void reset_aligned_bytes_peak();

namespace detail {
/// Large blocks are whole huge pages, which spares page faults and TLB misses.
void* allocate_aligned(size_t bytes);
void free_aligned(void* memory, size_t bytes);
}  // namespace detail

template <class T>
class AlignedBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  static constexpr size_t kAlignment = 64;

  AlignedBuffer() = default;
  explicit AlignedBuffer(size_t count) : size_(count), owned_(count != 0) {
    if (owned_) data_ = static_cast<T*>(detail::allocate_aligned(count * sizeof(T)));
  }
  /// Memory of someone else, who outlives this. Pre: aligned to kAlignment.
  static AlignedBuffer borrowed(T* data, size_t count) {
    AlignedBuffer b;
    b.data_ = data;
    b.size_ = count;
    return b;
  }
  ~AlignedBuffer() {
    if (owned_) detail::free_aligned(data_, size_ * sizeof(T));
  }
  AlignedBuffer(AlignedBuffer&& o) noexcept
      : data_(std::exchange(o.data_, nullptr)),
        size_(std::exchange(o.size_, 0)),
        owned_(std::exchange(o.owned_, false)) {}
  AlignedBuffer& operator=(AlignedBuffer&& o) noexcept {
    std::swap(data_, o.data_);
    std::swap(size_, o.size_);
    std::swap(owned_, o.owned_);
    return *this;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  void release() { *this = AlignedBuffer(); }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
  bool owned_ = false;
};

}  // namespace epochd
