//! Configuration files that would stay behind, and what would run in the place of what was checked.
