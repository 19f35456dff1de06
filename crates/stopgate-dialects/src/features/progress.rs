//! `progress.txt`.

const ITERATION: &str = "Iteration:";
const MAX_ITERATIONS: &str = "Max Iterations:";
const STATUS: &str = "Status:";

/// What the progress file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgressFile {
    /// The iteration that runs.
    pub iteration: u32,
    /// How many there may be.
    pub max: u32,
    /// The status, as it is written.
    pub status: Option<String>,
    /// Every how many iterations the agent is reminded to make room; 0 is never.
    pub compact_every: u32,
    /// How many features one session may complete; 0 is as many as it can.
    pub per_session: u32,
    /// How many tokens the context window holds; 0 turns the question off.
    pub context_limit: Option<u64>,
}

stopgate_core::words! {
    /// How a loop stands, in the file's words.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ProgressStanding {
        /// It goes on.
        InProgress = "IN_PROGRESS",
        /// Every feature is complete.
        Complete = "COMPLETE",
        /// The iterations are used up.
        ReachedLimit = "REACHED_LIMIT",
        /// A person ended it.
        Cancelled = "CANCELLED",
    }
}

impl ProgressFile {
    /// Reads a progress file; what it does not say has a default.
    pub fn read(text: &str) -> Self {
        let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let number = |label: &str| number(text, label);
        let limit = |label: &str| number(label).map_or(0, small);
        let status = line_with(text, STATUS).map(|line| content(text, line.1).1.to_string());
        Self {
            iteration: number(ITERATION).map_or(1, small),
            max: number(MAX_ITERATIONS).map_or(15, small),
            status: status.filter(|status| !status.is_empty()),
            compact_every: limit("Compact Every:"),
            per_session: limit("Features Per Session:"),
            context_limit: number("Context Limit:"),
        }
    }
}

/// The file of a loop that goes on with this iteration.
pub fn advanced(text: &str, iteration: u32) -> String {
    let counted = with_iteration(text, iteration);
    // A file without a status never had one; going on is not a reason to add it.
    match line_with(&counted, STATUS) {
        Some(_) => with_status(&counted, ProgressStanding::InProgress),
        None => counted,
    }
}

/// The file of a loop that is over.
pub fn ended(text: &str, standing: ProgressStanding) -> String {
    with_status(text, standing)
}

/// A new progress file.
pub fn template(name: &str, max_iterations: u32) -> String {
    format!(
        "# Ralph Loop Progress: {name}\n\n## Configuration\n- Max Iterations: {max_iterations}\n\n\
         ## Current State\n- Iteration: 0\n- Status: not_started\n"
    )
}

fn with_iteration(text: &str, iteration: u32) -> String {
    let number = iteration.to_string();
    if let Some(digits) = digits(text, ITERATION) {
        return spliced(text, digits, &number);
    }
    match line_with(text, ITERATION) {
        Some((_, rest)) => with_content(text, before_count(text, rest), &number),
        None => with_line(text, &format!("{ITERATION} {number}")),
    }
}

fn with_status(text: &str, standing: ProgressStanding) -> String {
    match line_with(text, STATUS) {
        Some((_, rest)) => with_content(text, before_count(text, rest), standing.word()),
        None => with_line(text, &format!("{STATUS} {}", standing.word())),
    }
}

/// What a line says ends where it goes on with a count, which must not be lost with it.
fn before_count(text: &str, (start, end): Span) -> Span {
    let rest = &text[start..end];
    // "Max Iteration:" is one label, and stays one.
    let count = rest.find(ITERATION).map(|at| {
        let before = rest[..at].trim_end();
        before.strip_suffix("Max").map_or(at, str::len)
    });
    let counts = [rest.find(MAX_ITERATIONS), count];
    (start, counts.into_iter().flatten().min().map_or(end, |at| start + at))
}

/// Where a part of a text begins and ends.
type Span = (usize, usize);

/// The first line that has the label: where it begins, and what stands behind the label.
fn line_with(text: &str, label: &str) -> Option<(usize, Span)> {
    lines_with(text, label).next()
}

fn lines_with<'t>(text: &'t str, label: &'t str) -> impl Iterator<Item = (usize, Span)> + 't {
    let mut start = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let begin = start;
        start += line.len();
        let bare = line.trim_end_matches(['\r', '\n']);
        let at = bare.find(label)?;
        // "Max Iteration: 15" counts nothing.
        if label == ITERATION && bare[..at].trim_end().ends_with("Max") {
            return None;
        }
        Some((begin, (begin + at + label.len(), begin + bare.len())))
    })
}

/// The number behind the first label that has one.
fn number(text: &str, label: &str) -> Option<u64> {
    let (start, end) = digits(text, label)?;
    Some(text[start..end].parse().unwrap_or(u64::MAX))
}

fn digits(text: &str, label: &str) -> Option<Span> {
    lines_with(text, label).find_map(|(_, rest)| {
        let (start, content) = content(text, rest);
        let count = content.bytes().take_while(u8::is_ascii_digit).count();
        (count > 0).then_some((start, start + count))
    })
}

/// What a line says behind its label, without blanks and marks of emphasis.
fn content(text: &str, (start, end): Span) -> (usize, &str) {
    let rest = &text[start..end];
    let bare = rest.trim_start_matches([' ', '\t', '*']);
    (start + (rest.len() - bare.len()), bare.trim_end())
}

fn with_content(text: &str, rest: Span, new: &str) -> String {
    let (start, old) = content(text, rest);
    let space = if start == rest.0 { " " } else { "" };
    spliced(text, (start, start + old.len()), &format!("{space}{new}"))
}

fn spliced(text: &str, (start, end): Span, new: &str) -> String {
    format!("{}{new}{}", &text[..start], &text[end..])
}

/// The text with one more line at its end.
fn with_line(text: &str, line: &str) -> String {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let lead = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
    format!("{text}{lead}{line}{newline}")
}
