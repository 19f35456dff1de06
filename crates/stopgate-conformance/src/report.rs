//! What came of a run: a table for people, JSON for programs.

use std::fmt::Write;

use serde::Serialize;

#[cfg(test)]
mod tests;

/// How a case came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// The hook does what it should.
    Pass,
    /// It does not.
    Fail,
    /// The case does not concern this hook or this client.
    NotApplicable,
}

/// One case with one client.
#[derive(Clone, Debug, Serialize)]
pub struct CaseResult {
    /// The client and its version.
    pub client: String,
    /// The case.
    pub case: &'static str,
    /// Why it matters.
    pub why: &'static str,
    /// How it came out.
    pub mark: Mark,
    /// What was seen, where it did not pass.
    pub detail: String,
}

/// All of them.
#[derive(Clone, Debug, Serialize)]
pub struct ConformanceReport {
    /// The hook.
    pub hook: String,
    /// In the order of cases within clients.
    pub results: Vec<CaseResult>,
}

impl ConformanceReport {
    /// How many came out so.
    pub fn count(&self, mark: Mark) -> usize {
        self.results.iter().filter(|result| result.mark == mark).count()
    }

    /// A case over all clients: it passes where none fails and one passes.
    pub fn mark_of(&self, case: &str) -> Mark {
        let mut marks =
            self.results.iter().filter(|result| result.case == case).map(|result| result.mark);
        let mut sum = Mark::NotApplicable;
        while sum != Mark::Fail {
            match marks.next() {
                Some(Mark::Fail) => sum = Mark::Fail,
                Some(Mark::Pass) => sum = Mark::Pass,
                Some(Mark::NotApplicable) => {}
                None => break,
            }
        }
        sum
    }

    /// The table: a case a line, a client a column, then what failed and why it matters.
    pub fn table(&self) -> String {
        let mut clients: Vec<&str> = Vec::new();
        let mut cases: Vec<&str> = Vec::new();
        for result in &self.results {
            if !clients.contains(&result.client.as_str()) {
                clients.push(&result.client);
            }
            if !cases.contains(&result.case) {
                cases.push(result.case);
            }
        }
        let mut text = String::new();
        for (at, client) in clients.iter().enumerate() {
            let _ = writeln!(text, "{:>3}  {client}", at + 1);
        }
        let _ = write!(text, "\n{:<26}", self.hook);
        for number in 1..=clients.len() {
            let _ = write!(text, "{number:>3}");
        }
        text.push('\n');
        for case in cases {
            let marks: String = clients.iter().map(|client| self.letter(client, case)).collect();
            let _ = writeln!(text, "{case:<26}{marks}");
        }
        text.push_str(&self.failures());
        text.push_str(&self.sum());
        text
    }

    fn letter(&self, client: &str, case: &str) -> &'static str {
        let mut results = self.results.iter();
        let found = results.find(|result| result.client == client && result.case == case);
        match found.map(|result| result.mark) {
            Some(Mark::Pass) => "  ✓",
            Some(Mark::Fail) => "  ✗",
            Some(Mark::NotApplicable) | None => "  –",
        }
    }

    fn failures(&self) -> String {
        let mut text = String::new();
        for result in self.results.iter().filter(|result| result.mark == Mark::Fail) {
            let CaseResult { client, case, why, detail, .. } = result;
            let _ = write!(text, "\n✗ {case}, {client}\n  {detail}\n  {why}\n");
        }
        text
    }

    fn sum(&self) -> String {
        let [passed, failed, not] =
            [Mark::Pass, Mark::Fail, Mark::NotApplicable].map(|mark| self.count(mark));
        format!("\n{passed} passed, {failed} failed, {not} not applicable\n")
    }
}
