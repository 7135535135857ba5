# The packages that tinymp uses: the system's package first, else the release named here, checked by its hash.
#   -DTINYMP_FETCH=AUTO | ALWAYS (leave the system's packages alone) | NEVER (download nothing)
#   -DFETCHCONTENT_SOURCE_DIR_FMT=folder   take these sources, download nothing (the name in capitals: ..._ZLIB, ...)
# A new dependency needs one more tinymp_dependency() here; CONTRIBUTING.md names the other two places.
include(${CMAKE_CURRENT_LIST_DIR}/Fetch.cmake)
find_package(Threads REQUIRED)

tinymp_dependency(ZLIB TARGET ZLIB::ZLIB  # data sets are gzip files
  APT zlib1g-dev  DNF zlib-devel  BREW zlib
  URL https://github.com/madler/zlib/releases/download/v1.3.1/zlib-1.3.1.tar.gz
  SHA256 9a93b2b7dfdac77ceba5a558a580e74667dd6fede4585b91eefb60f03b72df23)
if(zlib_SOURCE_DIR)  # its own CMakeLists.txt renames a file of the source tree, so it is not used
  enable_language(C)
  file(GLOB zlib_sources ${zlib_SOURCE_DIR}/*.c)
  add_library(tinymp_zlib STATIC ${zlib_sources})
  add_library(ZLIB::ZLIB ALIAS tinymp_zlib)
  target_include_directories(tinymp_zlib SYSTEM PUBLIC $<BUILD_INTERFACE:${zlib_SOURCE_DIR}>)
  target_compile_definitions(tinymp_zlib PRIVATE HAVE_UNISTD_H)
endif()

tinymp_dependency(fmt VERSION 8 TARGET fmt::fmt HEADERS include  # text of tables and messages
  APT libfmt-dev  DNF fmt-devel  BREW fmt
  URL https://github.com/fmtlib/fmt/archive/refs/tags/10.2.1.tar.gz
  SHA256 1250e4cc58bf06ee631567523f48848dc4596133e163f02615c97f78bab6c811)
if(fmt_SOURCE_DIR)
  target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY=1)
endif()

tinymp_dependency(nlohmann_json VERSION 3.10 TARGET nlohmann_json::nlohmann_json HEADERS include  # run logs
  APT nlohmann-json3-dev  DNF json-devel  BREW nlohmann-json
  URL https://github.com/nlohmann/json/releases/download/v3.11.3/json.tar.xz
  SHA256 d6c65aca6b1ed68e7a182f4757257b107ae403032760ed6ef121c9d55e81757d)

tinymp_dependency(stb TARGET stb::stb FILE stb_image.h HEADERS .  # pictures: PNG, JPEG, BMP, PGM; Debian's copy
  APT libstb-dev  DNF stb_image-devel  BREW -
  URL https://deb.debian.org/debian/pool/main/libs/libstb/libstb_0.0~git20220908.8b5f1f3+ds.orig.tar.xz
      https://snapshot.debian.org/archive/debian/20230101T000000Z/pool/main/libs/libstb/libstb_0.0~git20220908.8b5f1f3+ds.orig.tar.xz
  SHA256 6949c8ff9f86d982cff1b384f1301a731cbaf3b3fa4d1728c7b48a02386d31d8)

if(TINYMP_LESSONS OR TINYMP_FUZZ)
  tinymp_dependency(CLI11 VERSION 2.1 TARGET CLI11::CLI11 HEADERS include  # command lines
    APT libcli11-dev  DNF cli11-devel  BREW cli11
    URL https://github.com/CLIUtils/CLI11/archive/refs/tags/v2.4.2.tar.gz
    SHA256 f2d893a65c3b1324c50d4e682c0cdc021dd0477ae2c048544f39eed6654b699a)
endif()

if(TINYMP_TESTS)
  tinymp_dependency(Catch2 TARGET Catch2::Catch2  # version 2 or 3: tests/catch.h
    APT catch2  DNF catch-devel  BREW catch2
    URL https://github.com/catchorg/Catch2/archive/refs/tags/v3.7.1.tar.gz
    SHA256 c991b247a1a0d7bb9c39aa35faf0fe9e19764213f28ffba3109388e62ee0269c)
  if(catch2_SOURCE_DIR)  # the one big file compiles in a third of the time of the hundred small ones
    add_library(catch2 STATIC ${catch2_SOURCE_DIR}/extras/catch_amalgamated.cpp)
    add_library(Catch2::Catch2 ALIAS catch2)
    add_library(Catch2::Catch2WithMain ALIAS catch2)
    file(WRITE ${PROJECT_BINARY_DIR}/generated/catch2/catch_all.hpp "#include <catch_amalgamated.hpp>\n")
    target_include_directories(catch2 SYSTEM PUBLIC ${PROJECT_BINARY_DIR}/generated ${catch2_SOURCE_DIR}/extras)
    target_compile_features(catch2 PUBLIC cxx_std_20)
    list(APPEND CMAKE_MODULE_PATH ${catch2_SOURCE_DIR}/extras)
  endif()
endif()

if(TINYMP_MICROBENCH)  # Debian's copy of the release
  tinymp_dependency(benchmark TARGET benchmark::benchmark
    APT libbenchmark-dev  DNF google-benchmark-devel  BREW google-benchmark
    URL https://deb.debian.org/debian/pool/main/b/benchmark/benchmark_1.7.1.orig.tar.gz
        https://snapshot.debian.org/archive/debian/20250520T000000Z/pool/main/b/benchmark/benchmark_1.7.1.orig.tar.gz
    SHA256 6430e4092653380d9dc4ccb45a1e2dc9259d581f4866dc0759713126056bc1d7)
  if(benchmark_SOURCE_DIR)
    file(GLOB benchmark_sources ${benchmark_SOURCE_DIR}/src/*.cc)
    list(FILTER benchmark_sources EXCLUDE REGEX "/benchmark_main[.]cc$")
    add_library(tinymp_benchmark STATIC EXCLUDE_FROM_ALL ${benchmark_sources})
    add_library(benchmark::benchmark ALIAS tinymp_benchmark)
    target_include_directories(tinymp_benchmark SYSTEM PUBLIC ${benchmark_SOURCE_DIR}/include)
    target_compile_definitions(tinymp_benchmark PUBLIC BENCHMARK_STATIC_DEFINE PRIVATE HAVE_STD_REGEX HAVE_STEADY_CLOCK)
    target_link_libraries(tinymp_benchmark PUBLIC Threads::Threads)
  endif()
endif()

tinymp_report_missing()

# The charts of report.html. Sets TINYMP_DYGRAPHS_JS and TINYMP_DYGRAPHS_CSS. They are empty where dygraphs is
# missing: the page then shows the charts of the terminal. The archive is Debian's package, since the upstream
# release holds no built file.
tinymp_javascript(dygraphs JS dygraph.min.js CSS dygraph.min.css
  APT libjs-dygraphs
  URL https://deb.debian.org/debian/pool/main/d/dygraphs/libjs-dygraphs_2.2.1-1_all.deb
      https://snapshot.debian.org/archive/debian/20250520T000000Z/pool/main/d/dygraphs/libjs-dygraphs_2.2.1-1_all.deb
  SHA256 64ba6b442cac22374f01412bc6b0b6116dcf32bc251ed6c1dc7c5134c9ec2a00)
