//! Names, addresses and files that would be taken for trusted ones.
