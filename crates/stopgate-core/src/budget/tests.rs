use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec;

use super::{budgets, crowded_context, remark, spend_words};
use crate::scene::{NOON, check, last_decision, spend, started};
use crate::{
    BudgetKind, ContextUse, DaySpend, Event, MeterDoubt, Mode, Policy, QuotaUse, SharedBudget,
    Spend, State, Verdict, apply,
};

fn state(policy: Policy, spend: Spend) -> State {
    let start = started(policy, crate::scene::frame(Mode::Loop, 0, 5, "work"), vec![]);
    let state = apply(None, &start, NOON);
    apply(state, &Event::Metered(Box::new(spend)), NOON).expect("a start begins a state")
}

fn said(policy: Policy, spend: Spend) -> String {
    let mut text = String::new();
    remark(&mut text, &state(policy, spend));
    text
}

fn priced(dollars: u64) -> Spend {
    let mut spend = spend(1000);
    spend.models[0].unpriced = 0;
    spend.models[0].nanos = dollars * 1_000_000_000;
    spend
}

#[test]
fn the_loop_ends_at_its_limit_and_not_before() {
    check(
        "loop 0/9, tokens 100, check tests
        used 99
        stop tests fail => continue 1/9
        used 100
        stop tests fail => escalate budget
        rule => budget
        why => the token limit is reached: 100 tokens of 100 tokens were used",
    );
}

#[test]
fn proof_beats_the_budget_also_in_a_nested_frame() {
    check("loop 0/9, tokens 100, check tests\n used 100\n stop tests pass => complete done");
    check(
        "loop 0/9, tokens 100, check tests
        push issue 0/3
        used 99
        due => none
        used 100
        due => tests
        stop tests pass => complete done",
    );
}

#[test]
fn a_nested_frame_uses_what_is_its_parents() {
    check(
        "loop 0/9, tokens 100
        push issue 0/3
        used 100
        stop => escalate budget",
    );
}

#[test]
fn who_resumes_allows_as_much_again() {
    check(
        "loop 0/9, tokens 100
        used 120
        stop => escalate budget
        resume
        stop => continue 1/9",
    );
}

#[test]
fn nearly_spent_means_wrap_up() {
    let scene = |used: &str| {
        let scene = alloc::format!("loop 0/9, tokens 100\n used {used}\n stop => continue 1/9");
        let Verdict::Continue { text } = last_decision(&scene).verdict else { panic!("{used}") };
        text
    };
    assert!(!scene("89").contains("token limit"), "{}", scene("89"));
    let told = scene("90");
    assert!(
        told.contains("Nearly all of the token limit is used (90 tokens of 100 tokens): finish"),
        "{told}"
    );
}

#[test]
fn money_counts_in_dollars_and_an_unknown_price_is_said() {
    let policy = Policy { max_cost_micros: 25_000_000, ..Policy::default() };
    let used = budgets(&state(policy, priced(3)));
    assert_eq!((used[0].kind, used[0].used), (BudgetKind::Cost, 3_000_000_000));
    assert!(!used[0].is_spent());
    assert!(budgets(&state(policy, priced(25)))[0].is_spent());
    assert_eq!(said(policy, priced(3)), "");
    assert_eq!(
        said(policy, spend(10)),
        "The cost limit can't be kept: no price is known for opus. "
    );
    assert_eq!(said(Policy { max_tokens: 100, ..Policy::default() }, spend(10)), "");
}

#[test]
fn what_nobody_records_is_said_once_a_limit_needs_it() {
    let blind = Spend { doubt: Some(MeterDoubt::NoRecord), ..Spend::default() };
    let policy = Policy { max_tokens: 100, ..Policy::default() };
    let told = said(policy, blind.clone());
    assert_eq!(told, "Limits on tokens and cost can't be kept: usage is unknown here. ");
    assert_eq!(said(Policy { max_quota: 80, ..Policy::default() }, blind), "");
}

#[test]
fn a_quota_and_what_others_share_end_a_loop_too() {
    let policy = Policy { max_quota: 80, ..Policy::default() };
    let at =
        |percent| Spend { quota: Some(QuotaUse { percent, resets_at: None }), ..Spend::default() };
    assert!(!budgets(&state(policy, at(79)))[0].is_spent());
    assert!(budgets(&state(policy, at(80)))[0].is_spent());
    let mut shared = priced(3);
    shared.days = vec![
        DaySpend { day: 1, tokens: 900, nanos: 2_900_000_000 },
        DaySpend { day: 2, tokens: 100, nanos: 100_000_000 },
    ];
    let budget = |kind, others, limit| SharedBudget { kind, others, limit };
    shared.shared = vec![
        budget(BudgetKind::CostPerDay, 4_000_000_000, 5_000_000_000),
        budget(BudgetKind::CostPerProject, 1_000_000_000, 4_000_000_000),
    ];
    let found = budgets(&state(Policy::default(), shared));
    assert_eq!((found[0].used, found[0].is_spent()), (4_100_000_000, false));
    assert_eq!((found[1].used, found[1].is_spent()), (4_000_000_000, true));
}

#[test]
fn a_crowded_context_asks_for_a_hand_over() {
    let at =
        |used, window| Spend { context: Some(ContextUse { used, window }), ..Spend::default() };
    assert_eq!(said(Policy::default(), at(159_000, Some(200_000))), "");
    let told = said(Policy::default(), at(160_000, Some(200_000)));
    assert!(told.starts_with("Your context is 80 % full (160.0 k tokens): write down"), "{told}");
    assert_eq!(said(Policy::default(), at(160_000, None)), "");
    let later = Policy { context_warn: Some(95), ..Policy::default() };
    assert_eq!(crowded_context(&state(later, at(160_000, Some(200_000)))), None);
    let never = Policy { context_warn: Some(0), ..Policy::default() };
    assert_eq!(said(never, at(200_000, Some(200_000))), "");
}

#[test]
fn what_was_used_is_told_with_how_sure_it_is() {
    let limited =
        Policy { max_tokens: 2_000_000, max_cost_micros: 25_000_000, ..Policy::default() };
    let words = |policy, spend| spend_words(&state(policy, spend)).unwrap_or_default();
    assert_eq!(words(limited, priced(3)), "1.0 k of 2.0 M tokens, $3.00 of $25.00 (measured)");
    assert_eq!(words(Policy::default(), priced(3)), "1.0 k tokens, $3.00 (measured)");
    assert_eq!(
        words(limited, spend(1000)),
        "1.0 k of 2.0 M tokens, cost unknown (no price for opus) (measured)"
    );
    let mut behind = priced(3);
    behind.models[0].unpriced = 5;
    behind.doubt = Some(MeterDoubt::Behind);
    behind.quota = Some(QuotaUse { percent: 42, resets_at: None });
    assert_eq!(
        words(Policy { max_quota: 80, ..Policy::default() }, behind),
        "1.0 k tokens, at least $3.00 (no price for opus), quota 42 % of 80 % (estimated: more is \
         still to be read)"
    );
    let start = started(limited, crate::scene::frame(Mode::Loop, 0, 5, "work"), vec![]);
    let fresh = apply(None, &start, NOON).expect("a start begins a state");
    let told = spend_words(&fresh);
    assert_eq!(told.as_deref(), Some("nothing counted yet of 2.0 M tokens, $25.00"));
    let free = started(Policy::default(), crate::scene::frame(Mode::Loop, 0, 5, "w"), vec![]);
    assert_eq!(spend_words(&apply(None, &free, NOON).expect("a start begins a state")), None);
}

#[test]
fn what_can_not_be_counted_is_unknown_and_never_nothing() {
    let limited = Policy { max_tokens: 2_000_000, ..Policy::default() };
    let words = |policy, doubt| {
        let spend = Spend { doubt: Some(doubt), ..Spend::default() };
        spend_words(&state(policy, spend)).unwrap_or_default()
    };
    assert_eq!(
        words(Policy::default(), MeterDoubt::NoRecord),
        "unknown: the agent keeps no record of it"
    );
    assert_eq!(
        words(limited, MeterDoubt::Unreadable),
        "unknown: the agent's record can't be read, so the limit of 2.0 M tokens can't be kept"
    );
}

#[test]
fn the_tightest_budget_is_named() {
    // 95 of 100 tokens are tighter than 91 of 100 percent, and than 9.1 of 10 dollars.
    let policy = Policy {
        max_tokens: 1000,
        max_cost_micros: 10_000_000,
        max_quota: 100,
        ..Policy::default()
    };
    let mut spend = spend(950);
    spend.models[0].unpriced = 0;
    spend.models[0].nanos = 9_100_000_000;
    spend.quota = Some(QuotaUse { percent: 91, resets_at: None });
    let told = said(policy, spend.clone());
    assert!(told.starts_with("Nearly all of the token limit is used (950 tokens"), "{told}");
    spend.models[0].nanos = 9_900_000_000;
    let told = said(policy, spend.clone());
    assert!(told.starts_with("Nearly all of the cost limit is used ($9.90 of $10.00)"), "{told}");
    spend.quota = Some(QuotaUse { percent: 99, resets_at: None });
    spend.models[0].nanos = 9_100_000_000;
    let told = said(policy, spend);
    assert!(told.contains("(99 % of 100 %)"), "{told}");
}
