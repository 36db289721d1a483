//! What a plugin would do to the processes, files and terminal of the user.
