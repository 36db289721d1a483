/*
 * The interface between rustomize and plugins that are shared objects, version 1. This file is its specification.
 *
 * A plugin exports the four functions below with C linkage. rustomize opens it in a process of its own, with RTLD_NOW and
 * RTLD_LOCAL, and never closes it. It calls rustomize_plugin_abi_version first, and nothing else if that is not
 * RUSTOMIZE_PLUGIN_ABI; then rustomize_plugin_describe once; then rustomize_plugin_run as often as the build asks for it.
 *
 * Rules for a plugin
 *   - A call leaves nothing behind that the next one would see: each is for another configuration.
 *   - Calls come one after the other, but not always from the same thread.
 *   - Nothing is thrown across this border: no C++ exception, no Rust panic, no longjmp.
 *   - All texts are UTF-8, with a length and without a final NUL.
 *   - stdout is not the plugin's. What it has to say goes to stderr, what it makes into the response.
 *   - The working directory is the root of the kustomization that lists the plugin.
 *   - The process is ended without notice after the last call: nothing that matters waits for its end.
 *
 * Who owns what
 *   - What a request points to is rustomize's, and is gone when the call returns.
 *   - What a response points to is the plugin's, and stays until rustomize hands it to rustomize_plugin_free.
 *
 * Growth: structs begin with their size in bytes, and new fields are added at the end. A plugin reads no field beyond `size`
 * of a request and writes none beyond `size` of a response.
 */
#ifndef RUSTOMIZE_PLUGIN_H
#define RUSTOMIZE_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RUSTOMIZE_PLUGIN_ABI 1u

/* The purpose of a call. */
#define RUSTOMIZE_GENERATE 1u  /* print resources to add; there are none to read */
#define RUSTOMIZE_TRANSFORM 2u /* print what is to be there instead of what is read */
#define RUSTOMIZE_VALIDATE 3u  /* as transform, and nothing may change */

/* How it went. */
#define RUSTOMIZE_OK 0
#define RUSTOMIZE_ERROR 1       /* `error` says why */
#define RUSTOMIZE_PANIC 2       /* the plugin has a fault; `error` says which */
#define RUSTOMIZE_UNSUPPORTED 3 /* the plugin cannot do what `mode` asks for */

/* A text that is lent. `data` may be NULL if `len` is 0. */
typedef struct rustomize_text {
    const uint8_t *data;
    size_t len;
} rustomize_text;

/* A text that the plugin has made. `capacity` is for the plugin alone. All zero for no text. */
typedef struct rustomize_buffer {
    uint8_t *data;
    size_t len;
    size_t capacity;
} rustomize_buffer;

typedef struct rustomize_request {
    uint32_t size;
    uint32_t mode;
    rustomize_text config;    /* the configuration object, YAML */
    rustomize_text root;      /* the absolute path of the kustomization's directory */
    rustomize_text resources; /* YAML documents; empty for a generator */
    rustomize_text options;   /* a JSON object; unknown keys do not count */
} rustomize_request;

typedef struct rustomize_response {
    uint32_t size;
    uint32_t flags;          /* 0 */
    rustomize_buffer output; /* YAML documents */
    rustomize_buffer error;  /* one sentence, then whatever helps */
} rustomize_response;

#ifndef RUSTOMIZE_PLUGIN_NO_PROTOTYPES
/* RUSTOMIZE_PLUGIN_ABI. */
uint32_t rustomize_plugin_abi_version(void);

/* A JSON object: {"name": ..., "version": ..., "modes": ["generate", "transform", "validate"], ...}. */
int32_t rustomize_plugin_describe(rustomize_response *response);

/* Does what the request asks for. */
int32_t rustomize_plugin_run(const rustomize_request *request, rustomize_response *response);

/* Takes a buffer back, and sets it to zero. One that is all zero is taken, too. */
void rustomize_plugin_free(rustomize_buffer *buffer);
#endif

#ifdef __cplusplus
}
#endif

#endif
