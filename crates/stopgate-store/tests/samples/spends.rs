//! Samples of what agents use.

use stopgate_core::{
    BudgetKind, ContextUse, CountedCall, DaySpend, Event, LoopEdit, MeterDoubt, ModelSpend,
    Outcome, Policy, QuotaUse, Rule, Ruling, SharedBudget, Spend, SpendMark, Started, Stopped,
    TokenUse, UsageFile,
};

use super::{at, begin, sent_back};

/// What came with limits on what an agent uses.
pub(crate) fn spends() -> Vec<Event> {
    let tokens = TokenUse {
        input: 1,
        cache_read: 2,
        cache_write: 3,
        cache_write_long: 4,
        output: 5,
        reasoning: 6,
    };
    let call = CountedCall { id: u64::MAX, model: 1, tokens, nanos: Some(7), day: 20_772 };
    let file = UsageFile {
        path: "/golden/s1.jsonl".into(),
        agent: "claude".into(),
        offset: 9_000_000_000,
        inside_line: true,
        model: Some("opus".into()),
        has_records: true,
        recent: vec![call, CountedCall::default()],
    };
    let spend = Spend {
        at: Some(at(9)),
        models: vec![ModelSpend { model: "opus".into(), calls: 2, tokens, nanos: 8, unpriced: 9 }],
        files: vec![file, UsageFile::default()],
        days: vec![DaySpend { day: 20_772, tokens: 15, nanos: 8 }],
        quota: Some(QuotaUse { percent: 42, resets_at: Some(at(10)) }),
        context: Some(ContextUse { used: 160_000, window: Some(200_000) }),
        shared: vec![SharedBudget { kind: BudgetKind::CostPerDay, others: 1, limit: 2 }],
        since: SpendMark { tokens: 1, nanos: 2 },
        doubt: Some(MeterDoubt::Behind),
    };
    let policy = Policy {
        max_tokens: 2_000_000,
        max_cost_micros: 25_000_000,
        max_quota: 80,
        metered: true,
        context_warn: Some(70),
        ..begin().policy
    };
    vec![
        Event::Started(Box::new(Started { policy, ..begin() })),
        Event::Metered(Box::default()),
        Event::Metered(Box::new(spend)),
        Event::Stopped(Box::new(Stopped {
            rule: Rule::Budget,
            ruling: Ruling::Escalate(Outcome::Budget),
            ..sent_back()
        })),
        Event::Edited(Box::new(LoopEdit {
            max_tokens: Some(0),
            max_cost_micros: Some(1),
            max_quota: Some(90),
            ..LoopEdit::default()
        })),
    ]
}
