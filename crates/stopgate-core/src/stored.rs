//! What is not written: a field that is as usual.

/// Whether a value is the usual one, and need not be written.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
