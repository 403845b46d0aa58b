# libraries.txt of the build folder: what each installed binary is linked with, for scripts/sbom.py. A line has
#
#     TARGET FILE LIBRARY ...      the paths of the libraries; separated by tabs
#
# SPDX-License-Identifier: Apache-2.0

# library_file(VARIABLE FILE): the path of the linker's file of that name; FILE itself when there is none.
function(library_file variable file)
    execute_process(COMMAND "${CMAKE_C_COMPILER}" "-print-file-name=${file}"
        OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE)
    set(${variable} "${path}" PARENT_SCOPE)
endfunction()

# linked_with(VARIABLE TARGET): the libraries that the target is linked with: those of pkg-config packages, and those
# that have but a name, such as crypt. A part of the C library (dl) has no file of its own.
function(linked_with variable target)
    library_file(found libc.so.6)
    get_target_property(linked ${target} LINK_LIBRARIES)
    foreach(one IN LISTS linked)
        if(one MATCHES "^PkgConfig::" AND TARGET "${one}")
            get_target_property(paths "${one}" INTERFACE_LINK_LIBRARIES)
            list(APPEND found ${paths})
        elseif(one MATCHES "^[a-z]+$" AND NOT TARGET "${one}")
            library_file(path "lib${one}.so")
            if(IS_ABSOLUTE "${path}")
                list(APPEND found "${path}")
            endif()
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
