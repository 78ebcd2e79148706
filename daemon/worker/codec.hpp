// What daemon and worker tell each other, as messages. Decoding checks lengths and types; what does
// not fit is a ChannelError.
#pragma once

#include "cuda/rt/device_query.hpp"
#include "daemon/pipeline/backend_choice.hpp"
#include "daemon/pipeline/prover_pool.hpp"
#include "daemon/worker/channel.hpp"

namespace epochd {

/// What a worker needs to make a pool of its own for a job.
struct OpenRequest {
  Bytes elf;
  std::string elf_name;
  RunParams params;
  Residency residency = Residency::kDeviceOnly;
  u32 in_flight = 0;
  int device = 0;
  u32 threads = 0;  ///< for the worker's own loops, 0: one a hardware thread
};
Message encode_open(const PoolJob& job, int device, u32 threads);
OpenRequest decode_open(Message message);

/// An epoch's proof, with what the worker has used so far.
Message encode_proved(u64 tag, const ProvedEpoch& epoch, const ProverUsage& usage);
ProvedEpoch decode_proved(const Message& message);

/// What did not work. `is_leaving`: the worker ends now, because its device is lost.
struct Failure {
  std::string why;
  bool is_out_of_memory = false;
  bool is_leaving = false;
};
Message encode_failure(u64 tag, const Failure& failure);
Failure decode_failure(const Message& message);

/// What the worker has used, where the message says so.
std::optional<ProverUsage> decode_usage_of(const Message& message);
nlohmann::json encode_usage(const ProverUsage& usage);
ProverUsage decode_usage(const nlohmann::json& json);

/// The run's memory, without the boundary rows: those are fetched when they are needed.
struct GlobalTask {
  RunMemory::Ends ends;
  std::vector<prover::Digest> roots;
  std::vector<u32> log_heights;
};
Message encode_global(u64 tag, const BoundaryStore& boundaries, const RunMemory::Ends& ends);
GlobalTask decode_global(const Message& message);

Message encode_rows(u32 label, std::span<const BoundaryRecord> rows);
std::vector<BoundaryRecord> decode_rows(const Message& message);
Message encode_words(u64 tag, std::span<const u64> words);
std::vector<u64> decode_words(const Message& message);

using DeviceList = Result<std::vector<DeviceInfo>, DeviceQueryError>;
Message encode_devices(u64 tag, const DeviceList& devices);
DeviceList decode_devices(const Message& message);

}  // namespace epochd
