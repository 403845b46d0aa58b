/* url.c - parses the options of a URL, and checks those that depend on each other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "transport/rabbitmq/url.h"

#include <string.h>
#include <unistd.h>

#define NOT_GIVEN (-1)

/* Path of the machine's trusted authorities on Debian and derivatives. */
static const char system_authorities[] = "/etc/ssl/certs/ca-certificates.crt";

static const char *const no_yes[]         = {"no", "yes", NULL};
static const char *const exchange_types[] = {"direct", "fanout", "headers", "topic", NULL};
static const char *const queue_types[]    = {"quorum", "classic", NULL};
static const char *const header_words[]   = {"none", "nservicebus", "serviceconnect", NULL};
static const char *const delays[]         = {"refuse", "header", NULL};
static const char *const without_ids[]    = {"handle", "dead", NULL};
static const char *const tls_modes[]      = {"verify-identity", "verify-ca", "required", NULL};

enum { DIRECT, FANOUT, HEADERS, TOPIC }; /* as in exchange_types */

#define AT(member) offsetof(pawl__rabbitmq_url, member)

static const pawl__url_option options[] = {
    {"connect-timeout", PAWL__URL_NUMBER, AT(connect_timeout_s), "1 to 3600 seconds", .min = 1,
     .max = 3600},
    {"declare", PAWL__URL_WORD, AT(declares), "yes or no", .words = no_yes},
    {"delay", PAWL__URL_WORD, AT(delay), "refuse or header", .words = delays},
    {"exchange", PAWL__URL_FILLED, AT(exchange), .allowed = "anything but empty"},
    {"exchange-type", PAWL__URL_WORD, AT(exchange_kind), "direct, fanout, headers or topic",
     .words = exchange_types},
    {"headers", PAWL__URL_WORD, AT(headers), "none, nservicebus or serviceconnect",
     .words = header_words},
    {"heartbeat", PAWL__URL_NUMBER, AT(heartbeat_s), "0 (none) to 3600 seconds", .min = 0,
     .max = 3600},
    {"mandatory", PAWL__URL_WORD, AT(is_mandatory), "yes or no", .words = no_yes},
    {"per-type", PAWL__URL_WORD, AT(is_per_type), "yes or no", .words = no_yes},
    {"prefetch", PAWL__URL_NUMBER, AT(prefetch), "1 to 65535 messages", .min = 1, .max = 65535},
    {"queue-type", PAWL__URL_WORD, AT(queue_kind), "quorum or classic", .words = queue_types},
    {"routing-key", PAWL__URL_TEXT, AT(routing_key), .allowed = "any text"},
    {"single-active-consumer", PAWL__URL_WORD, AT(is_single), "yes or no", .words = no_yes},
    {"ssl-ca", PAWL__URL_FILLED, AT(authority), .allowed = "the path of a file"},
    {"ssl-cert", PAWL__URL_FILLED, AT(certificate), .allowed = "the path of a file"},
    {"ssl-key", PAWL__URL_FILLED, AT(key), .allowed = "the path of a file"},
    {"ssl-mode", PAWL__URL_WORD, AT(tls),
     "verify-identity, which checks the authority and the host's name, verify-ca or required",
     .words = tls_modes},
    {"timeout", PAWL__URL_NUMBER, AT(timeout_s), "1 to 3600 seconds", .min = 1, .max = 3600},
    {"without-id", PAWL__URL_WORD, AT(without_id), "handle or dead", .words = without_ids},
};

static pawl__url_kind kind_of(bool is_tls)
{
    return (pawl__url_kind){.driver             = "rabbitmq",
                            .options            = options,
                            .option_count       = sizeof options / sizeof options[0],
                            .schemes            = "amqp:// or amqps://",
                            .port               = is_tls ? 5671 : 5672,
                            .database_chars_max = PAWL__RABBITMQ_NAME_SIZE_MAX / 4,
                            .database_word      = "virtual host",
                            .database_default   = "/"};
}

/* Names an option that does not fit the purpose of the URL; NULL: none. */
static const char *misplaced(const pawl__rabbitmq_url *url, pawl__rabbitmq_use use)
{
    if (use == PAWL__RABBITMQ_ROUTE) {
        if (url->prefetch != 0 || url->without_id != NOT_GIVEN)
            return "prefetch and without-id are of URLs that an endpoint reads from, and this one is a "
                   "route's";
        return NULL;
    }
    if (url->is_mandatory != NOT_GIVEN || url->headers != NOT_GIVEN || url->delay != NOT_GIVEN)
        return "delay, mandatory and headers are of routes, and this URL is to be read from: "
               "headers of pawl, NServiceBus and ServiceConnect are understood as they come";
    if (url->heartbeat_s == 0)
        return "heartbeat is 0: without heartbeats a connection that is read from would not be known "
               "to be dead";
    return NULL;
}

/* Names options that exclude each other; NULL: none. */
static const char *clash(const pawl__rabbitmq_url *url, pawl__rabbitmq_use use)
{
    bool has_exchange = url->exchange != NULL || url->is_per_type;
    if (url->exchange != NULL && url->is_per_type)
        return "exchange and per-type are both given: per-type makes an exchange of each type";
    if (url->exchange_kind != NOT_GIVEN && !has_exchange)
        return "exchange-type is given, and neither exchange nor per-type";
    if (url->routing_key != NULL && !has_exchange)
        return "routing-key is given, and neither exchange nor per-type: without them the key is "
               "the name of the queue";
    if (url->queue_kind != NOT_GIVEN && has_exchange && use == PAWL__RABBITMQ_ROUTE)
        return "queue-type is given beside exchange or per-type: behind an exchange pawl declares "
               "no queue";
    if (url->is_single != NOT_GIVEN && has_exchange && use == PAWL__RABBITMQ_ROUTE)
        return "single-active-consumer is given beside exchange or per-type: behind an exchange pawl "
               "declares no queue";
    if (!url->is_tls && (url->authority != NULL || url->certificate != NULL || url->key != NULL ||
                         url->tls != NOT_GIVEN))
        return "options of TLS are given: the URL begins with amqps:// then";
    if ((url->certificate == NULL) != (url->key == NULL))
        return "one of ssl-cert and ssl-key is given: a certificate needs its key";
    return NULL;
}

static const char *too_long(const pawl__rabbitmq_url *url)
{
    if (url->exchange != NULL && strlen(url->exchange) > PAWL__RABBITMQ_NAME_SIZE_MAX)
        return "the exchange's name has more than 255 bytes, the limit of AMQP";
    if (url->routing_key != NULL && strlen(url->routing_key) > PAWL__RABBITMQ_NAME_SIZE_MAX)
        return "the routing key has more than 255 bytes, the limit of AMQP";
    return NULL;
}

/* An unroutable message is a failure if it was sent to a destination, but not if it is an event without subscribers. */
static void set_defaults(pawl__rabbitmq_url *url, pawl__rabbitmq_use use)
{
    bool has_queue = use == PAWL__RABBITMQ_INTAKE || (url->exchange == NULL && !url->is_per_type);
    if (url->headers == NOT_GIVEN)
        url->headers = PAWL__RABBITMQ_HEADERS_NONE;
    if (url->delay == NOT_GIVEN)
        url->delay = PAWL__RABBITMQ_DELAY_REFUSE;
    if (url->without_id == NOT_GIVEN)
        url->without_id = PAWL__RABBITMQ_WITHOUT_ID_HANDLE;
    if (url->is_mandatory == NOT_GIVEN)
        url->is_mandatory = !url->is_per_type;
    if (url->exchange_kind == NOT_GIVEN)
        url->exchange_kind = url->is_per_type ? FANOUT : TOPIC;
    url->exchange_type = exchange_types[url->exchange_kind];
    url->queue_type    = has_queue ? queue_types[url->queue_kind == 1] : NULL;
    url->exchange      = url->exchange != NULL ? url->exchange : "";
    if (url->tls == NOT_GIVEN)
        url->tls = PAWL__RABBITMQ_TLS_VERIFY_IDENTITY;
    if (url->is_tls && url->authority == NULL && access(system_authorities, R_OK) == 0)
        url->authority = system_authorities;
    if (url->parts.user == NULL && url->parts.password == NULL)
        url->parts.user = url->parts.password = "guest"; /* the default user, for local logins */
}

/* librabbitmq encrypts only with amqps://; pawl then lets it check the server. */
static pawl_code require_tls(const pawl__rabbitmq_url *url, pawl_error *error)
{
    pawl__url_tls promised = !url->is_tls                              ? PAWL__URL_TLS_NONE
                             : url->tls == PAWL__RABBITMQ_TLS_REQUIRED ? PAWL__URL_TLS_ENCRYPTED
                                                                       : PAWL__URL_TLS_VERIFIED;
    return pawl__url_require_tls("rabbitmq", promised,
                                 "amqps:// asks for encryption, and that the server is checked",
                                 error);
}

pawl_code pawl__rabbitmq_url_read(pawl__rabbitmq_url *url, pawl__rabbitmq_use use, const char *text,
                                  pawl_error *error)
{
    *url                = (pawl__rabbitmq_url){.is_tls            = strncmp(text, "amqps:", 6) == 0,
                                               .exchange_kind     = NOT_GIVEN,
                                               .queue_kind        = NOT_GIVEN,
                                               .is_single         = NOT_GIVEN,
                                               .is_mandatory      = NOT_GIVEN,
                                               .tls               = NOT_GIVEN,
                                               .headers           = NOT_GIVEN,
                                               .delay             = NOT_GIVEN,
                                               .without_id        = NOT_GIVEN,
                                               .declares          = true,
                                               .connect_timeout_s = 10,
                                               .timeout_s         = 10,
                                               .heartbeat_s       = 60};
    pawl__url_kind kind = kind_of(url->is_tls);
    pawl_code      code = pawl__url_read(&kind, text, &url->parts, url, error);
    const char    *why  = code == PAWL_OK ? misplaced(url, use) : NULL;
    if (code == PAWL_OK && why == NULL)
        why = clash(url, use);
    if (code == PAWL_OK && why == NULL)
        why = too_long(url);
    if (code == PAWL_OK && why != NULL)
        code = pawl_error_set(error, PAWL_ECONFIG, "rabbitmq: %s", why);
    if (code == PAWL_OK && url->parts.hosts[0].name[0] == '\0')
        code = pawl__url_refuse(&kind, &url->parts, "no host is named: amqp://host/", error);
    if (code == PAWL_OK) {
        set_defaults(url, use);
        code = require_tls(url, error);
    }
    return code;
}

void pawl__rabbitmq_url_free(pawl__rabbitmq_url *url)
{
    pawl__url_free(&url->parts);
    *url = (pawl__rabbitmq_url){0};
}
