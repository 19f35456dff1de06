//! Lines of a terminal as SVG: no script, light or dark as the reader's system is.

use std::fmt::Write as _;

use super::ansi::{Line, Style, Weight};

const CELL: f64 = 8.4;
const ROW: usize = 19;
const EDGE: usize = 14;
/// How long a block of lines stands alone before the next one comes.
const BLOCK_SECONDS: f64 = 2.2;
const LAST_SECONDS: f64 = 6.0;

const STYLE: &str = "\
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:var(--ink);white-space:pre}\
svg{--paper:#fff;--ink:#1f2328;--faint:#59636e;--red:#b3261e;--green:#1a7f37;--yellow:#7d4e00;--blue:#0550ae;--magenta:#8250df;--cyan:#1b6e75}\
@media(prefers-color-scheme:dark){svg{--paper:#0d1117;--ink:#e6edf3;--faint:#9198a1;--red:#ff7b72;--green:#56d364;--yellow:#e3b341;\
--blue:#79c0ff;--magenta:#d2a8ff;--cyan:#76e3ea}}\
.paper{fill:var(--paper)}.b{font-weight:bold}.f{fill:var(--faint)}\
.c1{fill:var(--red)}.c2{fill:var(--green)}.c3{fill:var(--yellow)}.c4{fill:var(--blue)}.c5{fill:var(--magenta)}.c6{fill:var(--cyan)}";

/// A screen as it is.
pub(crate) fn picture(lines: &[Line], columns: usize) -> String {
    let mut out = head(columns, lines.len(), "");
    for (row, line) in lines.iter().enumerate() {
        draw(&mut out, line, row);
    }
    out.push_str("</svg>\n");
    out
}

/// Lines that come block by block, and scroll where they no longer fit.
pub(crate) struct Animation<'a> {
    pub(crate) columns: usize,
    pub(crate) rows: usize,
    /// What stands after the prompt in the first line.
    pub(crate) typed: &'a str,
}

impl Animation<'_> {
    pub(crate) fn draw(&self, printed: &[Line]) -> String {
        let prompt = Line { runs: vec![(Style::default(), format!("$ {}", self.typed))] };
        let mut lines = vec![prompt];
        lines.extend_from_slice(printed);
        let blocks = blocks(&lines);
        let mut out = head(self.columns, self.rows, &self.timing(&lines, &blocks));
        let (width, height) = size(self.columns, self.rows);
        let _ = write!(
            out,
            "<clipPath id=\"w\"><rect width=\"{width}\" height=\"{height}\"/></clipPath><g clip-path=\"url(#w)\"><g class=\"scroll\">"
        );
        for (number, (from, to)) in blocks.iter().enumerate() {
            let _ = write!(out, "<g class=\"k k{number}\">");
            for (row, line) in lines.iter().enumerate().take(*to).skip(*from) {
                draw(&mut out, line, row);
            }
            out.push_str("</g>");
        }
        out.push_str("</g></g></svg>\n");
        out
    }

    /// When each block comes, and how far all is scrolled by then.
    fn timing(&self, lines: &[Line], blocks: &[(usize, usize)]) -> String {
        let steps = u32::try_from(blocks.len() - 1).unwrap_or(u32::MAX);
        let total = f64::from(steps) * BLOCK_SECONDS + LAST_SECONDS;
        let mut out = String::new();
        let mut scroll = String::new();
        for (number, (_, to)) in (0_u32..).zip(blocks) {
            let at = 100.0 * f64::from(number) * BLOCK_SECONDS / total;
            let up = to.saturating_sub(self.rows) * ROW;
            let _ = write!(scroll, "{at:.2}%{{transform:translateY(-{up}px)}}");
            let before = (at - 0.01).max(0.0);
            let hidden = if number == 0 {
                String::new()
            } else {
                format!("0%,{before:.2}%{{visibility:hidden}}")
            };
            let _ =
                write!(out, "@keyframes a{number}{{{hidden}{at:.2}%,100%{{visibility:visible}}}}");
        }
        let last = lines.len().saturating_sub(self.rows) * ROW;
        let _ = write!(
            out,
            "@keyframes s{{{scroll}100%{{transform:translateY(-{last}px)}}}}\
             .k{{animation:{total}s step-end infinite}}.scroll{{animation:s {total}s step-end infinite}}\
             @media(prefers-reduced-motion:reduce){{.k,.scroll{{animation:none}}}}"
        );
        // The names come after the shorthand, which would reset them.
        for number in 0..blocks.len() {
            let _ = write!(out, ".k{number}{{animation-name:a{number}}}");
        }
        out
    }
}

/// Runs of lines that belong together: up to and with the blank line after them.
fn blocks(lines: &[Line]) -> Vec<(usize, usize)> {
    let mut found = vec![(0, 1)];
    let mut from = 1;
    for (at, line) in lines.iter().enumerate().skip(1) {
        if line.is_blank() {
            found.push((from, at + 1));
            from = at + 1;
        }
    }
    if from < lines.len() {
        found.push((from, lines.len()));
    }
    found
}

fn size(columns: usize, rows: usize) -> (usize, usize) {
    let width = f64::from(u32::try_from(columns).unwrap_or(u32::MAX)) * CELL;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a picture's width"
    )]
    let width = width.ceil() as usize;
    (width + 2 * EDGE, rows * ROW + 2 * EDGE)
}

fn head(columns: usize, rows: usize, more: &str) -> String {
    let (width, height) = size(columns, rows);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\">\
         <style>{STYLE}{more}</style><rect class=\"paper\" width=\"{width}\" height=\"{height}\" rx=\"8\"/>\n"
    )
}

fn draw(out: &mut String, line: &Line, row: usize) {
    if line.is_blank() {
        return;
    }
    let _ = write!(out, "<text x=\"{EDGE}\" y=\"{}\">", EDGE + ROW * row + ROW - 5);
    for (style, text) in &line.runs {
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let class = class(*style);
        let _ = match class.as_str() {
            "" => write!(out, "{text}"),
            class => write!(out, "<tspan class=\"{class}\">{text}</tspan>"),
        };
    }
    out.push_str("</text>\n");
}

fn class(style: Style) -> String {
    let mut names = Vec::new();
    match style.weight {
        Weight::Normal => {}
        Weight::Bold => names.push("b".to_string()),
        Weight::Faint => names.push("f".to_string()),
    }
    names.extend(
        style.colour.filter(|colour| (1..=6).contains(colour)).map(|colour| format!("c{colour}")),
    );
    names.join(" ")
}
