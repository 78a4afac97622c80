// What is wrong in a scenario file, and what is said of it.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/scenario/scenario.h"
#include "tests/sim/text/said.h"

namespace strata {
namespace {

std::string error_of(const std::string& text) {
  return said([&] { parse_scenario(text, "s.toml"); });
}

struct Bad {
  std::string text;   ///< the lines from the fifth on
  std::string error;  ///< without the file's name
};

// Four lines that are right.
constexpr const char* kGood = "[[sweep]]\nmodel = \"m\"\ncluster = \"c\"\nstrategy = \"data\"\n";

const std::vector<Bad> kBadKeys = {
    {"batches = 4",
     "5: unknown key 'batches'; allowed: name, job, model, dim, seq, cluster, devices, batch, "
     "batch_per_device, strategy, sync, bucket, zero, zero_group, offload, dtype, gradients, "
     "optimizer, "
     "micro_batch, schedule, overlap, recompute, train, as, profile, memory_limit, jitter, "
     "steps, "
     "degrees, reductions, objective, warmup, lr, beta1, beta2, epsilon, weight_decay, seed, "
     "layers, "
     "allow_unsupported, set, zip"},
    {"job = \"train\"", "5: unknown job \"train\"; allowed: predict, solve, run"},
    {"job = 1", "5: 'job' must be a string; it is 1"},
    {"name = \"\"", "5: 'name' must be a name; it is \"\""},
    {"name = [\"a\"]", "5: 'name' must be a string; it is a list"},
    {"job = \"solve\"", "4: 'strategy' does not go with job solve; allowed: predict, run"},
    {"devices = \"cpu:2\"", "5: 'devices' does not go with job predict; allowed: run"},
    {"objective = \"eq1\"", "5: 'objective' does not go with job predict; allowed: solve"},
    {"lr = 0.1", "5: 'lr' does not go with job predict; allowed: run"},
    {"batch = 4\nbatch_per_device = 4", "6: 'batch' and 'batch_per_device' exclude each other"},
    {"job = \"run\"",
     "3: 'cluster' does not go with job run; allowed: predict, solve\n1: missing key 'devices'"},
};

const std::vector<Bad> kBadValues = {
    {"sync = \"rign\"", "5: unknown sync \"rign\"; allowed: ps, ring, tree, hierarchical, auto"},
    {"sync = [\"ps\",\n \"rign\", 3]",
     "6: unknown sync \"rign\"; allowed: ps, ring, tree, hierarchical, auto\n"
     "6: 'sync[2]' must be a string; it is 3"},
    {"dtype = \"fp6\"",
     "5: unknown dtype \"fp6\"; allowed: fp32, tf32, bf16, fp16, fp8, fp8-block, mxfp8, nvfp4"},
    {"degrees = \"2\"", "5: unknown degrees \"2\"; allowed: pow2, divisors, all"},
    {"batch = 0", "5: 'batch' must be an integer from 1 to 1073741824; it is 0"},
    {"batch = [32, 64.0]", "5: 'batch[1]' must be an integer from 1 to 1073741824; it is 64"},
    {"batch = \"32\"", "5: 'batch' must be an integer from 1 to 1073741824; it is \"32\""},
    {"batch = []", "5: 'batch' must be a list of at least one value; it is a list"},
    {"batch = [[1]]", "5: 'batch[0]' must be an integer from 1 to 1073741824; it is a list"},
    {"batch = [32, 64, 32]", "5: 'batch' has \"32\" twice"},
    {"batch = [32, 32, 32, { from = 16, to = 64, factor = 2 }, 16]",
     "5: 'batch' has \"32\" twice\n5: 'batch' has \"16\" twice"},
    {"jitter = -1", "5: 'jitter' must be an integer from 0 to 9007199254740992; it is -1"},
    {"steps = true", "5: 'steps' must be an integer from 1 to 1000; it is true"},
    {"steps = 1001", "5: 'steps' must be an integer from 1 to 1000; it is 1001"},
    {"steps = [6148914691236517206]",
     "5: 'steps[0]' must be an integer from 1 to 1000; it is 6148914691236517206"},
    {"steps = {from = 1000, to = 1001, step = 1}",
     "5: 'steps' must be an integer from 1 to 1000; it is 1001"},
    {"layers = 1", "5: 'layers' must be true or false; it is 1"},
    {"memory_limit = \"8 gibi\"",
     "5: 'memory_limit': '8 gibi' is not a size; allowed: a number of at least 0 with B, kB, MB, "
     "GB, TB, PB, EB, KiB, MiB, GiB, TiB or nothing (bytes), as in \"16 GiB\""},
    {"memory_limit = true", "5: 'memory_limit' must be a size, as \"16 GiB\"; it is true"},
    {"profile = \"\"", "5: 'profile' must not be empty"},
    {"profile = \"a,b.toml\"",
     "5: 'profile' must be a file's name without a comma; it is a,b.toml"},
    {"profile = [[\"a.toml\", 2]]", "5: 'profile[0][1]' must be a string; it is 2"},
    {"profile = [[]]", "5: 'profile[0]' must be a list of at least one file; it is a list"},
    {"dim = \"height\"", "5: 'dim': 'height' is no NAME=NUMBER; allowed: as height=32,width=48"},
    {"dim = [\"h=2,w=2\", \"h=2,w=0\"]",
     "5: 'dim[1]': w is '0'; allowed: an integer from 1 to 2147483648"},
    {"set = 3", "5: 'set' must be a table; it is 3"},
    {"[sweep.set]\nx = true",
     "6: 'x' must be a text, a number, a range or a list of them; it is true"},
    {"[sweep.set]\nlink.inter.bandwidth = \"2x\"",
     "6: 'link' is a table and no range; a key with dots is written in quotes, as "
     "\"link.inter.bandwidth\""},
    {"[sweep.set]\n\"\" = 3", "6: a key of [sweep.set] must not be empty"},
};

const std::vector<Bad> kBadRanges = {
    {"batch = { from = 1, to = 4 }", "5: a range needs one of 'step', 'count' and 'factor'"},
    {"batch = { from = 1, to = 2, count = 3 }",
     "5: 'batch' must be an integer from 1 to 1073741824; it is 1.5"},
    {"batch = { from = 0, to = 2, step = 1 }",
     "5: 'batch' must be an integer from 1 to 1073741824; it is 0"},
    {"batch = { from = 1, to = 2, step = 1, unit = \"GB\" }",
     "5: 'batch' takes numbers: no 'form', 'unit' or 'suffix'"},
    {"sync = { from = 1, to = 2, step = 1 }", "5: 'sync' takes texts: the range needs a 'form'"},
    {"sync = { from = 1, to = 2, step = 1, form = \"s{}\" }",
     "5: unknown sync \"s1\"; allowed: ps, ring, tree, hierarchical, auto"},
    {"jitter = { from = 1, to = 2, step = 0.000001 }",
     "5: a range of too many values; allowed: 1000000"},
    {"jitter = { from = 1, to = 2, step = -1 }",
     "5: the range never comes to its 'to': step -1 leads away from it"},
};

const std::vector<Bad> kBadZips = {
    {"zip = \"batch\"", "5: 'zip' must be a list; it is \"batch\""},
    {"zip = [\"model\", \"batch\"]",
     "5: 'zip[0]' must be a list of strings; it is \"model\"\n"
     "5: 'zip[1]' must be a list of strings; it is \"batch\""},
    {"zip = [[\"model\"]]", "5: 'zip[0]' must be a list of at least two keys; it is a list"},
    {"zip = [[\"model\", \"batch\"]]",
     "5: zip: the sweep has no 'batch'; allowed: model, cluster, strategy"},
    {"batch = [1, 2]\nzip = [[\"model\", \"batch\"]]",
     "6: zip: 'model' has 1 values and 'batch' 2; they must have as many"},
    {"zip = [[\"model\", \"model\"]]", "5: zip: 'model' is zipped twice"},
    {"zip = [[\"model\", \"cluster\"],\n[\"strategy\", \"cluster\"]]",
     "6: zip: 'cluster' is zipped twice"},
    {"batch = [1, 2, 1]\nsync = [\"ps\", \"ring\", \"ps\"]\nzip = [[\"sync\", \"batch\"]]",
     "6: 'sync, batch' has \"ps, 1\" twice"},
};

const std::vector<Bad> kBadReports = {
    {"[[report]]", "5: missing key 'title'\n5: missing key 'text'"},
    {"[[report]]\nkind = \"pie\"",
     "6: unknown kind \"pie\"; allowed: text, table, lines, bars, scatter, claims"},
    {"[[report]]\nkind = \"table\"\ntitle = \"t\"", "5: missing key 'sql'"},
    {"[[report]]\nkind = \"table\"\ntitle = \"t\"\nsql = \"\"",
     "8: 'sql' must be a text that is not empty; it is \"\""},
    {"[[report]]\ntitle = \"t\"\nsql = \"s\"\nx = \"p\"",
     "8: unknown key 'x'; allowed: kind, title, text, sql"},
    {"[[report]]\nkind = \"lines\"\ntitle = \"t\"\nsql = \"s\"\nlog_x = 1",
     "5: missing key 'x'\n5: missing key 'y'\n9: 'log_x' must be true or false; it is 1"},
    {"[[report]]\nkind = \"bars\"\ntitle = \"t\"\nsql = \"s\"\nx = \"p\"\ny = \"q\"\nlog_x = true",
     "11: unknown key 'log_x'; allowed: kind, title, text, sql, x, y, series, ideal, x_label, "
     "y_label, log_y"},
    {"[[report]]\nkind = \"claims\"\ntitle = \"t\"",
     "5: a section of claims needs a [[report.claim]]"},
    {"[[report]]\ntitle = \"t\"\n[[report.claim]]\ntext = \"c\"\nsaid = \"2x\"\n"
     "[[report.claim]]\ntext = \"c\"\nsaid = 1\nsql = \"s\"\ntolerance = -1",
     "9: 'said' must be a number; it is \"2x\"\n"
     "14: 'tolerance' must be a number of at least 0; it is -1"},
    {"[[report]]\ntitle = \"t\"\n[[report.claim]]\ntext = \"c\"\nsaid = 1\nsql = \"s\"\nsays = 2",
     "11: unknown key 'says'; allowed: text, said, unit, sql, tolerance, why"},
};

std::string with_file(const std::string& errors) {
  std::string text = "s.toml:";
  for (const char c : errors) {
    text += c;
    if (c == '\n') text += "s.toml:";
  }
  return text;
}

TEST(BadScenario, IsRefusedWithItsLineAndWhatIsAllowed) {
  for (const auto* bad : {&kBadKeys, &kBadValues, &kBadRanges, &kBadZips, &kBadReports}) {
    for (const auto& [text, error] : *bad) {
      EXPECT_EQ(error_of(kGood + text), with_file(error)) << text;
    }
  }
}

TEST(BadScenario, NeedsASweepAndASweepItsKeys) {
  EXPECT_EQ(error_of(""), "s.toml:1: a scenario needs at least one [[sweep]], or a [[report]]");
  EXPECT_EQ(error_of("sweep = 3"), "s.toml:1: 'sweep' must be a list of tables; it is 3");
  EXPECT_EQ(error_of("[[sweep]]"),
            "s.toml:1: missing key 'model'\ns.toml:1: missing key 'cluster'\n"
            "s.toml:1: missing key 'strategy'");
  EXPECT_EQ(error_of("[[sweep]]\njob = \"run\"\nmodel = \"m\""),
            "s.toml:1: missing key 'devices'\ns.toml:1: missing key 'strategy'");
  EXPECT_EQ(error_of("[[sweep]]\njob = \"solve\"\nmodel = \"m\""),
            "s.toml:1: missing key 'cluster'");
  EXPECT_EQ(
      error_of("[[sweep]]\nmodel = \"m\"\ncluster = \"c\"\nstrategy = \"owl\""),
      "s.toml:4: unknown strategy \"owl\"; allowed: data, model, owt, eq1, optimal, "
      "hybrid:tp=T[,sp=1][,cp=C[,cp_by=heads]][,ep=E[,etp=T]][,pp=P[,vp=V|v]], or a .json file");
}

TEST(BadScenario, RunsTakeNoWhatIfs) {
  EXPECT_EQ(
      error_of("[[sweep]]\njob = \"run\"\nmodel = \"m\"\ndevices = \"cpu:2\"\n"
               "strategy = \"data\"\nlr = [0.1, -0.1]\nseed = { from = -1, to = 0, step = 1 }\n"
               "[sweep.set]\n\"device.cpu0.speed\" = \"2x\"\n"),
      "s.toml:6: 'lr[1]' must be a number from 0 to 3.4028234663852886e+38; it is -0.1\n"
      "s.toml:7: 'seed' must be an integer from 0 to 9007199254740992; it is -1\n"
      "s.toml:9: 'set.device.cpu0.speed' does not go with job run; allowed: predict, solve");
}

TEST(BadScenario, SaysAllThatIsWrongAtOnce) {
  EXPECT_EQ(error_of("nmae = \"x\"\nabout = 3\n[[sweep]]\nmodel = [1, \"m\"]\ncluster = \"\"\n"
                     "strategy = \"data\"\n[[sweep]]\njob = \"sovle\"\nbatch = 0\n"
                     "[[report]]\ntitle = 2\ntext = \"t\"\n"),
            "s.toml:2: 'about' must be a string; it is 3\n"
            "s.toml:4: 'model[0]' must be a string; it is 1\n"
            "s.toml:5: 'cluster' must not be empty\n"
            "s.toml:8: unknown job \"sovle\"; allowed: predict, solve, run\n"
            "s.toml:9: 'batch' must be an integer from 1 to 1073741824; it is 0\n"
            "s.toml:7: missing key 'model'\n"
            "s.toml:11: 'title' must be a string; it is 2\n"
            "s.toml:1: unknown key 'nmae'; allowed: name, about, sweep, report");
}

TEST(BadScenario, SweepsHaveNamesOfTheirOwn) {
  const std::string sweep = kGood;
  EXPECT_EQ(error_of(sweep + "name = \"a\"\n" + sweep + "name = \"a\"\n"),
            "s.toml:6: a second sweep named \"a\"; the first is in line 1");
  EXPECT_EQ(error_of(sweep + "name = \"sweep-2\"\n" + sweep),
            "s.toml:6: a second sweep named \"sweep-2\"; the first is in line 1");
}

TEST(BadScenario, HasNoMoreCasesThanAScenarioMay) {
  const auto seeds = [](const std::string& key, int count) {
    return key + " = { from = 1, to = " + std::to_string(count) + ", step = 1 }\n";
  };
  const std::string sweep = kGood;
  EXPECT_EQ(error_of(sweep + seeds("batch", 1000) + seeds("jitter", 10'000)), "");
  EXPECT_EQ(error_of(sweep + seeds("batch", 1001) + seeds("jitter", 10'000)),
            "s.toml:1: sweep sweep-1: too many cases; a scenario may have 10000000");
  // The sum counts: 9 million, and 2 more.
  EXPECT_EQ(error_of(sweep + seeds("batch", 900) + seeds("jitter", 10'000) + sweep +
                     seeds("batch", 200) + seeds("jitter", 10'000)),
            "s.toml:7: sweep sweep-2: too many cases; a scenario may have 10000000");
  // A product of more than 64 bits hold is too many, not few.
  std::string many = sweep + "[sweep.set]\n";
  for (char key = 'a'; key <= 'k'; ++key) many += seeds(std::string(1, key), 100);
  EXPECT_EQ(error_of(many),
            "s.toml:1: sweep sweep-1: too many cases; a scenario may have 10000000");
}

TEST(BadScenario, HasNoMoreValuesInAllThanAScenarioMay) {
  std::string text = std::string(kGood) + "zip = [[\"set.a\", \"set.b\"]]\n[sweep.set]\n";
  for (const char key : {'a', 'b', 'c'}) {
    text += std::string(1, key) + " = { from = 1, to = 800000, step = 1 }\n";
  }
  EXPECT_EQ(error_of(text), "s.toml:9: a range of too many values; allowed: 399997");
}

TEST(BadScenario, BadSyntaxHasItsLine) {
  EXPECT_EQ(error_of("[[sweep]]\nmodel = \n"),
            "s.toml:2: Error while parsing key-value pair: expected value, saw '\\n'");
}

}  // namespace
}  // namespace strata
