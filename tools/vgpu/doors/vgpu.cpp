// The command line of the simulated GPU.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "tools/vgpu/doors/isa_command.h"
#include "tools/vgpu/doors/launcher.h"

namespace {

constexpr char kExamples[] =
    "Examples:\n"
    "  vgpu list\n"
    "  vgpu isa --gpu gfx90a\n"
    "  vgpu run -- rocminfo\n"
    "  vgpu run --gpu gfx90a --gpu gfx1100 -- ./program arguments\n"
    "  vgpu run --gpu mi210 --vram 4G --hostile 7 -- ./program\n"
    "  vgpu run --hostile 7:eintr,small_bar --log faults.txt -- ./program\n"
    "A program that uses barehip can have the same GPU without this command: BAREHIP_DEVICES=vgpu:gfx90a ./program";

struct RunFlags {
  std::vector<std::string> gpus;
  std::string hostile, kfd, log, trace, vram, doorbell;
  std::vector<std::string> command;
  bool strict_log_empty = false;
};

// The flags as one spec: switches that hold for each card follow every card.
std::string spec_of(const RunFlags& flags) {
  std::string switches;
  const auto add = [&](const char* key, std::string value) {
    if (value.empty()) return;
    std::replace(value.begin(), value.end(), ',', '/');
    switches += std::string("+") + key + "=" + value;
  };
  add("hostile", flags.hostile);
  add("kfd", flags.kfd);
  add("vram", flags.vram);
  add("doorbell", flags.doorbell);
  if (!flags.log.empty()) switches += "+log=" + flags.log;
  if (!flags.trace.empty()) switches += "+trace=" + flags.trace;
  std::string spec;
  for (const std::string& gpu : flags.gpus) spec += (spec.empty() ? "" : ",") + gpu + switches;
  return spec.empty() ? "gfx90a" + switches : spec;
}

int run(const RunFlags& flags) {
  const vgpu::RunRequest request{spec_of(flags), flags.command, flags.strict_log_empty};
  const auto status = vgpu::run_program(request);
  if (status) return *status;
  fmt::print(stderr, "vgpu: {}\n", status.error());
  return 2;
}

int list() {
  for (const vgpu::Card& card : vgpu::all_cards()) {
    fmt::print("{:<10} {:<10} {}: {} compute units, {:.1f} GiB, wave {}\n", card.gfx, card.id, card.marketing_name,
               card.cu_count(), static_cast<double>(card.vram_bytes) / (1u << 30), card.prop("wave_front_size"));
    if (!card.guessed.empty()) fmt::print("           not known from a real card: {}\n", fmt::join(card.guessed, ", "));
  }
  fmt::print("\nhostile switches: {}\n", fmt::join(vgpu::hostile_names(), ", "));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Runs programs on simulated AMD GPUs.", "vgpu"};
  app.footer(kExamples);
  app.require_subcommand(1);

  RunFlags flags;
  CLI::App* run_command = app.add_subcommand("run", "run a program on a simulated GPU");
  run_command->footer(kExamples);
  run_command->add_option("--gpu", flags.gpus, "a card or target, see `vgpu list`; once for each GPU (default gfx90a)")
      ->take_all()
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  run_command->add_option("--hostile", flags.hostile,
                          "do what hardware may do: SEED, or SEED:NAME,NAME (names: see `vgpu list`)");
  run_command->add_option("--kfd", flags.kfd, "version of the driver's interface (default 1.14)");
  run_command->add_option("--vram", flags.vram, "VRAM of each GPU, such as 4G (default: the card's)");
  run_command->add_option("--log", flags.log, "write fault reports and unanswered requests here (default: stderr)");
  run_command->add_option("--trace", flags.trace, "a file for one line per ioctl and per packet");
  run_command->add_option("--doorbell", flags.doorbell, "how a sleeping GPU is woken: auto, uffd, signal, poll");
  run_command->add_flag("--strict-log-empty", flags.strict_log_empty,
                        "exit with 3 when the program succeeds but some request was answered by a default");
  run_command->add_option("command", flags.command, "the program and its arguments, after --")->required();
  CLI::App* list_command = app.add_subcommand("list", "show the cards that can be simulated");
  CLI::App* isa_command = app.add_subcommand("isa", "how much of an instruction set is executed");
  std::string isa_gpu;
  bool json = false;
  isa_command->add_option("--gpu", isa_gpu, "one target, with the lists of names (default: the figures of all)");
  isa_command->add_flag("--json", json, "as JSON");

  CLI11_PARSE(app, argc, argv);
  if (*list_command) return list();
  if (*isa_command) return vgpu::print_isa(isa_gpu, json);
  return run(flags);
}
