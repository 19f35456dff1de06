//! The fingerprint of how a criterion is defined: what is run, and on which terms.
//!
//! What was found when a loop began or went on does not belong to it, so that a project's file can
//! be compared with a receipt.

use stopgate_core::{Author, Baseline, Criterion};

use crate::project_file::{AtStart, CriterionDraft};

/// The fingerprint of a criterion's definition. Whether failures that were there before count
/// is part of it; which ones they were is not.
pub(crate) fn definition_of(criterion: &Criterion) -> String {
    let mut terms = criterion.terms.clone();
    let baseline = terms.baseline.take().is_some();
    terms.author = Author::default();
    let definition = (&criterion.proof, criterion.weight, &terms, baseline);
    // Nothing in it can fail to be written.
    let text = serde_json::to_vec(&definition).unwrap_or_default();
    stopgate_verify::content_fingerprint(&text)
}

/// The same for a criterion that was only read.
pub(crate) fn definition_of_draft(draft: &CriterionDraft) -> String {
    let mut criterion = draft.criterion.clone();
    if draft.start == AtStart::Baseline {
        criterion.terms.baseline = Some(Baseline::default());
    }
    definition_of(&criterion)
}

#[cfg(test)]
mod tests {
    use stopgate_core::{Author, Baseline, Criterion, Proof, Tests};

    use super::{definition_of, definition_of_draft};
    use crate::project_file::{AtStart, CriterionDraft};

    fn criterion(command: &str) -> Criterion {
        let proof = Proof::Check { command: command.into(), timeout_ms: 1000 };
        Criterion::new("tests", proof)
    }

    #[test]
    fn what_a_run_found_is_no_part_of_a_definition() {
        let plain = criterion("true");
        let mut measured = plain.clone();
        measured.terms.author = Author::Project;
        measured.tests = Some(Tests { collected: 3, ..Tests::default() });
        assert_eq!(definition_of(&plain), definition_of(&measured));
        measured.terms.baseline = Some(Baseline { failures: vec![7], ..Baseline::default() });
        let draft = CriterionDraft { criterion: plain, start: AtStart::Baseline };
        assert_eq!(definition_of_draft(&draft), definition_of(&measured));
    }

    #[test]
    fn what_is_run_and_its_terms_are() {
        let plain = definition_of(&criterion("true"));
        let mut terms = criterion("true");
        terms.terms.inputs = vec!["src/**".into()];
        let baseline = CriterionDraft { criterion: criterion("true"), start: AtStart::Baseline };
        assert_ne!(definition_of(&criterion("false")), plain);
        assert_ne!(definition_of_draft(&baseline), plain);
        assert_ne!(definition_of(&terms), plain);
    }
}
