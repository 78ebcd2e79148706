// Where the parts of a bundle stand, read from its own counts by a second reader written for tests:
// what damage tests aim at.
#pragma once

#include <vector>

#include "tests/epoch/continuation/run_fixture.hpp"

namespace epochd::testing {

/// Words of the header.
enum HeaderWord : size_t {
  kMagicWord,
  kVersionWord,
  kPresetWord,
  kEpochSizeWord,
  kProgramWord,
  kEpochCountWord = 8,
  kAnchorCountWord,
  kLastKeyWord,
  kHeaderEnd = 13,
};
/// Words of an epoch record, after its count.
enum StatementWord : size_t {
  kPcInWord,
  kPcOutWord,
  kCyclesWord,
  kOutInWord,
  kOutputCountWord,
  kExitCodeWord,
  kTableCountWord,
  kTableWord,
};

/// One counted record: an epoch's or a sub-proof's.
struct RecordPlace {
  size_t count_word;  ///< position of its count
  size_t begin;       ///< first word after the count
  size_t end;
  size_t roots;     ///< epoch: boundary and main root; sub-proof: main root
  size_t argument;  ///< first word of the argument
};

struct BundleMap {
  std::vector<RecordPlace> epochs;
  std::vector<RecordPlace> sub_proofs;

  explicit BundleMap(const std::vector<u64>& w) {
    size_t at = kHeaderEnd;
    for (u64 e = 0; e < w[kEpochCountWord]; ++e) {
      RecordPlace r{at, at + 1, at + 1 + w[at], 0, 0};
      const u64 tables = w[r.begin + kTableCountWord];
      r.roots = r.begin + kTableWord + tables + w[r.begin + kOutputCountWord];
      r.argument = r.roots + 8;
      epochs.push_back(r);
      at = r.end;
    }
    while (at < w.size()) {
      const RecordPlace r{at, at + 1, at + 1 + w[at], at + 1, at + 5};
      sub_proofs.push_back(r);
      at = r.end;
    }
  }

  /// Every place where one part ends and another begins.
  std::vector<size_t> boundaries() const {
    std::vector<size_t> places;
    for (size_t i = 0; i < kHeaderEnd; ++i) places.push_back(i);
    for (const auto* list : {&epochs, &sub_proofs}) {
      for (const RecordPlace& r : *list) {
        for (size_t i = r.count_word; i <= r.argument; ++i) places.push_back(i);
      }
    }
    return places;
  }
};

/// A bundle of these records, header and sub-proofs taken from `bundle`.
inline std::vector<u64> with_epochs(const std::vector<u64>& bundle,
                                    const std::vector<std::vector<u64>>& records) {
  const BundleMap map(bundle);
  std::vector<u64> out(bundle.begin(), bundle.begin() + kHeaderEnd);
  out[kEpochCountWord] = records.size();
  for (const auto& r : records) out.insert(out.end(), r.begin(), r.end());
  out.insert(out.end(), bundle.begin() + static_cast<std::ptrdiff_t>(map.epochs.back().end),
             bundle.end());
  return out;
}

/// Record `index` of a bundle, its count included.
inline std::vector<u64> epoch_record(const std::vector<u64>& bundle, size_t index) {
  const RecordPlace r = BundleMap(bundle).epochs[index];
  return {bundle.begin() + static_cast<std::ptrdiff_t>(r.count_word),
          bundle.begin() + static_cast<std::ptrdiff_t>(r.end)};
}

}  // namespace epochd::testing
