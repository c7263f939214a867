// barehip-info: which GPUs there are, what of HIP works, which environment variables count.
#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>

#include "tools/barehip-info/api.h"
#include "tools/barehip-info/devices.h"

int main(int argc, char** argv) {
  using namespace barehip::info;
  CLI::App app{"barehip-info: the GPUs that barehip sees, and what of the HIP API it has."};
  app.footer(
      "examples:\n"
      "  barehip-info                                      devices, or why there is none (exit code 1)\n"
      "  BAREHIP_DEVICES=vgpu:gfx90a,vgpu:gfx1100 barehip-info\n"
      "                                                    the same with two simulated GPUs\n"
      "  barehip-info --api                                how many functions are exported, implemented, refused\n"
      "  barehip-info --api --json | jq -r '.functions[] | select(.status==\"refused\").name'\n"
      "  barehip-info --env                                environment variables");
  bool api = false, env = false, json = false, markdown = false;
  auto* api_option = app.add_flag("--api", api, "the HIP API: counts by library and family");
  auto* env_option = app.add_flag("--env", env, "the environment variables that barehip reads");
  auto* json_option = app.add_flag("--json", json, "machine-readable output; with --api every function");
  auto* markdown_option = app.add_flag("--markdown", markdown, "tables for a README (with --api)");
  env_option->excludes(api_option);
  markdown_option->needs(api_option)->excludes(json_option);
  try {
    app.parse(argc, argv);
    if (api) return print_api(json ? ApiFormat::kJson : markdown ? ApiFormat::kMarkdown : ApiFormat::kText);
    return env ? print_environment(json) : print_devices(json);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "barehip-info: %s\n", error.what());
    return 2;
  }
}
