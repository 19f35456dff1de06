use proptest::prelude::*;

use super::{FrontMatter, quoted};

fn lines() -> impl Strategy<Value = Vec<String>> {
    let foreign = "[a-z_]{1,8}: [ -~é]{0,12}|# [ -~]{0,10}|  - [a-z]{0,5}|[ -~]{0,12}|";
    prop::collection::vec(foreign, 0..6)
}

proptest! {
    #[test]
    fn an_edit_changes_the_value_and_nothing_else(
        before in lines(), after in lines(), value in "[ -~é]{0,12}", body in "[ -~\n-]{0,40}",
        end in prop::sample::select(vec!["\n", "\r\n"]),
    ) {
        let keep = |lines: &[String]| -> String {
            let own = |line: &&str| !line.starts_with("count") && !line.starts_with("---");
            let lines = lines.iter().map(String::as_str);
            lines.filter(own).flat_map(|line| [line, end]).collect()
        };
        let (before, after) = (keep(&before), keep(&after));
        let text = format!("---{end}{before}count: 41 # ours{end}{after}---{end}{body}");
        let file = FrontMatter::read(&text).expect("it has fields");
        let new = quoted(&value);
        let edited = file.with("count", &new);
        prop_assert_eq!(
            &edited,
            &format!("---{end}{before}count: {new} # ours{end}{after}---{end}{body}")
        );
        let again = FrontMatter::read(&edited).expect("it still has fields");
        prop_assert_eq!(again.value("count"), Some(value));
        prop_assert_eq!(again.body(), body);
    }

    #[test]
    fn no_text_makes_it_panic(text in "[-:a \"'#\\\\\r\n\u{feff}é]{0,60}") {
        if let Some(file) = FrontMatter::read(&text) {
            let edited = file.with("a", "1");
            prop_assert!(FrontMatter::read(&edited).is_some());
        }
    }
}
