#include "epoch/capsule/snapshot.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <optional>

#include "prover/hash/wide_blake3.hpp"

namespace epochd {
namespace {

using Code = SnapshotError::Code;

constexpr char kMagic[8] = {'E', 'P', 'S', 'N', 'A', 'P', 'S', 'H'};
constexpr u32 kVersion = 2;
constexpr u32 kFirstCell = static_cast<u32>(kAddressMin / 8);
/// Words of outputs and of the table of pages that are read at once.
constexpr size_t kPieceWords = 1024;

/// Pages that are hashed and placed together: what fits a core's own cache.
constexpr u32 kGroupPages = 16;
constexpr size_t kPageBytes = kPageCells * (sizeof(u32) + sizeof(u64));
/// Groups between two looks at whether to stop.
constexpr u32 kGroupsMin = 4, kGroupsMax = 32;
constexpr u32 kGroupsOfAThread = 2;

// As they lie in the file.
struct Header {
  char magic[8];
  u32 version, label;
  u64 cycles, output_count;
  u32 pc, page_count;
  prover::Digest owner;
  std::array<u64, kRegisterKeyCount> registers;
  std::array<u32, kRegisterKeyCount> register_labels;
};
static_assert(sizeof(Header) == 480 && std::endian::native == std::endian::little);

u32 groups_of(u32 pages) {
  return (pages + kGroupPages - 1) / kGroupPages;
}

u32 batch_groups(u32 threads) {
  return std::clamp(kGroupsOfAThread * threads, kGroupsMin, kGroupsMax);
}

template <class T>
std::span<const u8> bytes_of(const T& value) {
  return {reinterpret_cast<const u8*>(&value), sizeof(T)};
}
template <class T>
std::span<const u8> bytes_of_all(std::span<const T> values) {
  return {reinterpret_cast<const u8*>(values.data()), values.size_bytes()};
}

/// Some pages as they lie in the file: first all labels, then all values.
class Group {
 public:
  Group(u8* bytes, u32 pages) : bytes_(bytes), pages_(pages) {}

  std::span<u8> bytes() const { return {bytes_, pages_ * kPageBytes}; }
  std::span<u32> labels(u32 first, u32 count) const {
    return {reinterpret_cast<u32*>(bytes_) + first * kPageCells, count * kPageCells};
  }
  std::span<u64> values(u32 first, u32 count) const {
    u8* const all = bytes_ + pages_ * kPageCells * sizeof(u32);
    return {reinterpret_cast<u64*>(all) + first * kPageCells, count * kPageCells};
  }

 private:
  u8* bytes_;
  u32 pages_;
};

/// What comes before the groups is hashed as it passes; a group by itself.
class Writer {
 public:
  Writer(Isa isa, const SnapshotSink& sink) : isa_(isa), sink_(sink), hasher_(isa) {}
  void write(std::span<const u8> bytes) {
    if (bytes.empty()) return;
    hasher_.update(bytes.data(), bytes.size());
    sink_(bytes);
  }
  void write_group(std::span<const u8> bytes) {
    const prover::Digest digest = prover::wide_blake3_hash(isa_, bytes.data(), bytes.size());
    hasher_.update(&digest, sizeof digest);
    sink_(bytes);
  }
  void finish() {
    const prover::Digest checksum = hasher_.digest();
    sink_(bytes_of(checksum));
  }

 private:
  Isa isa_;
  const SnapshotSink& sink_;
  prover::WideBlake3 hasher_;
};

Unexpected<SnapshotError> fail(Code code, const char* text) {
  return Unexpected{SnapshotError{code, std::string("the snapshot ") + text}};
}

/// Whether cells can have these labels and values; `label` is the last epoch's. Without a branch:
/// much of a large snapshot's time is here.
bool can_be(const SnapshotCells& cells, u32 label) {
  u32 wrong = 0;
  for (size_t i = 0; i < cells.labels.size(); ++i) {
    const u32 l = cells.labels[i];
    const u32 is_untouched = l == 0, is_changed = cells.values[i] != cells.genesis[i];
    wrong |= u32{l > label} | (is_untouched & is_changed);
  }
  const size_t below = cells.first_key < kFirstCell
                           ? std::min<size_t>(kFirstCell - cells.first_key, cells.labels.size())
                           : 0;
  for (size_t i = 0; i < below; ++i) wrong |= u32{cells.labels[i] != 0};
  return wrong == 0;
}

/// One past the last of the pages that follow each other from `first` on.
u32 end_of_run(std::span<const u32> pages, u32 first) {
  u32 end = first + 1;
  while (end < pages.size() && pages[end] == pages[end - 1] + 1) ++end;
  return end;
}

/// Groups that are read together, then checked and placed by several threads.
struct Batch {
  std::unique_ptr<u8[]> bytes;
  u32 first_page = 0;  ///< in the table of pages
  u32 pages = 0;
  bool is_whole = true;

  u32 groups() const { return groups_of(pages); }
  u32 pages_of(u32 group) const { return std::min(kGroupPages, pages - group * kGroupPages); }
  Group group(u32 index) const {
    return {bytes.get() + index * kGroupPages * kPageBytes, pages_of(index)};
  }
};

class Reader {
 public:
  /// `scout`: that of `genesis` if it is to be taken to where the run was, else null.
  Reader(const SnapshotReading& how, const SnapshotSource& source, const GuestMemory& genesis,
         Scout* scout, const SnapshotVisit& visit)
      : how_(how),
        source_(source),
        genesis_(genesis),
        scout_(scout),
        visit_(visit),
        hasher_(how.isa) {}

  Result<Snapshot, SnapshotError> read(const prover::Digest& owner) {
    if (!take(&header_, sizeof header_)) return ended();
    if (auto error = check_header(owner)) return *std::move(error);
    Snapshot snapshot{header_.label, header_.cycles, {}};
    if (!read_words(header_.output_count, snapshot.outputs)) return ended();
    if (!read_words(header_.page_count, pages_)) return ended();
    if (auto error = check_pages()) return *std::move(error);
    restore_registers();
    if (auto error = restore_pages()) return *std::move(error);
    if (auto error = check_end()) return *std::move(error);
    return snapshot;
  }

 private:
  using Failure = std::optional<Unexpected<SnapshotError>>;

  static Unexpected<SnapshotError> ended() {
    return fail(Code::kTooShort, "ends early; was it truncated?");
  }

  bool take(void* to, size_t bytes) {
    if (source_({static_cast<u8*>(to), bytes}) != bytes) return false;
    hasher_.update(to, bytes);
    return true;
  }

  Failure check_header(const prover::Digest& owner) const {
    const Header& h = header_;
    if (std::memcmp(h.magic, kMagic, sizeof kMagic) != 0) {
      return fail(Code::kBadMagic, "is none: another kind of file");
    }
    if (h.version != kVersion) return fail(Code::kBadVersion, "is of another version");
    if (h.owner != owner) return fail(Code::kForeign, "is of another run");
    if (h.label == 0 || h.label >= kEpochCountMax) {
      return fail(Code::kBadHeader, "has a label that is none");
    }
    if (h.cycles < h.label || h.cycles > u64{h.label} << kEpochSizeLog2Max) {
      return fail(Code::kBadHeader, "has cycles that its epochs cannot have");
    }
    if (h.pc % 4 != 0) return fail(Code::kBadHeader, "has a pc that is none");
    if (h.page_count > kPageCount) {
      return fail(Code::kBadHeader, "has more pages than there are");
    }
    if (h.registers[0] != 0) return fail(Code::kBadHeader, "has an x0 that is not 0");
    if (h.registers[kOutputCounterRegister] != h.output_count) {
      return fail(Code::kBadHeader, "has an output counter that is not the count of its outputs");
    }
    for (u32 r = 0; r < kRegisterKeyCount; ++r) {
      const u32 label = h.register_labels[r];
      if (label > h.label || (label == 0 && h.registers[r] != 0)) {
        return fail(Code::kBadHeader, "has a register with a label that cannot be");
      }
    }
    return std::nullopt;
  }

  template <class T>
  bool read_words(u64 left, std::vector<T>& words) {
    while (left > 0) {
      const size_t count = std::min<u64>(left, kPieceWords);
      std::array<T, kPieceWords> piece;
      if (!take(piece.data(), count * sizeof(T))) return false;
      words.insert(words.end(), piece.begin(), piece.begin() + static_cast<ptrdiff_t>(count));
      left -= count;
    }
    return true;
  }

  Failure check_pages() const {
    for (size_t i = 0; i < pages_.size(); ++i) {
      if (pages_[i] >= kPageCount || (i > 0 && pages_[i] <= pages_[i - 1])) {
        return fail(Code::kBadPage, "has a page out of order");
      }
    }
    return std::nullopt;
  }

  void restore_registers() {
    MachineState state;
    const auto genesis = state.registers;
    state.registers = header_.registers;
    state.pc = header_.pc;
    visit_.cells({kRegBase, header_.register_labels, genesis, header_.registers});
    if (scout_ != nullptr) scout_->resume(state, header_.cycles);
  }

  void expect_pages() const {
    for (u32 first = 0, end = 0; first < pages_.size(); first = end) {
      end = end_of_run(pages_, first);
      const u32 key = pages_[first] * kPageCells, cells = (end - first) * kPageCells;
      if (scout_ != nullptr) genesis_.expect(key, cells);
      visit_.expect(key, cells);
    }
  }

  Failure restore_pages() {
    expect_pages();
    Batch now = make_batch(), next = make_batch();
    for (read_batch(0, now); now.pages > 0; std::swap(now, next)) {
      how_.check();
      if (!now.is_whole) return ended();
      std::array<prover::Digest, kGroupsMax> digests;
      std::array<bool, kGroupsMax> can_be{};
      // The first piece of work is to read on.
      how_.parallel.for_ranges(now.groups() + 1, 1, [&](size_t index, size_t) {
        if (index == 0) return read_batch(now.first_page + now.pages, next);
        const u32 group = static_cast<u32>(index - 1);
        const std::span<const u8> bytes = now.group(group).bytes();
        digests[group] = prover::wide_blake3_hash(how_.isa, bytes.data(), bytes.size());
        can_be[group] = restore(now, group);
      });
      for (u32 g = 0; g < now.groups(); ++g) {
        if (!can_be[g]) return fail(Code::kBadPage, "has a cell with a label that cannot be");
        hasher_.update(&digests[g], sizeof digests[g]);
      }
    }
    return std::nullopt;
  }

  Batch make_batch() const {
    const u32 most = batch_groups(how_.parallel.threads()) * kGroupPages;
    const size_t pages = std::min<size_t>(most, pages_.size());
    return {std::make_unique_for_overwrite<u8[]>(pages * kPageBytes)};
  }

  void read_batch(u32 first_page, Batch& batch) {
    const u32 most = batch_groups(how_.parallel.threads()) * kGroupPages;
    batch.first_page = first_page;
    batch.pages = std::min(most, header_.page_count - first_page);
    const size_t bytes = batch.pages * kPageBytes;
    batch.is_whole = bytes == 0 || source_({batch.bytes.get(), bytes}) == bytes;
  }

  /// A group's pages, those that follow each other at once.
  bool restore(const Batch& batch, u32 index) {
    const Group group = batch.group(index);
    const u32 count = batch.pages_of(index);
    const u32* const pages = pages_.data() + batch.first_page + index * kGroupPages;
    for (u32 first = 0, end = 0; first < count; first = end) {
      end = end_of_run({pages, count}, first);
      const u32 key = pages[first] * kPageCells, cells = (end - first) * kPageCells;
      const SnapshotCells here{key, group.labels(first, end - first), genesis(key, cells),
                               group.values(first, end - first)};
      if (!can_be(here, header_.label)) return false;
      visit_.cells(here);
      if (scout_ != nullptr) scout_->memory().store_cells(key, here.values);
    }
    return true;
  }

  /// Without touching memory that nobody has touched: that would take some.
  std::span<const u64> genesis(u32 key, u32 cells) const {
    if (genesis_.is_loaded(key, cells)) return genesis_.cells(key, cells);
    return std::span(zeros_).first(cells);
  }

  Failure check_end() {
    const prover::Digest expected = hasher_.digest();
    prover::Digest checksum;
    if (!take(&checksum, sizeof checksum)) return ended();
    if (checksum != expected) return fail(Code::kChecksum, "is damaged: its checksum differs");
    u8 more = 0;
    if (source_({&more, 1}) != 0) return fail(Code::kTooLong, "goes on after its end");
    return std::nullopt;
  }

  const SnapshotReading& how_;
  const SnapshotSource& source_;
  const GuestMemory& genesis_;
  Scout* scout_;
  const SnapshotVisit& visit_;
  prover::WideBlake3 hasher_;
  Header header_{};
  std::vector<u32> pages_;
  std::vector<u64> zeros_ = std::vector<u64>(kGroupPages * kPageCells);
};

}  // namespace

u64 snapshot_buffer_bytes(u32 threads) {
  const u64 batches = u64{2} * batch_groups(threads) * kGroupPages * kPageBytes;
  return batches + kGroupPages * kPageCells * sizeof(u64);  // and the zeros
}

void write_snapshot(Isa isa, const prover::Digest& owner, const Scout& scout, const Stitch& stitch,
                    std::span<const u64> outputs, const SnapshotSink& sink) {
  const LabelMap& labels = stitch.labels();
  EPOCHD_ASSERT(stitch.next_label() > 1 && !scout.halted());
  EPOCHD_ASSERT(scout.state().registers[kOutputCounterRegister] == outputs.size());
  std::vector<u32> pages;
  labels.pages().for_each([&](u32 page, const LabelMap::Page&) { pages.push_back(page); });
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kVersion;
  header.label = stitch.next_label() - 1;
  header.cycles = scout.cycles();
  header.output_count = outputs.size();
  header.pc = scout.state().pc;
  header.page_count = static_cast<u32>(pages.size());
  header.owner = owner;
  header.registers = scout.state().registers;
  std::ranges::copy(labels.registers(), header.register_labels.begin());

  Writer writer(isa, sink);
  writer.write(bytes_of(header));
  writer.write(bytes_of_all(outputs));
  writer.write(bytes_of_all(std::span<const u32>(pages)));
  const auto buffer = std::make_unique_for_overwrite<u8[]>(kGroupPages * kPageBytes);
  for (size_t first = 0; first < pages.size(); first += kGroupPages) {
    const u32 count = static_cast<u32>(std::min<size_t>(kGroupPages, pages.size() - first));
    const Group group(buffer.get(), count);
    for (u32 i = 0; i < count; ++i) {
      const u32 page = pages[first + i];
      std::ranges::copy(*labels.pages().find(page), group.labels(i, 1).begin());
      std::ranges::copy(scout.memory().cells(page * kPageCells, kPageCells),
                        group.values(i, 1).begin());
    }
    writer.write_group(group.bytes());
  }
  writer.finish();
}

Result<Snapshot, SnapshotError> read_snapshot(const SnapshotReading& how,
                                              const prover::Digest& owner,
                                              const SnapshotSource& source, Scout& scout,
                                              const SnapshotVisit& visit) {
  return Reader(how, source, scout.memory(), &scout, visit).read(owner);
}

Result<Snapshot, SnapshotError> visit_snapshot(const SnapshotReading& how,
                                               const prover::Digest& owner,
                                               const SnapshotSource& source, const Scout& scout,
                                               const SnapshotVisit& visit) {
  return Reader(how, source, scout.memory(), nullptr, visit).read(owner);
}

}  // namespace epochd
