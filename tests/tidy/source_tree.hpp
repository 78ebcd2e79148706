// The repository's own files as the style checks see them: read from disk, or made up by a
// self-test.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace epochd::tidy {

struct SourceFile {
  std::string path;                ///< relative to the repository, '/' between parts
  std::vector<std::string> lines;  ///< as written, without line ends
  std::vector<std::string> code;   ///< the same with comments and literals blanked; C family only
  bool ends_with_newline = true;

  std::string_view extension() const;
  std::string_view name() const;
  bool is_under(std::string_view folder) const;  ///< folder ends with '/'
  bool is_c_family() const;                      ///< C, C++, CUDA, sources and headers
  bool is_header() const;
  bool is_build_script() const;  ///< CMake
  bool is_source() const;        ///< everything a line or length limit applies to
};

class SourceTree {
 public:
  /// Every text file below root, except build folders, .git and what is not ours to format
  /// (licences).
  static SourceTree from_disk(const std::filesystem::path& root);

  void add(std::string path, std::string_view text);
  const std::vector<SourceFile>& files() const { return files_; }
  bool has_file(std::string_view path) const;
  bool has_folder(std::string_view path) const;
  const SourceFile* find(std::string_view path) const;

 private:
  std::vector<SourceFile> files_;
};

/// `path` with "." and ".." resolved: a/b/../c becomes a/c. Empty when it leaves the repository.
std::string normalized(std::string_view path);

}  // namespace epochd::tidy
