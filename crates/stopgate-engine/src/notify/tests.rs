use stopgate_core::Timestamp;

use super::is_quiet;
use super::wish::{NotifyWire, hours};

#[test]
fn quiet_hours_may_last_over_midnight() {
    assert_eq!(hours("22:00-07:30"), Some((1320, 450)));
    assert_eq!(hours("22-7"), None);
    assert_eq!(hours("25:00-07:00"), None);
    let noon = (11 * 60, 13 * 60);
    let all_day = (0, 24 * 60 - 1);
    let now = Timestamp::from_unix_millis(0);
    assert!(is_quiet(all_day, now));
    assert_eq!(is_quiet(noon, now), is_quiet((660, 780), now));
}

#[test]
fn what_can_not_be_sent_is_refused_without_repeating_a_secret() {
    let refused = |text: &str| {
        let wire: NotifyWire = toml::from_str(text).unwrap();
        wire.wish().unwrap_err()
    };
    let why = refused("slack = \"hooks.example.com/T0/secret\"");
    assert!(why.contains("https://HOST/PATH") && !why.contains("secret"), "{why}");
    for text in
        ["webhook_secret = \"x\"", "ntfy_token = \"x\"", "ntfy = \"https://\"", "quiet = \"x\""]
    {
        refused(text);
    }
    let wire: NotifyWire = toml::from_str("ntfy = \"https://h/t\"\nbell = true").unwrap();
    assert!(wire.wish().unwrap().posts());
}
