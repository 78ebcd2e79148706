#include "config/schema.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "config/edit_distance.hpp"

namespace epochd {
namespace {

/// Walks one document and collects findings. A section is a proper prefix of some key's path.
class SchemaReader {
 public:
  SchemaReader(const std::string& file, const Schema& schema, std::vector<std::string>* given)
      : file_(file), schema_(schema), given_(given) {}

  void read_document(const YAML::Node& root) {
    if (root.IsNull()) return;
    if (!root.IsMap()) {
      report(root.Mark(), "the file must be a list of 'key: value' lines");
      return;
    }
    read_section("", root);
  }

  void report(const YAML::Mark& mark, std::string message) {
    const bool known = !mark.is_null();
    findings_.push_back(
        {file_, known ? mark.line + 1 : 0, known ? mark.column + 1 : 0, std::move(message)});
  }

  Diagnostics take() { return std::move(findings_); }

 private:
  void read_section(const std::string& prefix, const YAML::Node& section) {
    std::map<std::string, int> first_line;
    for (const auto& entry : section) {
      if (!entry.first.IsScalar()) {
        report(entry.first.Mark(), "a key must be a plain word");
        continue;
      }
      const std::string path = prefix + entry.first.Scalar();
      const YAML::Mark mark = entry.first.Mark();
      const auto [seen, is_new] = first_line.emplace(path, mark.line + 1);
      if (!is_new) {
        report(mark, "duplicate key '" + path + "'; it is already on line " +
                         std::to_string(seen->second));
        continue;
      }
      read_entry(path, mark, entry.second);
    }
  }

  void read_entry(const std::string& path, const YAML::Mark& mark, const YAML::Node& value) {
    if (const Key* key = find_key(path)) {
      read_value(*key, mark, value);
    } else if (!is_section(path)) {
      report(mark, unknown_key(path));
    } else if (value.IsMap()) {
      read_section(path + ".", value);
    } else {
      report(value.IsNull() ? mark : value.Mark(),
             "'" + path + "' is a section; write its keys indented below it: " + keys_of(path));
    }
  }

  void read_value(const Key& key, const YAML::Mark& mark, const YAML::Node& value) {
    if (value.IsNull()) {
      report(mark, "'" + key.path + "' has no value; give " + key.takes + ", or delete the line");
    } else if (value.IsSequence() && key.assign_list) {
      read_list(key, value);
    } else if (!value.IsScalar()) {
      report(value.Mark(), "'" + key.path + "' must be " + key.takes + ", not a " +
                               (value.IsMap() ? "section" : "list"));
    } else {
      // yaml-cpp gives quoted scalars the non-specific tag "!".
      const auto wrong = key.assign({value.Scalar(), value.Tag() == "!"});
      if (wrong) report(value.Mark(), *wrong);
      if (given_ != nullptr) given_->push_back(key.path);
    }
  }

  void read_list(const Key& key, const YAML::Node& list) {
    std::vector<Scalar> scalars;
    for (const YAML::Node& item : list) {
      if (!item.IsScalar()) {
        return report(item.Mark(), "'" + key.path + "' must be " + key.takes);
      }
      scalars.push_back({item.Scalar(), item.Tag() == "!"});
    }
    if (const auto wrong = key.assign_list(scalars)) report(list.Mark(), *wrong);
    if (given_ != nullptr) given_->push_back(key.path);
  }

  const Key* find_key(const std::string& path) const {
    const auto found = std::find_if(schema_.begin(), schema_.end(),
                                    [&](const Key& key) { return key.path == path; });
    return found == schema_.end() ? nullptr : &*found;
  }

  bool is_section(const std::string& path) const {
    return std::any_of(schema_.begin(), schema_.end(), [&](const Key& key) {
      return key.path.compare(0, path.size() + 1, path + ".") == 0;
    });
  }

  std::string keys_of(const std::string& section) const {
    std::string names;
    for (const Key& key : schema_) {
      if (key.path.compare(0, section.size() + 1, section + ".") != 0) continue;
      names += (names.empty() ? "" : ", ") + key.path.substr(section.size() + 1);
    }
    return names;
  }

  /// Names the nearest key: by its full path, or by its last word if it belongs to another section.
  std::string unknown_key(const std::string& path) const {
    std::vector<std::string> paths;
    for (const Key& key : schema_) paths.push_back(key.path);
    const std::string word = path.substr(path.rfind('.') + 1);
    std::string nearest;
    for (const Key& key : schema_) {
      if (key.path.substr(key.path.rfind('.') + 1) == word) nearest = key.path;
    }
    std::vector<std::string> meant = paths;
    for (const std::string& known : paths) {
      if (known.find('.') != std::string::npos) meant.push_back(known.substr(0, known.find('.')));
    }
    if (nearest.empty()) nearest = nearest_word(path, meant);
    if (!nearest.empty()) return "unknown key '" + path + "'; did you mean '" + nearest + "'?";
    std::string all;
    for (const std::string& known : paths) all += (all.empty() ? "" : ", ") + known;
    return "unknown key '" + path + "'; known keys: " + all;
  }

  std::string file_;
  const Schema& schema_;
  std::vector<std::string>* given_;
  Diagnostics findings_;
};

/// Remembers where documents start, and nothing else.
class DocumentStarts : public YAML::EventHandler {
 public:
  std::vector<YAML::Mark> marks;

  void OnDocumentStart(const YAML::Mark& mark) override { marks.push_back(mark); }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

/// Where a second document starts. yaml-cpp does not go past a stray ',' or ']' between documents:
/// there are then endlessly many, and YAML::LoadAll keeps them all.
std::optional<YAML::Mark> second_document(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentStarts starts;
  while (starts.marks.size() < 2 && parser.HandleNextDocument(starts)) {
  }
  if (starts.marks.size() < 2) return std::nullopt;
  return starts.marks[1];
}

}  // namespace

Diagnostics read_yaml(const std::string& file, const std::string& text, const Schema& schema,
                      std::vector<std::string>* given) {
  SchemaReader reader(file, schema, given);
  try {
    if (const auto second = second_document(text)) {
      reader.report(*second, "one document expected; delete what follows the '---'");
    } else {
      reader.read_document(YAML::Load(text));
    }
  } catch (const YAML::Exception& error) {
    reader.report(error.mark, "not valid YAML: " + error.msg);
  }
  return reader.take();
}

}  // namespace epochd
