// The unit and its companions, as systemd's own tools see them.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace epochd {
namespace {

struct ToolRun {
  int status = -1;
  std::string output;
};

ToolRun run(const std::string& command) {
  ToolRun result;
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return result;
  std::array<char, 4096> text;
  for (size_t bytes; (bytes = std::fread(text.data(), 1, text.size(), pipe)) > 0;) {
    result.output.append(text.data(), bytes);
  }
  result.status = ::pclose(pipe);
  return result;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class SystemdTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "epochd-unit-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  /// The unit as configured, for a program that is here.
  std::string unit() const {
    std::string text = read_file(EPOCHD_UNIT);
    const std::string key = "\nExecStart=";
    const size_t at = text.find(key);
    EXPECT_NE(at, std::string::npos);
    const size_t end = text.find(' ', at);
    text.replace(at + key.size(), end - at - key.size(), "/bin/true");
    const std::filesystem::path path = directory_ / "epochd.service";
    std::ofstream(path) << text;
    return path.string();
  }

  std::filesystem::path directory_;
};

#define REQUIRE_TOOL(NAME) \
  if (run("command -v " NAME).status != 0) GTEST_SKIP() << NAME " is not installed"

TEST_F(SystemdTest, TheUnitIsRight) {
  REQUIRE_TOOL("systemd-analyze");
  const ToolRun verify = run("systemd-analyze verify --man=no " + unit());
  EXPECT_EQ(verify.status, 0) << verify.output;
  EXPECT_EQ(verify.output, "") << "no warnings either";
}

TEST_F(SystemdTest, TheUnitIsHardened) {
  REQUIRE_TOOL("systemd-analyze");
  // The exposure level is a tenth of the threshold's; 2.0 and below is called OK.
  const std::string command = "systemd-analyze security --offline=true --no-pager ";
  const ToolRun security = run(command + "--threshold=20 " + unit());
  EXPECT_EQ(security.status, 0) << security.output;
  EXPECT_NE(run(command + "--threshold=10 " + unit()).status, 0) << "the threshold is looked at";
}

TEST_F(SystemdTest, TheUnitStartsTheProgramWithItsSettings) {
  const std::string text = read_file(EPOCHD_UNIT);
  EXPECT_NE(text.find("\nExecStart=" EPOCHD_BIN_DIR "/epochd --config " EPOCHD_SYSCONF_DIR
                      "/epochd/epochd.yaml\n"),
            std::string::npos);
  EXPECT_EQ(text.find('@' + std::string("CMAKE")), std::string::npos);
}

TEST_F(SystemdTest, TheUserAndItsStateAreDeclaredRight) {
  REQUIRE_TOOL("systemd-sysusers");
  REQUIRE_TOOL("systemd-tmpfiles");
  std::filesystem::create_directories(directory_ / "etc");
  const std::string root = "--root=" + directory_.string() + " ";
  const ToolRun users = run("systemd-sysusers " + root + EPOCHD_SYSTEMD_DIR "/epochd.sysusers");
  EXPECT_EQ(users.status, 0) << users.output;
  EXPECT_NE(read_file(directory_ / "etc/passwd").find("epochd:"), std::string::npos);
  const ToolRun files =
      run("systemd-tmpfiles --create " + root + EPOCHD_SYSTEMD_DIR "/epochd.tmpfiles");
  EXPECT_EQ(files.status, 0) << files.output;
  EXPECT_TRUE(std::filesystem::is_directory(directory_ / "var/lib/epochd"));
}

}  // namespace
}  // namespace epochd
