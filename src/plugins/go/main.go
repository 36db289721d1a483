// A c-shared library is a package main with a function main, which nobody calls. Plugins often lack it.

package main

func main() {}
