# mysql_root.sh - MySQL in a folder of its own, for distributions that have no package of it
# beside MariaDB's. Sourced.
#
#   mysql_root           prints the folder
#   mysql_root_is_there  both programs in it run
#   mysql_root_make      makes it, once for all clones of a user: half a minute, 70 MB to
#                        download, 250 MB of disk
#
# The packages and what they need down to the C library are downloaded by apt under a
# configuration that is gone afterwards, from the Debian mirror that this machine uses
# (its newest suite has MySQL), and unpacked, not installed: nothing of the system changes, and
# neither root nor chroot is needed. `mysqld` and `mysql` in the folder start the programs
# with the libraries beside them. PAWL_MYSQL_ROOT names another folder.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

mysql_root()
{
    echo "${PAWL_MYSQL_ROOT:-/var/tmp/pawl-mysql-$(id -u)}"
}

# They are run, not looked for: the system may have swept what lies there unused.
mysql_root_is_there()
{
    local root
    root=$(mysql_root)
    [ -O "$root" ] && [ ! -L "$root" ] && [ -d "$root/usr/share/mysql/charsets" ] &&
        "$root/mysqld" --no-defaults --version >/dev/null 2>&1 &&
        "$root/mysql" --no-defaults --version >/dev/null 2>&1
}

# mysql_root_apt FOLDER MIRROR ...: apt-get as in a system where nothing is installed.
mysql_root_apt()
{
    local folder=$1
    shift
    apt-get -qq -o "Dir::Etc::SourceList=$folder/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o "Dir::State=$folder" -o "Dir::State::status=$folder/status" \
        -o "Dir::Cache=$folder/cache" -o APT::Sandbox::User="$(id -un)" \
        -o Acquire::Retries=3 "$@" >&2 </dev/null
}

# Beside the servers the packages bring what is never started.
mysql_root_unpack() # FOLDER
{
    local package root=$1/root program
    mkdir "$root" || return 1
    for package in "$1"/cache/archives/*.deb; do
        dpkg-deb -x "$package" "$root" || return 1
    done
    for program in "$root"/usr/bin/*; do
        [ "$program" = "$root/usr/bin/mysql" ] || rm -f "$program"
    done
    rm -rf "$1/root"/usr/share/{perl,doc,man,locale} "$1/root"/usr/lib/*/{perl,perl-base,gconv} "$1/root"/etc
}

# mysql_root_program ROOT NAME PATH: the loader and the libraries of the folder, wherever it is.
mysql_root_program()
{
    local libraries loader
    libraries=$(cd "$1" && dirname "$(compgen -G 'usr/lib/*/libc.so.6')") || return 1
    loader=$(cd "$1" && compgen -G "$libraries/ld-linux-*" | head -n 1)
    [ -n "$loader" ] || return 1
    cat >"$1/$2" <<END && chmod 755 "$1/$2"
#!/bin/sh
root=\$(cd "\$(dirname "\$0")" && pwd)
exec "\$root/$loader" --library-path "\$root/$libraries" "\$root/$3" "\$@"
END
}

# mysql_root_fill FOLDER MIRROR: 3 when the mirror has no such package, or cannot be asked.
mysql_root_fill()
{
    mkdir -p "$1/lists/partial" "$1/cache/archives/partial" && : >"$1/status" || return 1
    echo "deb $2 sid main" >"$1/sources.list"
    mysql_root_apt "$1" update || return 3
    mysql_root_apt "$1" --simulate install mysql-server-core mysql-client-core 2>/dev/null || return 3
    mysql_root_apt "$1" -y --no-install-recommends --download-only \
        install mysql-server-core mysql-client-core &&
        mysql_root_unpack "$1" &&
        mysql_root_program "$1/root" mysqld usr/sbin/mysqld &&
        mysql_root_program "$1/root" mysql usr/bin/mysql
}

# Succeeds, too, where it cannot be had: the tests on it are skipped.
mysql_root_make()
{
    local mirror
    mirror=$(debian_mirror)
    if [ -z "$mirror" ]; then
        say "apt knows no mirror of Debian; MySQL is left out"
    else
        (mysql_root_make_from "$mirror")
    fi
}

# The folder gets its name when it is complete; of two that make it the second finds it made.
mysql_root_make_from() # MIRROR
{
    local root new result
    root=$(mysql_root)
    mkdir -p "$(dirname "$root")" && exec 8>>"$root.lock" && flock 8 || return 1
    ! mysql_root_is_there || return 0
    say "unpacking mysql-server-core and what it needs from $1 into $root"
    new=$(mktemp -d "$root.XXXXXX") || return 1
    mysql_root_fill "$new" "$1"
    result=$?
    if [ $result = 0 ]; then
        rm -rf "$root"
        chmod 755 "$new/root" && mv "$new/root" "$root" && mysql_root_is_there
        result=$?
    elif [ $result = 3 ]; then
        say "$1 has no mysql-server-core; it is left out"
        result=0
    fi
    rm -rf "$new"
    return $result
}
