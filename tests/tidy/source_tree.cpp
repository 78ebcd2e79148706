#include "tests/tidy/source_tree.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace epochd::tidy {
namespace {

namespace fs = std::filesystem;

bool is_ours(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  if (name.starts_with("LICENSE")) return false;
  static constexpr std::string_view kText[] = {".cpp",  ".hpp",  ".c",     ".h",      ".cu", ".cuh",
                                               ".S",    ".ld",   ".cmake", ".txt",    ".sh", ".md",
                                               ".yaml", ".json", ".py",    ".service"};
  // A template that CMake fills is checked as what it becomes.
  const std::string_view filled =
      std::string_view(name).substr(0, name.size() - (name.ends_with(".in") ? 3 : 0));
  for (const std::string_view suffix : kText) {
    if (filled.ends_with(suffix)) return true;
  }
  return path == ".ci/run";
}

bool is_skipped_folder(const std::string& name) {
  return name == ".git" || name == ".cache" || name == "build" || name.starts_with("build-");
}

/// Blanks comments, string and character literals, keeping columns. `block` carries an open /* over
/// lines.
std::string code_of(const std::string& line, bool* block) {
  std::string code = line;
  char quote = 0;
  for (size_t i = 0; i < code.size(); ++i) {
    const bool pair = i + 1 < code.size();
    if (*block) {
      const bool ends = pair && line[i] == '*' && line[i + 1] == '/';
      code[i] = ' ';
      if (ends) code[++i] = ' ', *block = false;
    } else if (quote != 0) {
      if (line[i] == quote)
        quote = 0;
      else if (line[i] == '\\' && pair)
        code[i++] = ' ', code[i] = ' ';
      else
        code[i] = ' ';
    } else if (pair && line[i] == '/' && line[i + 1] == '/') {
      std::fill(code.begin() + static_cast<std::ptrdiff_t>(i), code.end(), ' ');
      break;
    } else if (pair && line[i] == '/' && line[i + 1] == '*') {
      code[i] = code[i + 1] = ' ';
      ++i;
      *block = true;
    } else if (line[i] == '"') {
      quote = '"';
    } else if (line[i] == '\'' &&
               (i == 0 || !std::isalnum(static_cast<unsigned char>(line[i - 1])))) {
      quote = '\'';  // not a digit separator
    }
  }
  return code;
}

}  // namespace

std::string_view SourceFile::extension() const {
  const std::string_view file = name();
  const size_t dot = file.rfind('.');
  return dot == std::string_view::npos ? std::string_view{} : file.substr(dot);
}

std::string_view SourceFile::name() const {
  return std::string_view(path).substr(path.rfind('/') + 1);
}

bool SourceFile::is_under(std::string_view folder) const {
  return path.starts_with(folder);
}

bool SourceFile::is_header() const {
  return extension() == ".hpp" || extension() == ".h" || extension() == ".cuh";
}

bool SourceFile::is_c_family() const {
  if (path.ends_with(".cu.in") || path.ends_with(".cpp.in")) return true;
  return is_header() || extension() == ".cpp" || extension() == ".c" || extension() == ".cu";
}

bool SourceFile::is_build_script() const {
  return name() == "CMakeLists.txt" || extension() == ".cmake";
}

bool SourceFile::is_source() const {
  return is_c_family() || is_build_script() || extension() == ".S" || extension() == ".ld" ||
         extension() == ".sh" || extension() == ".py" || path == ".ci/run";
}

void SourceTree::add(std::string path, std::string_view text) {
  SourceFile file;
  file.path = std::move(path);
  file.ends_with_newline = text.empty() || text.back() == '\n';
  bool block = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    file.lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (file.is_c_family()) file.code.push_back(code_of(file.lines.back(), &block));
  }
  files_.push_back(std::move(file));
}

SourceTree SourceTree::from_disk(const fs::path& root) {
  SourceTree tree;
  for (auto it = fs::recursive_directory_iterator(root); it != fs::recursive_directory_iterator();
       ++it) {
    if (it->is_directory() && is_skipped_folder(it->path().filename().string())) {
      it.disable_recursion_pending();
      continue;
    }
    const std::string path = fs::relative(it->path(), root).generic_string();
    if (!it->is_regular_file() || !is_ours(path)) continue;
    std::ifstream stream(it->path(), std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(stream)), {});
    if (!stream) throw std::runtime_error("cannot read " + path);
    tree.add(path, text);
  }
  std::sort(tree.files_.begin(), tree.files_.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return tree;
}

const SourceFile* SourceTree::find(std::string_view path) const {
  const auto it = std::find_if(files_.begin(), files_.end(),
                               [&](const SourceFile& file) { return file.path == path; });
  return it == files_.end() ? nullptr : &*it;
}

bool SourceTree::has_file(std::string_view path) const {
  return find(path) != nullptr;
}

bool SourceTree::has_folder(std::string_view path) const {
  const std::string prefix = std::string(path) + "/";
  return std::any_of(files_.begin(), files_.end(),
                     [&](const SourceFile& file) { return file.path.starts_with(prefix); });
}

std::string normalized(std::string_view path) {
  const fs::path plain = fs::path(path).lexically_normal();
  std::string text = plain.generic_string();
  while (!text.empty() && text.back() == '/') text.pop_back();
  return text.starts_with("..") ? std::string{} : text;
}

}  // namespace epochd::tidy
