# How every C source of pawl is compiled: the standard, the warnings, the
# sanitizers.
#
# SPDX-License-Identifier: Apache-2.0

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    if(PROJECT_IS_TOP_LEVEL)
        set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Kind of build" FORCE)
    else() # another project's files keep its own flags, without NDEBUG, and its installation has one kind of build
        separate_arguments(default_options UNIX_COMMAND "${CMAKE_C_FLAGS_RELWITHDEBINFO}")
        add_compile_options(${default_options})
    endif()
endif()
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

set(PAWL_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla)
if(PAWL_WERROR)
    list(APPEND PAWL_WARNINGS -Werror)
endif()

if(PAWL_SANITIZE STREQUAL "address")
    set(sanitize_options -fsanitize=address,undefined -fno-sanitize-recover=all)
elseif(PAWL_SANITIZE STREQUAL "thread")
    set(sanitize_options -fsanitize=thread)
elseif(PAWL_SANITIZE)
    message(FATAL_ERROR "PAWL_SANITIZE is '${PAWL_SANITIZE}'; it may be address, thread or empty")
else()
    set(sanitize_options "")
endif()
if(sanitize_options)
    add_compile_options(${sanitize_options} -fno-omit-frame-pointer)
    add_compile_definitions(PAWL_SANITIZED=1) # not every compiler says it by itself
    add_link_options(${sanitize_options})
endif()

if(PAWL_FUZZ) # libFuzzer then sees which code an input reaches
    add_compile_options(-fsanitize=fuzzer-no-link)
    add_compile_definitions(PAWL_FUZZ=1) # arena.c
endif()

function(pawl_compile target)
    set_target_properties(${target} PROPERTIES PAWL_OWN ON) # CMakeLists.txt, pawl_modules
    target_compile_options(${target} PRIVATE ${PAWL_WARNINGS})
    # With 32 bits of an offset the kernel refuses the locks of src/store/program.
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE _FILE_OFFSET_BITS=64)
    target_include_directories(${target} PRIVATE
        "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src")
endfunction()

# pawl_search(TARGET FOLDER): the loader looks for libraries in the target's own folder, then in FOLDER, seen from there.
# What is built and what is installed have one RUNPATH: CMake ends one that it changes at the installation with a colon,
# and the loader takes the empty name behind it for the current folder.
function(pawl_search target folder)
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN;$ORIGIN/${folder}")
    if(NOT CMAKE_SKIP_INSTALL_RPATH)
        set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON)
    endif()
endfunction()

# Exports every name that is not static. Calls inside the library stay direct,
# so that this costs no speed.
function(pawl_export_all target)
    set_target_properties(${target} PROPERTIES C_VISIBILITY_PRESET default)
    target_compile_options(${target} PRIVATE -fno-semantic-interposition)
    target_link_options(${target} PRIVATE -Wl,-Bsymbolic-functions)
endfunction()
