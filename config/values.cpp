// The types a settings value can have: how each is parsed and what is said when it is wrong.
#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "config/schema.hpp"
#include "config/time_text.hpp"

namespace epochd {

std::optional<i64> parse_integer(std::string_view text) {
  i64 value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::optional<bool> parse_bool(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

std::optional<size_t> parse_choice(std::string_view text, std::span<const std::string_view> names) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) return std::nullopt;
  return static_cast<size_t>(found - names.begin());
}

std::string join_choices(std::span<const std::string_view> names) {
  std::string joined;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) joined += i + 1 == names.size() ? " or " : ", ";
    joined += names[i];
  }
  return joined;
}

std::string integer_range(i64 min, i64 max) {
  return "an integer from " + std::to_string(min) + " to " + std::to_string(max);
}

namespace {

std::string must_be(const Key& key, const Scalar& scalar) {
  std::string message = "'" + key.path + "' must be " + key.takes + ", not '" + scalar.text + "'";
  if (scalar.quoted) message += " in quotes";
  return message;
}

using Parser = std::function<bool(const Scalar&)>;

Key make_key(std::string path, std::string takes, Parser parse) {
  Key key{std::move(path), std::move(takes), {}, {}};
  key.assign = [self = Key{key.path, key.takes, {}, {}},
                parse = std::move(parse)](const Scalar& scalar) -> std::optional<std::string> {
    if (parse(scalar)) return std::nullopt;
    return must_be(self, scalar);
  };
  return key;
}

bool is_printable(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
}

}  // namespace

Key make_integer_key(std::string path, i64 min, i64 max, AssignInteger store) {
  return make_key(std::move(path), integer_range(min, max),
                  [min, max, store = std::move(store)](const Scalar& scalar) {
                    const std::optional<i64> value = parse_integer(scalar.text);
                    if (scalar.quoted || !value || *value < min || *value > max) return false;
                    store(*value);
                    return true;
                  });
}

Key make_bool_key(std::string path, std::function<void(bool)> store) {
  return make_key(std::move(path), "true or false",
                  [store = std::move(store)](const Scalar& scalar) {
                    const std::optional<bool> value = parse_bool(scalar.text);
                    if (scalar.quoted || !value) return false;
                    store(*value);
                    return true;
                  });
}

Key make_choice_key(std::string path, std::span<const std::string_view> names,
                    std::function<void(size_t)> store) {
  return make_key(std::move(path), join_choices(names),
                  [names, store = std::move(store)](const Scalar& scalar) {
                    const std::optional<size_t> index = parse_choice(scalar.text, names);
                    if (!index) return false;
                    store(*index);
                    return true;
                  });
}

Key make_path_key(std::string path, std::filesystem::path& target) {
  return make_key(std::move(path), "an absolute path", [&target](const Scalar& scalar) {
    const std::filesystem::path value(scalar.text);
    const bool clean = std::all_of(scalar.text.begin(), scalar.text.end(), is_printable);
    if (!value.is_absolute() || !clean) return false;
    target = value.lexically_normal();
    return true;
  });
}

Key make_text_key(std::string path, size_t bytes_max, std::string& target) {
  std::string takes = "printable text of at most " + std::to_string(bytes_max) + " bytes";
  return make_key(std::move(path), std::move(takes), [&target, bytes_max](const Scalar& scalar) {
    const bool clean = std::all_of(scalar.text.begin(), scalar.text.end(), is_printable);
    if (scalar.text.size() > bytes_max || !clean) return false;
    target = scalar.text;
    return true;
  });
}

Key make_numbers_key(std::string path, i64 min, i64 max, std::vector<int>& target) {
  const std::string takes = "`all`, or a list such as [0, 1] of different integers from " +
                            std::to_string(min) + " to " + std::to_string(max);
  Key key = make_key(std::move(path), takes, [&target](const Scalar& scalar) {
    if (scalar.text != "all") return false;
    target.clear();
    return true;
  });
  key.assign_list = [self = Key{key.path, takes, {}, {}}, min, max,
                     &target](const std::vector<Scalar>& list) -> std::optional<std::string> {
    std::set<int> numbers;
    for (const Scalar& scalar : list) {
      const std::optional<i64> value = parse_integer(scalar.text);
      const bool is_good = !scalar.quoted && value && *value >= min && *value <= max;
      if (!is_good || !numbers.insert(static_cast<int>(*value)).second) {
        return must_be(self, scalar);
      }
    }
    if (numbers.empty()) return must_be(self, {"[]", false});
    target.assign(numbers.begin(), numbers.end());
    return std::nullopt;
  };
  return key;
}

Key make_address_key(std::string path, std::string& target) {
  return make_key(
      std::move(path), "an IP address such as 127.0.0.1 or ::1", [&target](const Scalar& scalar) {
        ::in6_addr address{};  // as large as either
        const bool is_known = ::inet_pton(AF_INET, scalar.text.c_str(), &address) == 1 ||
                              ::inet_pton(AF_INET6, scalar.text.c_str(), &address) == 1;
        if (!is_known) return false;
        target = scalar.text;
        return true;
      });
}

Key make_time_key(std::string path, std::optional<i64>& target) {
  return make_key(std::move(path), "a UTC time such as 2026-12-01T10:00:00Z",
                  [&target](const Scalar& scalar) {
                    const std::optional<i64> value = parse_utc_time(scalar.text);
                    if (!value) return false;
                    target = value;
                    return true;
                  });
}

}  // namespace epochd
