/* notify.c - see run.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/run/run.h"

#include "pawl/base.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int manager = -1;

/* "@NAME" is in the abstract namespace, whose names begin with a NUL. */
static int connect_to(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t             size    = strlen(name);
    if (size >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, name, size);
    if (name[0] == '@')
        address.sun_path[0] = '\0';
    int       made   = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size);
    if (made >= 0 && connect(made, (struct sockaddr *)&address, length) != 0) {
        int reason = errno;
        close(made);
        errno = reason;
        return -1;
    }
    return made;
}

void pawl__notify_open(void)
{
    const char *name = getenv("NOTIFY_SOCKET");
    if (name == NULL || name[0] == '\0' || manager >= 0)
        return;
    manager = connect_to(name);
    if (manager < 0)
        pawl_log(PAWL_LOG_WARNING, "NOTIFY_SOCKET: cannot connect to %s: %s", name,
                 strerror(errno));
}

void pawl__notify_through(int socket)
{
    if (manager >= 0)
        close(manager);
    manager = socket;
}

void pawl__notify(const char *state)
{
    int reason = errno;
    if (manager >= 0) {
        ssize_t sent = send(manager, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT);
        (void)sent;
    }
    errno = reason;
}
