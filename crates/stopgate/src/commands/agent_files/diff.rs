//! Two texts, line by line, as people know it from patches.

#[cfg(test)]
mod tests;

const CONTEXT: usize = 3;
/// Beyond this many pairs of lines, what differs is shown as one block.
const PAIRS_MAX: usize = 4_000_000;

/// A line that stays, goes or comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line<'a> {
    Same(&'a str),
    Gone(&'a str),
    New(&'a str),
}

/// The lines that show how `before` becomes `after`; none where they are the same.
pub(super) fn lines(before: &str, after: &str) -> Vec<String> {
    let before: Vec<&str> = before.lines().collect();
    let after: Vec<&str> = after.lines().collect();
    let all = compare(&before, &after);
    hunks(&all).into_iter().flat_map(|(from, to)| show(&all, from, to)).collect()
}

fn compare<'a>(before: &[&'a str], after: &[&'a str]) -> Vec<Line<'a>> {
    let head = before.iter().zip(after).take_while(|(one, other)| one == other).count();
    let (before_rest, after_rest) = (&before[head..], &after[head..]);
    let pairs = before_rest.iter().rev().zip(after_rest.iter().rev());
    let tail = pairs.take_while(|(one, other)| one == other).count();
    let gone = &before_rest[..before_rest.len() - tail];
    let new = &after_rest[..after_rest.len() - tail];
    let mut all: Vec<Line<'a>> = before[..head].iter().map(|line| Line::Same(line)).collect();
    all.extend(middle(gone, new));
    all.extend(before[before.len() - tail..].iter().map(|line| Line::Same(line)));
    all
}

/// The shortest way from one to the other, by the longest lines they have in common.
fn middle<'a>(gone: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    if gone.len().saturating_mul(new.len()) > PAIRS_MAX {
        let gone = gone.iter().map(|line| Line::Gone(line));
        return gone.chain(new.iter().map(|line| Line::New(line))).collect();
    }
    let common = common(gone, new);
    let (mut i, mut j) = (0, 0);
    let mut all = Vec::new();
    while i < gone.len() || j < new.len() {
        if i < gone.len() && j < new.len() && gone[i] == new[j] {
            all.push(Line::Same(gone[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || (i < gone.len() && common[i + 1][j] >= common[i][j + 1]) {
            all.push(Line::Gone(gone[i]));
            i += 1;
        } else {
            all.push(Line::New(new[j]));
            j += 1;
        }
    }
    all
}

/// How many lines the rests have in common, for each pair of rests.
fn common(gone: &[&str], new: &[&str]) -> Vec<Vec<usize>> {
    let mut common = vec![vec![0; new.len() + 1]; gone.len() + 1];
    for i in (0..gone.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i][j] = if gone[i] == new[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    common
}

/// Where something changes, with the lines around it; changes that lie close share a hunk.
fn hunks(all: &[Line<'_>]) -> Vec<(usize, usize)> {
    let mut hunks: Vec<(usize, usize)> = Vec::new();
    for (at, line) in all.iter().enumerate() {
        if matches!(line, Line::Same(_)) {
            continue;
        }
        let (from, to) = (at.saturating_sub(CONTEXT), (at + 1 + CONTEXT).min(all.len()));
        match hunks.last_mut() {
            Some(last) if from <= last.1 => last.1 = to,
            Some(_) | None => hunks.push((from, to)),
        }
    }
    hunks
}

fn show(all: &[Line<'_>], from: usize, to: usize) -> Vec<String> {
    let old = |lines: &[Line<'_>]| lines.iter().filter(|l| !matches!(l, Line::New(_))).count();
    let new = |lines: &[Line<'_>]| lines.iter().filter(|l| !matches!(l, Line::Gone(_))).count();
    let (before, hunk) = (&all[..from], &all[from..to]);
    // An empty side begins at line 0.
    let start = |before: usize, count: usize| if count == 0 { before } else { before + 1 };
    let head = format!(
        "@@ -{},{} +{},{} @@",
        start(old(before), old(hunk)),
        old(hunk),
        start(new(before), new(hunk)),
        new(hunk)
    );
    let line = |line: &Line<'_>| match line {
        Line::Same(text) => format!(" {text}"),
        Line::Gone(text) => format!("-{text}"),
        Line::New(text) => format!("+{text}"),
    };
    std::iter::once(head).chain(hunk.iter().map(line)).collect()
}
