//! The terminal view.
