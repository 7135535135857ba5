# cmake --install: the archive, the headers, and the files that find_package(tinymp) reads.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tinymp)

install(TARGETS tinymp EXPORT tinympTargets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET tinymp_zlib)  # built here: goes along, as tinymp::tinymp_zlib
  install(TARGETS tinymp_zlib EXPORT tinympTargets)
endif()
install(EXPORT tinympTargets NAMESPACE tinymp:: DESTINATION ${package_dir})
install(DIRECTORY tinymp kernels DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.inc"
        REGEX "kernels/(cpu|cuda|emu|no_cuda|numerics)$" EXCLUDE  # all that kernels.h does not include
        REGEX "tinymp/dist/mpi$" EXCLUDE  # mpi.h is asked of nobody
        PATTERN "*_json.h" EXCLUDE)       # nlohmann-json is asked of nobody

configure_package_config_file(cmake/tinympConfig.cmake.in ${PROJECT_BINARY_DIR}/tinympConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tinympConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tinympConfig.cmake ${PROJECT_BINARY_DIR}/tinympConfigVersion.cmake
        DESTINATION ${package_dir})
