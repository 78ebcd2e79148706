#include "daemon/worker/codec.hpp"

#include <cstring>
#include <type_traits>

#include "daemon/pipeline/epoch_payload.hpp"
#include "prover/security/presets.hpp"

namespace epochd {
namespace {

using nlohmann::json;

/// Arrays one after the other, each after its length.
class Packer {
 public:
  template <class T>
  void add(std::span<const T> items) {
    static_assert(std::is_trivially_copyable_v<T>);
    const u64 count = items.size();
    append(&count, sizeof(count));
    append(items.data(), items.size_bytes());
  }
  Bytes take() { return std::move(bytes_); }

 private:
  void append(const void* from, size_t bytes) {
    const u8* first = static_cast<const u8*>(from);
    bytes_.insert(bytes_.end(), first, first + bytes);
  }
  Bytes bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(std::span<const u8> bytes) : bytes_(bytes) {}

  template <class T>
  std::vector<T> take() {
    u64 count = 0;
    copy(&count, sizeof(count));
    if (count > bytes_.size() / sizeof(T)) throw ChannelError("an array longer than its message");
    std::vector<T> items(count);
    copy(items.data(), count * sizeof(T));
    return items;
  }
  void finish() const {
    if (!bytes_.empty()) throw ChannelError("a message longer than its arrays");
  }

 private:
  void copy(void* to, size_t bytes) {
    if (bytes > bytes_.size()) throw ChannelError("a message shorter than its arrays");
    if (bytes > 0) std::memcpy(to, bytes_.data(), bytes);
    bytes_ = bytes_.subspan(bytes);
  }
  std::span<const u8> bytes_;
};

template <class T>
std::vector<T> unpack_one(const Message& message) {
  Unpacker from(message.blob);
  std::vector<T> items = from.take<T>();
  from.finish();
  return items;
}

/// A field of a head. Errors: ChannelError.
template <class T>
T field(const json& head, const char* name) {
  try {
    return head.at(name).get<T>();
  } catch (const json::exception& error) {
    throw ChannelError(std::string("a message without a good '") + name + "': " + error.what());
  }
}

const prover::Preset& preset_with_id(u64 id) {
  for (const prover::Preset& preset : prover::kPresets) {
    if (preset.id == id) return preset;
  }
  throw ChannelError("a job with an unknown security preset");
}

std::vector<StageSpan> decode_stages(const json& list) {
  std::vector<StageSpan> stages;
  for (const json& item : list) {
    stages.push_back({field<std::string>(item, "name"), field<i64>(item, "begin"),
                      field<i64>(item, "end"), field<u32>(item, "lane")});
  }
  return stages;
}

}  // namespace

Message encode_open(const PoolJob& job, int device, u32 threads) {
  Message message{MessageKind::kOpen, 0, {}, Bytes(job.elf.begin(), job.elf.end())};
  message.head = {{"name", job.elf_name},
                  {"preset", job.params.preset->id},
                  {"epoch_size_log2", job.params.epoch_size_log2},
                  {"residency", static_cast<u32>(job.residency)},
                  {"in_flight", job.in_flight},
                  {"device", device},
                  {"threads", threads}};
  return message;
}

OpenRequest decode_open(Message message) {
  OpenRequest request;
  request.elf = std::move(message.blob);
  request.elf_name = field<std::string>(message.head, "name");
  request.params.preset = &preset_with_id(field<u64>(message.head, "preset"));
  request.params.epoch_size_log2 = field<u32>(message.head, "epoch_size_log2");
  const u32 residency = field<u32>(message.head, "residency");
  if (residency >= kResidencyNames.size() || request.params.epoch_size_log2 < kEpochSizeLog2Min ||
      request.params.epoch_size_log2 > kEpochSizeLog2Max) {
    throw ChannelError("a job with parameters out of range");
  }
  request.residency = static_cast<Residency>(residency);
  request.in_flight = field<u32>(message.head, "in_flight");
  request.device = field<int>(message.head, "device");
  request.threads = field<u32>(message.head, "threads");
  return request;
}

Message encode_proved(u64 tag, const ProvedEpoch& epoch, const ProverUsage& usage) {
  Message message{MessageKind::kProved, tag, {}, encode_payload(epoch.proof, epoch.boundary)};
  json stages = json::array();
  for (const StageSpan& span : epoch.stages) {
    stages.push_back(
        {{"name", span.name}, {"begin", span.begin_ns}, {"end", span.end_ns}, {"lane", span.lane}});
  }
  message.head = {{"stages", std::move(stages)}, {"usage", encode_usage(usage)}};
  return message;
}

ProvedEpoch decode_proved(const Message& message) {
  std::optional<EpochPayload> payload = decode_payload(message.blob);
  if (!payload) throw ChannelError("an epoch's proof with wrong lengths");
  return {std::move(payload->proof), std::move(payload->boundary),
          decode_stages(field<json>(message.head, "stages"))};
}

Message encode_failure(u64 tag, const Failure& failure) {
  Message message{MessageKind::kFailed, tag, json::object(), {}};
  message.head = {{"why", failure.why},
                  {"is_out_of_memory", failure.is_out_of_memory},
                  {"is_leaving", failure.is_leaving}};
  return message;
}

Failure decode_failure(const Message& message) {
  return {field<std::string>(message.head, "why"), field<bool>(message.head, "is_out_of_memory"),
          field<bool>(message.head, "is_leaving")};
}

std::optional<ProverUsage> decode_usage_of(const Message& message) {
  const auto usage = message.head.find("usage");
  if (usage == message.head.end()) return std::nullopt;
  return decode_usage(*usage);
}

json encode_usage(const ProverUsage& usage) {
  return {{"backend", usage.backend},     {"bytes_h2d", usage.bytes_h2d},
          {"bytes_d2h", usage.bytes_d2h}, {"peak_device_bytes", usage.peak_device_bytes},
          {"counters", usage.counters},   {"fallback", usage.fallback}};
}

ProverUsage decode_usage(const json& from) {
  ProverUsage usage;
  usage.backend = field<std::string>(from, "backend");
  usage.bytes_h2d = field<u64>(from, "bytes_h2d");
  usage.bytes_d2h = field<u64>(from, "bytes_d2h");
  usage.peak_device_bytes = field<u64>(from, "peak_device_bytes");
  usage.counters = field<std::map<std::string, u64>>(from, "counters");
  usage.fallback = field<std::string>(from, "fallback");
  return usage;
}

Message encode_global(u64 tag, const BoundaryStore& boundaries, const RunMemory::Ends& ends) {
  std::vector<prover::Digest> roots;
  std::vector<u32> log_heights;
  for (u32 label = 1; label <= boundaries.epochs; ++label) {
    roots.push_back(boundaries.root(label));
    log_heights.push_back(boundaries.log_height(label));
  }
  Packer pack;
  pack.add(std::span<const prover::Digest>(roots));
  pack.add(std::span<const u32>(log_heights));
  pack.add(std::span<const AnchorRecord>(ends.anchors));
  pack.add(std::span<const u64>(ends.anchor_previous));
  pack.add(std::span<const chips::ImageEnd>(ends.image));
  pack.add(std::span<const u64>(ends.last_keys));
  Message message{MessageKind::kGlobal, tag, {}, pack.take()};
  message.head = json::object();
  return message;
}

GlobalTask decode_global(const Message& message) {
  Unpacker from(message.blob);
  GlobalTask task;
  task.roots = from.take<prover::Digest>();
  task.log_heights = from.take<u32>();
  task.ends.anchors = from.take<AnchorRecord>();
  task.ends.anchor_previous = from.take<u64>();
  task.ends.image = from.take<chips::ImageEnd>();
  const std::vector<u64> last_keys = from.take<u64>();
  from.finish();
  if (task.roots.size() != task.log_heights.size() ||
      task.ends.anchors.size() != task.ends.anchor_previous.size() ||
      last_keys.size() != task.ends.last_keys.size()) {
    throw ChannelError("a run's memory with arrays of different lengths");
  }
  std::copy(last_keys.begin(), last_keys.end(), task.ends.last_keys.begin());
  return task;
}

Message encode_rows(u32 label, std::span<const BoundaryRecord> rows) {
  Packer pack;
  pack.add(rows);
  return {MessageKind::kRows, label, json::object(), pack.take()};
}

std::vector<BoundaryRecord> decode_rows(const Message& message) {
  return unpack_one<BoundaryRecord>(message);
}

Message encode_words(u64 tag, std::span<const u64> words) {
  Packer pack;
  pack.add(words);
  return {MessageKind::kWords, tag, json::object(), pack.take()};
}

std::vector<u64> decode_words(const Message& message) {
  return unpack_one<u64>(message);
}

Message encode_devices(u64 tag, const DeviceList& devices) {
  Message message{MessageKind::kDevices, tag, json::object(), {}};
  if (!devices) {
    message.head["error"] = {{"kind", static_cast<u32>(devices.error().kind)},
                             {"device", devices.error().device},
                             {"message", devices.error().message}};
    return message;
  }
  json list = json::array();
  for (const DeviceInfo& d : *devices) {
    list.push_back({{"device", d.device},
                    {"name", d.name},
                    {"memory_bytes", d.memory_bytes},
                    {"free_bytes", d.free_bytes},
                    {"compute_major", d.compute_major},
                    {"compute_minor", d.compute_minor},
                    {"multiprocessor_count", d.multiprocessor_count},
                    {"driver_version", d.driver_version},
                    {"runtime_version", d.runtime_version}});
  }
  message.head["devices"] = std::move(list);
  return message;
}

DeviceList decode_devices(const Message& message) {
  if (message.head.contains("error")) {
    const json error = field<json>(message.head, "error");
    return Unexpected{DeviceQueryError{static_cast<DeviceQueryErrorKind>(field<u32>(error, "kind")),
                                       field<int>(error, "device"),
                                       field<std::string>(error, "message")}};
  }
  std::vector<DeviceInfo> devices;
  for (const json& d : field<json>(message.head, "devices")) {
    devices.push_back({field<int>(d, "device"), field<std::string>(d, "name"),
                       field<u64>(d, "memory_bytes"), field<u64>(d, "free_bytes"),
                       field<int>(d, "compute_major"), field<int>(d, "compute_minor"),
                       field<int>(d, "multiprocessor_count"), field<int>(d, "driver_version"),
                       field<int>(d, "runtime_version")});
  }
  if (devices.empty()) throw ChannelError("an empty list of devices");
  return devices;
}

}  // namespace epochd
