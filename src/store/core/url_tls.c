/* url_tls.c - refuses connections that are less protected than PAWL_REQUIRE_TLS asks for; warns of unprotected ones if
 * neither it nor the URL asks for anything.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/core/url_read.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TOLD_MAX 32 /* URLs that a warning was logged for; no warnings after so many */

static const char *const texts[] = {"not encrypted", "encrypted, its server is not verified",
                                    "encrypted, its server is verified"};

pawl_code pawl__url_required_tls(const char *driver, pawl__url_tls *required, pawl_error *error)
{
    const char *asked = getenv("PAWL_REQUIRE_TLS");
    *required         = PAWL__URL_TLS_NONE;
    if (asked == NULL || asked[0] == '\0' || strcmp(asked, "no") == 0)
        return PAWL_OK;
    *required = strcmp(asked, "verify") == 0 ? PAWL__URL_TLS_VERIFIED : PAWL__URL_TLS_ENCRYPTED;
    if (*required == PAWL__URL_TLS_VERIFIED || strcmp(asked, "yes") == 0)
        return PAWL_OK;
    return pawl_error_set(error, PAWL_ECONFIG,
                          "%s: PAWL_REQUIRE_TLS is '%.40s' in the environment, may be no, yes or "
                          "verify",
                          driver, asked);
}

pawl_code pawl__url_require_tls(const char *driver, pawl__url_tls promised, const char *remedy,
                                pawl_error *error)
{
    pawl__url_tls required;
    pawl_code     code = pawl__url_required_tls(driver, &required, error);
    if (code != PAWL_OK || promised >= required)
        return code;
    return pawl_error_set(error, PAWL_ECONFIG,
                          "%s: PAWL_REQUIRE_TLS is %s, and by this URL a connection may be %s: %s",
                          driver, required == PAWL__URL_TLS_VERIFIED ? "verify" : "yes",
                          texts[promised], remedy);
}

/* ---- The warning --------------------------------------------------------------- */

static bool is_this_machine(const char *host)
{
    return host == NULL || host[0] == '\0' || host[0] == '/' || strcmp(host, "localhost") == 0 ||
           strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0;
}

static uint64_t hash_of(const char *text)
{
    uint64_t hash = 14695981039346656037u;
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    return hash;
}

static bool is_new(uint64_t hash)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t        told[TOLD_MAX];
    static size_t          count;
    bool                   found = false;
    (void)pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < count; i++)
        found |= told[i] == hash;
    bool is_added = !found && count < TOLD_MAX;
    if (is_added)
        told[count++] = hash;
    (void)pthread_mutex_unlock(&mutex);
    return is_added;
}

void pawl__url_warn_tls(const char *driver, const char *given, const char *host, pawl__url_tls is,
                        const char *remedy)
{
    if (is == PAWL__URL_TLS_VERIFIED || is_this_machine(host) || !is_new(hash_of(given)))
        return;
    pawl_log(PAWL_LOG_WARNING, "%s: %s: the connection is %s: %s", driver, given, texts[is],
             remedy);
}
