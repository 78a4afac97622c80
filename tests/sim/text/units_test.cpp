#include "sim/text/units.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "sim/text/toml.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

TEST(Units, ReadBandwidths) {
  EXPECT_EQ(parse_bandwidth("12.5 GB/s").value, 12.5e9);
  EXPECT_EQ(parse_bandwidth("100 Gb/s").value, 12.5e9);
  EXPECT_EQ(parse_bandwidth("25 GiB/s").value, 25.0 * 1073741824);
  EXPECT_EQ(parse_bandwidth("900MB/s").value, 900e6);
  EXPECT_EQ(parse_bandwidth(" 732 GB/s ").value, 732e9);
  const std::string allowed =
      "; allowed: a positive number with B/s, kB/s, MB/s, GB/s, TB/s, PB/s, EB/s, KiB/s, MiB/s, "
      "GiB/s, TiB/s (bytes) or b/s, kb/s, Mb/s, Gb/s, Tb/s (bits), as in \"12.5 GB/s\"";
  for (const char* bad : {"12.5", "GB/s", "0 GB/s", "-1 GB/s", "1 gb/s", "nan GB/s", "1e999 GB/s",
                          "1 GB/s x", "", "inf B/s"}) {
    EXPECT_EQ(said([&] { parse_bandwidth(bad); }),
              "'" + std::string(bad) + "' is not a bandwidth" + allowed);
  }
}

TEST(Units, ReadTimesRoundedOnce) {
  EXPECT_EQ(parse_seconds("1 us").value, 1e-6);
  EXPECT_EQ(parse_seconds("0.7 us").value, 0.7e-6);
  EXPECT_EQ(parse_seconds("1.5 ms").value, 1.5e-3);
  EXPECT_EQ(parse_seconds("20 ns").value, 20e-9);
  EXPECT_EQ(parse_seconds("2 s").value, 2);
  EXPECT_EQ(parse_seconds("0 s").value, 0);
  EXPECT_EQ(said([] { parse_seconds("1"); }),
            "'1' is not a time; allowed: a number of at least 0 with s, ms, us, ns or ps, as in "
            "\"1 us\"");
}

TEST(Units, ReadSizes) {
  EXPECT_EQ(parse_bytes("16 GiB").value, std::int64_t{16} << 30);
  EXPECT_EQ(parse_bytes("16 GB").value, 16'000'000'000);
  EXPECT_EQ(parse_bytes("512 MB").value, 512'000'000);
  EXPECT_EQ(parse_bytes("1048576").value, 1'048'576);
  EXPECT_NE(said([] { parse_bytes("-1"); }), "");
  EXPECT_NE(said([] { parse_bytes("1e10 GB"); }), "");
}

TEST(Units, ReadRatesOfArithmeticAndFactors) {
  EXPECT_EQ(parse_flops_rate("9.3 TFLOP/s").value, 9.3e12);
  EXPECT_EQ(parse_factor("2x"), 2);
  EXPECT_EQ(parse_factor("0.5x"), 0.5);
  EXPECT_TRUE(is_factor("2x"));
  EXPECT_FALSE(is_factor("2 GB/s"));
  EXPECT_EQ(said([] { parse_factor("0x"); }),
            "'0x' is not a factor; allowed: a positive number with x, as in \"0.5x\"");
}

// So that their quotients are finite.
TEST(Units, RefuseWhatNobodyMeasures) {
  EXPECT_EQ(said([] { parse_flops_rate("1e-320 FLOP/s"); }),
            "'1e-320 FLOP/s' is not a rate of arithmetic; allowed: 1e-30 to 1e+30, in the unit "
            "without a prefix");
  EXPECT_NE(said([] { parse_factor("1e31x"); }), "");
  EXPECT_NE(said([] { parse_bandwidth("1e20 TB/s"); }), "");
  EXPECT_NE(said([] { parse_seconds("1e-310 s"); }), "");
  EXPECT_EQ(parse_factor("1e30x"), 1e30);
}

TEST(Units, ValuesSayTheirPlace) {
  const Document document = parse_toml("b = \"1 s\"\nn = 5\nm = \"2 kB\"", "a.toml");
  Table root = document.table();
  EXPECT_EQ(said([&] { read_bandwidth(root.required("n")); }),
            "a.toml:2: 'n' must be a string, as \"12.5 GB/s\"; it is 5");
  EXPECT_EQ(said([&] { read_flops_rate(root.required("b")); }),
            "a.toml:1: 'b': '1 s' is not a rate of arithmetic; allowed: a positive number with "
            "FLOP/s, kFLOP/s, MFLOP/s, GFLOP/s, TFLOP/s or PFLOP/s, as in \"9.3 TFLOP/s\"");
  EXPECT_EQ(read_seconds(root.required("b")).value, 1);
  EXPECT_EQ(read_bytes(root.required("n")).value, 5);
  EXPECT_EQ(read_bytes(root.required("m")).value, 2000);
}

TEST(Units, FormatForPeople) {
  EXPECT_EQ(format_seconds({0.0231}), "23.1 ms");
  EXPECT_EQ(format_seconds({0}), "0 s");
  EXPECT_EQ(format_seconds({1234.5}), "1234 s");
  EXPECT_EQ(format_seconds({0.9999}), "1 s");
  EXPECT_EQ(format_seconds({1e-6}), "1 us");
  EXPECT_EQ(format_seconds({2.5e-10}), "0.25 ns");
  EXPECT_EQ(format_bytes({16'602'905'280}), "16.60 GB");
  EXPECT_EQ(format_bytes({999}), "999 B");
  EXPECT_EQ(format_bytes({1'500}), "1.50 kB");
  EXPECT_EQ(format_rate({12.5e9}), "12.5 GB/s");
  EXPECT_EQ(format_rate({999.9e6}), "1 GB/s");
  EXPECT_EQ(format_count(138'357'544), "138,357,544");
  EXPECT_EQ(format_count(-1'000), "-1,000");
  EXPECT_EQ(format_count(999), "999");
}

TEST(Units, OfLargeCountsHaveAPrefixEach) {
  EXPECT_EQ(format_bytes({999'990'000'000'000}), "999.99 TB");
  EXPECT_EQ(format_bytes({3'935'000'000'000'000}), "3.94 PB");
  EXPECT_EQ(format_bytes({-1'500'000'000'000'000'000}), "-1.50 EB");
  EXPECT_EQ(format_bytes({std::numeric_limits<std::int64_t>::max()}), "9.22 EB");
  EXPECT_EQ(format_rate({2e18}), "2 EB/s");
}

// A thousand of a unit is one of the next, and what is printed can be given as a setting.
TEST(Units, OfPeopleReadBackAtEverySize) {
  for (double value = 1; value < 9e18; value *= 1.7) {
    const std::string bytes = format_bytes({std::llround(value)}), rate = format_rate({value});
    EXPECT_NEAR(static_cast<double>(parse_bytes(bytes).value), value, 0.005 * value + 0.5) << bytes;
    EXPECT_NEAR(parse_bandwidth(rate).value, value, 0.006 * value) << rate;
    for (const std::string& text : {bytes, rate}) {
      EXPECT_EQ(text.find("e+"), std::string::npos) << text;
      EXPECT_LE(std::stod(text), 1000) << text;
    }
  }
}

TEST(Units, PrintedExactlyReadsBackToTheBit) {
  for (const double value : {12.5e9, 1.0 / 3, 1e-7, 6.02e23}) {
    EXPECT_EQ(parse_bandwidth(print_exact(BytesPerSecond{value})).value, value);
    EXPECT_EQ(parse_seconds(print_exact(Seconds{value})).value, value);
  }
}

}  // namespace
}  // namespace strata
