//! Over generated progress files: two lines change, and nothing else.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zÄ#* :0-9-]{0,12}",
        (0_u64..2000).prop_map(|number| format!("- Iteration: {number}")),
        (0_u64..2000).prop_map(|number| format!("Max Iterations: {number}")),
        "[ A-Z_]{0,6}".prop_map(|status| format!("* **Status:** {status}")),
        Just("Iteration: ?".to_string()),
    ]
}

fn text() -> impl Strategy<Value = String> {
    let end = prop_oneof![Just("\n"), Just("\r\n")];
    (vec(line(), 0..8), end, any::<bool>()).prop_map(|(lines, end, closed)| {
        let text = lines.join(end);
        if closed { format!("{text}{end}") } else { text }
    })
}

/// The lines that differ, by number; those added behind the last one included.
fn changed(before: &str, after: &str) -> Vec<usize> {
    let before: Vec<&str> = before.split('\n').collect();
    let after: Vec<&str> = after.split('\n').collect();
    (0..after.len()).filter(|at| before.get(*at) != after.get(*at)).collect()
}

proptest! {
    #[test]
    fn advancing_changes_two_lines_at_most(text in text(), iteration in 1_u32..5000) {
        let after = advanced(&text, iteration);
        prop_assert_eq!(ProgressFile::read(&after).iteration, iteration);
        prop_assert_eq!(ProgressFile::read(&after).max, ProgressFile::read(&text).max);
        if text.contains("Iteration:") {
            prop_assert_eq!(after.lines().count(), text.lines().count());
            prop_assert!(changed(&text, &after).len() <= 2);
            for at in changed(&text, &after) {
                let line = text.split('\n').nth(at).unwrap_or_default();
                prop_assert!(line.contains("Iteration:") || line.contains("Status:"), "{line:?}");
            }
        } else {
            prop_assert!(after.lines().count() == text.lines().count() + 1);
        }
        prop_assert_eq!(advanced(&after, iteration), after);
    }

    #[test]
    fn ending_changes_the_status_alone(text in text()) {
        let after = ended(&text, ProgressStanding::Complete);
        let status = ProgressFile::read(&after).status;
        prop_assert_eq!(status.as_deref(), Some("COMPLETE"));
        prop_assert_eq!(ProgressFile::read(&after).iteration, ProgressFile::read(&text).iteration);
        if text.contains("Status:") {
            prop_assert!(changed(&text, &after).len() <= 1);
        }
    }

    #[test]
    fn no_text_makes_the_readers_stumble(text in "\\PC*", number in any::<u32>()) {
        let _ = FeatureList::read(&text);
        let after = advanced(&ended(&text, ProgressStanding::ReachedLimit), number);
        prop_assert_eq!(ProgressFile::read(&after).iteration, number);
    }
}
