// A large zeroed range of addresses whose pages cost memory only once written. The one place where
// epoch/ asks the host for memory other than the heap.
#pragma once

#include <utility>

#include "prover/core/types.hpp"

namespace epochd {

class Reservation {
 public:
  Reservation() = default;
  /// Errors: throws std::system_error when the host refuses.
  explicit Reservation(size_t bytes);
  ~Reservation();
  Reservation(Reservation&& other) noexcept { swap(other); }
  Reservation& operator=(Reservation&& other) noexcept {
    swap(other);
    return *this;
  }

  void* data() const { return data_; }
  /// A hint: all of these bytes are about to be used. Where it can, the host then takes large pages
  /// for them: a fault each 2 MiB. Changes no content.
  void expect(size_t offset, size_t bytes) const;

 private:
  void swap(Reservation& other) {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace epochd
