# Manual pages and the completion scripts of three shells: the command writes them from its tables,
# after it was linked. A command that cannot run here (cross compiling without an emulator) has none.
#
# SPDX-License-Identifier: Apache-2.0
if(NOT TARGET pawl_command OR (CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR))
    return()
endif()

set(pages_dir "${PROJECT_BINARY_DIR}/pages")
set(page_files)

# written_by(FILE WORD ...): FILE is what `pawl WORD ...` prints.
function(written_by file)
    list(JOIN ARGN " " words)
    add_custom_command(OUTPUT "${pages_dir}/${file}"
        COMMAND sh -c "\"$1\" ${words} >\"$2\"" sh "$<TARGET_FILE:pawl_command>" "${pages_dir}/${file}"
        DEPENDS pawl_command
        COMMENT "pawl ${words}"
        VERBATIM)
    set(page_files ${page_files} "${pages_dir}/${file}" PARENT_SCOPE)
endfunction()

# The verbs stand in cli.h, a row each, of which the command's table is made.
file(READ "${PROJECT_SOURCE_DIR}/src/cli/cli.h" verb_rows)
string(REGEX MATCHALL "\n    X\\([a-z]+," verb_rows "${verb_rows}")
set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
    "${PROJECT_SOURCE_DIR}/src/cli/cli.h")
file(MAKE_DIRECTORY "${pages_dir}")
written_by(pawl.1 help --man)
foreach(row IN LISTS verb_rows)
    string(REGEX REPLACE "\n    X\\(([a-z]+)," "\\1" verb "${row}")
    written_by(pawl-${verb}.1 help --man ${verb})
endforeach()
set(manual_files ${page_files})
written_by(pawl completion bash)
written_by(_pawl completion zsh)
written_by(pawl.fish completion fish)
add_custom_target(pawl_pages ALL DEPENDS ${page_files})

install(FILES ${manual_files} DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
install(FILES "${pages_dir}/pawl" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
install(FILES "${pages_dir}/_pawl" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
install(FILES "${pages_dir}/pawl.fish" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
