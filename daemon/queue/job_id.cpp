#include "daemon/queue/job_id.hpp"

#include <algorithm>

namespace epochd {
namespace {

bool is_id_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

}  // namespace

bool is_job_id(std::string_view text) {
  return !text.empty() && text.size() <= kJobIdBytesMax && text.front() != '.' &&
         std::all_of(text.begin(), text.end(), is_id_character);
}

std::string to_job_id(std::string_view text) {
  std::string id(text.substr(0, kJobIdBytesMax));
  std::replace_if(
      id.begin(), id.end(), [](char c) { return !is_id_character(c); }, '_');
  if (id.empty() || id.front() == '.') id.insert(0, "_");
  id.resize(std::min(id.size(), kJobIdBytesMax));
  return id;
}

std::string to_alternative_id(std::string_view id, u32 number) {
  const std::string suffix = "-" + std::to_string(number);
  return std::string(id.substr(0, kJobIdBytesMax - suffix.size())) + suffix;
}

}  // namespace epochd
