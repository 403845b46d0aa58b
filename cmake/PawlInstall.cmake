# What `cmake --install` copies: library, headers, modules, command, the sources
# of the examples, the pkg-config file and the CMake package. Nothing in it names
# the prefix, so that `--prefix` may be any and may be moved; a folder that CMake
# was given as an absolute path (CMAKE_INSTALL_LIBDIR=/usr/lib64) stays where it is.
#
# SPDX-License-Identifier: Apache-2.0
include(CMakePackageConfigHelpers)

if(PAWL_EXPORT_INTERNALS)
    install(CODE "message(WARNING \"this libpawl exports its internal names, and its modules need them: it is for tests alone; \
configure with -DPAWL_TESTS=OFF -DPAWL_EXPORT_INTERNALS=OFF, or by the preset release\")")
endif()

get_property(driver_targets GLOBAL PROPERTY PAWL_DRIVER_TARGETS)

install(TARGETS pawl EXPORT pawlTargets
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/pawl"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h")
if(driver_targets)
    install(TARGETS ${driver_targets} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/pawl/${abi}")
endif()
if(TARGET pawl_command)
    install(TARGETS pawl_command RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
    install(FILES "${PROJECT_SOURCE_DIR}/dist/pawl@.service" DESTINATION lib/systemd/system)
    install(FILES "${PROJECT_SOURCE_DIR}/dist/grafana/pawl.json" DESTINATION share/pawl/grafana)
endif()

install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
    PATTERN CMakeLists.txt EXCLUDE PATTERN node_modules EXCLUDE PATTERN __pycache__ EXCLUDE)

# from_prefix(VARIABLE FOLDER): ${prefix}/FOLDER, or FOLDER when it is absolute.
function(from_prefix variable folder)
    if(IS_ABSOLUTE "${folder}")
        set(${variable} "${folder}" PARENT_SCOPE)
    else()
        set(${variable} "\${prefix}/${folder}" PARENT_SCOPE)
    endif()
endfunction()

from_prefix(pc_includedir "${CMAKE_INSTALL_INCLUDEDIR}")
from_prefix(pc_libdir "${CMAKE_INSTALL_LIBDIR}")
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
    set(pc_prefix "${CMAKE_INSTALL_PREFIX}")
else()
    file(RELATIVE_PATH pc_to_prefix "/p/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/p")
    string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
    set(pc_prefix "\${pcfiledir}/${pc_to_prefix}")
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/pawl.pc.in" "${PROJECT_BINARY_DIR}/pawl.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/pawl.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
if(TARGET pawl_static)
    configure_file("${PROJECT_SOURCE_DIR}/cmake/pawl-static.pc.in" "${PROJECT_BINARY_DIR}/pawl-static.pc" @ONLY)
    install(TARGETS pawl_static ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
    install(FILES "${PROJECT_BINARY_DIR}/pawl-static.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endif()

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/pawl")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/pawlConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/pawlConfig.cmake" INSTALL_DESTINATION "${package_dir}")
# A program asks for the oldest version that it can use, and takes each newer one of the same ABI (docs/versions.md).
write_basic_package_version_file("${PROJECT_BINARY_DIR}/pawlConfigVersion.cmake" COMPATIBILITY AnyNewerVersion)
file(READ "${PROJECT_BINARY_DIR}/pawlConfigVersion.cmake" any_newer)
file(WRITE "${PROJECT_BINARY_DIR}/pawlConfigVersion.cmake" "\
set(PACKAGE_VERSION \"${PROJECT_VERSION}\")
if(PACKAGE_FIND_VERSION AND PACKAGE_FIND_VERSION VERSION_LESS \"${abi_since}\") # another ABI
    set(PACKAGE_VERSION_COMPATIBLE FALSE)
    return()
endif()
${any_newer}")
install(FILES "${PROJECT_BINARY_DIR}/pawlConfig.cmake"
              "${PROJECT_BINARY_DIR}/pawlConfigVersion.cmake" DESTINATION "${package_dir}")
install(EXPORT pawlTargets NAMESPACE pawl:: DESTINATION "${package_dir}")
