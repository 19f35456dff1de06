//! Windows: no limits on memory and processor time yet; time-outs hold all the same.

use std::ffi::OsString;
use std::process::ExitStatus;

/// The program and its arguments as they are.
pub(crate) fn limited(argv: Vec<OsString>, _: Option<u64>, _: Option<u64>) -> Vec<OsString> {
    argv
}

/// Never: there is no such limit.
pub(crate) const fn ends_by_processor_limit(_: ExitStatus) -> bool {
    false
}
