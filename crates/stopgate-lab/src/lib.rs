//! Test-only: a fake model and the real agent clients.
