//! Journals on the move: the form in which one leaves an engine and enters another.
//!
//! JSON Lines. A first line names the form and its version, one line an event follows in the
//! order of the journal, and a last line counts and hashes them: what is cut off or altered
//! is refused before anything is written. Nothing in it depends on the engine or the time, so
//! an import followed by an export gives the same bytes. Such files may be put one after
//! another.

mod form;

mod export;

mod import;

mod error;

pub use self::error::TransferError;
pub use self::export::{Exported, Exporter, export};
pub use self::form::{Moved, Reader, VERSION};
pub use self::import::{Import, Imported, Scanned, existing, names, scan};
