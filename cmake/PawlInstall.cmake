# What `cmake --install` copies: library, headers, drivers, command, the
# pkg-config file and the CMake package.
#
# SPDX-License-Identifier: Apache-2.0
include(CMakePackageConfigHelpers)

get_property(driver_targets GLOBAL PROPERTY PAWL_DRIVER_TARGETS)

install(TARGETS pawl EXPORT pawlTargets
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/pawl"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
if(driver_targets)
    install(TARGETS ${driver_targets} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/pawl")
endif()
if(TARGET pawl_command)
    install(TARGETS pawl_command RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()

configure_file("${PROJECT_SOURCE_DIR}/cmake/pawl.pc.in" "${PROJECT_BINARY_DIR}/pawl.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/pawl.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/pawl")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/pawlConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/pawlConfig.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/pawlConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/pawlConfig.cmake"
              "${PROJECT_BINARY_DIR}/pawlConfigVersion.cmake" DESTINATION "${package_dir}")
install(EXPORT pawlTargets NAMESPACE pawl:: DESTINATION "${package_dir}")
