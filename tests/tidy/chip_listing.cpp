#include "tests/tidy/chip_listing.hpp"

#include <cctype>
#include <map>
#include <stdexcept>
#include <vector>

#include "epoch/chips/airs.hpp"

namespace epochd::tidy {
namespace {

using prover::AirInfo;
using prover::Interaction;

constexpr std::string_view kIntroduction =
    R"(# Chips: every column, constraint and interaction

Generated from the code, and compared with it by the test `ChipListing` of tests/tidy; a change of
a chip shows up as a difference here. What the tables mean is in [machine.md](machine.md), why each
chip's constraints suffice in the header of its folder under [epoch/chips](../epoch/chips).

Columns are listed by their enumerators, in order. A constraint is named by its label and vanishes
on every row. An interaction is written as its bus, + for a send, − for a receive, and its label.
)";

const char* bus_name(u8 bus) {
  switch (static_cast<Bus>(bus)) {
    case Bus::kState:
      return "State";
    case Bus::kProgram:
      return "Program";
    case Bus::kMemory:
      return "Memory";
    case Bus::kRange16:
      return "Range16";
    case Bus::kSign16:
      return "Sign16";
    case Bus::kAlign:
      return "Align";
    case Bus::kBytes:
      return "Bytes";
    case Bus::kOutput:
      return "Output";
    case Bus::kExit:
      return "Exit";
    case Bus::kGlobal:
      return "Global";
    case Bus::kOrder:
      return "Order";
  }
  return "?";
}

/// The enumerators of `enum NAME : u32 { ... }` in a header, without what ends them (kWidth,
/// kFixedCount). `kB0 = kA0 + 8` says that kA0 begins eight columns; they are listed as kA0 .. +7.
std::vector<std::string> enumerators(const SourceFile& header, std::string_view name) {
  std::string body;
  const std::string opening = "enum " + std::string(name) + " : u32 {";
  bool inside = false;
  for (const std::string& line : header.code) {
    std::string_view rest = line;
    if (!inside) {
      const size_t at = rest.find(opening);
      if (at == std::string_view::npos) continue;
      inside = true;
      rest.remove_prefix(at + opening.size());
    }
    const size_t close = rest.find('}');
    body += rest.substr(0, close);
    if (close != std::string_view::npos) break;
  }
  std::vector<std::string> names;
  for (size_t at = 0; at < body.size();) {
    const size_t end = std::min(body.find(',', at), body.size());
    std::string entry;
    for (const char c : body.substr(at, end - at)) {
      if (!std::isspace(static_cast<unsigned char>(c))) entry.push_back(c);
    }
    at = end + 1;
    if (entry.empty()) continue;
    const size_t plus = entry.find('+');
    if (plus != std::string::npos && !names.empty()) {
      const int count = std::atoi(entry.c_str() + plus + 1);
      for (int i = 1; i < count; ++i) names.push_back(names.back());
    }
    names.push_back(entry.substr(0, entry.find('=')));
  }
  if (!names.empty() && (names.back() == "kWidth" || names.back() == "kFixedCount")) {
    names.pop_back();
  }
  return names;
}

/// Runs of one name become "name ×count".
std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size();) {
    size_t end = i + 1;
    while (end < names.size() && names[end] == names[i]) ++end;
    text += (text.empty() ? "`" : ", `") + names[i] + "`";
    if (end - i > 1) text += " ×" + std::to_string(end - i);
    i = end;
  }
  return text;
}

/// The chip's columns, from its own header or from columns.hpp where two chips share them.
std::vector<std::string> columns_of(const SourceTree& tree, const std::string& chip,
                                    std::string_view name, size_t width) {
  std::vector<std::string> names;
  for (const std::string& path :
       {"epoch/chips/" + chip + "/air.hpp", std::string("epoch/chips/boundary/columns.hpp")}) {
    const SourceFile* header = tree.find(path);
    if (header == nullptr) continue;
    names = enumerators(*header, name);
    if (!names.empty()) break;
  }
  if (names.size() != width) {
    throw std::runtime_error(chip + ": " + std::to_string(names.size()) + " enumerators of " +
                             std::string(name) + ", width " + std::to_string(width));
  }
  return names;
}

/// Interactions grouped by bus and label, counted, in order of first appearance.
std::string interactions_of(const AirInfo& air) {
  std::vector<std::pair<std::string, int>> groups;
  for (u32 i = 0; i < air.interaction_count; ++i) {
    const Interaction& interaction = air.interactions[i];
    const std::string text = std::string(bus_name(interaction.bus)) +
                             (interaction.is_send ? " + " : " − ") + interaction.label;
    auto it = groups.begin();
    while (it != groups.end() && it->first != text) ++it;
    if (it == groups.end()) {
      groups.emplace_back(text, 1);
    } else {
      ++it->second;
    }
  }
  std::string text;
  for (const auto& [name, count] : groups) {
    text += (text.empty() ? "" : ", ") + name;
    if (count > 1) text += " ×" + std::to_string(count);
  }
  return text;
}

std::string constraints_of(const AirInfo& air) {
  std::string text;
  for (u32 i = 0; i < air.constraint_count; ++i) {
    text += (i == 0 ? "`" : ", `") + std::string(air.constraint_labels[i]) + "`";
  }
  return text;
}

std::string sizes_table() {
  std::string text =
      "\n| chip | fixed | main | constraints | degree | interactions | K columns |\n"
      "|---|---|---|---|---|---|---|\n";
  for (u32 id = 0; id < kChipCount; ++id) {
    const AirInfo* air = chips::find_air(static_cast<ChipId>(id));
    if (air == nullptr) continue;
    text += std::string("| `") + air->name + "`";
    for (const u32 figure :
         {u32{air->fixed_width}, u32{air->main_width}, u32{air->constraint_count},
          u32{air->max_degree}, u32{air->interaction_count}, air->aux_columns()}) {
      text += " | " + std::to_string(figure);
    }
    text += " |\n";
  }
  return text;
}

}  // namespace

std::string chip_listing(const SourceTree& tree) {
  std::string text(kIntroduction);
  text += sizes_table();
  for (u32 id = 0; id < kChipCount; ++id) {
    const AirInfo* air = chips::find_air(static_cast<ChipId>(id));
    if (air == nullptr) continue;
    const std::string name = air->name;
    text += "\n## " + name + "\n\n";
    if (air->fixed_width > 0) {
      text += "- Fixed: " + joined(columns_of(tree, name, "FixedCol", air->fixed_width)) + "\n";
    }
    text += "- Main: " + joined(columns_of(tree, name, "Col", air->main_width)) + "\n";
    if (air->param_count > 0) {
      text += "- Parameters: " + joined(columns_of(tree, name, "Param", air->param_count)) + "\n";
    }
    if (air->constraint_count > 0) text += "- Constraints: " + constraints_of(*air) + "\n";
    text += "- Interactions: " + interactions_of(*air) + "\n";
  }
  return text;
}

}  // namespace epochd::tidy
