/* Sets the label team on all resources. */
#define ROLE RUSTOMIZE_TRANSFORM
#include "yaml_plugin.h"

static const char *run(yaml_document_t *config, documents *resources) {
    int team = get(config, 1, "team");
    for (size_t i = 0; i < resources->count; i++) {
        yaml_document_t *resource = &resources->items[i];
        int labels = mapping_in(resource, mapping_in(resource, 1, "metadata"), "labels");
        if (!put_copy(resource, labels, "team", config, team)) {
            return "the configuration has no text 'team'";
        }
    }
    return NULL;
}
