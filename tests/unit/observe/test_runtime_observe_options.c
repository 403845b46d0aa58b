/* test_runtime_observe_options.c - options of an observer that are refused. O23.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "support/observed.h"

#include "runtime/operate/observe/observe.h"

#define OTLP(url)                                                    \
    {                                                                \
        .options_size = sizeof(pawl_observe_options), .otlp = "" url \
    }

ON_MODULE(o23_options_out_of_bounds_are_refused, const char *url, "memory")
{
    static const struct {
        pawl_observe_options options;
        const char          *says;
    } wrong[] = {
        {{.options_size = sizeof(pawl_observe_options), .port = 65536}, "observe.port is 65536"},
        {{.options_size = sizeof(pawl_observe_options), .port = -2}, "observe.port is -2"},
        {{.options_size = sizeof(pawl_observe_options), .otlp = "ftp://x"},
         "neither http:// nor https://"},
        {OTLP("http://"), "observe.otlp names no host"},
        {OTLP("https:///v1"), "names no host"},
        {OTLP("http://:4318"), "names no host"},
        {OTLP("http://me@"), "names no host"},
        {OTLP("http://h:99999"), "has a port that is not a number from 1 to 65535"},
        {OTLP("http://h:65536/"), "has a port that is not a number"},
        {OTLP("http://h:0"), "has a port that is not a number"},
        {OTLP("http://h:"), "has a port that is not a number"},
        {OTLP("http://h:43x"), "has a port that is not a number"},
        {OTLP("http://h:18446744073709551696"), "has a port that is not a number"},
        {OTLP("http://[::1]4318"), "has a port that is not a number"},
        {OTLP("http://me:secret/@h"), "has a port that is not a number"},
        {OTLP("http://me:p@ss@h:4318"), "has more than one '@'"},
        {OTLP("http://h:4318?key=secret"), "has a query or a fragment"},
        {OTLP("http://h:4318/#x"), "has a query or a fragment"},
        {OTLP("http://h:4318 "), "has a blank in it"},
        {OTLP("http://h\t:4318"), "has a blank in it"},
        {{.options_size = sizeof(pawl_observe_options), .otlp_period = -1},
         "observe.otlp_period is -1"},
        {{.options_size = sizeof(pawl_observe_options), .span_count = 1 << 21},
         "span_count is 2097152"},
        {{.options_size = sizeof(pawl_observe_options), .health = {.dead_degraded = 200}},
         "below degraded"},
        {{.options_size = 0, .port = 1}, "PAWL_OBSERVE_OPTIONS_INIT"},
        {{.options_size = sizeof(pawl_observe_options) + 1}, "PAWL_OBSERVE_OPTIONS_INIT"},
    };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        pawl_error            error    = PAWL_ERROR_INIT;
        pawl_endpoint        *endpoint = NULL;
        pawl_endpoint_options options  = PAWL_ENDPOINT_OPTIONS_INIT;
        options.store                  = "nowhere:"; /* no store is opened before */
        options.observe                = &wrong[i].options;
        pawl_code code =
            pawl_endpoint_create(&observed_application, "left", &options, &endpoint, &error);
        assert_int_equal(code, PAWL_ECONFIG);
        if (strstr(error.text, wrong[i].says) == NULL)
            fail_msg("row %zu: %s", i, error.text);
        assert_null(strstr(error.text, "secret"));
        assert_null(endpoint);
    }
    assert_int_equal(observed_starts, 0);
    static const char *const well[] = {
        "http://h",     "https://h:65535", "http://[::1]:4318",
        "http://[::1]", "http://h:1/",     "https://me:p%40ss@h.example:4318/otlp/a@b"};
    for (size_t i = 0; i < COUNT(well); i++) {
        const pawl_observe_options options = {.options_size = sizeof options, .otlp = well[i]};
        must(pawl__observe_check(&options, world_error()));
    }
}
