// Everything that can be wrong with what a user gives: a specific message and exit code for each.
#include <unistd.h>

#include "tests/e2e/support.hpp"

namespace epochd::e2e {
namespace {

class BadInputTest : public E2eTest {
 protected:
  /// The command refuses the program in each way a program can be given.
  void expect_refused(const std::string& elf, int code, const std::string& message) {
    const std::string program = file("program.elf", elf);
    for (const Strings& args : std::vector<Strings>{
             {"execute", program},
             {"prove", program, "-o", path("out.proof").string(), "--security", "test"},
             {"submit", "--queue", queue().string(), program}}) {
      const Outcome outcome = epoch(args);
      EXPECT_EQ(outcome.code, code) << args[0] << ": " << outcome.err;
      EXPECT_NE(outcome.err.find(message), std::string::npos) << args[0] << ": " << outcome.err;
      EXPECT_NE(outcome.err.find("program.elf"), std::string::npos) << "names the file";
    }
    EXPECT_FALSE(std::filesystem::exists(path("out.proof")));
  }

  /// The program starts and then ends badly.
  void expect_bad_run(const std::string& elf, const Strings& flags, const std::string& message,
                      const std::string& reason) {
    const std::string program = file("program.elf", elf);
    for (Strings args : std::vector<Strings>{
             {"execute", program},
             {"prove", program, "-o", path("out.proof").string(), "--security", "test"}}) {
      args.insert(args.end(), flags.begin(), flags.end());
      const Outcome outcome = epoch(args);
      EXPECT_EQ(outcome.code, 1) << args[0];
      EXPECT_NE(outcome.err.find(message), std::string::npos) << args[0] << ": " << outcome.err;
    }
    const std::string job = submit(program, "", flags);
    EXPECT_EQ(epochd_once().code, 1);
    const auto json = nlohmann::json::parse(read_file(queue() / "failed" / job / "reason.json"));
    EXPECT_EQ(json["reason"], reason);
    EXPECT_NE(json["message"].get<std::string>().find(message), std::string::npos) << json;
    const Outcome status = epoch({"status", "--queue", queue().string(), job});
    EXPECT_EQ(status.code, 1);
    EXPECT_NE(status.out.find("failed(" + reason + ")"), std::string::npos) << status.out;
    EXPECT_FALSE(std::filesystem::exists(path("out.proof")));
  }

  std::string good() const { return read_file(guest("fib")); }
};

TEST_F(BadInputTest, NotAnElf) {
  expect_refused("#!/bin/sh\nexit 0\n", 2, "not an ELF file");
}

TEST_F(BadInputTest, EmptyFile) {
  expect_refused("", 2, "program.elf");
}

TEST_F(BadInputTest, WrongMachine) {
  std::string elf = good();
  elf[18] = 62;  // x86-64
  expect_refused(elf, 2, "not RISC-V");
}

TEST_F(BadInputTest, CompressedCode) {
  std::string elf = good();
  elf[48] |= 1;
  expect_refused(elf, 2, "compressed instructions");
}

TEST_F(BadInputTest, OverlappingSegments) {
  expect_refused(make_elf({{0x10000, exit_with(0)}, {0x10008, exit_with(0)}}), 2, "overlap");
}

TEST_F(BadInputTest, SegmentInTheInputRegion) {
  expect_refused(make_elf({{0x10000, exit_with(0)}, {0xc0000000, {1, 2}, 6}}), 2,
                 "segment at 0xc0000000");
}

TEST_F(BadInputTest, AJobThatIsNoElfFailsWithItsReason) {
  write_file(path("lone.elf"), "nonsense");
  std::filesystem::create_directories(queue() / "incoming");
  std::filesystem::rename(path("lone.elf"), queue() / "incoming/lone.elf");
  EXPECT_EQ(epochd_once().code, 1);
  const auto json = nlohmann::json::parse(read_file(queue() / "failed/lone/reason.json"));
  EXPECT_EQ(json["reason"], "input");
  EXPECT_NE(json["message"].get<std::string>().find("not an ELF file"), std::string::npos);
}

TEST_F(BadInputTest, MissingProgram) {
  const Outcome outcome = epoch({"execute", path("nowhere.elf").string()});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_NE(outcome.err.find("nowhere.elf': No such file or directory"), std::string::npos);
}

TEST_F(BadInputTest, InputTooLarge) {
  const std::string input = file("input", "");
  std::filesystem::resize_file(input, (u64{1} << 30) - 15);
  for (const Strings& args : std::vector<Strings>{
           {"execute", guest("fib"), "--input", input},
           {"submit", "--queue", queue().string(), guest("fib"), "--input", input}}) {
    const Outcome outcome = epoch(args);
    EXPECT_EQ(outcome.code, 2) << args[0];
    EXPECT_NE(outcome.err.find("input' is too large: an input has at most 1073741808 bytes"),
              std::string::npos)
        << outcome.err;
  }
}

TEST_F(BadInputTest, GuestFault) {
  // ld a0, 0(x0): below the first accessible byte.
  std::vector<u32> words = {0x00003503u};
  const std::vector<u32> end = exit_with(0);
  words.insert(words.end(), end.begin(), end.end());
  expect_bad_run(make_elf({{0x10000, words}}), {}, "guest fault", "guest-fault");
}

TEST_F(BadInputTest, RunningOffTheEndOfTheCode) {
  expect_bad_run(make_elf({{0x10000, {0x00000013u, 0x00000013u}}}), {}, "0x10008", "guest-fault");
}

TEST_F(BadInputTest, NoExitRunsIntoTheCycleLimit) {
  // j .
  expect_bad_run(make_elf({{0x10000, {0x0000006fu}}}), {"--max-cycles", "100000"},
                 "did not exit within 100000 cycles", "cycle-limit");
}

TEST_F(BadInputTest, CycleLimitOfALongProgram) {
  const std::string input = file("input", little_endian(1'000'000));
  const Outcome outcome =
      epoch({"execute", guest("fib"), "--input", input, "--max-cycles", "4999"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("did not exit within 4999 cycles"), std::string::npos);
}

TEST_F(BadInputTest, EpochSizeOutOfRange) {
  for (const char* value : {"4", "27", "-1", "many"}) {
    const Outcome flag =
        epoch({"prove", guest("fib"), "-o", path("p").string(), "--epoch-size-log2", value});
    EXPECT_EQ(flag.code, 2);
    EXPECT_NE(flag.err.find("--epoch-size-log2: must be an integer from 5 to 26, not '" +
                            std::string(value) + "'"),
              std::string::npos)
        << flag.err;
    const Outcome variable =
        epoch({"prove", guest("fib"), "-o", path("p").string()}, {{"EPOCH_SIZE_LOG2", value}});
    EXPECT_EQ(variable.code, 2);
    EXPECT_NE(variable.err.find("EPOCH_SIZE_LOG2 must be an integer from 5 to 26"),
              std::string::npos);
  }
}

TEST_F(BadInputTest, UnknownAndMistypedConfigKeys) {
  write_config("threads: 2\nretrys: {failures: 1}\nbackend: 7\n");
  for (const Outcome& outcome :
       {epochd_once(), epoch({"check-config", path("epochd.yaml").string()})}) {
    EXPECT_EQ(outcome.code, 2);
    const std::string said = outcome.out + outcome.err;
    EXPECT_NE(said.find("epochd.yaml:2:1: unknown key 'retrys'; did you mean 'retries'?"),
              std::string::npos)
        << said;
    EXPECT_NE(said.find("epochd.yaml:3:10: 'backend' must be cpu, cuda-preferred or cuda-required"),
              std::string::npos)
        << said;
  }
  EXPECT_TRUE(std::filesystem::is_empty(queue())) << "nothing was started";
}

TEST_F(BadInputTest, ABudgetThatIsTooSmallIsSaidByAllThatReadIt) {
  write_config("queue: " + queue().string() + "\nmemory: {host_bytes: 1000000000}\n");
  const std::string file = path("epochd.yaml").string();
  const Outcome daemon = epochd_once();
  EXPECT_EQ(daemon.code, 2);
  const size_t at = daemon.err.find(file + ": an epoch of 2^20 cycles needs up to ");
  ASSERT_NE(at, std::string::npos) << daemon.err;
  const std::string refusal = daemon.err.substr(at, daemon.err.find('\n', at) - at);
  EXPECT_NE(refusal.find("memory.host_bytes allows 0.9 GiB"), std::string::npos) << refusal;
  const Outcome checked = epoch({"check-config", file});
  EXPECT_EQ(checked.code, 2);
  EXPECT_NE((checked.out + checked.err).find(refusal), std::string::npos) << checked.out;
  const Outcome doctor = epoch({"doctor", "--config", file});
  EXPECT_EQ(doctor.code, 3);
  EXPECT_NE(doctor.out.find(refusal), std::string::npos) << doctor.out;
  // Smaller epochs fit, also when the environment asks for them.
  EXPECT_EQ(epoch({"check-config", file}, {{"EPOCH_SIZE_LOG2", "10"}}).code, 0);
}

TEST_F(BadInputTest, BadJobFile) {
  write_file(path("job/program.elf"), good());
  write_file(path("job/job.yaml"), "epoch_size_log2: 40\n");
  std::filesystem::create_directories(queue() / "incoming");
  std::filesystem::rename(path("job"), queue() / "incoming/job");
  EXPECT_EQ(epochd_once().code, 1);
  const auto json = nlohmann::json::parse(read_file(queue() / "failed/job/reason.json"));
  EXPECT_EQ(json["reason"], "input");
  EXPECT_EQ(json["message"],
            "job.yaml:1:18: 'epoch_size_log2' must be an integer from 5 to 26, not '40'");
}

TEST_F(BadInputTest, UnwritableQueue) {
  // Permissions do not stop root; a file in the way stops everybody.
  std::filesystem::remove_all(queue());
  write_file(queue(), "not a directory");
  const Outcome daemon = epochd_once();
  EXPECT_EQ(daemon.code, 3);
  EXPECT_NE(daemon.err.find("cannot create the queue directory"), std::string::npos) << daemon.err;
  const Outcome submitted = epoch({"submit", "--queue", queue().string(), guest("fib")});
  EXPECT_NE(submitted.code, 0);
  if (::geteuid() == 0) return;
  std::filesystem::remove_all(queue());
  std::filesystem::create_directory(queue());
  std::filesystem::permissions(queue(), std::filesystem::perms::owner_read);
  EXPECT_EQ(epochd_once().code, 3);
  std::filesystem::permissions(queue(), std::filesystem::perms::owner_all);
}

TEST_F(BadInputTest, UnwritableOutput) {
  const Outcome outcome = epoch({"prove", guest("fib"), "-o", path("no/such/place").string(),
                                 "--security", "test", "--epoch-size-log2", "8"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_NE(outcome.err.find("No such file or directory"), std::string::npos) << outcome.err;
}

TEST_F(BadInputTest, ErrorsAreJsonWhenAskedFor) {
  const Outcome outcome = epoch({"execute", path("nowhere.elf").string(), "--json"});
  EXPECT_EQ(outcome.code, 3);
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["exit_code"], 3);
  EXPECT_NE(json["error"].get<std::string>().find("nowhere.elf"), std::string::npos);
}

TEST_F(BadInputTest, WrongUsage) {
  for (const auto& [args, message] : std::vector<std::pair<Strings, std::string>>{
           {{}, "subcommand is required"},
           {{"porve"}, "did you mean 'prove'?"},
           {{"prove", guest("fib")}, "--output is required"},
           {{"verify", guest("fib")}, "give PROG.elf OUT.proof"},
           {{"submit", guest("fib")}, "--queue is required"},
           {{"status", "--queue", queue().string(), "nobody"}, "not a queue directory"},
           {{"execute", guest("fib"), "--fast"}, "--fast"}}) {
    const Outcome outcome = epoch(args);
    EXPECT_EQ(outcome.code, 2) << message;
    EXPECT_NE(outcome.err.find(message), std::string::npos) << outcome.err;
  }
}

}  // namespace
}  // namespace epochd::e2e
