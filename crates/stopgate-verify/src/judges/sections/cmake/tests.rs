use super::*;

const ORIGINAL: &str = "project(a C)\nadd_library(a src/a.c)\nenable_testing()\n\
    # a test\nadd_executable(t tests/test_a.c)\ntarget_link_libraries(t a)\n\
    add_test(NAME t COMMAND t)\n";

fn judged(text: &str) -> Judging {
    judging(text, &BTreeSet::new())
}

fn restored_by(original: &str, today: &str) -> String {
    restore(original, today, &BTreeSet::new())
}

fn is_kept(today: &str) -> bool {
    judged(ORIGINAL).is_kept_by(&judged(today))
}

#[test]
fn how_the_work_is_built_is_work() {
    for (from, to) in [
        ("src/a.c)", "src/a.c src/b.c)"),
        ("project(a C)\n", "project(a C)\nadd_compile_options(-Wall)\nadd_executable(x x.c)\n"),
        ("tests/test_a.c)", "tests/test_a.c src/b.c)"),
        ("target_link_libraries(t a)", "target_link_libraries(t a m)"),
    ] {
        let today = ORIGINAL.replace(from, to);
        assert!(is_kept(&today), "{today}");
    }
}

#[test]
fn which_tests_there_are_and_what_they_are_built_from_judges() {
    for (from, to) in [
        ("add_test(NAME t COMMAND t)\n", ""),
        ("tests/test_a.c", "src/none.c"),
        ("project(a C)\n", "project(a C)\nadd_compile_definitions(NDEBUG)\n"),
        ("project(a C)\n", "project(a C)\nset(CMAKE_BUILD_TYPE Release)\n"),
        ("COMMAND t)\n", "COMMAND t)\nset_tests_properties(t PROPERTIES WILL_FAIL TRUE)\n"),
        ("COMMAND t)\n", "COMMAND t)\nconfigure_file(x CTestCustom.cmake COPYONLY)\n"),
        ("enable_testing()\n", "if(OFF)\nenable_testing()\nendif()\n"),
    ] {
        let today = ORIGINAL.replace(from, to);
        assert!(!is_kept(&today), "{today}");
        let restored = restored_by(ORIGINAL, &today);
        let is_kept = judged(ORIGINAL).is_kept_by(&judged(&restored));
        assert!(is_kept || to.contains("if(OFF)"), "{restored}");
    }
}

#[test]
fn tests_that_moved_to_a_list_of_their_own_are_asked_where_they_were() {
    let today = "project(a VERSION 2 LANGUAGES C)\nadd_library(a src/a.c src/b.c)\n\
        enable_testing()\nadd_subdirectory(tests)\n";
    let restored = restored_by(ORIGINAL, today);
    assert!(!restored.contains("add_subdirectory"), "{restored}");
    assert!(restored.contains("src/b.c") && restored.contains("add_test(NAME t"), "{restored}");
}

#[test]
fn a_directory_of_tests_that_is_left_out_judges() {
    let original = "project(a C)\nenable_testing()\nadd_subdirectory(src)\n\
        add_subdirectory(tests)\n";
    for today in [
        original.replace("add_subdirectory(tests)\n", ""),
        original.replace("add_subdirectory(tests)", "add_subdirectory(tests EXCLUDE_FROM_ALL)"),
        original.replace("(tests)", "(checks)"),
        original.replace("add_subdirectory(tests)", "if(OFF)\nadd_subdirectory(tests)\nendif()"),
    ] {
        assert!(!judged(original).is_kept_by(&judged(&today)), "{today}");
        let restored = restored_by(original, &today);
        assert!(judged(original).is_kept_by(&judged(&restored)), "{restored}");
    }
    let today = original.replace("(src)", "(source)");
    assert!(judged(original).is_kept_by(&judged(&today)), "{today}");
}

#[test]
fn a_condition_around_tests_is_left_out_and_the_work_stays() {
    let today = "project(a C)\noption(A_TESTS \"\" ON)\nadd_library(a src/a.c src/b.c)\n\
        if(A_TESTS)\nenable_testing()\nadd_executable(t tests/test_a.c)\n\
        target_link_libraries(t a)\nadd_test(NAME t COMMAND t)\nendif()\n";
    let restored = restored_by(ORIGINAL, today);
    assert!(judged(ORIGINAL).is_kept_by(&judged(&restored)), "{restored}");
    assert!(restored.contains("src/b.c"), "{restored}");
}

const LOOP: &str = "project(a C)\nadd_library(a src/a.c)\nenable_testing()\n\
    set(TESTS a b)\nforeach(name ${TESTS})\nset(from tests/test_${name}.c)\n\
    add_executable(t_${name} ${from})\nadd_test(NAME ${name} COMMAND t_${name})\nendforeach()\n";

#[test]
fn a_list_of_tests_that_has_grown_is_the_one_of_the_start() {
    let today = LOOP.replace("(TESTS a b)", "(TESTS a b c)").replace("src/a.c)", "src/x.c)");
    assert!(!judged(LOOP).is_kept_by(&judged(&today)));
    assert_eq!(restored_by(LOOP, &today), LOOP.replace("src/a.c)", "src/x.c)"));
    for (from, to) in [("${TESTS})", "a b c)"), ("${TESTS})", "${TESTS} c)")] {
        let restored = restored_by(LOOP, &today.replace(from, to));
        assert!(judged(LOOP).is_kept_by(&judged(&restored)), "{restored}");
        assert!(restored.contains("src/x.c"), "{restored}");
        assert!(restored.ends_with(&LOOP[LOOP.find("foreach").expect("a loop")..]));
    }
    let fewer = LOOP.replace("(TESTS a b)", "(TESTS a)");
    assert!(!judged(LOOP).is_kept_by(&judged(&fewer)), "one was dropped");
}

#[test]
fn what_tests_that_are_left_out_are_set_up_by_goes_with_them() {
    let today = format!(
        "{ORIGINAL}add_executable(u tests/test_b.c)\nset_target_properties(u PROPERTIES X 1)\n\
         set_property(TARGET u PROPERTY Y 1)\nadd_test(NAME u COMMAND u)\n"
    );
    assert_eq!(restored_by(ORIGINAL, &today), ORIGINAL);
}

#[test]
fn a_test_that_was_added_is_left_out_and_the_work_stays() {
    let more = "add_library(b src/b.c)\nadd_executable(u tests/test_b.c)\n\
        target_link_libraries(u b)\nadd_test(NAME u COMMAND u)\n";
    let restored = restored_by(ORIGINAL, &format!("{ORIGINAL}{more}"));
    assert_eq!(restored, format!("{ORIGINAL}add_library(b src/b.c)\n"));
}

const MODULE: &str = "function(unit name)\n    add_executable(test_${name} tests/test_${name}.c)\n    \
    target_link_libraries(test_${name} a)\n    add_test(NAME ${name} COMMAND test_${name})\n\
    endfunction()\nfunction(plugin name)\n    add_library(${name} src/${name}.c)\n    \
    add_test(NAME ${name} COMMAND run ${name})\nendfunction()\n";

#[test]
fn a_function_that_only_builds_and_registers_tests_is_about_tests() {
    let own = registrars(MODULE);
    assert_eq!(own, BTreeSet::from(["unit".to_string()]));
    let original = "project(a C)\nadd_library(a src/a.c)\nset(NAMES one two)\n\
        foreach(name IN LISTS NAMES)\n    unit(${name})\nendforeach()\nunit(three)\n";
    let listed = original.replace("LISTS NAMES", "ITEMS one two");
    for (original, from, to) in [
        (original, "one two", "two"),
        (original, "one two", "one edges two"),
        (original, "unit(three)\n", ""),
        (&listed, "ITEMS one two", "ITEMS two"),
        (&listed, "ITEMS one two", "ITEMS one edges two"),
    ] {
        let today = original.replace(from, to).replace("src/a.c", "src/a.c src/b.c");
        assert!(!judging(original, &own).is_kept_by(&judging(&today, &own)), "{today}");
        let restored = restore(original, &today, &own);
        assert!(judging(original, &own).is_kept_by(&judging(&restored, &own)), "{restored}");
        assert!(restored.contains("src/b.c"), "{restored}");
    }
    let more = original.replace("project(a C)", "project(a C)\nplugin(b)");
    assert!(judging(original, &own).is_kept_by(&judging(&more, &own)));
}
