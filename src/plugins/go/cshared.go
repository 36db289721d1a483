// The four functions of rustomize_plugin.h, for a kustomize plugin in the same package.

package main

/*
#define RUSTOMIZE_PLUGIN_NO_PROTOTYPES
#include "rustomize_plugin.h"
#include <stdlib.h>
#include <string.h>
*/
import "C"

import rzUnsafe "unsafe"

func rzTake(text C.rustomize_text) string {
	return string(rzUnsafe.Slice((*byte)(rzUnsafe.Pointer(text.data)), int(text.len)))
}

// rzGive copies a text to where rustomize_plugin_free frees it.
func rzGive(buffer *C.rustomize_buffer, text string) {
	if text == "" {
		return
	}
	buffer.data = (*C.uint8_t)(C.CBytes([]byte(text)))
	buffer.len = C.size_t(len(text))
	buffer.capacity = C.size_t(len(text))
}

//export rustomize_plugin_abi_version
func rustomize_plugin_abi_version() C.uint32_t { return C.RUSTOMIZE_PLUGIN_ABI }

//export rustomize_plugin_describe
func rustomize_plugin_describe(response *C.rustomize_response) C.int32_t {
	if response.size < C.sizeof_rustomize_response {
		return rzError
	}
	rzGive(&response.output, rzDescribe(&KustomizePlugin))
	return rzOK
}

//export rustomize_plugin_run
func rustomize_plugin_run(request *C.rustomize_request, response *C.rustomize_response) C.int32_t {
	if response.size < C.sizeof_rustomize_response {
		return rzError
	}
	if request.size < C.sizeof_rustomize_request {
		rzGive(&response.error, "a request that is too short")
		return rzError
	}
	status, text := rzRun(&KustomizePlugin, rzRequest{
		mode:      uint32(request.mode),
		config:    rzTake(request.config),
		root:      rzTake(request.root),
		resources: rzTake(request.resources),
		options:   rzTake(request.options),
	})
	if status == rzOK {
		rzGive(&response.output, text)
	} else {
		rzGive(&response.error, text)
	}
	return C.int32_t(status)
}

//export rustomize_plugin_free
func rustomize_plugin_free(buffer *C.rustomize_buffer) {
	C.free(rzUnsafe.Pointer(buffer.data))
	C.memset(rzUnsafe.Pointer(buffer), 0, C.sizeof_rustomize_buffer)
}
