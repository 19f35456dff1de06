//! Checks that the judges of the start reject, asked once more under other circumstances.

use stopgate_core::Receipt;

use super::apart::ApartRun;
use super::original::{OriginalSubject, accept, accepts, note};

/// What the judges of the start reject so far, with the run in which they did.
pub(super) type Doubted<'s> = Vec<(&'s OriginalSubject<'s>, ApartRun)>;

/// What came of asking once more.
pub(super) enum Again {
    /// There was nothing to ask.
    NotDue,
    /// This run; if it rejects the work as well, the first one tells why.
    Ran(Option<ApartRun>),
    /// This run, which also tells better why the work is rejected.
    Instead(Option<ApartRun>),
}

/// Those that are rejected again; of the others `noted` is said in the receipt. Nothing where the
/// program was asked to end meanwhile.
pub(super) fn ask_again<'s>(
    doubted: Doubted<'s>,
    (digest, receipts): (&str, &mut [Receipt]),
    noted: Option<&str>,
    ask: impl Fn(&OriginalSubject<'_>, &ApartRun) -> Option<Again>,
) -> Option<Doubted<'s>> {
    let mut left = Vec::new();
    for (subject, run) in doubted {
        let (again, is_better) = match ask(subject, &run)? {
            Again::NotDue => (None, false),
            Again::Ran(again) => (again, false),
            Again::Instead(again) => (again, true),
        };
        match again {
            Some(again) if accepts(subject, &again) => {
                accept(subject, digest, receipts);
                let name = &subject.criterion.name;
                let _ = noted.map(|text| note(receipts, name, text));
            }
            Some(again) if is_better => left.push((subject, again)),
            _rejected => left.push((subject, run)),
        }
    }
    Some(left)
}
