#include "bench/report/json_schema.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace epochd::bench {
namespace {

constexpr std::array<std::string_view, 4> kAnnotations = {"$schema", "$id", "title", "description"};

bool is_type(const std::string& type, const Json& value) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  return type == "null" && value.is_null();
}

class Check {
 public:
  explicit Check(std::vector<std::string>& errors) : errors_(errors) {}

  void value(const Json& schema, const Json& value, const std::string& path) {
    for (const auto& [keyword, rule] : schema.items()) {
      if (!check(keyword, rule, schema, value, path)) {
        fail(path, "the schema's keyword " + keyword + " is not known");
      }
    }
  }

 private:
  void fail(const std::string& path, const std::string& why) {
    errors_.push_back((path.empty() ? "/" : path) + ": " + why);
  }

  /// False for an unknown keyword.
  bool check(const std::string& keyword, const Json& rule, const Json& schema, const Json& value,
             const std::string& path) {
    if (keyword == "type") {
      if (!is_type(rule, value)) fail(path, "must be of type " + rule.get<std::string>());
    } else if (keyword == "const") {
      if (value != rule) fail(path, "must be " + rule.dump());
    } else if (keyword == "enum") {
      if (std::find(rule.begin(), rule.end(), value) == rule.end()) {
        fail(path, "must be one of " + rule.dump());
      }
    } else if (keyword == "minimum") {
      if (value.is_number() && value < rule) fail(path, "must be at least " + rule.dump());
    } else if (keyword == "exclusiveMinimum") {
      if (value.is_number() && value <= rule) fail(path, "must be more than " + rule.dump());
    } else if (keyword == "minItems") {
      if (value.is_array() && value.size() < rule.get<size_t>()) {
        fail(path, "must have at least " + rule.dump() + " entries");
      }
    } else if (keyword == "items") {
      for (size_t i = 0; value.is_array() && i < value.size(); ++i) {
        this->value(rule, value[i], path + "/" + std::to_string(i));
      }
    } else if (keyword == "required" || keyword == "properties" ||
               keyword == "additionalProperties") {
      if (value.is_object()) members(keyword, rule, schema, value, path);
    } else {
      return std::find(kAnnotations.begin(), kAnnotations.end(), keyword) != kAnnotations.end();
    }
    return true;
  }

  void members(const std::string& keyword, const Json& rule, const Json& schema, const Json& object,
               const std::string& path) {
    if (keyword == "required") {
      for (const Json& name : rule) {
        if (!object.contains(name)) fail(path, "lacks " + name.get<std::string>());
      }
      return;
    }
    const Json known = schema.value("properties", Json::object());
    for (const auto& [name, member] : object.items()) {
      const std::string at = path + "/" + name;
      if (keyword == "properties" && known.contains(name)) value(known[name], member, at);
      if (keyword != "additionalProperties" || known.contains(name)) continue;
      if (rule.is_object()) {
        value(rule, member, at);
      } else if (rule == false) {
        fail(at, "is not known");
      }
    }
  }

  std::vector<std::string>& errors_;
};

}  // namespace

std::vector<std::string> schema_errors(const Json& schema, const Json& value) {
  std::vector<std::string> errors;
  Check(errors).value(schema, value, "");
  return errors;
}

}  // namespace epochd::bench
