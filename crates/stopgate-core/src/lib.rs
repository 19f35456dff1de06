//! The judgement: words, policy, events, fold, decide.
