//! Windows: the runtime's own streams, on threads of its own.

/// What a client writes to us.
pub(crate) struct Input;

/// What a client reads from us.
pub(crate) struct Output;

impl Input {
    /// This process's standard input.
    pub(crate) fn standard() -> tokio::io::Stdin {
        tokio::io::stdin()
    }
}

impl Output {
    /// This process's standard output.
    pub(crate) fn standard() -> tokio::io::Stdout {
        tokio::io::stdout()
    }
}
