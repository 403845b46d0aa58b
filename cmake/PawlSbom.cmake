# libraries.txt of the build folder: what each installed binary is linked with, for scripts/sbom.py. A line has
#
#     TARGET FILE LIBRARY ...      the paths of the libraries, or names such as m; separated by tabs
#
# SPDX-License-Identifier: Apache-2.0

execute_process(COMMAND "${CMAKE_C_COMPILER}" -print-file-name=libc.so.6
    OUTPUT_VARIABLE libc_file OUTPUT_STRIP_TRAILING_WHITESPACE)

# linked_with(VARIABLE TARGET): the libraries of the pkg-config packages that the target is linked with.
function(linked_with variable target)
    set(found "${libc_file}")
    get_target_property(linked ${target} LINK_LIBRARIES)
    foreach(one IN LISTS linked)
        if(one MATCHES "^PkgConfig::" AND TARGET "${one}")
            get_target_property(paths "${one}" INTERFACE_LINK_LIBRARIES)
            list(APPEND found ${paths})
        endif()
    endforeach()
    list(REMOVE_DUPLICATES found)
    list(JOIN found "\t" found)
    set(${variable} "${found}" PARENT_SCOPE)
endfunction()

set(library_lines "")
get_property(driver_targets GLOBAL PROPERTY PAWL_DRIVER_TARGETS)
foreach(target IN ITEMS pawl pawl_command LISTS driver_targets)
    if(TARGET ${target})
        linked_with(libraries ${target})
        string(APPEND library_lines "${target}\t$<TARGET_FILE_NAME:${target}>\t${libraries}\n")
    endif()
endforeach()
file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/libraries.txt" CONTENT "${library_lines}")
