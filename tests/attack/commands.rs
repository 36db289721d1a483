//! Words of a file that would become options of the programs that are started.
