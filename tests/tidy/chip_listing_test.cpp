// docs/chips.md is what the code says. When a chip changes on purpose, copy the file this test
// writes.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "epoch/chips/airs.hpp"
#include "tests/tidy/chip_listing.hpp"

namespace epochd::tidy {
namespace {

const SourceTree& repository() {
  static const SourceTree tree = SourceTree::from_disk(EPOCHD_SOURCE_DIR);
  return tree;
}

TEST(ChipListing, DocumentIsWhatTheCodeSays) {
  const SourceTree& tree = repository();
  SourceTree expected;
  expected.add("docs/chips.md", chip_listing(tree));
  std::ofstream(EPOCHD_BINARY_DIR "/chips.md") << chip_listing(tree);

  const SourceFile* document = tree.find("docs/chips.md");
  ASSERT_NE(document, nullptr);
  const auto& want = expected.files().front().lines;
  for (size_t i = 0; i < want.size() && i < document->lines.size(); ++i) {
    ASSERT_EQ(document->lines[i], want[i])
        << "docs/chips.md:" << i + 1 << " differs; if the chip changed on purpose:\n  cp "
        << EPOCHD_BINARY_DIR << "/chips.md docs/chips.md";
  }
  EXPECT_EQ(document->lines.size(), want.size());
}

// A label names one constraint, so that a violation can be looked up: its chip's, or a gadget's
// that the chip uses once.
TEST(ChipListing, ConstraintLabelsAreUniqueInTheirChip) {
  size_t count = 0;
  for (u32 id = 0; id < kChipCount; ++id) {
    const prover::AirInfo* air = chips::find_air(static_cast<ChipId>(id));
    if (air == nullptr) continue;
    std::set<std::string> seen;
    for (u32 i = 0; i < air->constraint_count; ++i) {
      const std::string label = air->constraint_labels[i];
      EXPECT_TRUE(seen.insert(label).second) << label << " names two constraints of " << air->name;
      const std::string prefix = label.substr(0, label.find('.'));
      const SourceTree& tree = repository();
      EXPECT_TRUE(prefix == air->name || tree.has_file("epoch/chips/" + prefix + ".hpp"))
          << label << " of " << air->name;
    }
    count += seen.size();
  }
  EXPECT_GT(count, 100u);
}

}  // namespace
}  // namespace epochd::tidy
