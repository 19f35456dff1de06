//! What a person or an agent reads about an original run that did not accept the work.

use stopgate_core::Status;

use super::apart::ApartRun;
use super::original::{OriginalSubject, fewer_tests};

pub(super) fn rejection(subject: &OriginalSubject<'_>, run: &ApartRun) -> String {
    let ApartRun::Ran { receipt, written, .. } = run else { return String::new() };
    if let Some(path) = written.first() {
        return format!(
            "with the tests of the start, {} was written while they ran",
            path.display()
        );
    }
    match (receipt.status, fewer_tests(subject.floor, receipt)) {
        (Status::Pass, Some((then, now))) => {
            format!("{now} tests of the start run now; {then} ran then")
        }
        (_, _) => match run.failing().len() {
            0 => "it passes now, but fails with the tests as they were at the start".into(),
            1 => "it passes now, but 1 test fails as it was at the start".into(),
            more => format!("it passes now, but {more} tests fail as they were at the start"),
        },
    }
}

pub(super) fn undecided(run: &ApartRun) -> String {
    match run {
        ApartRun::NoPlace(why) => format!("the tests of the start can't be run: {why}"),
        ApartRun::Ran { receipt, .. } if receipt.status == Status::Timeout => {
            "the tests of the start took too long".into()
        }
        ApartRun::Ran { .. } => {
            "the tests of the start can't be run here: even today's fail apart from this tree"
                .into()
        }
    }
}
