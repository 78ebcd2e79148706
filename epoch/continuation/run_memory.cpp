#include "epoch/continuation/run_memory.hpp"

#include <algorithm>

namespace epochd {

RunMemory::State& RunMemory::at(u32 key) {
  if (key >= kRegBase) return registers_[key - kRegBase];
  return pages_.get(key / kPageCells)[key % kPageCells];
}

const RunMemory::State* RunMemory::find(u32 key) const {
  const Page* const page = pages_.find(key / kPageCells);
  if (page == nullptr || (*page)[key % kPageCells].fini_epoch == 0) return nullptr;
  return &(*page)[key % kPageCells];
}

void RunMemory::absorb(u32 label, std::span<const BoundaryRecord> rows) {
  for (const BoundaryRecord& r : rows) {
    State& s = at(r.key);
    if (r.init_epoch == 0) s.init = r.init;
    s.fini = r.fini;
    s.fini_epoch = label;
  }
}

void RunMemory::restore(u32 first_key, std::span<const u32> labels, std::span<const u64> genesis,
                        std::span<const u64> values) {
  EPOCHD_ASSERT(first_key % kPageCells == 0);
  for (size_t page = 0; page < labels.size(); page += kPageCells) {
    State* const to = &at(first_key + static_cast<u32>(page));
    const size_t count = std::min<size_t>(kPageCells, labels.size() - page);
    for (size_t i = 0; i < count; ++i) {
      if (labels[page + i] != 0) to[i] = {genesis[page + i], values[page + i], labels[page + i]};
    }
  }
}

template <class Visit>
void RunMemory::for_each(const Visit& visit) const {
  pages_.for_each([&](u32 p, const Page& page) {
    for (u32 i = 0; i < kPageCells; ++i) {
      if (page[i].fini_epoch != 0) visit(p * kPageCells + i, page[i]);
    }
  });
  for (u32 r = 0; r < kPageCells; ++r) {
    if (registers_[r].fini_epoch != 0) visit(kRegBase + r, registers_[r]);
  }
}

RunMemory::Ends RunMemory::finish(std::span<const ImageCell> image) const {
  Ends ends;
  for (u32 r = 0; r < kRegionCount; ++r) ends.last_keys[r] = kRegionStart[r];
  size_t next_cell = 0;
  // Image cells below `key` that no anchor separates, in their chain (region 0).
  const auto pass_image = [&](u64 key) {
    for (; next_cell < image.size() && image[next_cell].key < key; ++next_cell) {
      const ImageCell& cell = image[next_cell];
      const State* s = find(cell.key);
      ends.image.push_back({cell.key, s != nullptr ? s->fini_epoch : 0,
                            s != nullptr ? s->fini : cell.value, ends.last_keys[0]});
      ends.last_keys[0] = cell.key;
    }
  };
  for_each([&](u32 key, const State& s) {
    pass_image(key);
    if (next_cell < image.size() && image[next_cell].key == key) return;
    const u32 region = key >= kRegBase ? 2 : key >= kInputFirstCell ? 1 : 0;
    ends.anchors.push_back({key, s.fini_epoch, s.init, s.fini});
    ends.anchor_previous.push_back(ends.last_keys[region]);
    ends.last_keys[region] = key;
  });
  pass_image(~u64{0});
  return ends;
}

}  // namespace epochd
