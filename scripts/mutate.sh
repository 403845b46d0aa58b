#!/usr/bin/env bash
# mutate.sh - plants the defects of tests/mutants, one at a time, in a copy of the
# tree, and says which of them the tests see.
#
#   scripts/mutate.sh [--area NAME] [--only REGEX] [--resume] [--jobs N] ...
#
# Servers that a chosen area names, and that PAWL_TEST_POSTGRES and the like do not, are
# started. All arguments: scripts/mutate.sh --help. The format of
# the list, and how a survivor is dealt with: docs/TESTING.md.
#
# SPDX-License-Identifier: Apache-2.0
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 2
# shellcheck source=scripts/install.sh
. scripts/install.sh
# shellcheck source=scripts/servers.sh
. scripts/servers.sh

if ! command -v python3 >/dev/null; then
    say "python3 is not installed; install it and start again"
    exit 2
fi
case " $* " in
*" -h "* | *" --help "*) exec python3 scripts/mutate.py --help ;;
esac
case " $* " in # one draw for both calls: the servers are those of the defects that are planted
*" --seed"*) ;;
*" --sample "* | *" --drawn "*) set -- "$@" --seed $((RANDOM * 32768 + RANDOM)) ;;
esac
missing=()
for name in $(python3 scripts/mutate.py --needs-servers "$@"); do
    variable=PAWL_TEST_${name^^}
    [ "$name" != pgbouncer ] || variable=PAWL_TEST_POSTGRES # it stands before its own
    [ -n "${!variable:-}" ] || missing+=("$name")
done
if [ ${#missing[@]} -gt 0 ]; then
    servers_start "${missing[@]}" || exit 1
fi
nice python3 scripts/mutate.py "$@"
