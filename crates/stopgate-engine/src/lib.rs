//! Every use case once.
