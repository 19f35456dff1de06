use stopgate_core::{
    Author, CoverageFormat, Enforcement, Floor, GitDemand, PatternSubject, Proof, Reuse, Site,
    Visibility, Weight,
};

use super::wire::parse;
use super::{AtStart, CriterionDraft, ProjectFile};

fn read(text: &str) -> ProjectFile {
    parse(text).unwrap_or_else(|why| panic!("{why}\n{text}"))
}

fn one(body: &str) -> CriterionDraft {
    let file = read(&format!("[[criterion]]\nname = \"it\"\n{body}"));
    file.criteria.into_iter().next().unwrap()
}

fn refused(body: &str) -> String {
    parse(&format!("[[criterion]]\nname = \"it\"\n{body}")).unwrap_err()
}

#[test]
fn every_kind_is_read() {
    let argv = vec!["cargo".to_string(), "test".into()];
    let cases = [
        (r#"run = ["cargo", "test"]"#, Proof::Run { argv, timeout_ms: 300_000 }),
        (
            "shell = \"a | b\"\ntimeout = \"10m\"",
            Proof::Check { command: "a | b".into(), timeout_ms: 600_000 },
        ),
        (
            r#"files = { exist = ["README.md"], absent = ["*.orig"] }"#,
            Proof::Files { exist: vec!["README.md".into()], absent: vec!["*.orig".into()] },
        ),
        (
            r#"pattern = { file = "a.txt", must = "x", must_not = ["y", "z"] }"#,
            Proof::Pattern {
                subject: PatternSubject::File("a.txt".into()),
                must: vec!["x".into()],
                must_not: vec!["y".into(), "z".into()],
            },
        ),
        (
            r#"pattern = { message = true, must = "ready" }"#,
            Proof::Pattern {
                subject: PatternSubject::Message,
                must: vec!["ready".into()],
                must_not: vec![],
            },
        ),
        (
            r#"coverage = { report = "lcov.info", format = "lcov", lines = 80, branches = 66.67 }"#,
            Proof::Coverage {
                report: "lcov.info".into(),
                format: Some(CoverageFormat::Lcov),
                floor: Floor { lines: Some(8000), branches: Some(6667), functions: None },
            },
        ),
        (r#"features = "feature_list.json""#, Proof::Features { list: "feature_list.json".into() }),
        (
            r#"git = ["clean", "pushed", "no-conflicts"]"#,
            Proof::Git {
                demands: vec![GitDemand::Clean, GitDemand::Pushed, GitDemand::NoConflicts],
            },
        ),
        (r#"attest = "agent""#, Proof::Attest),
        (r#"attest = "person""#, Proof::Approve),
    ];
    for (body, proof) in cases {
        assert_eq!(one(body).criterion.proof, proof, "{body}");
    }
}

#[test]
fn terms_are_read() {
    let draft = one(
        "run = [\"t\"]\nadvisory = true\nvisibility = \"hidden\"\nretries = 2\ncwd = \"sub\"\n\
         inputs = [\"src/**\"]\nprotect = [\"tests/**\"]\nreuse = false\nbaseline = true\n\
         pristine = true\nenv = { A = \"b\" }\npass_env = [\"C\"]\n\
         version = [\"t\", \"--version\"]\nmemory = \"2GiB\"\ncpu = \"90s\"",
    );
    let CriterionDraft { criterion, start } = draft;
    assert_eq!(start, AtStart::Baseline);
    assert_eq!((criterion.weight, criterion.visibility), (Weight::Advisory, Visibility::Hidden));
    let terms = criterion.terms;
    assert_eq!((terms.retries, terms.cwd.as_deref()), (2, Some("sub")));
    assert_eq!(
        (terms.reuse, terms.site, terms.author),
        (Reuse::Never, Site::Pristine, Author::Project)
    );
    assert_eq!((terms.memory_bytes, terms.cpu_seconds), (Some(2 << 30), Some(90)));
    assert_eq!(terms.set, [("A".to_string(), "b".to_string())]);
    assert_eq!((terms.inputs.len(), terms.protect.len()), (1, 1));
    assert_eq!((terms.pass.len(), terms.version.len()), (1, 2));
    assert_eq!(one("run = [\"t\"]\ncount_tests = true").start, AtStart::Count);
    assert_eq!(one("run = [\"t\"]").start, AtStart::Rest);
}

#[test]
fn limits_and_roots_are_read() {
    let file = read(
        "[loop]\nmax_iterations = 7\nmax_minutes = 30\nmax_idle = 2\nmax_repeat = 4\n\
         stale_after = \"2h\"\nmode = \"enforce\"\n[proof]\njobs = 3\nroots = [\"../lib\"]\n",
    );
    let limits = file.limits;
    assert_eq!((limits.max_iterations, limits.max_minutes), (Some(7), Some(30)));
    assert_eq!((limits.max_idle, limits.max_repeat), (Some(2), Some(4)));
    assert_eq!(limits.stale_after_ms, Some(7_200_000));
    assert_eq!(limits.enforcement, Some(Enforcement::Enforce));
    assert_eq!((file.jobs, file.roots), (3, vec!["../lib".to_string()]));
}

#[test]
fn what_it_does_not_know_is_refused_with_the_line() {
    let why = parse("[loop]\nmax_iterations = 3\nmax_itertions = 4\n").unwrap_err();
    assert!(why.starts_with("line 3, column 1: ") && why.contains("max_itertions"), "{why}");
    for (text, said) in [
        ("[loop]\nmax_cost_usd = -25.0", "amount of dollars"),
        ("[loop]\nmax_quota = 101", "percentages"),
        ("[loop]\nmax_iterations = 0", "at least 1"),
        ("[loop]\nstale_after = \"soon\"", "not a duration"),
        ("[[criterion]]\nrun = [\"t\"]", "line 1, column 1: criterion: it needs a name"),
        (
            "[[criterion]]\nname = \"a\"\nrun = [\"t\"]\n[[criterion]]\nname = \"a\"\nrun = [\"t\"]",
            "line 4, column 1: two criteria",
        ),
        ("nonsense", "line 1, column "),
    ] {
        let why = parse(text).unwrap_err();
        assert!(why.contains(said), "{text}: {why}");
    }
}

#[test]
fn a_criterion_that_makes_no_sense_is_refused_by_name() {
    for (body, said) in [
        ("", "proves nothing"),
        ("run = []", "names no program"),
        ("shell = \" \"", "is empty"),
        ("run = [\"t\"]\nshell = \"t\"", "several kinds"),
        ("files = {}", "asks for nothing"),
        ("git = []", "asks for nothing"),
        ("pattern = { must = \"x\" }", "looks at one text"),
        ("pattern = { file = \"a\", message = true, must = \"x\" }", "looks at one text"),
        ("pattern = { file = \"a\" }", "asks for nothing"),
        ("coverage = { report = \"a\" }", "asks for nothing"),
        ("coverage = { report = \"a\", lines = 101 }", "not a percentage"),
        ("attest = \"agent\"\nretries = 1", "`retries` is for checks that run something"),
        ("files = { exist = [\"a\"] }\nbaseline = true", "`baseline`"),
        ("run = [\"t\"]\npristine = true", "say which with `protect`"),
        ("run = [\"t\"]\ntimeout = \"never\"", "not a duration"),
        ("run = [\"t\"]\nmemory = \"lots\"", "not a size"),
    ] {
        let why = refused(body);
        assert!(why.contains("criterion \"it\": ") && why.contains(said), "{body}: {why}");
    }
}
