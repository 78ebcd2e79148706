// The guest's 32-bit address space, flat in host memory.
#pragma once

#include <bit>
#include <cstring>
#include <span>
#include <vector>

#include "epoch/exec/reservation.hpp"
#include "epoch/isa/program.hpp"

namespace epochd {

static_assert(std::endian::native == std::endian::little, "guest memory is read as the host reads");

class GuestMemory {
 public:
  /// Zeros everywhere. Errors: throws std::system_error when the host refuses the address space.
  GuestMemory();

  /// Pre: address + sizeof(T) <= 2^32.
  template <class T>
  T load(u64 address) const {
    T value;
    std::memcpy(&value, bytes() + address, sizeof(T));
    return value;
  }
  template <class T>
  void store(u64 address, T value) {
    std::memcpy(bytes() + address, &value, sizeof(T));
  }
  u64 cell(u32 key) const { return load<u64>(u64{key} * 8); }
  /// `count` cells from `first` on, where they lie. Pre: first + count <= kCellCount.
  std::span<const u64> cells(u32 first, u32 count) const {
    return {static_cast<const u64*>(reservation_.data()) + first, count};
  }
  /// Whether the image or the input has bytes in these cells; all others were 0 at the start. Pre:
  /// as cells().
  bool is_loaded(u32 first, u32 count) const;
  /// A hint: all of these cells are about to be used. Pre: as cells().
  void expect(u32 first, u32 count) const { reservation_.expect(u64{first} * 8, u64{count} * 8); }
  /// Pre: first + cells.size() <= kCellCount. Threads: any, for different cells.
  void store_cells(u32 first, std::span<const u64> cells) {
    std::memcpy(bytes() + u64{first} * 8, cells.data(), cells.size_bytes());
  }

  /// Places the file-backed bytes of every segment.
  void load_image(const ElfImage& image);
  /// Places the length and the bytes at kInputBase. Pre: at most kInputBytesMax bytes.
  void load_input(std::span<const u8> input);

 private:
  u8* bytes() const { return static_cast<u8*>(reservation_.data()); }
  struct Range {
    u64 begin, end;  ///< addresses
  };
  void place(u64 address, std::span<const u8> bytes);

  Reservation reservation_;
  std::vector<Range> loaded_;
};

}  // namespace epochd
