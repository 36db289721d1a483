/* Refuses resources without a label. */
#define ROLE RUSTOMIZE_VALIDATE
#include "yaml_plugin.h"

static const char *run(yaml_document_t *config, documents *resources) {
    const char *label = text_of(config, get(config, 1, "label"));
    if (!label) {
        return "the configuration has no text 'label'";
    }
    for (size_t i = 0; i < resources->count; i++) {
        yaml_document_t *resource = &resources->items[i];
        int metadata = get(resource, 1, "metadata");
        if (!get(resource, get(resource, metadata, "labels"), label)) {
            const char *kind = text_of(resource, get(resource, 1, "kind"));
            const char *name = text_of(resource, get(resource, metadata, "name"));
            snprintf(fault, sizeof fault, "%s %s has no label %s", kind ? kind : "", name ? name : "", label);
            return fault;
        }
    }
    return NULL;
}
