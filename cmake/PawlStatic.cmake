# libpawl.a: the library with the modules of PAWL_STATIC_DRIVERS linked in, for programs without files beside
# them. Nothing in it loads a module (src/store/linked/linked.c). Its objects are those of the shared library and
# of the modules: compiled anew are only the list of the modules, and of each the files that have its tables, as all
# tables are named alike.
#
# SPDX-License-Identifier: Apache-2.0

set(PAWL_STATIC_DRIVERS "" CACHE STRING
    "Modules in libpawl.a, such as sqlite;postgres; memory for none; AUTO: sqlite, if it is built; empty: no libpawl.a")
if(PAWL_STATIC_DRIVERS STREQUAL "AUTO" AND TARGET pawl-sqlite)
    set(PAWL_STATIC_DRIVERS sqlite)
elseif(PAWL_STATIC_DRIVERS STREQUAL "AUTO")
    message(STATUS "libpawl.a: not built (PAWL_STATIC_DRIVERS=AUTO, and there is no module sqlite)")
    return()
elseif(NOT PAWL_STATIC_DRIVERS)
    return()
endif()

set(static_objects "$<FILTER:$<TARGET_OBJECTS:pawl>,EXCLUDE,/store/core/module[.]c[.]o$>")
set(static_list "")
set(pc_requires yyjson) # with `pkg-config --static` also what these packages need
add_library(pawl_static STATIC "${PROJECT_SOURCE_DIR}/src/store/linked/linked.c")

foreach(name IN LISTS PAWL_STATIC_DRIVERS)
    if(name STREQUAL "memory") # it is in the library
        continue()
    endif()
    if(NOT TARGET pawl-${name})
        message(FATAL_ERROR "PAWL_STATIC_DRIVERS names ${name}, and this module is not built")
    endif()
    get_target_property(folder pawl-${name} PAWL_FOLDER)
    get_target_property(package pawl-${name} PAWL_PACKAGE)
    get_target_property(is_sql pawl-${name} PAWL_SQL)
    if(folder MATCHES "^src/store/")
        set(files "${folder}/${name}.c")
        set(tables pawl_store_driver)
        string(APPEND static_list "STORE(${name}) ")
    elseif(folder MATCHES "^src/transport/")
        set(files "${folder}/${name}.c" "${folder}/consume.c")
        set(tables pawl_transport_driver pawl_inbound_driver)
        string(APPEND static_list "TRANSPORT(${name}) INBOUND(${name}) ")
    else()
        set(files "${folder}/module.c")
        set(tables pawl_observe_module)
        string(APPEND static_list "OBSERVE(${name}) ")
    endif()
    list(TRANSFORM files PREPEND "${PROJECT_SOURCE_DIR}/" OUTPUT_VARIABLE sources)
    add_library(pawl_linked_${name} OBJECT ${sources})
    pawl_compile(pawl_linked_${name})
    foreach(table IN LISTS tables)
        target_compile_definitions(pawl_linked_${name} PRIVATE ${table}=${table}_${name})
    endforeach()
    target_link_libraries(pawl_linked_${name} PRIVATE PkgConfig::${package} PkgConfig::YYJSON)
    list(JOIN files "|" pattern)
    string(REPLACE "." "[.]" pattern "/(${pattern}).o$")
    list(APPEND static_objects $<TARGET_OBJECTS:pawl_linked_${name}>
        "$<FILTER:$<TARGET_OBJECTS:pawl-${name}>,EXCLUDE,${pattern}>")
    if(is_sql)
        set(static_sql $<TARGET_OBJECTS:pawl_sql_objects>)
    endif()
    get_target_property(requires pawl-${name} PAWL_REQUIRES)
    list(APPEND pc_requires ${requires})
    target_link_libraries(pawl_static PUBLIC PkgConfig::${package})
endforeach()

pawl_compile(pawl_static)
target_sources(pawl_static PRIVATE ${static_objects} ${static_sql})
target_compile_definitions(pawl_static PRIVATE "PAWL_LINKED=${static_list}")
target_include_directories(pawl_static INTERFACE "${PROJECT_SOURCE_DIR}/include")
target_link_libraries(pawl_static PUBLIC PkgConfig::YYJSON Threads::Threads)
set_target_properties(pawl_static PROPERTIES OUTPUT_NAME pawl
    ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
list(JOIN pc_requires " " pc_requires)
