#include "epoch/exec/reservation.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace epochd {

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

Reservation::~Reservation() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

}  // namespace epochd
