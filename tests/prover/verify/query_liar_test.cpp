// Lies in one place of one FRI layer. The layer is committed with the lie and everything else is
// honest, so all that can notice is the check of a query that opens that place: each query must
// look at each layer. A lie that no query opens goes unnoticed, which is what the number of queries
// is for.
#include <gtest/gtest.h>

#include <set>

#include "tests/prover/verify/ring.hpp"

namespace epochd::prover::ring {
namespace {

using oracle::OracleSession;
using oracle::Stage;

/// Remembers where it was opened.
class Opened : public OracleSession {
 public:
  explicit Opened(OracleSession s) : OracleSession(std::move(s)) {}
  void gather(std::span<const u32> asked, std::vector<u64>& words) {
    queries.assign(asked.begin(), asked.end());
    OracleSession::gather(asked, words);
  }
  std::vector<u32> queries;
};

class QueryLiar : public testing::Test {
 protected:
  static const Ring& ring() {
    static const Ring r;
    return r;
  }
  static const Layout& layout() { return ring().layout(); }

  /// Adds one to entry `at` of layer `layer`'s word, in what is committed and opened only.
  static Opened lying(u32 layer, size_t at) {
    OracleSession s = ring().session();
    s.tamper = [=](OracleSession& session, Stage stage, u32 index) {
      const bool is_made =
          layer == 0 ? stage == Stage::kDeep : stage == Stage::kFold && index + 1 == layer;
      if (is_made) session.word[at] += fp3_one();
      if (stage == Stage::kFriCommit && index == layer) session.word[at] -= fp3_one();
    };
    return Opened(std::move(s));
  }
  /// Bits of a query's index below its place in a layer's word.
  static u32 shift_of(u32 layer) {
    u32 bits = 0;
    for (u32 s = 0; s < layer; ++s) bits += layout().fri_steps[s];
    return bits;
  }
  /// How many of the queries have `at` above `shift` bits; `which`: the last of them.
  static u32 count(const std::vector<u32>& queries, u32 shift, size_t at, u32& which) {
    u32 hits = 0;
    for (u32 i = 0; i < queries.size(); ++i) {
      if (queries[i] >> shift != at) continue;
      which = i;
      ++hits;
    }
    return hits;
  }
};

TEST_F(QueryLiar, EachQueryLooksAtItsValueAndItsFoldInEachLayer) {
  const u32 steps = layout().fri_step_count;
  for (u32 layer = 0; layer < steps; ++layer) {
    // Queries that alone found a lie: where their own value was one, and where its neighbour was.
    std::set<u32> by_value, by_fold;
    u32 unnoticed = 0;
    const u32 value_shift = shift_of(layer);
    const u32 leaf_shift = shift_of(layer + 1);
    const size_t size = size_t{1} << (layout().log_domain() - value_shift);
    for (size_t at = 0; at < size; ++at) {
      SCOPED_TRACE("layer " + std::to_string(layer) + " entry " + std::to_string(at));
      Opened s = lying(layer, at);
      const VerifyResult r = ring().verify(ring().prove(s));
      u32 query = 0;
      if (const u32 hits = count(s.queries, value_shift, at, query); hits > 0) {
        EXPECT_EQ(r.error, VerifyError::kFriLayer) << describe(r.error);
        EXPECT_EQ(r.detail, layer);
        if (hits == 1) by_value.insert(query);
      } else if (const u32 near =
                     count(s.queries, leaf_shift, at >> layout().fri_steps[layer], query);
                 near > 0) {
        const bool is_last = layer + 1 == steps;
        EXPECT_EQ(r.error, is_last ? VerifyError::kFriFinal : VerifyError::kFriLayer)
            << describe(r.error);
        EXPECT_EQ(r.detail, is_last ? 0 : layer + 1);
        if (near == 1) by_fold.insert(query);
      } else {
        EXPECT_TRUE(r.ok()) << describe(r.error) << ": nobody opened the lie";
        ++unnoticed;
      }
    }
    EXPECT_GT(unnoticed, 0u);
    // Queries are opened in order of their index; nearly always all eight differ.
    for (u32 query = 0; query + 1 < kPreset.query_count; ++query) {
      EXPECT_TRUE(by_value.count(query) + by_fold.count(query) > 0) << "query " << query;
    }
    EXPECT_GT(by_value.size() + by_fold.size(), kPreset.query_count);
  }
}

/// The same for the rows of the traces: R at a query is what the opened rows say, in every tree.
TEST_F(QueryLiar, EachQueryComparesTheOpenedRowsWithTheFirstLayer) {
  for (u32 segment = 0; segment < layout().segment_count; ++segment) {
    const u32 shift = layout().log_height_max() - layout().segments[segment].log_height;
    std::set<u32> found_by;
    for (size_t query = 0; query < kPreset.query_count; ++query) {
      SCOPED_TRACE("segment " + std::to_string(segment) + " query " + std::to_string(query));
      Opened s(ring().session());
      std::vector<u64> words = ring().prove(s);
      if (query >= s.queries.size()) continue;
      // Opened again with one cell changed. The Merkle check would see it as well; it comes later.
      s.ldes[segment][0][s.queries[query] >> shift] += Fp::one();
      words.resize(s.regions.front().begin);
      const std::vector<u32> queries = s.queries;
      s.gather(queries, words);
      const VerifyResult r = ring().verify(words);
      EXPECT_EQ(r.error, VerifyError::kFriLayer) << describe(r.error);
      EXPECT_EQ(r.detail, 0u);
      found_by.insert(static_cast<u32>(query));
    }
    EXPECT_GE(found_by.size(), 6u);
  }
}

/// Prover and verifier draw zeta again while it is a base element. Every domain point is one, of
/// trace and extension; nothing else of K is.
TEST(Zeta, GuardKnowsEveryPointOfADomain) {
  for (const u32 log_size : {5u, 9u, 28u}) {
    const Fp g = Fp::two_adic_root(log_size);
    Fp x = Fp::one();
    for (u32 i = 0; i < 100; ++i, x *= g) {
      EXPECT_TRUE(is_base(fp3(x)));
      EXPECT_TRUE(is_base(fp3(Fp::generator() * x)));
      Fp3 outside = fp3(x);
      outside.c1 = Fp::one();
      EXPECT_FALSE(is_base(outside));
      outside = fp3(x);
      outside.c2 = -Fp::one();
      EXPECT_FALSE(is_base(outside));
    }
  }
}

}  // namespace
}  // namespace epochd::prover::ring
