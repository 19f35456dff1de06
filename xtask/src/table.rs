//! Tables for people, in Markdown, and the gates they show.

use crate::{Verdict, tools};

/// A table with a heading.
#[derive(Debug)]
pub(crate) struct Table {
    title: String,
    rows: Vec<Vec<String>>,
    notes: Vec<String>,
}

impl Table {
    /// A table with these columns; the first is text, the others are figures.
    pub(crate) fn new(title: &str, columns: &[&str]) -> Self {
        let head = columns.iter().map(|name| (*name).to_string()).collect();
        Self { title: title.into(), rows: vec![head], notes: Vec::new() }
    }

    /// The same for many columns, written as a line with `|` between them.
    pub(crate) fn headed(title: &str, columns: &str) -> Self {
        Self::new(title, &columns.split('|').collect::<Vec<_>>())
    }

    /// Adds a row.
    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.into());
    }

    /// Adds a sentence below the table.
    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// Prints it.
    pub(crate) fn print(&self) {
        println!("\n## {}\n", self.title);
        let columns = self.rows.first().map_or(0, Vec::len);
        let widths: Vec<usize> = (0..columns).map(|at| self.width(at)).collect();
        for (at, row) in self.rows.iter().enumerate() {
            println!("{}", line(row, &widths));
            if at == 0 {
                println!("{}", rule(&widths));
            }
        }
        self.notes.iter().for_each(|note| println!("\n{note}"));
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    }
}

fn line(row: &[String], widths: &[usize]) -> String {
    let cells = row.iter().zip(widths).enumerate().map(|(at, (cell, width))| {
        if at == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
    });
    format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
}

fn rule(widths: &[usize]) -> String {
    let cells = widths.iter().enumerate().map(|(at, width)| {
        if at == 0 { "-".repeat(*width) } else { format!("{}:", "-".repeat(width - 1)) }
    });
    format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
}

/// What must hold, and what did not.
#[derive(Debug, Default)]
pub(crate) struct Gates {
    broken: Vec<String>,
    held: usize,
}

impl Gates {
    /// Asks one gate, which holds where there is no complaint; gives the word for the table.
    pub(crate) fn ask(&mut self, complaint: Option<String>) -> String {
        let word = if complaint.is_none() { "ok" } else { "BROKEN" };
        self.held += usize::from(complaint.is_none());
        self.broken.extend(complaint);
        word.into()
    }

    /// Notes something that could not be measured: a broken gate only where machines check.
    pub(crate) fn unmeasured(&mut self, what: &str) -> String {
        if tools::is_ci() {
            self.broken.push(what.into());
        }
        what.into()
    }

    /// Whether every gate holds, without a word.
    pub(crate) fn quiet_verdict(&self) -> Verdict {
        Verdict::from(self.broken.is_empty())
    }

    /// Says which gates are broken.
    pub(crate) fn verdict(&self) -> Verdict {
        println!("\n{} gates hold, {} are broken.", self.held, self.broken.len());
        self.broken.iter().for_each(|broken| println!("- broken: {broken}"));
        self.quiet_verdict()
    }
}
