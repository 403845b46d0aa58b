#!/usr/bin/env bash
# check_mutants.sh - every planted defect of tests/mutants still fits the source, and
# scripts/mutate.py tells caught from survived: it is tried on a made-up project.
#
# SPDX-License-Identifier: Apache-2.0
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
if ! command -v python3 >/dev/null; then
    echo "python3 is not installed; the planted defects are not checked"
    [ "${PAWL_REQUIRE:-}" = all ] && exit 1
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
result=0

# expect WHAT TEXT FILE: the file has a line with the text.
expect()
{
    grep -qF -- "$2" "$3" && return
    echo "self-test: $1: no line '$2' in"
    sed 's/^/    /' "$3"
    result=1
}

# mutate WANTED-EXIT-CODE OUTPUT ARGUMENTS ...
mutate()
{
    local wanted=$1 output=$2 code
    shift 2
    python3 "$top/scripts/mutate.py" --root "$work/tree" "$@" >"$work/$output" 2>&1
    code=$?
    [ "$code" = "$wanted" ] && return
    echo "self-test: mutate.py $* ended with $code, should be $wanted:"
    sed 's/^/    /' "$work/$output"
    result=1
}

# The project: add.c in a library, a test that knows what it should do, one that is
# skipped, one that fails whatever is planted.
mkdir -p "$work/tree/src/made" "$work/tree/tests/mutants"
cd "$work/tree" || exit 1
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(made LANGUAGES C)
enable_testing()
add_library(made SHARED src/made/add.c)
add_executable(test_add tests/test_add.c)
target_link_libraries(test_add made)
add_test(NAME test_add COMMAND test_add)
add_test(NAME test_left_out COMMAND sh -c "exit 77")
set_tests_properties(test_left_out PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME test_broken COMMAND false)
END
cat >CMakePresets.json <<'END'
{"version": 6, "configurePresets": [{"name": "default", "generator": "Ninja", "binaryDir": "${sourceDir}/build"}]}
END
cat >src/made/add.c <<'END'
int add(int a, int b)
{
    return a + b;
}
int nobody_looks(void)
{
    return 1;
}
END
cat >tests/test_add.c <<'END'
int add(int a, int b);
int main(void)
{
    return add(1, 2) == 3 ? 0 : 1;
}
END
cat >tests/mutants/made.txt <<'END'
# made.txt - for the self-test
folder: src
tests: test_add

=== one off
in add: a + b => a + b + 1

=== it hangs
in add: return => for (volatile int i = 0; i == 0;) {
    }
    return

=== it dies
in add: + b => + *(volatile int *)(long)(b - 2)

=== nobody sees it
in nobody_looks: 1 => 2

=== its tests are skipped
tests: test_left_out
in nobody_looks: 1 => 3

=== only a broken test fails
tests: test_broken
in nobody_looks: 1 => 4

=== no compiler takes it
in nobody_looks: 1 => one

=== the same in other words
equivalent: a sum has no order
in add: return a => return b
in add.c:add: + b => + a
END

mutate 1 all --limit 3
expect "a failure" "caught: made: one off (test_add: exit code 1)" "$work/all"
expect "a hang" "caught: made: it hangs (test_add: hung, ended after 3 s)" "$work/all"
expect "a signal" "caught: made: it dies (test_add: died of signal" "$work/all"
expect "a survivor" "survived: made: nobody sees it (src/made/add.c)" "$work/all"
expect "its command" "scripts/mutate.sh --area made --only 'nobody sees it'" "$work/all"
expect "skipped tests" "survived: made: its tests are skipped (src/made/add.c)" "$work/all"
expect "a broken test" "test_broken fails without a defect; it counts for nothing" "$work/all"
expect "a broken test's defect" "survived: made: only a broken test fails" "$work/all"
expect "what does not build" "does not build: made: no compiler takes it" "$work/all"
expect "the score" "all               6        3         3     50.0           1" "$work/all"
mutate 0 equivalent --equivalent --at-least 0
expect "an equivalent one" "survived: made: the same in other words" "$work/equivalent"
mutate 0 enough --resume --only 'one off|hangs|dies|nobody' --at-least 75
mutate 1 too_few --resume --only 'one off|hangs|dies|nobody' --at-least 76
expect "the score" "75.0 of 100 were caught, at least 76 are wanted" "$work/too_few"
mutate 1 short --longest 0 --only 'nobody|one off'
expect "what long tests may see" "open: made: nobody sees it (src/made/add.c): no test but the long" "$work/short"
mutate 1 short_again --longest 0 --resume --only 'nobody|one off'
if grep -q "^\[1/" "$work/short_again"; then
    echo "self-test: what was left to long tests was planted again without them"
    result=1
fi
mutate 0 with_long --resume --only 'nobody|one off' --at-least 0
expect "what long tests do not see" "survived: made: nobody sees it (src/made/add.c)" "$work/with_long"
mutate 0 survivors --survivors --list
expect "the survivors" "made: nobody sees it" "$work/survivors"
mutate 2 usage --area no_such
mutate 0 sample --list --sample 3 --seed 7
mutate 0 sample_again --list --sample 3 --seed 7
expect "the seed" "3 of 7 are drawn; the same ones: --sample 3 --seed 7" "$work/sample"
if [ "$(grep -c '^made: ' "$work/sample")" != 3 ] || ! cmp -s "$work/sample" "$work/sample_again"; then
    echo "self-test: a sample of three is not three, or another one for the same seed"
    result=1
fi
mutate 2 no_sample --list --sample 0
mutate 0 patch --patch --only "one off"
expect "a patch" "+    return a + b + 1;" "$work/patch"
mutate 0 check --check
# In another file, folder and layout: each entry is found. What no longer fits is named.
mkdir src/made/inner
sed 's/return a + b;/return a \/* and *\/\n    + b;/' src/made/add.c >src/made/inner/sum.c
rm src/made/add.c
mutate 1 moved --check
expect "a file that is gone" "'the same in other words': there is no add.c:add in src" "$work/moved"
expect "what moved" "8 planted defects, 1 do not fit the source" "$work/moved"
sed -i 's/in add.c:add/in inner\/sum.c:add/' tests/mutants/made.txt
printf '\n=== %s\nin %s =>\n' 'no sum' 'add: a + b' 'not there' 'add: a - b' 'part of a word' 'add: turn' 'in two places' 'sum.c: int a' \
    'no sum, in the file' 'sum.c: a + b' 'no function' 'sub: a' >>tests/mutants/made.txt
printf 'int a;\nint add(int);\n' >src/made/sum.c
mutate 1 misfit --check
expect "no match" "'not there': 'a - b' stands 0 times in add (src/made/inner/sum.c), expected once" "$work/misfit"
expect "part of a word" "'part of a word': 'turn' stands 0 times in add" "$work/misfit"
expect "ambiguity" "'in two places': 'int a' stands 2 times in sum.c (src/made/inner/sum.c and src/made/sum.c)" "$work/misfit"
expect "no function" "'no function': there is no sub in src" "$work/misfit"
expect "the others" "14 planted defects, 4 do not fit the source" "$work/misfit"
mutate 0 deletion --patch --only 'no sum'
expect "a deletion" "-    return a /* and */" "$work/deletion"
expect "a deletion" "+    return ;" "$work/deletion"
mutate 0 several --patch --equivalent
expect "several changes" "+    return b /* and */" "$work/several"
expect "several changes" "+    + a;" "$work/several"
for line in 'in add: a + b' 'in : a => b' 'in add: a => a' 'in add: a => b => c' 'file: add.c'; do
    printf '# broken.txt\nfolder: src\ntests: test_add\n=== wrong\n%s\n' "$line" >tests/mutants/broken.txt
    mutate 1 broken --check
    expect "a wrong line" "broken.txt:" "$work/broken"
done

python3 "$top/scripts/mutate.py" --check || result=1
exit $result
