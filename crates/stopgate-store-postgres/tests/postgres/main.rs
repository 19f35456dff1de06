//! The engine on real servers that the tests run themselves.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test says where it broke, and watches the time"
)]

mod contract;
mod failures;
mod figures;
mod histories;
mod record;
mod safety;
mod scene;
mod setup;
mod survival;
