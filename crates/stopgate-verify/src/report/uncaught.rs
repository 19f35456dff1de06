//! Whether a program says at its end that nobody caught its exception.
//!
//! Such a program ends with another exit code than 0, unless something in it changes that on the
//! way out.

use super::without_ansi;

/// The language whose uncaught exception is the last thing in an output.
pub(crate) fn uncaught_at_end(output: &str) -> Option<&'static str> {
    let output = without_ansi(output);
    let lines: Vec<&str> =
        output.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let last = *lines.last()?;
    if ends_traceback(&lines) {
        return Some("Python");
    }
    if ends_stack_of_java(&lines) {
        return Some("Java");
    }
    let version = last.strip_prefix("Node.js v").map(str::as_bytes);
    version.is_some_and(|rest| rest.first().is_some_and(u8::is_ascii_digit)).then_some("Node.js")
}

/// `Traceback (most recent call last):`, indented lines, and one that names the exception.
fn ends_traceback(lines: &[&str]) -> bool {
    let header = "Traceback (most recent call last):";
    let Some(at) = lines.iter().rposition(|line| *line == header) else { return false };
    let Some((last, frames)) = lines[at + 1..].split_last() else { return false };
    let name = last.split([':', ' ']).next().unwrap_or_default();
    let is_name = |letter: char| letter.is_alphanumeric() || "._".contains(letter);
    let is_exception = ["Error", "Exception", "Exit", "Interrupt", "Failure"]
        .iter()
        .any(|end| name.ends_with(end))
        && name.chars().all(is_name);
    !frames.is_empty() && frames.iter().all(|line| line.starts_with(' ')) && is_exception
}

/// `Exception in thread "main" …`, and the frames below it.
fn ends_stack_of_java(lines: &[&str]) -> bool {
    let Some(at) = lines.iter().rposition(|line| line.starts_with("Exception in thread \"main\" "))
    else {
        return false;
    };
    let is_frame = |line: &&str| {
        let line = line.trim_start();
        ["at ", "... ", "Caused by: ", "Suppressed: "].iter().any(|begin| line.starts_with(begin))
    };
    lines[at + 1..].iter().all(is_frame)
}

#[cfg(test)]
mod tests {
    use super::uncaught_at_end;

    #[test]
    fn only_the_end_of_an_output_counts() {
        let python = "Traceback (most recent call last):\n  File \"t.py\", line 3, in <module>\n    \
             assert area(2, 3) == 6\nAssertionError\n";
        let java = "Exception in thread \"main\" java.lang.IllegalStateException: 3 is not 5\n\tat \
                    pace.PaceTest.main(PaceTest.java:5)\n";
        let node =
            "AssertionError [ERR_ASSERTION]: 1 == 2\n    at f (x.js:1:1)\n\nNode.js v20.20.2\n";
        for (text, language) in [(python, "Python"), (java, "Java"), (node, "Node.js")] {
            assert_eq!(uncaught_at_end(text), Some(language));
            assert_eq!(uncaught_at_end(&format!("1\n{text}")), Some(language));
            assert_eq!(uncaught_at_end(&format!("{text}all is well\n")), None);
        }
        assert_eq!(uncaught_at_end(""), None);
        assert_eq!(uncaught_at_end("Traceback (most recent call last):\n"), None);
        assert_eq!(uncaught_at_end("3 passed\n"), None);
    }
}
