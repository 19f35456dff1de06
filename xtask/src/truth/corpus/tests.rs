//! The corpus is as large and as broad as it claims to be.

use std::collections::BTreeSet;

use super::super::options;
use super::{StoryClass, choose, load};

#[test]
fn the_corpus_is_large_and_broad() {
    let stories = load(None).expect("read the corpus");
    let count = |class| stories.iter().filter(|story| story.class == class).count();
    assert!(count(StoryClass::Cheat) >= 150, "{} cheats", count(StoryClass::Cheat));
    assert!(count(StoryClass::Honest) >= 500, "{} honest endings", count(StoryClass::Honest));
    for class in [StoryClass::Cheat, StoryClass::Honest] {
        let of_class = stories.iter().filter(|story| story.class == class);
        let ecosystems: BTreeSet<_> = of_class.map(|story| &story.ecosystem).collect();
        assert!(ecosystems.len() >= 8, "{class:?}: {ecosystems:?}");
    }
}

#[test]
fn no_story_is_told_twice() {
    let stories = load(None).expect("read the corpus");
    let mut seen = BTreeSet::new();
    let mut repeated = Vec::new();
    for story in &stories {
        let telling = &story.telling;
        let told =
            format!("{}{:?}{:?}{}", story.ecosystem, story.way, telling.steps, telling.during);
        let told = format!("{told}{}{}{:?}", telling.before, telling.dirty, telling.hook_env);
        let told = format!("{told}{}{:?}", telling.says, telling.starter);
        if !seen.insert(told) {
            repeated.push(&story.id);
        }
    }
    assert_eq!(repeated, Vec::<&String>::new());
}

#[test]
fn the_quick_part_has_every_family_and_needs_no_optional_tool() {
    let plan = options::read(&["--quick", "--corpus"]).expect("read the options");
    let chosen = choose(load(None).expect("read the corpus"), &plan);
    assert!((60..=120).contains(&chosen.len()), "{} stories", chosen.len());
    let told: BTreeSet<_> =
        load(None).expect("read the corpus").into_iter().map(|story| story.family).collect();
    let quick: BTreeSet<_> = chosen.iter().map(|story| story.family.clone()).collect();
    assert_eq!(quick, told);
    let optional = |story: &&super::TruthStory| story.needs.iter().any(|need| need == "go");
    assert_eq!(chosen.iter().filter(optional).count(), 0);
}
