//! `JUnit`'s XML, which many runners write.

use super::{LastSummary, Report};
use crate::xml::{Role, Tags, XmlTag};

/// Reads a `<testsuite>` or `<testsuites>` document; nothing where it is none, or is cut.
pub fn read_junit(xml: &str) -> Option<Report> {
    let mut tags = Tags::new(xml);
    let root = tags.next()?;
    if !matches!(root.name, "testsuites" | "testsuite") {
        return None;
    }
    let mut reading = Reading::default();
    reading.take(&root);
    for tag in &mut tags {
        reading.take(&tag);
    }
    if !tags.is_sound() {
        return None;
    }
    let Reading { mut report, totals, .. } = reading;
    if report.tests.collected == 0 {
        report = totals;
    }
    report.last = vec![LastSummary::Reported { runner: "JUnit", failed: report.tests.failed }];
    Some(report.distinct())
}

#[derive(Default)]
struct Reading {
    report: Report,
    /// What the suites say of themselves, for documents without cases.
    totals: Report,
    suites: Vec<String>,
    case: Option<Case>,
}

struct Case {
    name: String,
    outcome: Outcome,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
    Skipped,
    Failed,
}

impl Reading {
    fn take(&mut self, tag: &XmlTag<'_>) {
        match (tag.name, tag.role) {
            ("testsuite", Role::Open) => {
                self.add_totals(tag);
                self.suites.push(tag.attribute("name").unwrap_or_default().into());
            }
            ("testsuite", Role::Empty) => self.add_totals(tag),
            ("testsuite", Role::Close) => {
                self.suites.pop();
            }
            ("testcase", Role::Open) => self.case = Some(self.begin(tag)),
            ("testcase", Role::Empty) => {
                let case = self.begin(tag);
                self.end(case);
            }
            ("testcase", Role::Close) => {
                if let Some(case) = self.case.take() {
                    self.end(case);
                }
            }
            ("failure" | "error", Role::Open | Role::Empty) => self.mark(Outcome::Failed),
            ("skipped", Role::Open | Role::Empty) => self.mark(Outcome::Skipped),
            _ => {}
        }
    }

    fn begin(&self, tag: &XmlTag<'_>) -> Case {
        let text = |name| tag.attribute(name).filter(|value| !value.is_empty());
        let name = text("name").unwrap_or_default();
        let class = text("classname").or_else(|| text("file"));
        let class = class.or_else(|| self.suites.last().map(|suite| suite.as_str().into()));
        let name = match class.filter(|class| !class.is_empty()) {
            Some(class) => format!("{class}::{name}"),
            None => name.into(),
        };
        let status = text("status").or_else(|| text("result")).unwrap_or_default();
        let left_out = ["notrun", "disabled", "skipped", "suppressed"];
        let is_left_out = left_out.iter().any(|word| status.eq_ignore_ascii_case(word));
        Case { name, outcome: if is_left_out { Outcome::Skipped } else { Outcome::Passed } }
    }

    /// A failure stays one, whatever else is said of the case.
    fn mark(&mut self, outcome: Outcome) {
        if let Some(case) = &mut self.case {
            if case.outcome != Outcome::Failed {
                case.outcome = outcome;
            }
        } else if outcome == Outcome::Failed {
            // A suite that could not be set up.
            let name = self.suites.last().cloned().unwrap_or_default();
            self.end(Case { name, outcome });
        }
    }

    fn end(&mut self, case: Case) {
        match case.outcome {
            Outcome::Passed => self.report.add(Report::counted(1, 0, 0)),
            Outcome::Skipped => {
                self.report.add(Report::counted(0, 0, 1));
                self.report.skipped.push(case.name);
            }
            Outcome::Failed => {
                self.report.add_failed(1);
                self.report.failures.push(case.name);
            }
        }
    }

    fn add_totals(&mut self, tag: &XmlTag<'_>) {
        let of = |name| {
            let number = tag.number(name).unwrap_or(0);
            u32::try_from(number).unwrap_or(u32::MAX)
        };
        let failed = of("failures").saturating_add(of("errors"));
        let skipped = of("skipped").max(of("disabled"));
        self.totals.add(Report::totalled(of("tests"), failed, skipped));
    }
}
