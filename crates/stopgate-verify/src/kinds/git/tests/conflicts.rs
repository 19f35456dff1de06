//! Conflict markers that a merge left behind.

use stopgate_core::GitDemand;

use super::{ask, repository, run, write};

#[test]
fn conflict_markers_are_found_in_any_length_and_form() {
    let marked = |size: usize, end: &str| {
        let signs = |sign: &str| sign.repeat(size);
        let (open, middle, close) = (signs("<"), signs("="), signs(">"));
        format!("x{end}{open} ours{end}1{end}{middle}{end}2{end}{close} theirs{end}")
    };
    let wide = |text: &str, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    };
    let seven = marked(7, "\n");
    let found = "fail: conflict markers: f.c:2";
    let none = "pass: no conflicts";
    let rows: Vec<(&str, Vec<u8>, &str)> = vec![
        ("seven", seven.clone().into(), found),
        ("eight", marked(8, "\n").into(), found),
        ("thirty-two", marked(32, "\n").into(), found),
        ("six", marked(6, "\n").into(), none),
        ("Windows", marked(7, "\r\n").into(), found),
        ("three ways", seven.replace("=======", "||||||| base\n0\n=======").into(), found),
        ("no labels", seven.replace(" ours", "").replace(" theirs", "").into(), found),
        ("different lengths", seven.replace("=======", "=========").into(), found),
        ("UTF-16 LE", wide(&seven, u16::to_le_bytes), found),
        ("UTF-16 BE", wide(&format!("\u{feff}{seven}"), u16::to_be_bytes), found),
        ("BOM", format!("\u{feff}{}", &seven[2..]).into(), "fail: conflict markers: f.c:1"),
        ("no last end of line", seven.trim_end().into(), found),
        ("indented", seven.replace('\n', "\n  ").into(), none),
        ("not at once", seven.replace("<<<<<<< ", "<<<<<<<x ").into(), none),
        ("another order", ">>>>>>> b\n=======\n<<<<<<< a\n".into(), none),
        ("a title", "Title\n=======\ntext\n".into(), none),
        ("a shift", "a <<<<<<< b\n".into(), none),
        ("nothing", Vec::new(), none),
        ("bytes", vec![0xff, 0xfe, 0x00, 0x0a, 0xff], none),
    ];
    let project = repository();
    let root = project.path();
    for (name, bytes, expected) in rows {
        write(root, "f.c", &bytes);
        assert_eq!(ask(root, GitDemand::NoConflicts, None), expected, "{name}");
    }
    write(root, "f.c", "fine\n");
    run(root, &["update-index", "--assume-unchanged", "a.txt"]);
    write(root, "a.txt", &seven);
    let hidden = "fail: conflict markers: a.txt:2";
    assert_eq!(ask(root, GitDemand::NoConflicts, None), hidden);
}
