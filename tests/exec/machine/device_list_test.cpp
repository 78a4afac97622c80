#include "exec/machine/device_list.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/base/error.h"

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(DeviceList, CoresAreCounted) {
  const DeviceList list = parse_device_list("cpu:4");
  EXPECT_EQ(list.cpus, 4);
  EXPECT_THAT(list.gpus, IsEmpty());
}

TEST(DeviceList, GpusAreNamedAndMayStandForSeveralDevices) {
  EXPECT_THAT(parse_device_list("cuda:0").gpus, ElementsAre(0));
  EXPECT_THAT(parse_device_list("cuda:1,0").gpus, ElementsAre(1, 0));
  EXPECT_THAT(parse_device_list("cuda:0/4").gpus, ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(parse_device_list("cuda:0/2,3").gpus, ElementsAre(0, 0, 3));
  EXPECT_EQ(parse_device_list("cuda:0").cpus, 0);
}

TEST(DeviceList, IsPrintedAsItIsRead) {
  for (const char* const text :
       {"cpu:4", "cuda:0", "cuda:1,0", "cuda:0/4", "cuda:0/2,3", "cuda:0,1,0"}) {
    EXPECT_EQ(print(parse_device_list(text)), text);
  }
  EXPECT_EQ(print(parse_device_list("cuda:0,0/2,1/1")), "cuda:0/3,1");
}

// What `strata validate` goes through: the same devices, fewer of them.
TEST(DeviceList, BeginsWithItsFirstDevices) {
  const auto first_of = [](const char* text, std::size_t count) {
    return print(first(parse_device_list(text), count));
  };
  EXPECT_EQ(first_of("cpu:4", 3), "cpu:3");
  EXPECT_EQ(first_of("cuda:0/4", 1), "cuda:0");
  EXPECT_EQ(first_of("cuda:0/4", 2), "cuda:0/2");
  EXPECT_EQ(first_of("cuda:2,1,0", 2), "cuda:2,1");
  EXPECT_EQ(first_of("cuda:0/2,1/2", 3), "cuda:0/2,1");
}

TEST(DeviceList, WhatNamesNothingIsRefused) {
  for (const char* const text : {"",
                                 "cpu",
                                 "cpu:",
                                 "cpu:0",
                                 "cpu:257",
                                 "cpu:2x",
                                 "cpu:-1",
                                 "gpu:0",
                                 "cuda",
                                 "cuda:",
                                 "cuda:0,",
                                 "cuda:,0",
                                 "cuda:0/",
                                 "cuda:0/0",
                                 "cuda:0/17",
                                 "cuda:0/9,1/8",
                                 "cuda:0/2/2",
                                 "cuda:x",
                                 "cuda:-1",
                                 "cuda:0 ",
                                 "cuda:99999999999"}) {
    EXPECT_THROW(parse_device_list(text), InputError) << text;
  }
}

}  // namespace
}  // namespace strata
