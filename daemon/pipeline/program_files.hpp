// From files to what the executor takes, with messages that name the file and say what to do.
#pragma once

#include "daemon/queue/file_system.hpp"
#include "epoch/isa/program.hpp"

namespace epochd {

// Errors of all: JobError with Reason::kInput when the file is not what it must be; IoError when it
// cannot be read.

/// `shown` is the file's name in messages.
Program parse_program(const Bytes& elf, const std::string& shown);
Program load_program(FileSystem& fs, const Path& path, Links links);
Bytes read_elf(FileSystem& fs, const Path& path, Links links);
Bytes read_input(FileSystem& fs, const Path& path, Links links);
/// Refuses an input that is too large without reading it.
void check_input_size(FileSystem& fs, const Path& path, Links links);

}  // namespace epochd
