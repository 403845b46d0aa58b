#!/usr/bin/env bash
# install.sh - finds what is missing to build and test, and installs it by apt.
# Sourced by ./test and ./demo; started by itself, it installs what a group needs:
#
#   scripts/install.sh [GROUP ...]     build (the default), test, check, servers, root,
#                                      package or long
#
# Everything it says goes to standard error.
#
# A thing is looked for before anything is installed; when nothing is missing
# no package tool runs. Without root or apt the missing packages are named and
# the exit code is 2.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

# One row per thing: group, probe, what the probe looks for, Debian package.
needed_things='
build command gcc          gcc
build header  stdio.h      libc6-dev
build command cmake        cmake
build command ninja        ninja-build
build command pkg-config   pkg-config
build header  uthash.h     uthash-dev
build library yyjson       libyyjson-dev
build library sqlite3      libsqlite3-dev
build library expat        libexpat1-dev
build library zlib         zlib1g-dev
build library libpq        libpq-dev
build library libmariadb   libmariadb-dev
build library odbc         unixodbc-dev
build library libmongoc-1.0 libmongoc-dev
build library libmicrohttpd libmicrohttpd-dev
build library libcurl      libcurl4-openssl-dev
build library librabbitmq  librabbitmq-dev
build library cmocka       libcmocka-dev
test  command g++          g++
check command clang        clang
check command ld.lld       lld
check file /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.tsan-x86_64.a libclang-rt-dev
test  command setarch      util-linux
test  command curl         curl
test  command chromium     chromium
test  command chromedriver chromium-driver
test  file /usr/share/zoneinfo/Europe/Berlin tzdata
check format  14           clang-format-14
check command python3      python3
check command meson        meson
servers file /usr/lib/postgresql/*/bin/postgres postgresql
servers file /usr/sbin/pgbouncer pgbouncer
servers file /usr/sbin/mariadbd mariadb-server-core
servers file /usr/bin/mariadb mariadb-client-core
servers file /usr/lib/*/odbc/libmaodbc.so odbc-mariadb
servers file /usr/lib/*/odbc/psqlodbca.so odbc-postgresql
servers file /usr/lib/galera/libgalera_smm.so galera-4
servers file /usr/lib/*/libeatmydata.so.1 libeatmydata1
servers file /usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server rabbitmq-server
servers file /usr/lib/python3/dist-packages/pika/__init__.py python3-pika
servers file /usr/lib/python3/dist-packages/bson/__init__.py python3-bson
servers file /usr/lib/python3/dist-packages/psycopg2/__init__.py python3-psycopg2
servers mysql 9              mysql-server-core
servers mongodb 18           postgresql-18-documentdb
servers prometheus 2         prometheus
root  command debootstrap  debootstrap
package command dh         debhelper
package command dpkg-buildpackage dpkg-dev
long  command lintian      lintian
long  command diffoscope   diffoscope-minimal
long  command abidiff      abigail-tools
'

# shellcheck source=scripts/mysql_root.sh
. "$(dirname "${BASH_SOURCE[0]}")/mysql_root.sh"
# shellcheck source=scripts/prometheus_root.sh
. "$(dirname "${BASH_SOURCE[0]}")/prometheus_root.sh"

say()
{
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
}

# Succeeds when the thing is there.
probe()
{
    case $1 in
    command) command -v "$2" >/dev/null ;;
    library) command -v pkg-config >/dev/null && pkg-config --exists "$2" ;;
    mysql) mysql_root_is_there ;;
    mongodb) mongodb_root_is_there ;;
    prometheus) prometheus_program >/dev/null ;;
    file) compgen -G "$2" >/dev/null ;;
    header) echo "#include <$2>" | gcc -E -x c - >/dev/null 2>&1 ;;
    format) command -v "clang-format-$2" >/dev/null ||
        clang-format --version 2>/dev/null | grep -q "version $2\." ;;
    esac
}

# Prints the packages of the groups whose things are not there.
missing_packages()
{
    local group kind what package
    while read -r group kind what package; do
        case " $* " in
        *" $group "*) probe "$kind" "$what" || echo "$package" ;;
        esac
    done <<<"$needed_things" | sort -u
}

has_candidate()
{
    apt-cache policy "$1" 2>/dev/null | grep 'Candidate:' | grep -qv '(none)'
}

# Drops what apt does not have, and a run can go without, from the packages it reads:
# the tests on it are skipped.
without_optional()
{
    local package
    while read -r package; do
        case $package in
        mysql-server-core | postgresql-18-documentdb | prometheus) ;; # never installed: mysql_root.sh, prometheus_root.sh
        debhelper | dpkg-dev | lintian | diffoscope-minimal | abigail-tools) ! has_candidate "$package" || echo "$package" ;;
        postgresql | pgbouncer | mariadb-*-core | galera-4 | libeatmydata1 | rabbitmq-server | python3-pika | python3-bson | python3-psycopg2 | debootstrap) ! has_candidate "$package" || echo "$package" ;;
        *) echo "$package" ;;
        esac
    done
}

# The mirror of Debian 12 that apt uses on this machine; empty when it uses none.
debian_mirror()
{
    # shellcheck disable=SC2016 # apt expands it
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' |
        sort -u | head -n 1
}

# download_from_trixie PACKAGE ...: into the current folder. Debian 12 has no yyjson. The two packages of Debian 13
# need nothing newer than Debian 12's C library, so they are fetched from the mirror this machine
# uses already, through an apt configuration that is gone afterwards.
download_from_trixie()
{
    local mirror folder
    mirror=$(debian_mirror)
    if [ -z "$mirror" ]; then
        say "apt knows no mirror of Debian 12; install $* by hand"
        return 1
    fi
    folder=$(mktemp -d)
    mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial"
    echo "deb $mirror trixie main" >"$folder/sources.list"
    local -a options=(-qq -o "Dir::Etc::SourceList=$folder/sources.list"
        -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$folder/lists"
        -o "Dir::Cache=$folder/cache" -o APT::Sandbox::User=root -o Acquire::Retries=3)
    say "downloading $* of Debian 13 from $mirror"
    apt-get "${options[@]}" update >&2 && apt-get "${options[@]}" download "$@" >&2
    local result=$?
    rm -rf "$folder"
    return $result
}

install_yyjson_from_trixie()
{
    local folder result
    folder=$(mktemp -d)
    (cd "$folder" && download_from_trixie libyyjson0 libyyjson-dev && dpkg -i ./*.deb) >&2
    result=$?
    rm -rf "$folder"
    return $result
}

# RabbitMQ's package starts its server, and fails where that cannot be. Without the two files that start it
# nothing runs that nobody asked for, now or when the machine starts.
no_services=(-o "Dpkg::Options::=--path-exclude=/etc/init.d/rabbitmq-server"
    -o "Dpkg::Options::=--path-exclude=/lib/systemd/system/rabbitmq-server.service"
    -o "Dpkg::Options::=--path-exclude=/usr/lib/systemd/system/rabbitmq-server.service")

install_packages()
{
    local -a plain=()
    local package yyjson=''
    export DEBIAN_FRONTEND=noninteractive
    say "apt-get update"
    apt-get -qq -o Acquire::Retries=3 update >&2 || say "apt-get update failed in part; going on"
    for package in "$@"; do
        if has_candidate "$package"; then
            plain+=("$package")
        elif [ "$package" = libyyjson-dev ]; then
            yyjson=trixie
        else
            say "apt has no $package; what needs it is left out"
        fi
    done
    if [ ${#plain[@]} -gt 0 ]; then
        say "apt-get install ${plain[*]}"
        apt-get -qq -y -o Acquire::Retries=3 "${no_services[@]}" --no-install-recommends install "${plain[@]}" >&2 ||
            return 1
    fi
    [ -z "$yyjson" ] || install_yyjson_from_trixie
}

# It goes into a folder of its own, which needs no root.
install_mysql()
{
    command -v apt-get >/dev/null || return 0
    if ! mysql_root_make; then
        say "unpacking MySQL and DocumentDB failed"
        exit 2
    fi
}

install_prometheus()
{
    command -v apt-get >/dev/null || return 0
    if ! prometheus_root_make; then
        say "unpacking prometheus failed"
        exit 2
    fi
}

install_missing()
{
    local -a packages
    mapfile -t packages < <(missing_packages "$@")
    [[ " ${packages[*]} " != *" mysql-server-core "* && " ${packages[*]} " != *" postgresql-18-documentdb "* ]] ||
        install_mysql
    [[ " ${packages[*]} " != *" prometheus "* ]] || install_prometheus
    mapfile -t packages < <(printf '%s\n' "${packages[@]}" | grep -vxE 'mysql-server-core|postgresql-18-documentdb|prometheus|')
    [ ${#packages[@]} -gt 0 ] || return 0
    say "missing: ${packages[*]}"
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        mapfile -t packages < <(printf '%s\n' "${packages[@]}" | without_optional)
        [ ${#packages[@]} -gt 0 ] || return 0
        say "cannot install without root and apt; install these and start again"
        ! command -v apt-get >/dev/null || say "or let apt do it: sudo $(dirname "${BASH_SOURCE[0]}")/install.sh $*"
        exit 2
    fi
    if ! install_packages "${packages[@]}"; then
        say "installing failed; install these and start again: ${packages[*]}"
        exit 2
    fi
    # A format check that cannot run is skipped with its reason; the rest is needed.
    mapfile -t packages < <(
        missing_packages "$@" | grep -v '^clang-format' | without_optional)
    if [ ${#packages[@]} -gt 0 ]; then
        say "still missing after installing: ${packages[*]}"
        exit 2
    fi
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    [ $# -gt 0 ] || set -- build
    for group in "$@"; do
        grep -qE "^$group " <<<"$needed_things" || { say "there is no group '$group'"; exit 2; }
    done
    install_missing "$@"
    say "nothing is missing for: $*"
fi
