use proptest::prelude::*;
use stopgate_core::Enforcement;

use super::{LimitOrigin, RequestedLimits, settle};

fn asked(max_minutes: Option<u32>) -> RequestedLimits {
    RequestedLimits { max_minutes, ..RequestedLimits::default() }
}

#[test]
fn a_person_s_word_beats_the_default_and_a_flag_beats_their_settings() {
    let none = RequestedLimits::default();
    let minutes = |flag, user| settle(&asked(flag), &asked(user), &none).0.policy.max_minutes;
    assert_eq!(minutes(None, None), 240);
    assert_eq!(minutes(None, Some(500)), 500);
    assert_eq!(minutes(Some(700), Some(500)), 700);
}

#[test]
fn a_project_tightens_and_says_so() {
    let (limits, settings) =
        settle(&asked(Some(700)), &RequestedLimits::default(), &asked(Some(60)));
    assert_eq!(limits.policy.max_minutes, 60);
    let setting = settings.iter().find(|setting| setting.key == "max_minutes").unwrap();
    assert_eq!((setting.value.as_str(), setting.origin), ("60", LimitOrigin::Project));
}

#[test]
fn a_project_never_loosens() {
    for wish in [Some(241), Some(0)] {
        let (limits, settings) =
            settle(&RequestedLimits::default(), &RequestedLimits::default(), &asked(wish));
        assert_eq!(limits.policy.max_minutes, 240);
        let setting = settings.iter().find(|setting| setting.key == "max_minutes").unwrap();
        assert_eq!(setting.origin, LimitOrigin::Default);
        assert!(setting.refused.as_ref().unwrap().contains("looser"), "{setting:?}");
    }
    let shadow =
        RequestedLimits { enforcement: Some(Enforcement::Shadow), ..RequestedLimits::default() };
    let (limits, _) = settle(&RequestedLimits::default(), &RequestedLimits::default(), &shadow);
    assert_eq!(limits.policy.enforcement, Enforcement::Enforce);
    let (limits, _) = settle(&shadow, &RequestedLimits::default(), &RequestedLimits::default());
    assert_eq!(limits.policy.enforcement, Enforcement::Shadow);
}

proptest! {
    #[test]
    fn no_project_makes_any_limit_looser(values in proptest::array::uniform5(proptest::option::of(0u32..1000)), user in proptest::option::of(1u32..1000)) {
        let [iterations, minutes, idle, repeat, stale] = values;
        let project = RequestedLimits {
            max_iterations: iterations.filter(|n| *n > 0),
            max_minutes: minutes,
            max_idle: idle,
            max_repeat: repeat,
            stale_after_ms: stale.map(|s| i64::from(s) * 1000 + 1000),
            ..RequestedLimits::default()
        };
        let user = RequestedLimits { max_minutes: user, max_idle: user, ..RequestedLimits::default() };
        let (without, _) = settle(&RequestedLimits::default(), &user, &RequestedLimits::default());
        let (with, _) = settle(&RequestedLimits::default(), &user, &project);
        let loose = |n: u32| if n == 0 { u32::MAX } else { n };
        prop_assert!(with.max_iterations <= without.max_iterations);
        prop_assert!(loose(with.policy.max_minutes) <= loose(without.policy.max_minutes));
        prop_assert!(loose(with.policy.max_idle) <= loose(without.policy.max_idle));
        prop_assert!(loose(with.policy.max_repeat) <= loose(without.policy.max_repeat));
        prop_assert!(with.policy.stale_after_ms <= without.policy.stale_after_ms);
    }
}
