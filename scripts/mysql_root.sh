# mysql_root.sh - MySQL, and the engine of the MongoDB server of the tests, in a folder of their own, for
# distributions that have no package of them. Sourced.
#
#   mysql_root             prints the folder
#   mysql_root_is_there    both programs of MySQL in it run
#   mongodb_root_is_there  PostgreSQL with DocumentDB is in it, and runs
#   mysql_root_make        makes it, once for all clones of a user: a minute, 170 MB to
#                          download, 480 MB of disk
#
# The packages and what they need down to the C library are downloaded by apt under a
# configuration that is gone afterwards, from the Debian mirror that this machine uses
# (its newest suite has MySQL), and unpacked, not installed: nothing of the system changes, and
# neither root nor chroot is needed. `mysqld` and `mysql` in the folder start the programs
# with the libraries beside them; `pg/initdb`, `pg/pg_ctl` and `pg/psql` those of PostgreSQL.
# PAWL_MYSQL_ROOT names another folder.
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

mongodb_root_is_there()
{
    local root
    root=$(mysql_root)
    [ -O "$root" ] && [ ! -L "$root" ] && [ -e "$root/pg/documentdb.control" ] &&
        [ -e "$root/pg/postgis.control" ] && "$root/pg/postgres" --version >/dev/null 2>&1 &&
        "$root/pg/psql" --version >/dev/null 2>&1
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

# Beside the servers the packages bring what is never started, or needed by maps alone.
mysql_root_unpack() # FOLDER
{
    local package root=$1/root program
    mkdir "$root" || return 1
    for package in "$1"/cache/archives/*.deb; do
        dpkg-deb -x "$package" "$root" || return 1
    done
    rm -rf "$1/cache"
    for program in "$root"/usr/bin/*; do
        [ "$program" = "$root/usr/bin/mysql" ] || rm -f "$program"
    done
    rm -rf "${root:?}/etc" "$root"/usr/share/{perl,perl5,doc,man,locale,i18n,proj,gdal,fonts,zoneinfo} \
        "$root"/usr/lib/*/{perl,perl-base,gconv} "$root"/usr/lib/{systemd,locale} "$root"/usr/lib/postgresql/*/lib/bitcode
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

# mongodb_root_programs ROOT: PostgreSQL's programs start each other, and find their files, by the path of their
# own: the scripts stand where they stood, and name themselves to the loader. DocumentDB needs PostGIS, which
# the package installs under the name of its version.
mongodb_root_programs()
{
    local folder extensions libraries loader program
    folder=$(cd "$1" && compgen -G 'usr/lib/postgresql/*/bin') || return 1
    extensions=usr/share/postgresql/$(basename "$(dirname "$folder")")/extension
    libraries=$(cd "$1" && dirname "$(compgen -G 'usr/lib/*/libc.so.6')") || return 1
    loader=$(cd "$1" && compgen -G "$libraries/ld-linux-*" | head -n 1)
    [ -n "$loader" ] && ln -s "$folder" "$1/pg" || return 1
    for program in postgres initdb pg_ctl psql; do
        mv "$1/$folder/$program" "$1/$folder/$program.bin" && cat >"$1/$folder/$program" <<END || return 1
#!/bin/sh
here=\$(cd "\$(dirname "\$0")" && pwd -P)
root=\${here%/$folder}
exec "\$root/$loader" --argv0 "\$here/$program" --library-path "\$root/$libraries:\${here%bin}lib" "\$here/$program.bin" "\$@"
END
        chmod 755 "$1/$folder/$program" || return 1
    done
    ln -s "$(cd "$1/$extensions" && compgen -G 'postgis-[0-9]*.control')" "$1/$extensions/postgis.control" &&
        ln -s "../../../../../$extensions/"{postgis,documentdb}.control "$1/$folder/"
}

# mysql_root_packages FOLDER: those that the mirror has.
mysql_root_packages()
{
    ! mysql_root_apt "$1" --simulate install mysql-server-core mysql-client-core 2>/dev/null ||
        echo mysql-server-core mysql-client-core
    ! mysql_root_apt "$1" --simulate install postgresql-18-documentdb 2>/dev/null || echo postgresql-18-documentdb
}

# mysql_root_fill FOLDER MIRROR: 3 when the mirror has no such package, or cannot be asked; or none that is not there.
mysql_root_fill()
{
    local packages
    mkdir -p "$1/lists/partial" "$1/cache/archives/partial" && : >"$1/status" || return 1
    echo "deb $2 sid main" >"$1/sources.list"
    mysql_root_apt "$1" update || return 3
    packages=$(mysql_root_packages "$1" 2>/dev/null)
    [ -n "$packages" ] || return 3
    [[ $packages = *documentdb* ]] || ! mysql_root_is_there || return 3
    # shellcheck disable=SC2086 # several
    mysql_root_apt "$1" -y --no-install-recommends --download-only install $packages &&
        mysql_root_unpack "$1" || return 1
    if [[ $packages = *mysql* ]]; then
        mysql_root_program "$1/root" mysqld usr/sbin/mysqld &&
            mysql_root_program "$1/root" mysql usr/bin/mysql || return 1
    fi
    [[ $packages != *documentdb* ]] || mongodb_root_programs "$1/root"
}

# Succeeds, too, where it cannot be had: the tests on it are skipped.
mysql_root_make()
{
    local mirror
    mirror=$(debian_mirror)
    if [ -z "$mirror" ]; then
        say "apt knows no mirror of Debian; MySQL and MongoDB are left out"
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
    ! mysql_root_is_there || ! mongodb_root_is_there || return 0
    say "unpacking mysql-server-core, postgresql-18-documentdb and what they need from $1 into $root"
    new=$(mktemp -d "$root.XXXXXX") || return 1
    mysql_root_fill "$new" "$1"
    result=$?
    if [ $result = 0 ]; then
        rm -rf "$root"
        chmod 755 "$new/root" && mv "$new/root" "$root" && { mysql_root_is_there || mongodb_root_is_there; }
        result=$?
    elif [ $result = 3 ]; then
        say "$1 has not all of mysql-server-core and postgresql-18-documentdb; what is missing is left out"
        result=0
    fi
    rm -rf "$new"
    return $result
}
