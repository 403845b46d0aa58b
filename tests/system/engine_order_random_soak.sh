#!/usr/bin/env bash
# engine_order_random_soak.sh - tests/unit/engine/test_engine_order_random.c with many seeds, which begin
# somewhere else each time.
#
# SPDX-License-Identifier: Apache-2.0
set -u
program=${PAWL_BUILD_DIR:?}/tests/unit/test_engine_order_random
first=${PAWL_TEST_SEED:-$(date +%s)}
echo "seeds from $first on"
exec "$program" "$first" "${PAWL_TEST_SEEDS:-100}"
