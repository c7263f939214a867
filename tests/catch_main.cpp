// The main function of every test program with Catch2 version 2, compiled once.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
