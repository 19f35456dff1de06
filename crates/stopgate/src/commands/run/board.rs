//! What a person sees of features that are built side by side: on a terminal a line for each,
//! rewritten in place; elsewhere a line for each thing that happens.

use std::fmt::Write as _;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use stopgate_drive::{Delivery, DriveNews, JobNews};

use super::show;
use crate::output::cut;

/// The lines of all jobs, told by every job's thread.
#[derive(Default)]
pub(super) struct JobBoard {
    lines: Mutex<JobLines>,
}

/// A line for each feature that was begun, in the order in which they were.
#[derive(Default)]
struct JobLines {
    jobs: Vec<(String, String)>,
    /// How many lines stand on the terminal now.
    drawn: usize,
}

impl JobBoard {
    /// Tells what happened to a job.
    pub(super) fn tell(&self, job: &JobNews<'_>) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let said = show::sentence(job.news);
        let said = said.trim_start();
        let text = match show::window_size() {
            None => format!("[feature {}] {said}\n", job.feature),
            Some(window) => {
                let is_kept = is_for_good(job.news);
                let above = is_kept.then(|| format!("[feature {}] {said}", job.feature));
                lines.set(job.feature, &state(job.news));
                lines.drawing(above.as_deref(), window)
            }
        };
        // A terminal that is gone can't be told.
        let _ = anstream::stderr().lock().write_all(text.as_bytes());
    }
}

impl JobLines {
    fn set(&mut self, feature: &str, state: &str) {
        match self.jobs.iter_mut().find(|(known, _)| known == feature) {
            Some((_, line)) => *line = state.into(),
            None => self.jobs.push((feature.into(), state.into())),
        }
    }

    /// What draws all lines anew over those that stand there, with a line above them that stays.
    fn drawing(&mut self, above: Option<&str>, (columns, rows): (usize, usize)) -> String {
        let mut text = String::new();
        if self.drawn > 0 {
            let _ = write!(text, "\x1b[{}A\r\x1b[J", self.drawn);
        }
        for line in above.into_iter().flat_map(str::lines) {
            let _ = writeln!(text, "{line}");
        }
        // A line that left the window could not be rewritten.
        let first = self.jobs.len().saturating_sub(rows - 1);
        for (feature, state) in &self.jobs[first..] {
            let line = format!("feature {feature}  {state}");
            let _ = writeln!(text, "{}", cut(&line, columns - 1));
        }
        self.drawn = self.jobs.len() - first;
        text
    }
}

/// Whether a person must be able to read it later, too.
const fn is_for_good(news: &DriveNews<'_>) -> bool {
    match news {
        DriveNews::Warning { .. }
        | DriveNews::Asked { .. }
        | DriveNews::Failed { .. }
        | DriveNews::Delivered { delivery: Delivery::Held { .. } } => true,
        DriveNews::Session { .. }
        | DriveNews::Retry { .. }
        | DriveNews::Judged { .. }
        | DriveNews::Waits { .. }
        | DriveNews::Parked { .. }
        | DriveNews::Delivered { .. } => false,
    }
}

/// How a job stands, on one line.
fn state(news: &DriveNews<'_>) -> String {
    let text = match news {
        DriveNews::Session { number, view, .. } => {
            format!("session {number} | {}", show::standing(view))
        }
        DriveNews::Judged { view } => format!("judged | {}", show::standing(view)),
        DriveNews::Warning { .. } => "begins".into(),
        DriveNews::Asked { .. } => "waits for an answer".into(),
        DriveNews::Retry { .. }
        | DriveNews::Failed { .. }
        | DriveNews::Waits { .. }
        | DriveNews::Parked { .. }
        | DriveNews::Delivered { .. } => show::sentence(news),
    };
    stopgate_core::clean(text.trim_start()).replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::JobLines;

    #[test]
    fn each_job_has_one_line_that_is_rewritten() {
        let mut lines = JobLines::default();
        lines.set("a", "session 1");
        assert_eq!(lines.drawing(None, (40, 10)), "feature a  session 1\n");
        lines.set("b", "session 1");
        assert_eq!(
            lines.drawing(None, (40, 10)),
            "\x1b[1A\r\x1b[Jfeature a  session 1\nfeature b  session 1\n"
        );
        lines.set("a", "merged");
        assert_eq!(
            lines.drawing(Some("[feature b] it asks"), (40, 10)),
            "\x1b[2A\r\x1b[J[feature b] it asks\nfeature a  merged\nfeature b  session 1\n"
        );
    }

    #[test]
    fn no_line_is_wider_than_the_window_or_above_it() {
        let mut lines = JobLines::default();
        for feature in ["1", "2", "3", "4"] {
            lines.set(feature, "a long line that does not fit");
        }
        let drawn = lines.drawing(None, (20, 3));
        assert_eq!(drawn.lines().count(), 2, "{drawn}");
        assert!(drawn.starts_with("feature 3"), "{drawn}");
        assert!(drawn.lines().all(|line| line.chars().count() < 20), "{drawn}");
        assert!(
            lines.drawing(None, (20, 3)).starts_with("\x1b[2A"),
            "only what was drawn is taken away"
        );
    }
}
