#include "prover/verify/layout.hpp"

namespace epochd::prover {
namespace {

bool shape_in_limits(const ProofShape& shape) {
  if (shape.preset == nullptr || shape.table_count == 0 || shape.table_count > kTablesMax ||
      shape.base_tree_count > kBaseTreesMax) {
    return false;
  }
  for (u32 t = 0; t < shape.table_count; ++t) {
    const TableShape& table = shape.tables[t];
    if (table.air == nullptr || table.log_height < kLogHeightMin ||
        table.log_height > kLogHeightMax) {
      return false;
    }
    const bool has_fixed = table.fixed_tree != kNone;
    const bool has_main = table.main_tree != kNone;
    if (has_fixed != (table.air->fixed_width > 0) || has_main != (table.air->main_width > 0)) {
      return false;
    }
    if ((has_fixed && table.fixed_tree >= shape.base_tree_count) ||
        (has_main && table.main_tree >= shape.base_tree_count)) {
      return false;
    }
  }
  return true;
}

void collect_heights(Layout& out) {
  out.height_count = 0;
  for (u32 h = kLogHeightMax; h >= kLogHeightMin; --h) {
    for (u32 t = 0; t < out.shape.table_count; ++t) {
      if (out.shape.tables[t].log_height == h) {
        out.heights[out.height_count++] = h;
        break;
      }
    }
  }
}

/// Appends the segments of one tree, given which part of which table it holds.
class TreeBuilder {
 public:
  TreeBuilder(Layout& layout, u32& group_count) : layout_(layout), group_count_(group_count) {}

  bool build(u32 tree) {
    TreeLayout& t = layout_.trees[tree];
    t.first_group = group_count_;
    for (u32 h = 0; h < layout_.height_count; ++h) add_group(tree, h);
    t.group_count = group_count_ - t.first_group;
    if (t.group_count == 0) return false;
    t.log_height = layout_.groups[t.first_group].log_height;
    return true;
  }

 private:
  void add_group(u32 tree, u32 height_index) {
    HeightGroup& group = layout_.groups[group_count_];
    group = {layout_.heights[height_index], layout_.segment_count, 0, 0};
    const ProofShape& shape = layout_.shape;
    if (tree == layout_.quotient_tree()) {
      layout_.quotient_segment[height_index] =
          add_segment(group, Part::kQuotient, height_index, kQuotientWidth);
    }
    for (u32 i = 0; i < shape.table_count; ++i) {
      const TableShape& table = shape.tables[i];
      if (table.log_height != group.log_height) continue;
      if (tree == layout_.logup_tree() && table.air->aux_columns() > 0) {
        layout_.logup_segment[i] =
            add_segment(group, Part::kLogup, i, 3 * table.air->aux_columns());
      }
      if (table.fixed_tree == tree) {
        layout_.fixed_segment[i] = add_segment(group, Part::kFixed, i, table.air->fixed_width);
      }
      if (table.main_tree == tree) {
        layout_.main_segment[i] = add_segment(group, Part::kMain, i, table.air->main_width);
      }
    }
    if (group.segment_count > 0) ++group_count_;
  }

  u32 add_segment(HeightGroup& group, Part part, u32 table, u32 width) {
    Segment& s = layout_.segments[layout_.segment_count];
    s = {part, table, group.log_height, width, layout_.opening_count};
    layout_.opening_count += s.opening_count();
    group.width += width;
    ++group.segment_count;
    return layout_.segment_count++;
  }

  Layout& layout_;
  u32& group_count_;
};

void assign_constraints(Layout& out) {
  for (u32 h = 0; h < out.height_count; ++h) {
    u32 next = 0;
    for (u32 t = 0; t < out.shape.table_count; ++t) {
      const TableShape& table = out.shape.tables[t];
      if (table.log_height != out.heights[h]) continue;
      out.first_constraint[t] = next;
      next += table.air->total_constraints();
    }
  }
}

void plan_fri(Layout& out) {
  const Preset& p = *out.shape.preset;
  const u32 h_max = out.log_height_max();
  out.fri_final_log = p.log_final < h_max ? p.log_final : h_max;
  out.fri_step_count = 0;
  for (u32 left = h_max - out.fri_final_log; left > 0;) {
    const u32 step = left < p.log_fold ? left : p.log_fold;
    out.fri_steps[out.fri_step_count++] = step;
    left -= step;
  }
}

}  // namespace

bool derive_layout(const ProofShape& shape, Layout& out) {
  if (!shape_in_limits(shape)) return false;
  out = Layout{};
  out.shape = shape;
  for (u32 t = 0; t < kTablesMax; ++t) {
    out.fixed_segment[t] = out.main_segment[t] = out.logup_segment[t] = kNone;
  }
  collect_heights(out);
  out.tree_count = shape.base_tree_count + 2;
  u32 group_count = 0;
  TreeBuilder builder(out, group_count);
  for (u32 tree = 0; tree < out.tree_count; ++tree) {
    if (!builder.build(tree)) return false;
  }
  if (out.opening_count > kOpeningsMax) return false;
  assign_constraints(out);
  plan_fri(out);
  return true;
}

}  // namespace epochd::prover
