/* driver.h - includes everything that a driver of a store or of a transport needs.
 *
 * Stores and their change sets: store_driver.h. Outbound transports: transport.h. Inbound transports:
 * inbound.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PAWL_DRIVER_H
#define PAWL_DRIVER_H

#include "pawl/inbound.h"
#include "pawl/store_driver.h"
#include "pawl/transport.h"

#endif
