//! The one impure act: runs checks and writes receipts.
