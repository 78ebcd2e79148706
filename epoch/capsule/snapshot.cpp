#include "epoch/capsule/snapshot.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "prover/hash/blake3.hpp"

namespace epochd {
namespace {

using Code = SnapshotError::Code;

constexpr char kMagic[8] = {'E', 'P', 'S', 'N', 'A', 'P', 'S', 'H'};
constexpr u32 kVersion = 1;
constexpr u32 kFirstCell = static_cast<u32>(kAddressMin / 8);
/// Output words that are read at once.
constexpr size_t kOutputPiece = 1024;

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

struct Page {
  u32 index, zero;
  std::array<u32, kPageCells> labels;
  std::array<u64, kPageCells> values;
};
static_assert(sizeof(Page) == 8 + 12 * kPageCells);

template <class T>
std::span<const u8> bytes_of(const T& value) {
  return {reinterpret_cast<const u8*>(&value), sizeof(T)};
}

/// What passes through is hashed.
class Writer {
 public:
  explicit Writer(const SnapshotSink& sink) : sink_(sink) {}
  void write(std::span<const u8> bytes) {
    hasher_.update(bytes.data(), bytes.size());
    sink_(bytes);
  }
  void finish() {
    const prover::Digest checksum = hasher_.digest();
    sink_(bytes_of(checksum));
  }

 private:
  const SnapshotSink& sink_;
  prover::Blake3 hasher_;
};

Unexpected<SnapshotError> fail(Code code, const char* text) {
  return Unexpected{SnapshotError{code, std::string("the snapshot ") + text}};
}

class Reader {
 public:
  Reader(const SnapshotSource& source, Scout& scout,
         const std::function<void(const SnapshotPage&)>& visit)
      : source_(source), scout_(scout), visit_(visit) {}

  Result<Snapshot, SnapshotError> read(const prover::Digest& owner) {
    if (!take(&header_, sizeof header_)) return ended();
    if (auto error = check_header(owner)) return *std::move(error);
    Snapshot snapshot{header_.label, header_.cycles, {}};
    if (!read_outputs(snapshot.outputs)) return ended();
    restore_registers();
    const auto page = std::make_unique<Page>();
    for (u32 i = 0, next = 0; i < header_.page_count; ++i, next = page->index + 1) {
      if (!take(page.get(), sizeof *page)) return ended();
      if (auto error = restore(*page, next)) return *std::move(error);
    }
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

  bool read_outputs(std::vector<u64>& outputs) {
    for (u64 left = header_.output_count; left > 0;) {
      const size_t count = std::min<u64>(left, kOutputPiece);
      std::array<u64, kOutputPiece> piece;
      if (!take(piece.data(), count * sizeof(u64))) return false;
      outputs.insert(outputs.end(), piece.begin(), piece.begin() + static_cast<ptrdiff_t>(count));
      left -= count;
    }
    return true;
  }

  void restore_registers() {
    MachineState state;
    const auto genesis = state.registers;
    state.registers = header_.registers;
    state.pc = header_.pc;
    visit_({kRegBase, header_.register_labels, genesis, header_.registers});
    scout_.resume(state, header_.cycles);
  }

  Failure restore(const Page& page, u32 next) {
    if (page.zero != 0 || page.index < next || page.index >= kPageCount) {
      return fail(Code::kBadPage, "has a page out of order");
    }
    const u32 first = page.index * kPageCells;
    const std::span<const u64> genesis = scout_.memory().cells(first, kPageCells);
    u32 wrong = 0;  // without a branch: most of a large snapshot's time is here and in the hash
    for (u32 i = 0; i < kPageCells; ++i) {
      const u32 label = page.labels[i];
      const u32 is_untouched = label == 0, is_changed = page.values[i] != genesis[i];
      const u32 is_no_cell = first + i < kFirstCell;
      wrong |=
          u32{label > header_.label} | (is_untouched & is_changed) | (u32{label != 0} & is_no_cell);
    }
    if (wrong != 0) return fail(Code::kBadPage, "has a cell with a label that cannot be");
    visit_({first, page.labels, genesis, page.values});
    scout_.memory().store_cells(first, page.values);
    return std::nullopt;
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

  const SnapshotSource& source_;
  Scout& scout_;
  const std::function<void(const SnapshotPage&)>& visit_;
  prover::Blake3 hasher_;
  Header header_{};
};

}  // namespace

void write_snapshot(const prover::Digest& owner, const Scout& scout, const Stitch& stitch,
                    std::span<const u64> outputs, const SnapshotSink& sink) {
  const LabelMap& labels = stitch.labels();
  EPOCHD_ASSERT(stitch.next_label() > 1 && !scout.halted());
  EPOCHD_ASSERT(scout.state().registers[kOutputCounterRegister] == outputs.size());
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kVersion;
  header.label = stitch.next_label() - 1;
  header.cycles = scout.cycles();
  header.output_count = outputs.size();
  header.pc = scout.state().pc;
  header.owner = owner;
  header.registers = scout.state().registers;
  std::ranges::copy(labels.registers(), header.register_labels.begin());
  labels.pages().for_each([&](u32, const LabelMap::Page&) { ++header.page_count; });

  Writer writer(sink);
  writer.write(bytes_of(header));
  if (!outputs.empty()) {
    writer.write({reinterpret_cast<const u8*>(outputs.data()), outputs.size_bytes()});
  }
  const auto page = std::make_unique<Page>();
  labels.pages().for_each([&](u32 p, const LabelMap::Page& touched) {
    page->index = p;
    page->labels = touched;
    std::ranges::copy(scout.memory().cells(p * kPageCells, kPageCells), page->values.begin());
    writer.write(bytes_of(*page));
  });
  writer.finish();
}

Result<Snapshot, SnapshotError> read_snapshot(
    const prover::Digest& owner, const SnapshotSource& source, Scout& scout,
    const std::function<void(const SnapshotPage&)>& visit) {
  return Reader(source, scout, visit).read(owner);
}

}  // namespace epochd
