// Stages told to several listeners.
#include <gtest/gtest.h>

#include <string>

#include "prover/core/stage_fan_out.hpp"

namespace epochd {
namespace {

class Diary : public StageListener {
 public:
  Diary(std::string* text, char who) : text_(text), who_(who) {}
  void stage_begins(const char* name) override { *text_ += who_ + std::string("+") + name + " "; }
  void stage_ends(const char* name) override { *text_ += who_ + std::string("-") + name + " "; }

 private:
  std::string* text_;
  char who_;
};

TEST(StageFanOut, NestsTheScopesOfAllListeners) {
  std::string text;
  Diary a(&text, 'a');
  Diary b(&text, 'b');
  StageFanOut both{&a, nullptr, &b};
  {
    const Stage outer(&both, "fri");
    const Stage inner(&both, "grind");
  }
  EXPECT_EQ(text, "a+fri b+fri a+grind b+grind b-grind a-grind b-fri a-fri ");
}

TEST(StageFanOut, OfNobodyIsSilent) {
  StageFanOut none{nullptr};
  const Stage stage(&none, "fri");
}

}  // namespace
}  // namespace epochd
