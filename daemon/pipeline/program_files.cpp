#include "daemon/pipeline/program_files.hpp"

#include "daemon/queue/reason.hpp"

namespace epochd {
namespace {

std::string quoted(const Path& path) {
  return "'" + path.string() + "'";
}

JobError too_large(const Path& path, const char* what, u64 bytes_max) {
  return {Reason::kInput, quoted(path) + " is too large: " + what + " has at most " +
                              std::to_string(bytes_max) + " bytes"};
}

Bytes read_bounded(FileSystem& fs, const Path& path, const char* what, u64 bytes_max, Links links) {
  try {
    return fs.read_file(path, bytes_max, links);
  } catch (const IoError& error) {
    if (error.code() == EFBIG) throw too_large(path, what, bytes_max);
    throw;
  }
}

}  // namespace

Program parse_program(const Bytes& elf, const std::string& shown) {
  auto image = parse_elf(elf);
  if (!image) throw JobError(Reason::kInput, "'" + shown + "': " + image.error().message);
  return Program(std::move(image).value());
}

Bytes read_elf(FileSystem& fs, const Path& path, Links links) {
  return read_bounded(fs, path, "a program", kElfBytesMax, links);
}

Program load_program(FileSystem& fs, const Path& path, Links links) {
  return parse_program(read_elf(fs, path, links), path.string());
}

Bytes read_input(FileSystem& fs, const Path& path, Links links) {
  return read_bounded(fs, path, "an input", kInputBytesMax, links);
}

void check_input_size(FileSystem& fs, const Path& path, Links links) {
  const FileHandle file = fs.open_for_reading(path, links);
  if (fs.file_bytes(file, path) > kInputBytesMax) throw too_large(path, "an input", kInputBytesMax);
}

}  // namespace epochd
