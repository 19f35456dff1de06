//! The page of all rows, as docs/requirements.md has it.

use std::fmt::Write;

use super::RowResult;
use super::rows::WORKFLOWS;

/// The whole page.
pub(super) fn text(results: &[RowResult]) -> String {
    let mut page = String::from(
        "# Requirements of the five workflows\n\n\
         Each row is run by `cargo xtask requirements` against the program: in a directory and with a\n\
         home of its own, by a script in `requirements/` that fails where the row does not hold.\n\
         `--write` makes this page.\n\n",
    );
    let works = results.iter().filter(|result| result.trouble.is_none()).count();
    let _ = writeln!(page, "{works} of {} work.", results.len());
    for (name, title) in WORKFLOWS {
        let of_it: Vec<&RowResult> =
            results.iter().filter(|result| result.row.id.starts_with(name)).collect();
        let works = of_it.iter().filter(|result| result.trouble.is_none()).count();
        let _ = writeln!(page, "\n## {title}: {works} of {}\n", of_it.len());
        page.push_str("| | requirement | shown by | result |\n|---|---|---|---|\n");
        for RowResult { row, trouble } in of_it {
            let result = match (trouble, &row.gap) {
                (None, _) => "works".to_string(),
                (Some(_), Some(gap)) => format!("not yet: {gap}"),
                (Some(trouble), None) => format!("broken: {trouble}"),
            };
            let _ = writeln!(
                page,
                "| {} | {} | {} | {} |",
                row.id,
                cell(&row.asks),
                code(&row.command),
                cell(&result)
            );
        }
    }
    page
}

fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

fn code(text: &str) -> String {
    format!("`{}`", cell(text))
}
