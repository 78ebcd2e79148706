// The query half of the verifier: DEEP at opened rows, FRI folds, Merkle openings.
#include "prover/hash/domains.hpp"
#include "prover/pcs/fri_fold.hpp"
#include "prover/verify/argument_verifier.hpp"

namespace epochd::prover {
namespace {

u64 reverse(u64 x, u32 bits) {
  u64 r = 0;
  for (u32 i = 0; i < bits; ++i) r |= (x >> i & 1) << (bits - 1 - i);
  return r;
}

Digest digest_at(const u64* words) {
  return {{words[0], words[1], words[2], words[3]}};
}

}  // namespace

u32 ArgumentVerifier::sort_unique(u32* values, u32 count) {
  // Insertion sort: a few hundred values, no library in a freestanding build.
  for (u32 i = 1; i < count; ++i) {
    const u32 v = values[i];
    u32 j = i;
    for (; j > 0 && values[j - 1] > v; --j) values[j] = values[j - 1];
    values[j] = v;
  }
  u32 unique = 0;
  for (u32 i = 0; i < count; ++i) {
    if (unique == 0 || values[unique - 1] != values[i]) values[unique++] = values[i];
  }
  return unique;
}

size_t ArgumentVerifier::sibling_count(u32* indices, u32 count, u32 log_leaves) {
  size_t siblings = 0;
  for (u32 level = 0; level < log_leaves; ++level) {
    u32 parents = 0;
    for (u32 i = 0; i < count; ++parents) {
      const u32 parent = indices[i] >> 1;
      const bool both = i + 1 < count && indices[i + 1] >> 1 == parent;
      if (!both) ++siblings;
      i += both ? 2 : 1;
      indices[parents] = parent;
    }
    count = parents;
  }
  return siblings;
}

u32 ArgumentVerifier::shifted(u32 shift) {
  u32 count = 0;
  for (u32 i = 0; i < s_.query_count; ++i) {
    const u32 v = s_.queries[i] >> shift;
    if (count == 0 || s_.indices[count - 1] != v) s_.indices[count++] = v;
  }
  return count;
}

VerifyResult ArgumentVerifier::check_fri() {
  Fp3 power = fp3_one();
  for (u32 j = 0; j < layout_.opening_count; ++j) {
    s_.delta_powers[j] = power;
    power *= delta_;
  }
  combine_rows();
  deep_word();
  u32 log_word = layout_.log_domain();
  for (u32 step = 0; step < layout_.fri_step_count; ++step) {
    const VerifyResult r = fold_layer(step, log_word);
    if (!r.ok()) return r;
    log_word -= layout_.fri_steps[step];
  }
  return check_final(log_word);
}

/// combined[h][row][point] = sum over the columns of height h of delta^j (f_j(row) - f_j(z)).
void ArgumentVerifier::combine_rows() {
  const u32 log_top = layout_.log_height_max();
  for (u32 h = 0; h < layout_.height_count; ++h) {
    const u32 count = shifted(log_top - layout_.heights[h]);
    Fp3 at_z[2] = {fp3_zero(), fp3_zero()};
    for (u32 i = 0; i < layout_.segment_count; ++i) {
      const Segment& s = layout_.segments[i];
      if (s.log_height != layout_.heights[h]) continue;
      for (u32 c = 0; c < s.width; ++c) {
        for (u32 p = 0; p <= (c >= s.first_double_column() ? 1u : 0u); ++p) {
          const u32 j = s.opening(c, p);
          at_z[p] += s_.delta_powers[j] * element(openings_, j);
        }
      }
    }
    for (u32 r = 0; r < count; ++r) {
      s_.combined[h][r][0] = -at_z[0];
      s_.combined[h][r][1] = -at_z[1];
    }
  }
  for (u32 tree = 0; tree < layout_.tree_count; ++tree) {
    const TreeLayout& t = layout_.trees[tree];
    for (u32 g = t.first_group; g < t.first_group + t.group_count; ++g) {
      const HeightGroup& group = layout_.groups[g];
      const u32 h = layout_.height_index(group.log_height);
      const size_t rows = group_rows_[g].count / group.width;
      const u64* value = group_rows_[g].words;
      for (size_t r = 0; r < rows; ++r) {
        for (u32 i = group.first_segment; i < group.first_segment + group.segment_count; ++i) {
          const Segment& s = layout_.segments[i];
          for (u32 c = 0; c < s.width; ++c) {
            const Fp f = Fp::from_canonical(*value++);
            s_.combined[h][r][0] += s_.delta_powers[s.opening(c, 0)] * f;
            if (c >= s.first_double_column()) {
              s_.combined[h][r][1] += s_.delta_powers[s.opening(c, 1)] * f;
            }
          }
        }
      }
    }
  }
}

/// word[q] = R at query q: every height's DEEP quotient at the row the query lies over.
void ArgumentVerifier::deep_word() {
  s_.word_count = s_.query_count;
  for (u32 q = 0; q < s_.query_count; ++q) {
    s_.word_index[q] = s_.queries[q];
    s_.word[q] = fp3_zero();
  }
  const u32 log_blowup = layout_.shape.preset->log_blowup;
  for (u32 h = 0; h < layout_.height_count; ++h) {
    const u32 log_rows = layout_.heights[h] + log_blowup;
    const u32 shift = layout_.log_domain() - log_rows;
    const Fp g = Fp::two_adic_root(log_rows);
    const Fp3 zeta_next = zeta_ * Fp::two_adic_root(layout_.heights[h]);
    u32 row = 0;
    Fp3 value{};
    for (u32 q = 0; q < s_.query_count; ++q) {
      const bool is_new = q == 0 || s_.queries[q] >> shift != s_.queries[q - 1] >> shift;
      if (is_new) {
        const Fp x = Fp::generator() * g.pow(reverse(s_.queries[q] >> shift, log_rows));
        const Fp3 d0 = fp3(x) - zeta_;
        const Fp3 d1 = fp3(x) - zeta_next;
        const Fp3 inv = inverse(d0 * d1);
        value = (s_.combined[h][row][0] * d1 + s_.combined[h][row][1] * d0) * inv;
        ++row;
      }
      s_.word[q] += value;
    }
  }
}

VerifyResult ArgumentVerifier::fold_layer(u32 step, u32 log_word) {
  const u32 k = layout_.fri_steps[step];
  const u32 mask = (1u << k) - 1;
  const FriFold fold(log_word, k, fri_beta_[step]);
  const u64* leaf = fri_rows_[step].words;
  u32 folded_count = 0;
  for (u32 i = 0; i < s_.word_count;) {
    const u32 leaf_index = s_.word_index[i] >> k;
    Fp3 values[kFoldMax];
    for (u32 v = 0; v <= mask; ++v) values[v] = element(leaf, v);
    for (; i < s_.word_count && s_.word_index[i] >> k == leaf_index; ++i) {
      if (values[s_.word_index[i] & mask] != s_.word[i]) return {VerifyError::kFriLayer, step};
    }
    // Folded entries overwrite the front: folded_count <= i always.
    s_.word[folded_count] = fold.apply(leaf_index, values);
    s_.word_index[folded_count++] = leaf_index;
    leaf += 3 * size_t{mask + 1};
  }
  s_.word_count = folded_count;
  return {};
}

VerifyResult ArgumentVerifier::check_final(u32 log_word) const {
  const Fp g = Fp::two_adic_root(log_word);
  for (u32 i = 0; i < s_.word_count; ++i) {
    const Fp y = g.pow(reverse(s_.word_index[i], log_word));
    Fp3 value = fp3_zero();
    for (u32 c = 1u << layout_.fri_final_log; c-- > 0;) value = value * y + element(final_, c);
    if (value != s_.word[i]) return {VerifyError::kFriFinal, 0};
  }
  return {};
}

VerifyResult ArgumentVerifier::check_merkle() {
  const u32 log_domain = layout_.log_domain();
  const u32 log_blowup = layout_.shape.preset->log_blowup;
  for (u32 tree = 0; tree < layout_.tree_count; ++tree) {
    const TreeLayout& t = layout_.trees[tree];
    MerkleJoin joins[kHeightsMax];
    for (u32 g = 0; g < t.group_count; ++g) {
      const HeightGroup& group = layout_.groups[t.first_group + g];
      hash_rows(group_rows_[t.first_group + g], group.width, s_.row_digests[g]);
      if (g > 0) joins[g - 1] = {group.log_height + log_blowup, s_.row_digests[g]};
    }
    const u32 log_leaves = t.log_height + log_blowup;
    const Digest expected = tree == layout_.logup_tree()      ? digest_at(logup_root_)
                            : tree == layout_.quotient_tree() ? digest_at(quotient_root_)
                                                              : in_.base_roots[tree];
    if (!opening_ok(log_leaves, joins, t.group_count - 1, tree_siblings_[tree], expected)) {
      return {VerifyError::kMerkleBase, tree};
    }
  }
  u32 log_leaves = log_domain;
  for (u32 step = 0; step < layout_.fri_step_count; ++step) {
    log_leaves -= layout_.fri_steps[step];
    hash_rows(fri_rows_[step], 3u << layout_.fri_steps[step], s_.row_digests[0]);
    if (!opening_ok(log_leaves, nullptr, 0, fri_siblings_[step],
                    digest_at(fri_roots_ + 4 * step))) {
      return {VerifyError::kMerkleFri, step};
    }
  }
  return {};
}

void ArgumentVerifier::hash_rows(const Span& rows, u32 width, Digest* out) {
  for (size_t r = 0; r * width < rows.count; ++r) {
    out[r] = blake3_keyed(domains::kLeaf, rows.words + r * width, 8 * size_t{width});
  }
}

/// The leaves' digests are s_.row_digests[0], which is used up.
bool ArgumentVerifier::opening_ok(u32 log_leaves, const MerkleJoin* joins, u32 join_count,
                                  const Span& siblings, const Digest& expected) {
  const u32 count = shifted(layout_.log_domain() - log_leaves);
  WordCursor cursor{siblings.words, siblings.words + siblings.count};
  Digest root;
  return merkle_root(log_leaves, s_.indices, s_.row_digests[0], count, joins, join_count, cursor,
                     root) &&
         cursor.next == cursor.end && root == expected;
}

}  // namespace epochd::prover
