/*
 * A plugin for tests: it does what `act` says, between RUSTOMIZE_OK and mischief. tests/shared_object.rs compiles it, with ACT set
 * to a statement that `run` begins with. What the statement leaves in `out` is printed, by default what was read.
 */
#define _GNU_SOURCE
#include "rustomize_plugin.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MODES
#define MODES "\"generate\",\"transform\",\"validate\""
#endif
#ifndef ACT
#define ACT
#endif
#ifndef LOAD
#define LOAD
#endif

static int calls = 0;

static rustomize_buffer copy(const void *data, size_t len) {
    rustomize_buffer b = {malloc(len + 1), len, len + 1};
    memcpy(b.data, data, len);
    return b;
}

/* The text behind `key` in the configuration, up to the end of the line. */
__attribute__((unused)) static const char *setting(const rustomize_request *q, const char *key) {
    static char text[4096];
    char *config = strndup((const char *)q->config.data, q->config.len);
    char *found = strstr(config, key);
    text[0] = 0;
    if (found) snprintf(text, sizeof text, "%.*s", (int)strcspn(found + strlen(key), "\n"), found + strlen(key));
    free(config);
    return text;
}

/* A ConfigMap with one value. */
__attribute__((unused)) static char *made(const char *value) {
    char *text;
    if (asprintf(&text, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: made\ndata:\n  v: \"%s\"\n", value) < 0) abort();
    return text;
}

__attribute__((constructor)) static void load(void) { LOAD; }

uint32_t rustomize_plugin_abi_version(void) { return RUSTOMIZE_PLUGIN_ABI; }

int32_t rustomize_plugin_describe(rustomize_response *r) {
    const char *text = "{\"name\": \"any\", \"modes\": [" MODES "]}";
    r->output = copy(text, strlen(text));
    return RUSTOMIZE_OK;
}

int32_t rustomize_plugin_run(const rustomize_request *q, rustomize_response *r) {
    const char *out = NULL;
    calls++;
    ACT;
    r->output = out ? copy(out, strlen(out)) : copy(q->resources.data, q->resources.len);
    return RUSTOMIZE_OK;
}

void rustomize_plugin_free(rustomize_buffer *b) {
    free(b->data);
    memset(b, 0, sizeof *b);
}
