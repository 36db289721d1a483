//! Input that would fill memory, disk or time.
