/* must not compile: a saga's id given for a timeout's | expected: invalid initializer|incompatible type 'pawl_saga_id' */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pawl/record.h"

int main(void)
{
    pawl_saga_id saga = {{{0}}};
#ifdef PAWL_CONTROL
    pawl_saga_id id = saga;
#else
    pawl_timeout_id id = saga;
#endif
    return id.uuid.bytes[0] + saga.uuid.bytes[0];
}
