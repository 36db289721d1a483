/*
 * A generator in C: prints a ConfigMap with what the configuration says under `text`.
 *
 *   cc -shared -fPIC -I../../abi/include -o Greeting.so Greeting.c
 *   mkdir -p ~/.config/kustomize/plugin/example.com/v1/greeting
 *   mv Greeting.so ~/.config/kustomize/plugin/example.com/v1/greeting/
 */
#include "rustomize_plugin.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A buffer with a copy of a text. */
static rustomize_buffer buffer_of(const char *text) {
    size_t len = strlen(text);
    rustomize_buffer buffer = {malloc(len + 1), len, len + 1};
    if (buffer.data) {
        memcpy(buffer.data, text, len);
    } else {
        buffer.len = 0;
    }
    return buffer;
}

/* The rest of the line that begins with `key`; keys of the configuration stand at the start of a line. */
static int find(const rustomize_request *request, const char *key, char *into, size_t room) {
    const char *text = (const char *)request->config.data, *end = text + request->config.len;
    for (const char *line = text; line && line < end;) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        size_t len = (size_t)((next ? next : end) - line), skip = strlen(key);
        if (len > skip && len - skip < room && memcmp(line, key, skip) == 0) {
            memcpy(into, line + skip, len - skip);
            into[len - skip] = 0;
            return 1;
        }
        line = next ? next + 1 : NULL;
    }
    return 0;
}

uint32_t rustomize_plugin_abi_version(void) { return RUSTOMIZE_PLUGIN_ABI; }

int32_t rustomize_plugin_describe(rustomize_response *response) {
    response->output = buffer_of("{\"name\": \"greeting\", \"version\": \"1.0.0\", \"modes\": [\"generate\"], \"language\": \"c\"}");
    return RUSTOMIZE_OK;
}

int32_t rustomize_plugin_run(const rustomize_request *request, rustomize_response *response) {
    char text[256], made[512];
    if (request->mode != RUSTOMIZE_GENERATE) {
        return RUSTOMIZE_UNSUPPORTED;
    }
    if (!find(request, "text: ", text, sizeof text)) {
        response->error = buffer_of("the configuration has no field 'text', or a very long one");
        return RUSTOMIZE_ERROR;
    }
    /* The text is a YAML scalar already. */
    snprintf(made, sizeof made, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: greeting\ndata:\n  text: %s\n", text);
    response->output = buffer_of(made);
    return RUSTOMIZE_OK;
}

void rustomize_plugin_free(rustomize_buffer *buffer) {
    free(buffer->data);
    memset(buffer, 0, sizeof *buffer);
}
