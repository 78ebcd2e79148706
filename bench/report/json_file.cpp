#include "bench/report/json_file.hpp"

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace epochd::bench {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

Json read_json(const std::string& path) {
  try {
    return Json::parse(read_file(path));
  } catch (const Json::exception& error) {
    throw std::runtime_error(path + ": " + error.what());
  }
}

Json read_json(const std::string& path, const std::string& schema) {
  Json json = read_json(path);
  const std::string found = json.is_object() ? json.value("schema", "none") : "none";
  if (found != schema) {
    throw std::runtime_error(path + ": its schema is " + found + ", not " + schema);
  }
  return json;
}

}  // namespace epochd::bench
