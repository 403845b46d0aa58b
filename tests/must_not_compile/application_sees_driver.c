/* must not compile: an application that calls a driver's own functions | expected: incomplete */
/* SPDX-License-Identifier: Apache-2.0 */
#include "pawl/pawl.h"

#ifdef PAWL_CONTROL
#include "pawl/store_driver.h"
#endif

void interrupt(pawl_store *store);
void interrupt(pawl_store *store)
{
    store->ops->interrupt(store);
}

int main(void)
{
    return 0;
}
