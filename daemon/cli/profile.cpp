#include "daemon/cli/profile.hpp"

#include <algorithm>
#include <map>

#include "daemon/queue/reason.hpp"
#include "epoch/chips/airs.hpp"
#include "epoch/continuation/area.hpp"
#include "epoch/continuation/epoch_tables.hpp"

namespace epochd {
namespace {

std::string hex(u64 value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

/// Names the code of a program by symbol. A symbol reaches to the next one or to its segment's end.
class SymbolNames {
 public:
  explicit SymbolNames(const ElfImage& elf) : elf_(elf) {}

  std::string at(u32 pc) const {
    const auto segment = std::find_if(elf_.segments.begin(), elf_.segments.end(), [&](auto& s) {
      return pc >= s.address && pc - s.address < s.memory_bytes;
    });
    const auto next = std::upper_bound(elf_.symbols.begin(), elf_.symbols.end(), pc,
                                       [](u32 a, const ElfSymbol& s) { return a < s.address; });
    if (next != elf_.symbols.begin() && std::prev(next)->address >= segment->address) {
      return elf_.symbol_names.c_str() + std::prev(next)->name_offset;
    }
    u64 end = u64{segment->address} + segment->bytes.size();
    if (next != elf_.symbols.end()) end = std::min<u64>(end, next->address);
    return hex(segment->address) + ".." + hex(end);
  }

 private:
  const ElfImage& elf_;
};

double share(u64 part, u64 whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

template <class List, class Member>
u64 total(const List& list, Member member) {
  u64 sum = 0;
  for (const auto& entry : list) sum += entry.*member;
  return sum;
}

template <class... Values>
void append_line(std::string& text, const char* format, Values... values) {
  char line[200];
  std::snprintf(line, sizeof line, format, values...);
  text += line;
}

using ull = unsigned long long;

}  // namespace

Profile::Profile(const Guest& guest, const RunParams& params)
    : guest_(guest),
      params_(params),
      replayer_(guest.code()),
      cycles_(guest.program().rows().size()) {
  heights_.log_program = height_for(cycles_.size());
}

void Profile::add(const ScoutEpoch& epoch) {
  const Capsule capsule = stitch_.seal(epoch);
  if (const auto error = replayer_.run(capsule, records_)) {
    throw JobError(Reason::kInternal, "replay disagrees with the run: " + error->message);
  }
  for (const auto& records : records_.instructions) {
    for (const InstructionRecord& r : records) ++cycles_[r.program_row];
  }
  for (const UnalignedRecord& r : records_.unaligned) ++cycles_[r.base.program_row];
  for (const TableInstance& t : plan_tables(records_, heights_, *params_.preset)) {
    rows_[static_cast<u32>(t.chip)] += t.rows;
    padded_rows_[static_cast<u32>(t.chip)] += u64{1} << t.log_height;
  }
}

std::vector<Profile::SymbolCycles> Profile::symbols() const {
  const SymbolNames names(guest_.program().elf());
  std::map<std::string, u64> by_name;
  for (size_t row = 0; row < cycles_.size(); ++row) {
    if (cycles_[row] > 0) by_name[names.at(guest_.program().rows()[row].pc)] += cycles_[row];
  }
  std::vector<SymbolCycles> list;
  for (const auto& [name, cycles] : by_name) list.push_back({name, cycles});
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.cycles > b.cycles; });
  return list;
}

std::vector<Profile::ChipCost> Profile::chips() const {
  std::vector<ChipCost> list;
  for (u32 i = 0; i < kChipCount; ++i) {
    const ChipId chip = static_cast<ChipId>(i);
    if (padded_rows_[i] == 0) continue;
    const u64 columns = row_area(chip);
    list.push_back({chips::find_air(chip)->name, rows_[i], padded_rows_[i], columns,
                    columns * padded_rows_[i]});
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.area > b.area; });
  return list;
}

void Profile::add_to(nlohmann::json& json) const {
  const auto symbols = this->symbols();
  const auto chips = this->chips();
  const u64 cycles = total(symbols, &SymbolCycles::cycles), area = total(chips, &ChipCost::area);
  json["symbols"] = nlohmann::json::array();
  for (const SymbolCycles& s : symbols) {
    json["symbols"].push_back(
        {{"symbol", s.symbol}, {"cycles", s.cycles}, {"share", share(s.cycles, cycles)}});
  }
  json["chips"] = nlohmann::json::array();
  for (const ChipCost& c : chips) {
    json["chips"].push_back({{"chip", c.chip},
                             {"rows", c.rows},
                             {"padded_rows", c.padded_rows},
                             {"columns", c.columns},
                             {"area", c.area},
                             {"share", share(c.area, area)}});
  }
}

std::string Profile::text() const {
  const auto symbols = this->symbols();
  const auto chips = this->chips();
  const u64 cycles = total(symbols, &SymbolCycles::cycles), area = total(chips, &ChipCost::area);
  std::string text = "\n\ncycles by symbol";
  for (const SymbolCycles& s : symbols) {
    append_line(text, "\n  %-48.80s %14llu  %5.1f %%", s.symbol.c_str(), ull{s.cycles},
                100 * share(s.cycles, cycles));
  }
  append_line(text, "\n\n  %-16s %12s %12s %8s %15s", "chip", "rows", "padded", "columns", "area");
  for (const ChipCost& c : chips) {
    append_line(text, "\n  %-16s %12llu %12llu %8llu %15llu  %5.1f %%", c.chip.c_str(), ull{c.rows},
                ull{c.padded_rows}, ull{c.columns}, ull{c.area}, 100 * share(c.area, area));
  }
  return text;
}

}  // namespace epochd
