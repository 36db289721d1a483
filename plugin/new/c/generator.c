/* Generates a ConfigMap with a message. */
#define ROLE RUSTOMIZE_GENERATE
#include "yaml_plugin.h"

static const char *run(yaml_document_t *config, documents *resources) {
    int name = get(config, get(config, 1, "metadata"), "name"), message = get(config, 1, "message");
    yaml_document_t *made = append(resources);
    if (!made) {
        return "out of memory";
    }
    put_word(made, 1, "apiVersion", "v1");
    put_word(made, 1, "kind", "ConfigMap");
    put_copy(made, mapping_in(made, 1, "metadata"), "name", config, name);
    if (!put_copy(made, mapping_in(made, 1, "data"), "message", config, message)) {
        return "the configuration has no text 'message'";
    }
    return NULL;
}
