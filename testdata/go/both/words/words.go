// Package words belongs to the plugin.
package words

// Name is the name of what is generated.
const Name = "made"
