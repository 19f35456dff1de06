//! The cases that every engine must pass.
