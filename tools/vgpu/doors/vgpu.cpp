// The command line of the simulated GPU.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <cstring>

#include "tools/vgpu/doors/isa_command.h"
#include "tools/vgpu/doors/launcher.h"
#include "tools/vgpu/doors/recording.h"
#include "tools/vgpu/kernel/ioctl.h"

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
  std::string gpus;  // each --gpu a line
  std::string hostile, kfd, log, record, vram, doorbell, cpus, kfd_node, render;
  bool svm = false;
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
  add("cpus", flags.cpus);
  add("kfd_node", flags.kfd_node);
  add("render", flags.render);
  if (flags.svm) add("svm", "on");
  if (!flags.log.empty()) switches += "+log=" + flags.log;
  if (!flags.record.empty()) switches += "+record=" + flags.record;
  std::string spec;
  for (size_t from = 0; from < flags.gpus.size();) {
    // The machine's own switches stand in front of a card's, which win.
    const size_t to = std::min(flags.gpus.find_first_of(",\n", from), flags.gpus.size());
    const std::string card = flags.gpus.substr(from, to - from);
    const size_t plus = std::min(card.find('+'), card.size());
    spec += (spec.empty() ? "" : ",") + card.substr(0, plus) + switches + card.substr(plus);
    from = to + 1;
  }
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

// The table of requests, as docs/vgpu.md has it.
int kfd() {
  fmt::print("| request | since | what the model does |\n|---|---|---|\n");
  for (const vgpu::IoctlRow& row : vgpu::all_ioctls()) {
    fmt::print("| {:#04x} {} | 1.{} | {} |\n", row.number, row.name, row.min_minor, row.what);
  }
  return 0;
}

// What follows "--" is the program's; its options are none of ours.
std::vector<std::string> split_command(int& argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--") != 0) continue;
    std::vector<std::string> command(argv + i + 1, argv + argc);
    argc = i;
    return command;
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Runs programs on simulated AMD GPUs.", "vgpu"};
  app.footer(kExamples);
  app.require_subcommand(1);

  RunFlags flags;
  CLI::App* run_command = app.add_subcommand("run", "run a program on a simulated GPU");
  run_command->footer(kExamples);
  run_command
      ->add_option("--gpu", flags.gpus,
                   "a card or target, see `vgpu list`; several: again, or with commas (default gfx90a)")
      ->multi_option_policy(CLI::MultiOptionPolicy::Join);
  run_command->add_option("--hostile", flags.hostile,
                          "do what hardware may do: SEED, or SEED:NAME,NAME (names: see `vgpu list`)");
  run_command->add_option("--kfd", flags.kfd, "version of the driver's interface, 1.1 to 1.17 (default 1.14)");
  run_command->add_flag("--svm", flags.svm, "a kernel with shared virtual memory");
  run_command->add_option("--cpus", flags.cpus, "number of CPU nodes (default 1)");
  run_command->add_option("--kfd-node", flags.kfd_node, "/dev/kfd: open, absent, denied (EACCES)");
  run_command->add_option(
      "--render", flags.render,
      "render nodes: open, absent, denied (EACCES), cgroup (EPERM); of one: --gpu CARD+render=absent");
  run_command->add_option("--vram", flags.vram, "VRAM of each GPU, such as 4G (default: the card's)");
  run_command->add_option("--log", flags.log, "write fault reports and unanswered requests here (default: stderr)");
  run_command->add_option("--record,--trace", flags.record,
                          "a file for every request and every packet, a line each; `vgpu show` prints it");
  run_command->add_option("--doorbell", flags.doorbell, "how a sleeping GPU is woken: auto, uffd, signal, poll");
  run_command->add_flag("--strict-log-empty", flags.strict_log_empty,
                        "exit with 3 when the program succeeds but some request was answered by a default");
  run_command->add_option("command", flags.command, "the program and its arguments, after --");
  CLI::App* kfd_command = app.add_subcommand("kfd", "show which requests of the driver are answered, and how");
  std::string recording;
  CLI::App* show_command = app.add_subcommand("show", "print a recording of `vgpu run --record FILE`");
  show_command->add_option("file", recording, "the recording")->required();
  CLI::App* list_command = app.add_subcommand("list", "show the cards that can be simulated");
  CLI::App* isa_command = app.add_subcommand("isa", "how much of an instruction set is executed");
  std::string isa_gpu;
  bool json = false;
  isa_command->add_option("--gpu", isa_gpu, "one target, with the lists of names (default: the figures of all)");
  isa_command->add_flag("--json", json, "as JSON");

  const std::vector<std::string> command = split_command(argc, argv);
  CLI11_PARSE(app, argc, argv);
  if (*list_command) return list();
  if (*isa_command) return vgpu::print_isa(isa_gpu, json);
  if (*kfd_command) return kfd();
  if (*show_command) return vgpu::show_recording(recording);
  flags.command.insert(flags.command.end(), command.begin(), command.end());
  if (flags.command.empty()) {
    fmt::print(stderr, "vgpu: run wants a program, after --\n");
    return 2;
  }
  return run(flags);
}
