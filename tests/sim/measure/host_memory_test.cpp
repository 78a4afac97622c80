#include "sim/measure/host_memory.h"

#include <gtest/gtest.h>

#include "sim/text/file.h"
#include "tests/folder.h"

namespace strata {
namespace {

TEST(HostMemory, IsWhatTheMachineAndTheGroupLeave) {
  const testing::Folder root("host_memory");
  std::filesystem::create_directories(root.path() + "/proc");
  std::filesystem::create_directories(root.path() + "/sys/fs/cgroup");
  EXPECT_FALSE(available_memory(root.path()));
  EXPECT_FALSE(total_memory(root.path()));

  write_file_whole(root.path() + "/proc/meminfo",
                   "MemTotal:       1000 kB\nMemFree:         100 kB\nMemAvailable:    800 kB\n");
  EXPECT_EQ(available_memory(root.path()), Bytes{800 * 1024});
  EXPECT_EQ(total_memory(root.path()), Bytes{1000 * 1024});

  const std::string group = root.path() + "/sys/fs/cgroup/memory.";
  write_file_whole(group + "max", "max\n");
  EXPECT_EQ(available_memory(root.path()), Bytes{800 * 1024});

  write_file_whole(group + "max", "500000\n");
  EXPECT_EQ(available_memory(root.path()), Bytes{500'000});
  EXPECT_EQ(total_memory(root.path()), Bytes{500'000});

  write_file_whole(group + "current", "450000\n");
  write_file_whole(group + "stat", "anon 1\ninactive_file 20000\n");
  EXPECT_EQ(available_memory(root.path()), Bytes{70'000});
  EXPECT_EQ(total_memory(root.path()), Bytes{500'000});
}

}  // namespace
}  // namespace strata
