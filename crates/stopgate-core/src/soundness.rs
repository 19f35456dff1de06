//! What can be said about a record: whether it is what its writer wrote.

crate::words! {
    /// What the seals under a loop's record say. The order is that of severity.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Soundness {
        /// It is what this writer wrote.
        #[default]
        Sound = "sound",
        /// Some of it has no seal: an older program wrote it, or one that had no key.
        Unchained = "unchained",
        /// Some of it was sealed by a writer whose key is not here.
        UnknownWriter = "unknown writer",
        /// A seal by this writer's key does not fit: it was changed outside of stopgate.
        Forged = "forged",
    }
}
