/* driver.h - everything that a driver of a store or of a transport needs.
 *
 * The table of a store with its change sets (store_driver.h), the outbound transports that outbox rows go to
 * (transport.h), and inbound transports (inbound.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_DRIVER_H
#define PAWL_DRIVER_H

#include "pawl/inbound.h"
#include "pawl/store_driver.h"
#include "pawl/transport.h"

#endif
