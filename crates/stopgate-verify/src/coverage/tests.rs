use proptest::prelude::*;
use stopgate_core::{CoverageFormat, Floor};

use super::{Coverage, CoverageVerdict, Share, judge, read};

#[track_caller]
fn check(file: &str, expected: &str) {
    let path = format!("{}/tests/coverage/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("a kept report");
    check_text(&text, expected);
}

#[track_caller]
fn check_text(text: &str, expected: &str) {
    let shown = match read(text, None) {
        Ok(coverage) => coverage.to_string(),
        Err(trouble) => trouble,
    };
    assert_eq!(shown, expected);
}

#[test]
fn lcov_is_added_up() {
    check("python.lcov", "lines 50 %, branches 25 %, functions 50 %");
    check("istanbul.lcov", "lines 75 %, branches 25 %, functions 50 %");
    let bare = "SF:a\nDA:1,1\nDA:2,0\nDA:3,5\nend_of_record\nSF:b\nDA:1,0\nend_of_record\n";
    check_text(bare, "lines 50 %");
    check_text("SF:a\nDA:1,1\n", "a file's part of it has no end: it is cut");
    check_text("SF:a\nLF:x\nend_of_record", "\"LF:x\" has no number");
}

#[test]
fn cobertura_is_read() {
    check("python.xml", "lines 50 %, branches 25 %");
    check("istanbul.xml", "lines 75 %, branches 25 %, functions 50 %");
    check_text(
        "<coverage line-rate='0.79999' branch-rate='1.0'/>",
        "lines 79.99 %, branches 100 %",
    );
    let counted = "<coverage line-rate='1'><class><methods><method><lines><line hits='0'/></lines>\
        </method></methods><lines><line hits='0'/><line hits='2' condition-coverage='50% (1/2)'/>\
        </lines></class></coverage>";
    check_text(counted, "lines 50 %, branches 50 %, functions 0 %");
    check_text(
        "<coverage lines-valid='2'",
        "it does not begin with <coverage>: not Cobertura's XML",
    );
    check_text("<coverage lines-valid='2'><a>", "the XML is cut or broken");
    check_text("<html/>", "it does not begin with <coverage>: not Cobertura's XML");
}

#[test]
fn json_is_read_regardless_of_its_author() {
    check("llvm-cov.json", "lines 75 %, branches 25 %, functions 66.66 %");
    check("python.json", "lines 50 %, branches 25 %");
    check("istanbul-summary.json", "lines 75 %, branches 25 %, functions 50 %");
    check("istanbul-final.json", "lines 75 %, branches 25 %, functions 50 %");
    check("simplecov-resultset.json", "lines 50 %, branches 50 %");
    check_text(r#"{"result":{"line":81.5,"branch":70}}"#, "lines 81.5 %, branches 70 %");
    check_text(
        r#"{"metrics":{"covered_percent":66.6,"covered_lines":1,"total_lines":4}}"#,
        "lines 25 %",
    );
    check_text(r#"{"lines":81.5}"#, "lines 81.5 %");
    check_text(r#"{"lines":{"pct":79.999}}"#, "lines 79.99 %");
    check_text("{}", "the JSON has no coverage that is known");
    check_text(r#"{"lines":101}"#, "it says that more lines were reached than there are");
}

#[test]
fn what_is_no_report_is_said_to_be_none() {
    check_text("hello", "neither lcov nor Cobertura's XML nor JSON");
    check_text("", "neither lcov nor Cobertura's XML nor JSON");
    assert!(read("{\"lines\": 90}", Some(CoverageFormat::Lcov)).is_err(), "the owner said lcov");
    assert!(read("{\"lines\": ", None).is_err());
}

#[track_caller]
fn judged(lines: Option<(u64, u64)>, floor: Floor) -> CoverageVerdict {
    let lines = lines.map(|(covered, total)| Share { covered, total });
    judge(&Coverage { lines, ..Coverage::default() }, &floor)
}

#[test]
fn too_little_is_said_in_words() {
    let floor = Floor { lines: Some(8000), ..Floor::default() };
    assert_eq!(judged(Some((4, 5)), floor), CoverageVerdict::Met);
    let short = |text: &str| CoverageVerdict::Short(text.into());
    assert_eq!(judged(Some((79_999, 100_000)), floor), short("lines 79.99 % < 80 %"));
    assert_eq!(judged(Some((69, 87)), floor), short("lines 79.31 % < 80 %"));
    assert_eq!(judged(Some((u64::MAX, u64::MAX)), floor), CoverageVerdict::Met);
}

#[test]
fn what_is_not_measured_proves_nothing() {
    let floor = Floor { lines: Some(8000), branches: Some(0), functions: None };
    let unproven = |text: &str| CoverageVerdict::Unproven(text.into());
    assert_eq!(judged(Some((1, 9)), floor), unproven("the report does not measure branches"));
    let floor = Floor { lines: Some(0), ..Floor::default() };
    assert_eq!(judged(Some((0, 0)), floor), unproven("the report has no lines at all"));
    assert!(matches!(judged(Some((1, 1)), Floor::default()), CoverageVerdict::Unproven(_)));
}

proptest! {
    #[test]
    fn no_text_is_too_odd(text in any::<String>()) {
        for format in [CoverageFormat::Lcov, CoverageFormat::Cobertura, CoverageFormat::Json] {
            let _ = read(&text, Some(format));
        }
    }

    #[test]
    fn no_number_is_rounded_up(thousandths in 0_u64..100_000) {
        let text = format!("{{\"lines\": {}.{:03}}}", thousandths / 1000, thousandths % 1000);
        let coverage = read(&text, None).expect("a percentage");
        let floor = Floor { lines: Some(8000), ..Floor::default() };
        prop_assert_eq!(judge(&coverage, &floor) == CoverageVerdict::Met, thousandths >= 80_000);
    }
}
