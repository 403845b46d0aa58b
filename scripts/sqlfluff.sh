# sqlfluff.sh - sqlfluff, which knows the grammars of SQL Server and Oracle. Sourced.
#
#   sqlfluff_find     prints the program; 1: it cannot be had
#   sqlfluff_parsed NOTE FILE ...   0: NOTE has the sums of these files; 1 with PAWL_TEST_WHOLE, too
#   sqlfluff_note NOTE FILE ...     writes them there, if PAWL_TEST_WRITE_GOLDEN is set
#
# The first that there is: the system's own, when it is 3 or later (older ones do not know enough of
# Oracle); what an earlier call has fetched; a virtual environment filled by pip; the package of
# Debian's newest suite, unpacked with the Python that it needs and not installed: a third of a minute,
# 20 MB to download, 80 MB of disk. PAWL_SQLFLUFF_ROOT names another folder than /var/tmp's.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck source=scripts/mysql_root.sh
. "$(dirname "${BASH_SOURCE[0]}")/mysql_root.sh"

sqlfluff_root()
{
    echo "${PAWL_SQLFLUFF_ROOT:-/var/tmp/pawl-sqlfluff-$(id -u)}"
}

# sqlfluff_runs PROGRAM: and is new enough.
sqlfluff_runs()
{
    local version
    version=$("$1" version 2>/dev/null </dev/null) && [ "${version%%.*}" -ge 3 ] 2>/dev/null
}

sqlfluff_by_pip() # FOLDER
{
    python3 -m venv "$1/venv" &&
        "$1/venv/bin/pip" install -q --disable-pip-version-check --retries 0 --timeout 20 sqlfluff &&
        printf '#!/bin/sh\nexec "$(dirname "$0")/venv/bin/python" -m sqlfluff "$@"\n' >"$1/sqlfluff" &&
        chmod 755 "$1/sqlfluff"
}

sqlfluff_by_apt() # FOLDER
{
    local mirror package python
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -v security | head -n 1)
    [ -n "$mirror" ] && mkdir -p "$1/apt/lists/partial" "$1/apt/cache/archives/partial" "$1/root" || return 1
    : >"$1/apt/status"
    echo "deb $mirror sid main" >"$1/apt/sources.list"
    mysql_root_apt "$1/apt" update || return 1
    mysql_root_apt "$1/apt" -y --no-install-recommends --download-only install sqlfluff || return 1
    for package in "$1"/apt/cache/archives/*.deb; do
        dpkg-deb -x "$package" "$1/root" || return 1
    done
    rm -rf "$1/apt"
    python=$(cd "$1/root" && compgen -G 'usr/bin/python3.*' | head -n 1)
    mysql_root_program "$1/root" python "$python" || return 1
    cat >"$1/sqlfluff" <<'END' && chmod 755 "$1/sqlfluff"
#!/bin/sh
root=$(cd "$(dirname "$0")" && pwd)/root
export PYTHONHOME="$root/usr" PYTHONPATH="$root/usr/lib/python3/dist-packages" PYTHONDONTWRITEBYTECODE=1
exec "$root/python" -m sqlfluff "$@"
END
}

# The folder gets its name when the program in it runs; of two that make it the second finds it made.
sqlfluff_make()
{
    local root new way
    root=$(sqlfluff_root)
    mkdir -p "$(dirname "$root")" && exec 7>>"$root.lock" && flock 7 || return 1
    ! sqlfluff_runs "$root/sqlfluff" || return 0
    for way in sqlfluff_by_pip sqlfluff_by_apt; do
        new=$(mktemp -d "$root.XXXXXX") || return 1
        if $way "$new" >/dev/null 2>&1 && sqlfluff_runs "$new/sqlfluff"; then
            rm -rf "$root"
            chmod 755 "$new" && mv "$new" "$root"
            return
        fi
        rm -rf "$new"
    done
    return 1
}

sqlfluff_find()
{
    local own
    own=$(command -v sqlfluff)
    if [ -n "$own" ] && sqlfluff_runs "$own"; then
        echo "$own"
        return
    fi
    sqlfluff_make && echo "$(sqlfluff_root)/sqlfluff"
}

# To parse takes half a minute, and a text that has parsed parses again.
sqlfluff_parsed()
{
    [ -z "${PAWL_TEST_WHOLE:-}" ] && [ -f "$1" ] && sha256sum "${@:2}" | cmp -s - "$1"
}

sqlfluff_note()
{
    if [ -n "${PAWL_TEST_WRITE_GOLDEN:-}" ]; then
        sha256sum "${@:2}" >"$1"
    else
        echo "parsed; with PAWL_TEST_WRITE_GOLDEN=1 ${1##*/} says so to the next run"
    fi
}
