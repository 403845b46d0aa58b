# The benchmarks: libpawl-bench.so, which `pawl bench` loads, and a module
# libpawl-bench-KIND.so for each folder bench/KIND whose driver is built. Only
# these know a database's library, so that the command needs none.
#
# SPDX-License-Identifier: Apache-2.0

file(GLOB bench_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/*.c")
add_library(pawl-bench SHARED ${bench_sources})
pawl_compile(pawl-bench)
pawl_export_all(pawl-bench) # the modules of the kinds call into it
pawl_search(pawl-bench ../..)
target_include_directories(pawl-bench PUBLIC "${PROJECT_SOURCE_DIR}/bench")
target_link_libraries(pawl-bench PRIVATE pawl_copies PkgConfig::YYJSON Threads::Threads PUBLIC pawl)
set_property(GLOBAL APPEND PROPERTY PAWL_DRIVER_TARGETS pawl-bench)

# pawl_bench_kind(KIND PACKAGE): the package is the one that pawl_driver looked for.
function(pawl_bench_kind kind package)
    if(NOT TARGET pawl-${kind})
        return()
    endif()
    file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/${kind}/*.c")
    add_library(pawl-bench-${kind} MODULE ${sources})
    pawl_compile(pawl-bench-${kind})
    pawl_search(pawl-bench-${kind} ../..)
    target_link_libraries(pawl-bench-${kind} PRIVATE pawl_copies pawl-bench PkgConfig::${package})
    set_property(GLOBAL APPEND PROPERTY PAWL_DRIVER_TARGETS pawl-bench-${kind})
endfunction()

pawl_bench_kind(sqlite SQLITE3)
pawl_bench_kind(postgres LIBPQ)
pawl_bench_kind(mysql LIBMARIADB)
if(TARGET pawl-bench-mysql) # reads URLs as the driver does
    target_sources(pawl-bench-mysql PRIVATE "${PROJECT_SOURCE_DIR}/src/store/mysql/url.c")
endif()
pawl_bench_kind(mongo LIBMONGOC-1.0)
pawl_bench_kind(rabbitmq LIBRABBITMQ)
if(TARGET pawl-bench-rabbitmq) # connects as the module for RabbitMQ does
    foreach(part IN ITEMS connection envelope publish topology url)
        target_sources(pawl-bench-rabbitmq PRIVATE "${PROJECT_SOURCE_DIR}/src/transport/rabbitmq/${part}.c")
    endforeach()
    target_link_libraries(pawl-bench-rabbitmq PRIVATE PkgConfig::YYJSON)
endif()
