//! The stops of a loop over time, as SVG.

use std::fmt::Write as _;

use stopgate_core::RulingWord;

use crate::story::{LoopStory, StopStory};
use crate::when::{span, utc_clock};

const WIDTH: i64 = 800;
const LEFT: i64 = 10;
const MIDDLE: i64 = 24;

/// The stops over time; `None` where there are none.
///
/// A shape says what was answered, so that colour alone tells nothing. Everything in it is our
/// own: numbers and words, no text that others wrote.
pub fn svg(story: &LoopStory) -> Option<String> {
    let last = story.stops.last()?.at;
    let all = last.since(story.started_at).max(1);
    let mut drawn = format!(
        "<svg viewBox=\"0 0 {WIDTH} 60\" role=\"img\" aria-label=\"{} stops in {}\">\n\
         <line class=\"axis\" x1=\"{LEFT}\" y1=\"{MIDDLE}\" x2=\"{}\" y2=\"{MIDDLE}\"/>\n",
        story.stops.len(),
        span(all),
        WIDTH - LEFT
    );
    for stop in &story.stops {
        let passed = i128::from(stop.at.since(story.started_at));
        let room = i128::from(WIDTH - 2 * LEFT);
        let offset = i64::try_from(passed * room / i128::from(all)).unwrap_or(0);
        let x = LEFT + offset.clamp(0, WIDTH - 2 * LEFT);
        shape(&mut drawn, stop, x);
    }
    let _ = writeln!(
        drawn,
        "<text x=\"{LEFT}\" y=\"52\">{}</text>\n<text x=\"{}\" y=\"52\" text-anchor=\"end\">{}</text>\n</svg>",
        utc_clock(story.started_at),
        WIDTH - LEFT,
        utc_clock(last)
    );
    Some(drawn)
}

fn shape(drawn: &mut String, stop: &StopStory, x: i64) {
    let what = stop.outcome.map_or_else(|| stop.verdict.to_string(), |outcome| outcome.to_string());
    let title = format!("<title>stop {}: {what}, {}</title>", stop.number, stop.rule);
    let class = stop.verdict;
    let _ = match class {
        RulingWord::Continue => {
            writeln!(
                drawn,
                "<circle class=\"{class}\" cx=\"{x}\" cy=\"{MIDDLE}\" r=\"5\">{title}</circle>"
            )
        }
        RulingWord::Complete => writeln!(
            drawn,
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"12\" height=\"12\">{title}</rect>",
            x - 6,
            MIDDLE - 6
        ),
        RulingWord::Escalate => writeln!(
            drawn,
            "<polygon class=\"{class}\" points=\"{},{} {},{} {},{}\">{title}</polygon>",
            x,
            MIDDLE - 8,
            x + 7,
            MIDDLE + 6,
            x - 7,
            MIDDLE + 6
        ),
        RulingWord::Allow => writeln!(
            drawn,
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"2\" height=\"14\">{title}</rect>",
            x - 1,
            MIDDLE - 7
        ),
    };
}
