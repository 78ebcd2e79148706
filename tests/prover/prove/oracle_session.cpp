#include "tests/prover/prove/oracle_session.hpp"

#include "prover/transcript/transcript.hpp"

namespace epochd::prover::oracle {
namespace {

Fp3 fingerprint(const Access& access, Fp3 gamma, Fp3 beta) {
  Fp3 f = gamma + Fp::from_u64(access.bus);
  Fp3 power = beta;
  for (const Fp3& v : access.tuple) {
    f += power * v;
    power *= beta;
  }
  return f;
}

/// Numerator and denominator of interactions 2 * pair and 2 * pair + 1.
void pair_fraction(const std::vector<Access>& accesses, size_t pair, Fp3 gamma, Fp3 beta,
                   Fp3& numerator, Fp3& denominator) {
  numerator = fp3_zero();
  denominator = fp3_one();
  for (size_t i = 2 * pair; i < 2 * pair + 2 && i < accesses.size(); ++i) {
    const Fp3 m = accesses[i].is_send ? accesses[i].multiplicity : -accesses[i].multiplicity;
    const Fp3 f = fingerprint(accesses[i], gamma, beta);
    numerator = numerator * f + m * denominator;
    denominator *= f;
  }
}

void push(std::vector<u64>& words, const Fp3& v) {
  words.insert(words.end(), {v.c0.value(), v.c1.value(), v.c2.value()});
}

std::vector<u32> shifted(std::span<const u32> queries, u32 shift) {
  std::vector<u32> out;
  for (const u32 q : queries) {
    if (out.empty() || out.back() != q >> shift) out.push_back(q >> shift);
  }
  return out;
}

Fp3 in_k(Fp v) {
  return fp3(v);
}
Fp3 in_k(Fp3 v) {
  return v;
}

}  // namespace

Fp evaluate(const Column& f, Fp x) {
  Fp v;
  for (size_t i = f.size(); i-- > 0;) v = v * x + f[i];
  return v;
}
Fp3 evaluate(const Column& f, Fp3 x) {
  Fp3 v{};
  for (size_t i = f.size(); i-- > 0;) v = v * x + f[i];
  return v;
}
Fp3 evaluate(const std::vector<Fp3>& f, Fp3 x) {
  Fp3 v{};
  for (size_t i = f.size(); i-- > 0;) v = v * x + f[i];
  return v;
}

u64 reverse_index(u64 i, u32 bits) {
  u64 r = 0;
  for (u32 b = 0; b < bits; ++b) r = r << 1 | (i >> b & 1);
  return r;
}

Column interpolate(const Column& values, Fp shift) {
  const size_t n = values.size();
  u32 log_n = 0;
  while ((size_t{1} << log_n) < n) ++log_n;
  const Fp g = Fp::two_adic_root(log_n).inverse();
  Column powers(n, Fp::one());
  for (size_t i = 1; i < n; ++i) powers[i] = powers[i - 1] * g;
  Column f(n);
  Fp scale = Fp::from_u64(n).inverse();
  for (size_t k = 0; k < n; ++k, scale *= shift.inverse()) {
    Fp sum;
    for (size_t i = 0; i < n; ++i) sum += values[i] * powers[i * k & (n - 1)];
    f[k] = sum * scale;
  }
  return f;
}

std::vector<Fp3> interpolate(const std::vector<Fp3>& values, Fp shift) {
  std::vector<Fp3> f(values.size());
  Column part(values.size());
  for (const auto component : {&Fp3::c0, &Fp3::c1, &Fp3::c2}) {
    for (size_t i = 0; i < values.size(); ++i) part[i] = values[i].*component;
    const Column c = interpolate(part, shift);
    for (size_t i = 0; i < values.size(); ++i) f[i].*component = c[i];
  }
  return f;
}

OracleSession::OracleSession(const Layout& layout, std::vector<EvaluateAir> airs,
                             const std::vector<std::vector<Column>>& columns)
    : traces(columns),
      coefficients(layout.segment_count),
      ldes(layout.segment_count),
      trees(layout.tree_count),
      is_built(layout.tree_count),
      layout_(&layout),
      airs_(std::move(airs)) {
  for (u32 t = 0; t < layout.shape.table_count; ++t) {
    size_t next = 0;
    for (const u32 s : {layout.fixed_segment[t], layout.main_segment[t]}) {
      if (s == kNone) continue;
      for (u32 c = 0; c < layout.segments[s].width; ++c) {
        coefficients[s].push_back(interpolate(traces[t][next++], Fp::one()));
      }
    }
  }
}

Digest OracleSession::commit(u32 tree) {
  if (!is_built[tree]) build(tree);
  is_built[tree] = true;
  root = trees[tree]->root();
  notify(Stage::kCommit, tree);
  return root;
}

void OracleSession::build(u32 tree) {
  const TreeLayout& t = layout_->trees[tree];
  std::vector<HeightColumns> heights;
  for (u32 g = t.first_group; g < t.first_group + t.group_count; ++g) {
    const HeightGroup& group = layout_->groups[g];
    const u32 log_rows = group.log_height + layout_->shape.preset->log_blowup;
    const Fp root_of_rows = Fp::two_adic_root(log_rows);
    heights.push_back({log_rows, {}});
    for (u32 s = group.first_segment; s < group.first_segment + group.segment_count; ++s) {
      ldes[s].clear();
      for (const Column& f : coefficients[s]) {
        Column lde(size_t{1} << log_rows);
        for (size_t i = 0; i < lde.size(); ++i) {
          lde[i] = evaluate(f, Fp::generator() * root_of_rows.pow(reverse_index(i, log_rows)));
        }
        ldes[s].push_back(std::move(lde));
      }
      for (const Column& lde : ldes[s]) heights.back().columns.push_back(lde.data());
    }
  }
  trees[tree] = std::make_shared<MerkleTree>(MerkleTree::build(Isa::kScalar, heights, Parallel(1)));
}

void OracleSession::logup(Fp3 new_gamma, Fp3 new_beta, std::span<Fp3> out) {
  gamma = new_gamma;
  beta = new_beta;
  sums.assign(layout_->shape.table_count, fp3_zero());
  for (u32 t = 0; t < layout_->shape.table_count; ++t) {
    if (layout_->logup_segment[t] != kNone) logup_table(t);
  }
  notify(Stage::kLogup);
  std::copy(sums.begin(), sums.end(), out.begin());
}

void OracleSession::logup_table(u32 table) {
  const TableShape& shape = layout_->shape.tables[table];
  const size_t rows = size_t{1} << shape.log_height;
  const u32 pairs = shape.air->aux_columns();
  std::vector<std::vector<Fp3>> columns(pairs, std::vector<Fp3>(rows));
  std::vector<Fp3> row_sums(rows);
  std::vector<Fp3> slots(traces[table].size());
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < slots.size(); ++c) slots[c] = fp3(traces[table][c][r]);
    const Evaluation e =
        airs_[table](slots.data(), slots.data() + shape.air->fixed_width, shape.params);
    for (u32 j = 0; j < pairs; ++j) {
      Fp3 numerator;
      Fp3 denominator;
      pair_fraction(e.accesses, j, gamma, beta, numerator, denominator);
      columns[j][r] = numerator * inverse(denominator);
      row_sums[r] += columns[j][r];
    }
    sums[table] += row_sums[r];
  }
  const Fp3 mean = sums[table] * Fp::from_u64(rows).inverse();
  std::vector<Fp3>& acc = columns[pairs - 1];
  acc[0] = fp3_zero();
  for (size_t r = 1; r < rows; ++r) acc[r] = acc[r - 1] + row_sums[r - 1] - mean;
  auto& out = coefficients[layout_->logup_segment[table]];
  out.clear();
  for (const std::vector<Fp3>& column : columns) {
    for (const auto component : {&Fp3::c0, &Fp3::c1, &Fp3::c2}) {
      Column part(rows);
      for (size_t r = 0; r < rows; ++r) part[r] = column[r].*component;
      out.push_back(interpolate(part, Fp::one()));
    }
  }
}

template <class Point>
Fp3 OracleSession::folded_constraints(u32 table, Point x, Fp3& power) const {
  const TableShape& shape = layout_->shape.tables[table];
  std::vector<Fp3> values;
  for (const u32 s : {layout_->fixed_segment[table], layout_->main_segment[table]}) {
    if (s == kNone) continue;
    for (const Column& f : coefficients[s]) values.push_back(in_k(evaluate(f, x)));
  }
  const Evaluation e =
      airs_[table](values.data(), values.data() + shape.air->fixed_width, shape.params);
  Fp3 sum{};
  const auto add = [&](const Fp3& constraint) {
    sum += constraint * power;
    power *= alpha;
  };
  for (const Fp3& c : e.constraints) add(c);
  const u32 segment = layout_->logup_segment[table];
  if (segment == kNone) return sum;
  const auto aux = [&](u32 pair, Point at) {
    const Fp3 w{Fp::zero(), Fp::one(), Fp::zero()};
    const auto& f = coefficients[segment];
    return in_k(evaluate(f[3 * pair], at)) + w * in_k(evaluate(f[3 * pair + 1], at)) +
           w * w * in_k(evaluate(f[3 * pair + 2], at));
  };
  const u32 pairs = shape.air->aux_columns();
  Fp3 others{};
  Fp3 numerator;
  Fp3 denominator;
  for (u32 j = 0; j + 1 < pairs; ++j) {
    pair_fraction(e.accesses, j, gamma, beta, numerator, denominator);
    const Fp3 u = aux(j, x);
    others += u;
    add(u * denominator - numerator);
  }
  pair_fraction(e.accesses, pairs - 1, gamma, beta, numerator, denominator);
  const Fp3 mean = sums[table] * Fp::from_u64(u64{1} << shape.log_height).inverse();
  const Fp3 step =
      aux(pairs - 1, x * Fp::two_adic_root(shape.log_height)) - aux(pairs - 1, x) + mean - others;
  add(step * denominator - numerator);
  return sum;
}

Fp3 OracleSession::folded_height(u32 height_index, Fp3 x) const {
  const u32 log_height = layout_->heights[height_index];
  Fp3 folded{};
  Fp3 power = fp3_one();
  for (u32 t = 0; t < layout_->shape.table_count; ++t) {
    if (layout_->shape.tables[t].log_height == log_height)
      folded += folded_constraints(t, x, power);
  }
  return folded;
}

bool OracleSession::quotient_identity_holds(u32 height_index, Fp3 x) const {
  const Fp3 w{Fp::zero(), Fp::one(), Fp::zero()};
  const auto& q = coefficients[layout_->quotient_segment[height_index]];
  const auto part = [&](u32 c) {
    return evaluate(q[c], x) + w * (evaluate(q[c + 1], x) + w * evaluate(q[c + 2], x));
  };
  const Fp3 x_n = pow(x, u64{1} << layout_->heights[height_index]);
  return folded_height(height_index, x) == (x_n - Fp::one()) * (part(0) + x_n * part(3));
}

void OracleSession::quotient(Fp3 new_alpha) {
  alpha = new_alpha;
  for (u32 h = 0; h < layout_->height_count; ++h) quotient_height(h);
  notify(Stage::kQuotient);
}

void OracleSession::quotient_height(u32 height_index) {
  const u32 log_height = layout_->heights[height_index];
  const size_t n = size_t{1} << log_height;
  const u32 log_points = log_height + 1;
  std::vector<Fp3> values(size_t{1} << log_points);
  Fp x = Fp::generator();
  for (Fp3& value : values) {
    Fp3 power = fp3_one();
    for (u32 t = 0; t < layout_->shape.table_count; ++t) {
      if (layout_->shape.tables[t].log_height == log_height) {
        value += folded_constraints(t, x, power);
      }
    }
    value = value * (x.pow(n) - Fp::one()).inverse();
    x *= Fp::two_adic_root(log_points);
  }
  const std::vector<Fp3> q = interpolate(values, Fp::generator());
  auto& out = coefficients[layout_->quotient_segment[height_index]];
  out.clear();
  const auto split = [&](size_t begin, size_t end) {
    for (const auto component : {&Fp3::c0, &Fp3::c1, &Fp3::c2}) {
      Column part;
      for (size_t i = begin; i < end; ++i) part.push_back(q[i].*component);
      out.push_back(std::move(part));
    }
  };
  split(0, n);
  split(n, q.size());
}

void OracleSession::open(Fp3 at, std::span<Fp3> out) {
  zeta = at;
  openings.clear();
  for (u32 i = 0; i < layout_->segment_count; ++i) {
    const Segment& s = layout_->segments[i];
    for (u32 c = 0; c < s.width; ++c) {
      openings.push_back(evaluate(coefficients[i][c], zeta));
      const bool is_accumulator = s.part == Part::kLogup && c + 3 >= s.width;
      if (!is_accumulator) continue;
      openings.push_back(evaluate(coefficients[i][c], zeta * Fp::two_adic_root(s.log_height)));
    }
  }
  notify(Stage::kOpen);
  std::copy(openings.begin(), openings.end(), out.begin());
}

void OracleSession::deep(Fp3 new_delta) {
  delta = new_delta;
  // numerators[h][point] = sum of delta^j (f_j - f_j(z)), one polynomial over K.
  std::vector<std::vector<Fp3>> numerators(2 * size_t{layout_->height_count});
  Fp3 power = fp3_one();
  size_t j = 0;
  for (u32 i = 0; i < layout_->segment_count; ++i) {
    const Segment& s = layout_->segments[i];
    for (u32 c = 0; c < s.width; ++c) {
      const u32 points = s.part == Part::kLogup && c + 3 >= s.width ? 2 : 1;
      for (u32 point = 0; point < points; ++point, ++j, power *= delta) {
        auto& sum = numerators[2 * layout_->height_index(s.log_height) + point];
        const Column& f = coefficients[i][c];
        if (sum.size() < f.size()) sum.resize(f.size());
        for (size_t k = 0; k < f.size(); ++k) sum[k] += power * f[k];
        sum[0] -= power * openings[j];
      }
    }
  }
  const u32 log_domain = layout_->log_domain();
  word.assign(size_t{1} << log_domain, fp3_zero());
  for (size_t i = 0; i < word.size(); ++i) {
    const Fp y = Fp::two_adic_root(log_domain).pow(reverse_index(i, log_domain));
    for (u32 h = 0; h < layout_->height_count; ++h) {
      // The lift: the word of a shorter height is a function of y^(2^(h_max - h)).
      const Fp x = Fp::generator() * y.pow(u64{1} << (layout_->heights[0] - layout_->heights[h]));
      for (u32 point = 0; point < 2; ++point) {
        if (numerators[2 * h + point].empty()) continue;
        const Fp3 z = point == 0 ? zeta : zeta * Fp::two_adic_root(layout_->heights[h]);
        word[i] += evaluate(numerators[2 * h + point], fp3(x)) * inverse(fp3(x) - z);
      }
    }
  }
  notify(Stage::kDeep);
}

Digest OracleSession::fri_commit() {
  const u32 fold = 1u << layout_->fri_steps[layers.size()];
  std::vector<Column> columns(3 * size_t{fold});
  for (size_t i = 0; i < word.size(); ++i) {
    columns[3 * (i % fold)].push_back(word[i].c0);
    columns[3 * (i % fold) + 1].push_back(word[i].c1);
    columns[3 * (i % fold) + 2].push_back(word[i].c2);
  }
  HeightColumns height{0, {}};
  while ((size_t{1} << height.log_rows) < columns[0].size()) ++height.log_rows;
  for (const Column& c : columns) height.columns.push_back(c.data());
  layer_trees.push_back(
      std::make_shared<MerkleTree>(MerkleTree::build(Isa::kScalar, {&height, 1}, Parallel(1))));
  layers.push_back(word);
  root = layer_trees.back()->root();
  notify(Stage::kFriCommit, static_cast<u32>(layers.size()) - 1);
  return root;
}

/// P(Y) = sum_{j < 2^k} Y^j P_j(Y^(2^k)) folds to sum_j beta^j P_j, from P's coefficients.
void OracleSession::fri_fold(Fp3 beta) {
  const u32 step = static_cast<u32>(layers.size()) - 1;
  const u32 fold = 1u << layout_->fri_steps[step];
  u32 log_word = 0;
  while ((size_t{1} << log_word) < word.size()) ++log_word;
  std::vector<Fp3> natural(word.size());
  for (size_t i = 0; i < word.size(); ++i) natural[reverse_index(i, log_word)] = word[i];
  const std::vector<Fp3> p = interpolate(natural, Fp::one());
  std::vector<Fp3> folded(p.size() / fold);
  for (size_t i = 0; i < folded.size(); ++i) {
    Fp3 power = fp3_one();
    for (u32 j = 0; j < fold; ++j, power *= beta) folded[i] += power * p[i * fold + j];
  }
  const u32 log_next = log_word - layout_->fri_steps[step];
  word.assign(folded.size(), fp3_zero());
  for (size_t i = 0; i < word.size(); ++i) {
    const Fp y = Fp::two_adic_root(log_next).pow(reverse_index(i, log_next));
    word[i] = evaluate(folded, fp3(y));
  }
  notify(Stage::kFold, step);
}

void OracleSession::fri_final(std::span<Fp3> out) {
  u32 log_word = 0;
  while ((size_t{1} << log_word) < word.size()) ++log_word;
  std::vector<Fp3> natural(word.size());
  for (size_t i = 0; i < word.size(); ++i) natural[reverse_index(i, log_word)] = word[i];
  final_coefficients = interpolate(natural, Fp::one());
  notify(Stage::kFinal);
  std::copy_n(final_coefficients.begin(), out.size(), out.begin());
}

u64 OracleSession::grind(const Digest& state, u32 bits) {
  nonce = 0;
  grind_state = state;
  while (!Transcript::grind_ok(state, nonce, bits)) ++nonce;
  notify(Stage::kGrind);
  return nonce;
}

void OracleSession::gather(std::span<const u32> queries, std::vector<u64>& words) {
  const u32 log_domain = layout_->log_domain();
  const u32 log_blowup = layout_->shape.preset->log_blowup;
  regions.clear();
  size_t begin = words.size();
  const auto close = [&](Region region, u32 index) {
    regions.push_back({region, index, begin, words.size()});
    begin = words.size();
  };
  for (u32 tree = 0; tree < layout_->tree_count; ++tree) {
    const TreeLayout& t = layout_->trees[tree];
    for (u32 g = t.first_group; g < t.first_group + t.group_count; ++g) {
      const HeightGroup& group = layout_->groups[g];
      for (const u32 row : shifted(queries, layout_->heights[0] - group.log_height)) {
        for (u32 s = group.first_segment; s < group.first_segment + group.segment_count; ++s) {
          for (const Column& lde : ldes[s]) words.push_back(lde[row].value());
        }
      }
    }
    close(Region::kRows, tree);
    trees[tree]->append_siblings(shifted(queries, log_domain - t.log_height - log_blowup), words);
    close(Region::kSiblings, tree);
  }
  u32 shift = 0;
  for (u32 step = 0; step < layers.size(); ++step) {
    const u32 fold = 1u << layout_->fri_steps[step];
    shift += layout_->fri_steps[step];
    const std::vector<u32> leaves = shifted(queries, shift);
    for (const u32 leaf : leaves) {
      for (u32 v = 0; v < fold; ++v) push(words, layers[step][size_t{leaf} * fold + v]);
    }
    close(Region::kFriRows, step);
    layer_trees[step]->append_siblings(leaves, words);
    close(Region::kFriSiblings, step);
  }
}

}  // namespace epochd::prover::oracle
