/*
 * The part of a plugin in C that is the same in all: the four functions of rustomize_plugin.h, and YAML documents as trees of
 * libyaml. plugin.c defines ROLE, includes this file, and defines `run`.
 *
 * Nodes are known by their number in a document; 0 stands for no node. A document's own number 1 is its root.
 */
#include "rustomize_plugin.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* The resources. */
typedef struct documents {
    yaml_document_t *items;
    size_t count;
} documents;

/*
 * Does what the plugin is for, and returns NULL, or else says what is wrong. A generator appends to the resources, which are
 * none, a transformer changes them, and what a validator changes is of no effect.
 */
static const char *run(yaml_document_t *config, documents *resources);

/* The room for what is wrong: calls come one after the other. */
static char fault[512];

/* The value under a key of a mapping. */
static inline int get(yaml_document_t *document, int mapping, const char *key) {
    yaml_node_t *node = yaml_document_get_node(document, mapping);
    if (!node || node->type != YAML_MAPPING_NODE) {
        return 0;
    }
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
        yaml_node_t *known = yaml_document_get_node(document, pair->key);
        if (known->type == YAML_SCALAR_NODE && strcmp((const char *)known->data.scalar.value, key) == 0) {
            return pair->value;
        }
    }
    return 0;
}

/* The text of a scalar, or NULL. */
static inline const char *text_of(yaml_document_t *document, int scalar) {
    yaml_node_t *node = yaml_document_get_node(document, scalar);
    return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

/* Puts a value under a key of a mapping, and returns it. */
static inline int put(yaml_document_t *document, int mapping, const char *key, int value) {
    yaml_node_t *node = yaml_document_get_node(document, mapping);
    if (!node || node->type != YAML_MAPPING_NODE || !value) {
        return 0;
    }
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
        yaml_node_t *known = yaml_document_get_node(document, pair->key);
        if (known->type == YAML_SCALAR_NODE && strcmp((const char *)known->data.scalar.value, key) == 0) {
            pair->value = value;
            return value;
        }
    }
    int name = yaml_document_add_scalar(document, NULL, (const yaml_char_t *)key, -1, YAML_ANY_SCALAR_STYLE);
    return name && yaml_document_append_mapping_pair(document, mapping, name, value) ? value : 0;
}

/* Puts a plain word under a key: a text that no reader takes for anything else. */
static inline int put_word(yaml_document_t *document, int mapping, const char *key, const char *word) {
    int value = yaml_document_add_scalar(document, NULL, (const yaml_char_t *)word, -1, YAML_PLAIN_SCALAR_STYLE);
    return put(document, mapping, key, value);
}

/* Puts a copy of another document's scalar under a key, in the style that makes it what it is. */
static inline int put_copy(yaml_document_t *document, int mapping, const char *key, yaml_document_t *from, int scalar) {
    yaml_node_t *node = yaml_document_get_node(from, scalar);
    if (!node || node->type != YAML_SCALAR_NODE) {
        return 0;
    }
    int value = yaml_document_add_scalar(document, node->tag, node->data.scalar.value, (int)node->data.scalar.length,
                                         node->data.scalar.style);
    return put(document, mapping, key, value);
}

/* The mapping under a key, made if there is none. */
static inline int mapping_in(yaml_document_t *document, int mapping, const char *key) {
    int value = get(document, mapping, key);
    yaml_node_t *node = yaml_document_get_node(document, value);
    if (node && node->type == YAML_MAPPING_NODE) {
        return value;
    }
    return put(document, mapping, key, yaml_document_add_mapping(document, NULL, YAML_BLOCK_MAPPING_STYLE));
}

/* A new resource, or NULL: a document with a mapping as its root. */
static inline yaml_document_t *append(documents *all) {
    yaml_document_t *items = realloc(all->items, (all->count + 1) * sizeof *items);
    if (!items) {
        return NULL;
    }
    all->items = items;
    yaml_document_t *document = &items[all->count];
    if (!yaml_document_initialize(document, NULL, NULL, NULL, 1, 1)) {
        return NULL;
    }
    all->count++;
    return yaml_document_add_mapping(document, NULL, YAML_BLOCK_MAPPING_STYLE) ? document : NULL;
}

/* A buffer with a copy of bytes. */
static rustomize_buffer buffer_of(const void *bytes, size_t len) {
    rustomize_buffer buffer = {len ? malloc(len) : NULL, 0, 0};
    if (buffer.data) {
        memcpy(buffer.data, bytes, len);
        buffer.len = buffer.capacity = len;
    }
    return buffer;
}

/* Reads all documents of a text. */
static const char *read_all(documents *all, rustomize_text text) {
    yaml_parser_t parser;
    const char *wrong = NULL;
    if (!yaml_parser_initialize(&parser)) {
        return "out of memory";
    }
    yaml_parser_set_input_string(&parser, text.len ? text.data : (const uint8_t *)"", text.len);
    while (!wrong) {
        yaml_document_t *items = realloc(all->items, (all->count + 1) * sizeof *items);
        if (!items) {
            wrong = "out of memory";
            break;
        }
        all->items = items;
        if (!yaml_parser_load(&parser, &items[all->count])) {
            snprintf(fault, sizeof fault, "line %zu: %s", parser.problem_mark.line + 1,
                     parser.problem ? parser.problem : "libyaml cannot read it");
            wrong = fault;
        } else if (!yaml_document_get_root_node(&items[all->count])) {
            /* The end of the text. */
            yaml_document_delete(&items[all->count]);
            break;
        } else {
            all->count++;
        }
    }
    yaml_parser_delete(&parser);
    return wrong;
}

static void delete_all(documents *all) {
    for (size_t i = 0; i < all->count; i++) {
        yaml_document_delete(&all->items[i]);
    }
    free(all->items);
}

static int write_to(void *to, unsigned char *bytes, size_t len) {
    rustomize_buffer *buffer = to;
    if (buffer->capacity - buffer->len < len) {
        size_t capacity = 2 * buffer->capacity + len;
        uint8_t *data = realloc(buffer->data, capacity);
        if (!data) {
            return 0;
        }
        buffer->data = data;
        buffer->capacity = capacity;
    }
    memcpy(buffer->data + buffer->len, bytes, len);
    buffer->len += len;
    return 1;
}

/* Prints all documents, which are gone then. */
static const char *print_all(documents *all, rustomize_buffer *buffer) {
    yaml_emitter_t emitter;
    if (!yaml_emitter_initialize(&emitter)) {
        return "out of memory";
    }
    yaml_emitter_set_output(&emitter, write_to, buffer);
    yaml_emitter_set_unicode(&emitter, 1);
    yaml_emitter_set_width(&emitter, -1);
    int is_good = yaml_emitter_open(&emitter);
    for (size_t i = 0; i < all->count; i++) {
        /* libyaml deletes what it is given, in any case. */
        is_good = yaml_emitter_dump(&emitter, &all->items[i]) && is_good;
    }
    all->count = 0;
    is_good = is_good && yaml_emitter_close(&emitter);
    if (!is_good) {
        snprintf(fault, sizeof fault, "the resources cannot be printed: %s", emitter.problem ? emitter.problem : "");
    }
    yaml_emitter_delete(&emitter);
    return is_good ? NULL : fault;
}

static const char *answer(const rustomize_request *request, documents *config, documents *resources, rustomize_buffer *output) {
    const char *wrong = read_all(config, request->config);
    if (!wrong && config->count != 1) {
        wrong = "the configuration is not one object";
    }
    if (!wrong) {
        wrong = read_all(resources, request->resources);
    }
    if (!wrong) {
        wrong = run(&config->items[0], resources);
    }
    if (!wrong && ROLE == RUSTOMIZE_VALIDATE) {
        *output = buffer_of(request->resources.data, request->resources.len);
    } else if (!wrong) {
        wrong = print_all(resources, output);
    }
    return wrong;
}

uint32_t rustomize_plugin_abi_version(void) { return RUSTOMIZE_PLUGIN_ABI; }

int32_t rustomize_plugin_describe(rustomize_response *response) {
    static const char *const modes[] = {"", "generate", "transform", "validate"};
    char text[64];
    int len = snprintf(text, sizeof text, "{\"modes\": [\"%s\"], \"language\": \"c\"}", modes[ROLE]);
    response->output = buffer_of(text, (size_t)len);
    return RUSTOMIZE_OK;
}

int32_t rustomize_plugin_run(const rustomize_request *request, rustomize_response *response) {
    documents config = {NULL, 0}, resources = {NULL, 0};
    rustomize_buffer output = {NULL, 0, 0};
    if (request->mode != ROLE) {
        return RUSTOMIZE_UNSUPPORTED;
    }
    const char *wrong = answer(request, &config, &resources, &output);
    delete_all(&config);
    delete_all(&resources);
    response->output = output;
    if (wrong) {
        response->error = buffer_of(wrong, strlen(wrong));
    }
    return wrong ? RUSTOMIZE_ERROR : RUSTOMIZE_OK;
}

void rustomize_plugin_free(rustomize_buffer *buffer) {
    free(buffer->data);
    memset(buffer, 0, sizeof *buffer);
}
