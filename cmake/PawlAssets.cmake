# PawlAssets.cmake - the files of a folder as a C source, for src/cli/console/console.h.
#
#   pawl_assets(VARIABLE FOLDER)   the source that is made when a file changes, for add_executable
#
# The same file, run with -P, makes the source: CMake is all that it needs.
#
# SPDX-License-Identifier: Apache-2.0
if(CMAKE_SCRIPT_MODE_FILE)
    set(types html "text/html; charset=utf-8" js "text/javascript; charset=utf-8"
        css "text/css; charset=utf-8" svg "image/svg+xml")
    file(GLOB files "${FOLDER}/*")
    list(SORT files)
    set(arrays "")
    set(rows "")
    set(number 0)
    foreach(file ${files})
        get_filename_component(name "${file}" NAME)
        get_filename_component(ending "${file}" LAST_EXT)
        string(SUBSTRING "${ending}" 1 -1 ending)
        list(FIND types "${ending}" place)
        math(EXPR place "${place} + 1")
        list(GET types ${place} type)
        file(READ "${file}" bytes HEX)
        string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
        string(APPEND arrays "static const unsigned char asset_${number}[] = {${bytes}};\n")
        set(path "/${name}")
        if(name STREQUAL "index.html")
            set(path "/")
        endif()
        string(APPEND rows
            "    {\"${path}\", \"${type}\", asset_${number}, sizeof asset_${number}},\n")
        math(EXPR number "${number} + 1")
    endforeach()
    file(WRITE "${OUTPUT}" "#include \"cli/console/console.h\"\n\n${arrays}\n"
        "const pawl__asset pawl__assets[] = {\n${rows}};\n"
        "const size_t pawl__asset_count = sizeof pawl__assets / sizeof pawl__assets[0];\n")
    return()
endif()

set(pawl_assets_script "${CMAKE_CURRENT_LIST_FILE}")

function(pawl_assets variable folder)
    set(made "${PROJECT_BINARY_DIR}/assets/${variable}.c")
    file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*")
    add_custom_command(OUTPUT "${made}"
        COMMAND "${CMAKE_COMMAND}" "-DFOLDER=${PROJECT_SOURCE_DIR}/${folder}" "-DOUTPUT=${made}"
                -P "${pawl_assets_script}"
        DEPENDS ${files} "${pawl_assets_script}"
        VERBATIM)
    set(${variable} "${made}" PARENT_SCOPE)
endfunction()
