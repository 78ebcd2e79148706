#include "epoch/exec/reservation.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>

namespace epochd {
namespace {

constexpr size_t kLargePage = size_t{2} << 20;

}  // namespace

Reservation::Reservation(size_t bytes) : bytes_(bytes) {
  data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
               -1, 0);
  if (data_ == MAP_FAILED) {
    data_ = nullptr;
    throw std::system_error(errno, std::generic_category(),
                            "reserving " + std::to_string(bytes) +
                                " bytes of address space; raise `ulimit -v` or set "
                                "vm.overcommit_memory to 0 or 1");
  }
}

void Reservation::expect(size_t offset, size_t bytes) const {
  const size_t from = reinterpret_cast<uintptr_t>(data_) + offset;
  // Only large pages that are all within: no memory for bytes that may never be used.
  const size_t first = (from + kLargePage - 1) / kLargePage * kLargePage;
  const size_t end = (from + bytes) / kLargePage * kLargePage;
  if (first >= end) return;
  // A host without them refuses; everything works all the same.
  static_cast<void>(madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE));
}

Reservation::~Reservation() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

}  // namespace epochd
