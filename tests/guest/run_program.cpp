#include "tests/guest/run_program.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <memory>
#include <stdexcept>

namespace epochd::test {
namespace {

using File = std::unique_ptr<FILE, int (*)(FILE*)>;

File temporary_file(const std::string& content) {
  File file(std::tmpfile(), &std::fclose);
  if (!file) throw std::runtime_error("cannot create a temporary file");
  if (std::fwrite(content.data(), 1, content.size(), file.get()) != content.size() ||
      std::fflush(file.get()) != 0) {
    throw std::runtime_error("cannot write a temporary file");
  }
  std::rewind(file.get());
  return file;
}

std::string read_all(FILE* file) {
  std::rewind(file);
  std::string content;
  std::array<char, 4096> buffer;
  for (size_t got; (got = std::fread(buffer.data(), 1, buffer.size(), file)) > 0;) {
    content.append(buffer.data(), got);
  }
  return content;
}

}  // namespace

ProgramRun run_program(const std::vector<std::string>& arguments, const std::string& input) {
  const File in = temporary_file(input);
  const File out = temporary_file("");
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) {
    const int null_output = open("/dev/null", O_WRONLY);
    dup2(fileno(in.get()), STDIN_FILENO);
    dup2(fileno(out.get()), STDOUT_FILENO);
    dup2(null_output, STDERR_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child)
    throw std::runtime_error("cannot wait for " + arguments[0]);
  const int exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (exit_code == 127) throw std::runtime_error("cannot run " + arguments[0]);
  return {exit_code, read_all(out.get())};
}

std::vector<u64> words_of(const std::string& bytes) {
  if (bytes.size() % 8 != 0) throw std::runtime_error("output is not a whole number of words");
  std::vector<u64> words(bytes.size() / 8);
  for (size_t i = 0; i < bytes.size(); ++i) {
    words[i / 8] |= static_cast<u64>(static_cast<u8>(bytes[i])) << (8 * (i % 8));
  }
  return words;
}

std::string bytes_of(const std::vector<u64>& words) {
  std::string bytes;
  for (const u64 word : words) {
    for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(word >> (8 * i)));
  }
  return bytes;
}

}  // namespace epochd::test
