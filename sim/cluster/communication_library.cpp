#include "sim/cluster/communication_library.h"

#include <iterator>

#include <fmt/format.h>

#include "sim/cluster/builder.h"
#include "sim/text/toml.h"
#include "sim/text/units.h"

namespace strata {
namespace {

constexpr double kLeastShare = 1e-6;  // of a bandwidth
constexpr double kMostCopy = 16;

Seconds latency_or_none(Table& table, std::string_view key) {
  const auto value = table.optional(key);
  if (!value) return {};
  const Seconds latency = read_seconds(*value);
  if (latency > kLatencyLimit) {
    value->fail(fmt::format("'{}' must be at most {} s; it is {} s", key, kLatencyLimit.value,
                            latency.value));
  }
  return latency;
}

double share(Table& table, std::string_view key) {
  return table.number_or(key, 1, kLeastShare, 1);
}

TransferProtocol read_protocol(Table& table) {
  TransferProtocol protocol{table.string("name"),           latency_or_none(table, "latency"),
                            latency_or_none(table, "step"), latency_or_none(table, "network_step"),
                            share(table, "share"),          share(table, "network_share")};
  table.finish();
  return protocol;
}

SwitchSums read_switch_sums(Table table) {
  const SwitchSums sums{latency_or_none(table, "latency"), share(table, "share")};
  table.finish();
  return sums;
}

AllToAlls read_all_to_all(Table table) {
  const AllToAlls found{latency_or_none(table, "latency"), latency_or_none(table, "step"),
                        share(table, "share"), table.number_or("copy", 0, 0, kMostCopy)};
  table.finish();
  return found;
}

TokenSends read_token_sends(Table table) {
  TokenSends sends;
  sends.latency = latency_or_none(table, "latency");
  sends.share = share(table, "share");
  sends.network_share = share(table, "network_share");
  sends.forward_share = table.number_or("forward_share", sends.share, kLeastShare, 1);
  if (const auto row = table.optional("row")) sends.row = read_bytes(*row);
  table.finish();
  return sends;
}

}  // namespace

CommunicationLibrary read_library(Table table) {
  CommunicationLibrary library;
  library.copy = table.number_or("copy", 0, 0, kMostCopy);
  for (Table& protocol : table.tables("protocol")) {
    library.protocols.push_back(read_protocol(protocol));
  }
  if (library.protocols.empty()) {
    table.fail("[collectives] needs one [[collectives.protocol]] at least");
  }
  if (auto sums = table.optional_table("switch_sums")) {
    library.switch_sums = read_switch_sums(*std::move(sums));
  }
  if (auto all_to_all = table.optional_table("all_to_all")) {
    library.all_to_all = read_all_to_all(*std::move(all_to_all));
  }
  if (auto sends = table.optional_table("token_sends")) {
    library.token_sends = read_token_sends(*std::move(sends));
  }
  table.finish();
  return library;
}

std::string print_library(const CommunicationLibrary& library) {
  if (library.protocols.empty()) return {};
  std::string out = fmt::format("\n[collectives]\ncopy = {}\n", library.copy);
  const auto line = [&](std::string_view key, const std::string& value) {
    fmt::format_to(std::back_inserter(out), "{} = {}\n", key, value);
  };
  for (const TransferProtocol& protocol : library.protocols) {
    out += "\n[[collectives.protocol]]\n";
    line("name", toml_quoted(protocol.name));
    line("latency", toml_quoted(print_exact(protocol.latency)));
    line("step", toml_quoted(print_exact(protocol.step)));
    line("network_step", toml_quoted(print_exact(protocol.network_step)));
    line("share", fmt::format("{}", protocol.share));
    line("network_share", fmt::format("{}", protocol.network_share));
  }
  if (library.switch_sums) {
    out += "\n[collectives.switch_sums]\n";
    line("latency", toml_quoted(print_exact(library.switch_sums->latency)));
    line("share", fmt::format("{}", library.switch_sums->share));
  }
  if (library.all_to_all) {
    out += "\n[collectives.all_to_all]\n";
    line("latency", toml_quoted(print_exact(library.all_to_all->latency)));
    line("step", toml_quoted(print_exact(library.all_to_all->step)));
    line("share", fmt::format("{}", library.all_to_all->share));
    line("copy", fmt::format("{}", library.all_to_all->copy));
  }
  if (library.token_sends) {
    out += "\n[collectives.token_sends]\n";
    line("latency", toml_quoted(print_exact(library.token_sends->latency)));
    line("share", fmt::format("{}", library.token_sends->share));
    line("network_share", fmt::format("{}", library.token_sends->network_share));
    line("forward_share", fmt::format("{}", library.token_sends->forward_share));
    line("row", toml_quoted(fmt::format("{} B", library.token_sends->row.value)));
  }
  return out;
}

}  // namespace strata
