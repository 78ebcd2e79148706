#include "daemon/service/live_config.hpp"

namespace epochd {

void LiveConfig::offer(Config config) {
  const std::lock_guard lock(mutex_);
  latest_ = std::move(config);
}

Config LiveConfig::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

Result<Config, std::string> load_config(FileSystem& fs, const Path& file,
                                        const std::string& queue_flag) {
  Bytes text;
  try {
    text = fs.read_prefix(file, kConfigBytesMax + 1, Links::kFollow);
  } catch (const IoError& error) {
    return Unexpected{std::string(error.what()) + "; give the settings file with --config"};
  }
  auto config = parse_config(file.string(), {text.begin(), text.end()});
  if (!config) return Unexpected{to_text(config.error())};
  if (!queue_flag.empty()) {
    config->daemon.queue = std::filesystem::absolute(queue_flag).lexically_normal();
  }
  return *std::move(config);
}

Result<std::vector<std::string>, std::string> reload_config(FileSystem& fs, const Path& file,
                                                            const std::string& queue_flag,
                                                            LiveConfig& live) {
  auto wanted = load_config(fs, file, queue_flag);
  if (!wanted) return Unexpected{wanted.error()};
  const Config running = live.latest();
  std::vector<std::string> fixed = keys_fixed_while_running(running, *wanted);
  live.offer(with_fixed_settings_of(running, *std::move(wanted)));
  return fixed;
}

}  // namespace epochd
