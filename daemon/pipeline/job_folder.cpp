#include "daemon/pipeline/job_folder.hpp"

#include "daemon/pipeline/job_key.hpp"
#include "daemon/pipeline/program_files.hpp"
#include "daemon/queue/durable.hpp"
#include "daemon/queue/layout.hpp"
#include "daemon/queue/reason.hpp"

namespace epochd {
namespace {

constexpr u64 kEpochFileBytesMax = u64{1} << 32;
constexpr u64 kFactsBytesMax = u64{1} << 36;
/// Missing epochs that a message lists.
constexpr size_t kListed = 10;

JobError wrong(const std::string& what) {
  return {Reason::kInput, what};
}

std::string quoted(const Path& path) {
  return "'" + path.string() + "'";
}

void write_sealed(FileSystem& fs, const Path& path, SealKind kind, u64 label, const JobKey& key,
                  std::span<const u8> payload) {
  DurableFile file(fs, path);
  file.append(seal_header(kind, label, key, payload));
  file.append(payload);
  file.commit();
}

}  // namespace

void write_epoch_file(FileSystem& fs, const Path& path, u64 label, const JobKey& key,
                      std::span<const u8> payload) {
  write_sealed(fs, path, SealKind::kEpoch, label, key, payload);
}

CapsuleWriter::CapsuleWriter(FileSystem& fs, const Path& folder, const ProofRequest& request,
                             const RunParams& params, const prover::Digest& program)
    : fs_(fs),
      folder_(folder),
      request_(request),
      params_(params),
      key_(job_key(request)),
      stitch_(program) {
  if (!fs_.make_directory(folder_) && !fs_.list(folder_).empty()) {
    throw wrong(quoted(folder_) + " is not empty; choose a new directory");
  }
  fs_.make_directory(folder_ / kCapsulesName);
  fs_.make_directory(folder_ / kEpochsName);
  replace_file(fs_, folder_ / kProgramFile, request.elf);
}

void CapsuleWriter::add(const ScoutEpoch& epoch) {
  const Capsule capsule = stitch_.seal(epoch);
  const Bytes file = encode_capsule_file(key_, params_, request_.elf, capsule);
  replace_file(fs_, folder_ / kCapsulesName / label_file_name(capsule.label, kCapsuleSuffix), file);
  bytes_ += file.size();
}

void CapsuleWriter::finish(const RunFacts& facts) {
  write_sealed(fs_, folder_ / kEpochsName / kFactsFile, SealKind::kFacts, 0, key_,
               encode_facts({params_, facts}));
  fs_.sync_directory(folder_);
}

GatheredEpochs::GatheredEpochs(FileSystem& fs, const Path& folder) : fs_(fs), folder_(folder) {
  read_facts();
  elf_ = read_elf(fs_, folder_ / kProgramFile, Links::kFollow);
  for (const Entry& entry : fs_.list(folder_ / kEpochsName)) {
    if (entry.name.ends_with(kEpochSuffix)) gather(folder_ / kEpochsName / entry.name);
  }
  check_complete();
}

void GatheredEpochs::read_facts() {
  const Path path = folder_ / kEpochsName / kFactsFile;
  if (!fs_.exists(path)) {
    throw wrong(quoted(folder_) + " is no job whose program ran to its end: " + quoted(path) +
                " is missing; make it with `epoch execute --capsules`");
  }
  const Bytes file = fs_.read_file(path, kFactsBytesMax);
  const auto sealed = open_sealed(SealKind::kFacts, file);
  if (!sealed) throw wrong(quoted(path) + " is " + sealed.error());
  const auto facts = decode_facts(sealed->payload);
  if (!facts) throw wrong(quoted(path) + " is of another version");
  key_ = sealed->key;
  facts_ = *facts;
}

void GatheredEpochs::gather(const Path& file) {
  const Bytes bytes = fs_.read_file(file, kEpochFileBytesMax, Links::kFollow);
  const auto sealed = open_sealed(SealKind::kEpoch, bytes);
  if (!sealed) {
    throw wrong(quoted(file) + " is " + sealed.error() + "; prove its capsule again");
  }
  const std::string epoch = "epoch " + std::to_string(sealed->label);
  if (sealed->key != key_) {
    throw wrong(quoted(file) + " is " + epoch + " of another job; remove it");
  }
  if (sealed->label == 0 || sealed->label > facts_.run.epochs) {
    throw wrong(quoted(file) + " is " + epoch + ", and the run has " +
                std::to_string(facts_.run.epochs));
  }
  const auto [there, is_new] = files_.emplace(sealed->label, file);
  if (!is_new) {
    throw wrong(epoch + " is there twice: " + quoted(there->second) + " and " + quoted(file) +
                "; remove one");
  }
}

void GatheredEpochs::check_complete() const {
  const u64 missing = facts_.run.epochs - files_.size();
  if (missing == 0) return;
  std::string list;
  size_t listed = 0;
  for (u64 label = 1; listed < std::min<u64>(missing, kListed); ++label) {
    if (files_.count(label) > 0) continue;
    list += (listed++ > 0 ? ", " : "") + std::to_string(label);
  }
  throw wrong((missing == 1 ? "epoch " : "epochs ") + list + (missing > kListed ? " ..." : "") +
              (missing == 1 ? " is" : " are") + " missing (" + std::to_string(missing) + " of " +
              std::to_string(facts_.run.epochs) + "); prove the capsules into " +
              quoted(folder_ / kEpochsName));
}

std::optional<Bytes> GatheredEpochs::load(u64 label) {
  Bytes file = fs_.read_file(files_.at(label), kEpochFileBytesMax, Links::kFollow);
  const auto sealed = open_sealed(SealKind::kEpoch, file);
  if (!sealed || sealed->key != key_ || sealed->label != label) return std::nullopt;
  file.erase(file.begin(), file.begin() + kSealHeaderBytes);
  return file;
}

void GatheredEpochs::save(u64, std::span<const u8>) {
  EPOCHD_ASSERT(false && "nothing is proved here");
}

}  // namespace epochd
