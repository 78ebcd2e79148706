// A settings file as data: a list of keys, each with its type, its bounds and the field it fills.
// One reader walks any YAML file against such a list; a key is declared once and nowhere else.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/diagnostic.hpp"
#include "prover/core/types.hpp"

namespace epochd {

/// A YAML scalar as written.
struct Scalar {
  std::string text;
  bool quoted = false;
};

/// One key. `path` is dotted: "retries.crashes" is `crashes` in the section `retries`.
struct Key {
  std::string path;
  std::string takes;  ///< what a value must be, for messages: "an integer from 5 to 26"
  /// Stores the value; returns what is wrong with it, or nothing.
  std::function<std::optional<std::string>(const Scalar&)> assign;
  /// The same for a list; empty where none is taken.
  std::function<std::optional<std::string>(const std::vector<Scalar>&)> assign_list;
};
using Schema = std::vector<Key>;

/// Reads `text` against the schema. Returns every finding; the bound fields are meaningful only
/// when there is none. `given`, if not null, receives the paths of the keys the file sets. Errors:
/// syntax, several documents, unknown or duplicate key, wrong type, out of range.
Diagnostics read_yaml(const std::string& file, const std::string& text, const Schema& schema,
                      std::vector<std::string>* given = nullptr);

// --- Makers of keys, and the value parsers behind them (environment variables use these too)
// ---------

std::optional<i64> parse_integer(std::string_view text);
std::optional<bool> parse_bool(std::string_view text);
/// Position of text among the names.
std::optional<size_t> parse_choice(std::string_view text, std::span<const std::string_view> names);
std::string join_choices(std::span<const std::string_view> names);
std::string integer_range(i64 min, i64 max);

using AssignInteger = std::function<void(i64)>;
Key make_integer_key(std::string path, i64 min, i64 max, AssignInteger store);
Key make_bool_key(std::string path, std::function<void(bool)> store);
Key make_choice_key(std::string path, std::span<const std::string_view> names,
                    std::function<void(size_t)> store);
Key make_path_key(std::string path, std::filesystem::path& target);
/// Text of at most `bytes_max` printable characters.
Key make_text_key(std::string path, size_t bytes_max, std::string& target);
/// `all`, stored as an empty list, or a list of different integers, stored ascending.
Key make_numbers_key(std::string path, i64 min, i64 max, std::vector<int>& target);
/// An IPv4 or IPv6 address in digits.
Key make_address_key(std::string path, std::string& target);
/// A time such as 2026-12-01T10:00:00Z, stored as seconds since 1970.
Key make_time_key(std::string path, std::optional<i64>& target);

/// Target: an integer type or std::optional of one. Pre: min and max fit it.
template <class Target>
Key integer_key(std::string path, Target& target, i64 min, i64 max) {
  return make_integer_key(std::move(path), min, max, [&target](i64 value) {
    if constexpr (requires { typename Target::value_type; }) {
      target = static_cast<typename Target::value_type>(value);
    } else {
      target = static_cast<Target>(value);
    }
  });
}

/// Target: bool or std::optional<bool>.
template <class Target>
Key bool_key(std::string path, Target& target) {
  return make_bool_key(std::move(path), [&target](bool value) { target = value; });
}

/// Target: an enumeration whose enumerators are 0 .. n-1 in the order of the names, or an optional
/// of one.
template <class Enum, class Target, size_t n>
Key choice_key(std::string path, Target& target, const std::array<std::string_view, n>& names) {
  return make_choice_key(std::move(path), names,
                         [&target](size_t index) { target = static_cast<Enum>(index); });
}

}  // namespace epochd
