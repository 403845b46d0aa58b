# pawl_driver(NAME PACKAGE pkg-config-name ... [SQL] FOLDERS folder ...)
#
# Makes the module libpawl-NAME.so of the sources in the folders, with SQL also of
# the generic SQL store (pawl_sql_objects), under the
# option PAWL_NAME: ON (the packages must be there), OFF, or AUTO (the default:
# built when they are there). Says which. Sets UPPER_PACKAGE_FOUND, by the first
# package's name.
#
# SPDX-License-Identifier: Apache-2.0

function(pawl_driver name)
    cmake_parse_arguments(PARSE_ARGV 1 driver "SQL" "" "PACKAGE;FOLDERS")
    string(TOUPPER "PAWL_${name}" option)
    list(GET driver_PACKAGE 0 first_package)
    list(JOIN driver_PACKAGE ", " needed)
    string(TOUPPER "${first_package}" package)
    set(${option} AUTO CACHE STRING "The module ${name}: ON, OFF or AUTO (when ${needed} is there)")
    set_property(CACHE ${option} PROPERTY STRINGS AUTO ON OFF)

    set(${package}_FOUND FALSE)
    if(${option} STREQUAL "AUTO")
        pkg_check_modules(${package} QUIET IMPORTED_TARGET GLOBAL ${driver_PACKAGE})
    elseif(${option})
        pkg_check_modules(${package} REQUIRED IMPORTED_TARGET GLOBAL ${driver_PACKAGE})
    endif()
    set(${package}_FOUND "${${package}_FOUND}" PARENT_SCOPE)
    if(NOT ${package}_FOUND)
        message(STATUS "driver ${name}: not built (${option}=${${option}}, package ${needed})")
        return()
    endif()

    list(GET driver_FOLDERS -1 own_folder)
    file(GLOB own_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${own_folder}/*.c")
    list(TRANSFORM driver_FOLDERS PREPEND "${PROJECT_SOURCE_DIR}/")
    list(TRANSFORM driver_FOLDERS APPEND "/*.c")
    file(GLOB sources CONFIGURE_DEPENDS ${driver_FOLDERS})
    if(NOT own_sources)
        message(STATUS "driver ${name}: no sources in ${own_folder}")
        return()
    endif()

    set(versions "")
    foreach(one IN LISTS driver_PACKAGE)
        # Of several packages pkg-config says each version under a name of its own.
        if(${package}_${one}_VERSION)
            string(APPEND versions " ${one} ${${package}_${one}_VERSION}")
        else()
            string(APPEND versions " ${one} ${${package}_VERSION}")
        endif()
    endforeach()
    message(STATUS "driver ${name}: built with${versions}")
    if(driver_SQL)
        list(APPEND sources $<TARGET_OBJECTS:pawl_sql_objects>)
    endif()
    add_library(pawl-${name} MODULE ${sources})
    pawl_compile(pawl-${name})
    pawl_search(pawl-${name} ../..)
    set_target_properties(pawl-${name} PROPERTIES
        PAWL_FOLDER "${own_folder}" PAWL_PACKAGE ${package} PAWL_REQUIRES "${driver_PACKAGE}"
        PAWL_SQL "${driver_SQL}") # for PawlStatic
    target_link_libraries(pawl-${name} PRIVATE pawl_copies pawl PkgConfig::${package} Threads::Threads)
    if(PAWL_EXPORT_INTERNALS)
        pawl_export_all(pawl-${name})
    endif()
    set_property(GLOBAL APPEND PROPERTY PAWL_DRIVER_TARGETS pawl-${name})
    add_dependencies(pawl_modules pawl-${name})
endfunction()
