// epoch inspect: what is inside a bundle. Looks, does not verify.
#include "daemon/cli/command.hpp"
#include "daemon/cli/text.hpp"
#include "daemon/cli/verifying_key.hpp"
#include "daemon/pipeline/bundle_file.hpp"
#include "epoch/chips/airs.hpp"

namespace epochd {
namespace {

constexpr size_t kHeaderWords = 13;
constexpr size_t kStatementFixedWords = 7;

[[noreturn]] void refuse(const std::string& why) {
  throw NegativeAnswer("not a bundle this program can read: " + why);
}

std::string chip_name(u64 entry) {
  const u64 chip = entry & 0xff;
  const prover::AirInfo* air =
      chip < kChipCount ? chips::find_air(static_cast<ChipId>(chip)) : nullptr;
  return air == nullptr ? "chip " + std::to_string(chip) : air->name;
}

/// A record of an epoch: words after its count.
nlohmann::json inspect_record(std::span<const u64> record) {
  if (record.size() < kStatementFixedWords) refuse("an epoch record is too short");
  const u64 output_count = record[4];
  const u64 table_count = record[6];
  if (table_count > prover::kTablesMax) refuse("an epoch lists too many tables");
  if (output_count > record.size()) refuse("an epoch lists too many outputs");
  const size_t statement_words = kStatementFixedWords + table_count + output_count;
  if (statement_words > record.size()) refuse("an epoch record is cut short");
  nlohmann::json tables = nlohmann::json::array();
  for (u64 i = 0; i < table_count; ++i) {
    const u64 entry = record[kStatementFixedWords + i];
    tables.push_back({{"chip", chip_name(entry)}, {"log2_rows", entry >> 8}});
  }
  return {{"pc_in", record[0]},
          {"pc_out", record[1]},
          {"cycles", record[2]},
          {"outputs", output_count},
          {"tables", tables},
          {"bytes", (record.size() + 1) * sizeof(u64)},
          {"statement_bytes", statement_words * sizeof(u64)}};
}

class RecordReader {
 public:
  explicit RecordReader(std::span<const u64> words) : words_(words) {}
  bool is_at_end() const { return words_.empty(); }
  /// The next record's words after its count.
  std::span<const u64> next() {
    if (words_.empty() || words_[0] > words_.size() - 1) refuse("it is truncated");
    const auto record = words_.subspan(1, words_[0]);
    words_ = words_.subspan(1 + record.size());
    return record;
  }

 private:
  std::span<const u64> words_;
};

std::string to_text(const nlohmann::json& json) {
  std::string text = "preset     " + json["security"].get<std::string>() + "\nprogram    " +
                     json["program"].get<std::string>() + "\nepochs     " +
                     std::to_string(json["epochs"].size()) + " of 2^" +
                     std::to_string(json["epoch_size_log2"].get<u64>()) + " cycles, " +
                     std::to_string(json["cycles"].get<u64>()) + " in all\nmemory     " +
                     std::to_string(json["anchors"].get<u64>()) + " anchors in " +
                     std::to_string(json["global_sub_proofs"].get<u64>()) +
                     " sub-proofs\nsize       " + bytes_text(json["bytes"].get<u64>()) +
                     ": epochs " + bytes_text(json["epoch_bytes"].get<u64>()) + ", global " +
                     bytes_text(json["global_bytes"].get<u64>()) + ", header " +
                     bytes_text(json["header_bytes"].get<u64>());
  u64 label = 0;
  for (const nlohmann::json& epoch : json["epochs"]) {
    text += "\nepoch " + std::to_string(++label) + ": " +
            std::to_string(epoch["cycles"].get<u64>()) + " cycles, " +
            bytes_text(epoch["bytes"].get<u64>()) + ":";
    for (const nlohmann::json& table : epoch["tables"]) {
      text += " " + table["chip"].get<std::string>() + "/" +
              std::to_string(table["log2_rows"].get<u64>());
    }
  }
  return text;
}

ExitCode inspect(const Session& session, const std::string& path) {
  FileSystem fs;
  const BundleFile bundle(fs, path, Links::kFollow);
  const std::span<const u64> words = bundle.words();
  if (words.size() < kHeaderWords || words[0] != kBundleMagic) refuse("it has no bundle header");
  if (words[1] != kFormatVersion) {
    refuse("it has format version " + std::to_string(words[1]) + ", not " +
           std::to_string(kFormatVersion));
  }
  const prover::Preset* preset =
      words[2] <= ~u32{0} ? prover::find_preset(static_cast<u32>(words[2])) : nullptr;
  const prover::Digest program{{words[4], words[5], words[6], words[7]}};
  RecordReader reader(words.subspan(kHeaderWords));
  nlohmann::json epochs = nlohmann::json::array();
  u64 cycles = 0, epoch_bytes = 0;
  for (u64 e = 0; e < words[8]; ++e) {
    epochs.push_back(inspect_record(reader.next()));
    cycles += epochs.back()["cycles"].get<u64>();
    epoch_bytes += epochs.back()["bytes"].get<u64>();
  }
  u64 sub_proofs = 0, global_bytes = 0;
  for (; !reader.is_at_end(); ++sub_proofs) {
    global_bytes += (reader.next().size() + 1) * sizeof(u64);
  }
  const nlohmann::json json = {{"format_version", words[1]},
                               {"security", preset == nullptr ? "unknown preset" : preset->name},
                               {"epoch_size_log2", words[3]},
                               {"program", to_hex(program)},
                               {"anchors", words[9]},
                               {"cycles", cycles},
                               {"epochs", epochs},
                               {"global_sub_proofs", sub_proofs},
                               {"bytes", bundle.bytes()},
                               {"header_bytes", kHeaderWords * sizeof(u64)},
                               {"epoch_bytes", epoch_bytes},
                               {"global_bytes", global_bytes}};
  session.answer(json, to_text(json));
  return ExitCode::kOk;
}

}  // namespace

void add_inspect_command(CLI::App& app, Session& session) {
  const auto path = std::make_shared<std::string>();
  CLI::App* command = add_subcommand(app, session, "inspect", "Show what is inside a bundle",
                                     [&session, path] { return inspect(session, *path); });
  command->add_option("proof", *path, "The bundle")->required();
}

}  // namespace epochd
