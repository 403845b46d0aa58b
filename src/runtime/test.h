/* test.h - what the files of the test kit share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_RUNTIME_TEST_H
#define PAWL_RUNTIME_TEST_H

#include "pawl/test.h"
#include "runtime/runtime.h"

struct pawl_test {
    char                  url[64];
    pawl_clock           *business, *machine;
    pawl_endpoint_options settings;
    pawl_endpoint        *endpoints[PAWL_TEST_ENDPOINTS_MAX];
    size_t                endpoint_count;
    pawl_sender          *sender;
    char                  id[24]; /* of the message delivered last */
    unsigned              message_count;
    pawl_store           *store; /* to look with, and for subscriptions */
    pawl_arena           *arena; /* what looks return */
};

#endif
