//! Files of the basis that are put back into a place.

use super::*;

#[test]
fn restored_files_are_there_and_absent_ones_are_not() {
    for kind in kinds() {
        let stage = Stage::new()
            .restore("tests/a.py", "strong")
            .restore("gone/deep/b.py", "b")
            .absent("tests/new.py")
            .absent("never/was.py");
        let place = stage.open(kind);
        let said =
            stage.says(&place, "cat tests/a.py gone/deep/b.py src/link.py .env; ls -A tests");
        assert_eq!(said, "strongbworksecreta.py", "{kind:?}");
        assert_eq!(
            stage.says(&place, "cat node_modules/dep/index.js; ls"),
            "depgone\nnode_modules\nsrc\ntests"
        );
    }
}

#[test]
fn directories_that_hold_nothing_else_go_with_what_is_absent() {
    for kind in kinds() {
        let stage = Stage::new().absent("cases/new/in/args").absent("cases/new/want");
        stage.scene.write("cases/old/want", "x").write("cases/new/in/args", "y");
        stage.scene.write("cases/new/want", "z");
        let place = stage.open(kind);
        assert_eq!(stage.says(&place, "ls cases"), "old", "{kind:?}");
    }
}

#[test]
fn directories_stay_for_what_the_run_is_to_make() {
    for kind in kinds() {
        let mut stage = Stage::new().absent("cases/new/want");
        stage.unmade = vec!["docs/list.md".into()];
        stage.scene.write("docs/list.md", "x").write("cases/new/want", "z");
        let place = stage.open(kind);
        assert_eq!(stage.says(&place, "ls -d docs cases; ls docs"), "docs", "{kind:?}");
    }
}

#[test]
fn nothing_is_written_through_a_link_that_the_work_planted() {
    for kind in kinds() {
        let stage = Stage::new()
            .restore("tests/a.py", "strong")
            .restore("deep/er/b.py", "b")
            .restore("plain.py", "plain");
        let outside = stage.scene.beside("outside");
        fs::create_dir_all(outside.join("er")).unwrap();
        fs::write(outside.join("a.py"), "theirs").unwrap();
        stage.scene.remove("tests").link("tests", outside.to_str().unwrap());
        stage.scene.link("deep", outside.to_str().unwrap());
        stage.scene.link("plain.py", outside.join("a.py").to_str().unwrap());
        let before = state(&outside);
        let place = stage.open(kind);
        let script =
            "cat tests/a.py deep/er/b.py plain.py; ls tests deep; test ! -L tests -a ! -L deep";
        assert_eq!(stage.says(&place, script), "strongbplaindeep:\ner\n\ntests:\na.py", "{kind:?}");
        stage.run(&place, "echo x >tests/a.py; echo x >plain.py; echo x >deep/er/new");
        assert_untouched(&outside, &before, kind);
    }
}

#[test]
fn what_stands_in_the_way_is_replaced() {
    for kind in kinds() {
        let stage = Stage::new()
            .restore("a/b/c", "file below a file")
            .restore("was_dir", "file over a directory");
        stage.scene.write("a", "a file").write("was_dir/x/y", "y");
        let place = stage.open(kind);
        assert_eq!(stage.says(&place, "cat a/b/c"), "file below a file", "{kind:?}");
        assert_eq!(stage.says(&place, "cat was_dir"), "file over a directory", "{kind:?}");
    }
}

#[test]
fn links_and_modes_are_restored() {
    for kind in kinds() {
        let mut stage = Stage::new();
        let file = FileContent::File { bytes: b"#!/bin/sh\necho ran\n".to_vec(), executable: true };
        stage.restore = vec![
            RestoredFile { path: "run.sh".into(), content: file },
            RestoredFile { path: "l".into(), content: FileContent::Link("src/x.py".into()) },
        ];
        stage.scene.write("run.sh", "exit 0");
        let place = stage.open(kind);
        assert_eq!(
            stage.says(&place, "./run.sh; readlink l; cat l"),
            "ran\nsrc/x.py\nwork",
            "{kind:?}"
        );
    }
}

#[test]
fn a_whole_directory_is_taken_away_but_for_what_is_restored_in_it() {
    for kind in kinds() {
        let stage =
            Stage::new().restore("tests/deep/kept.py", "kept").absent("tests").absent("src");
        stage.scene.write("tests/deep/new.py", "new").write("tests/more/x.py", "x");
        let place = stage.open(kind);
        let said = stage.says(&place, "find . -path ./.git -prune -o -type f -print | sort");
        assert_eq!(
            said, "./.env\n./.gitignore\n./node_modules/dep/index.js\n./tests/deep/kept.py",
            "{kind:?}"
        );
    }
}

#[test]
fn what_is_behind_a_link_is_taken_away_where_it_is_or_refused() {
    for kind in kinds() {
        let stage = Stage::new().absent("linked/new.py");
        stage.scene.link("linked", "tests");
        let place = stage.open(kind);
        assert_eq!(
            stage.says(&place, "ls tests linked"),
            "linked:\na.py\n\ntests:\na.py",
            "{kind:?}"
        );
        let stage = Stage::new().absent("out/new.py").absent("out/never.py");
        let outside = stage.scene.beside("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("new.py"), "").unwrap();
        stage.scene.link("out", outside.to_str().unwrap());
        let error = stage.try_open(kind, TIME).unwrap_err().to_string();
        assert!(error.contains("behind a link that leads out of the tree"), "{error}");
        assert!(outside.join("new.py").exists());
    }
}

#[test]
fn a_link_that_became_a_directory_is_a_link_again() {
    for kind in kinds() {
        let stage = Stage::new()
            .restore_link("tests/data", "../shared")
            .absent("tests/data")
            .absent("tests/data/first.txt")
            .absent("tests/data/deep/second.txt");
        stage.scene.write("shared/first.txt", "the start's");
        stage.scene.write("tests/data/first.txt", "the work's");
        stage.scene.write("tests/data/deep/second.txt", "new");
        let place = stage.open(kind);
        assert_eq!(
            stage.says(&place, "readlink tests/data; ls tests/data; cat tests/data/first.txt"),
            "../shared\nfirst.txt\nthe start's",
            "{kind:?}"
        );
    }
}

#[test]
fn links_that_are_restored_lead_where_they_led() {
    for kind in kinds() {
        let stage = Stage::new();
        let outside = stage.scene.beside("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("x"), "outside").unwrap();
        let inside = stage.scene.root().join("src/x.py");
        let stage = stage
            .restore("src/x.py", "the start's")
            .restore_link("tests/out", "../../outside")
            .restore_link("tests/in", inside.to_str().unwrap());
        stage.scene.write("tests/out/x", "the work's").write("tests/in", "the work's");
        let place = stage.open(kind);
        assert_eq!(
            stage.says(&place, "cat tests/out/x; echo; cat tests/in"),
            "outside\nthe start's",
            "{kind:?}"
        );
    }
}

#[test]
fn restored_files_are_new_and_others_keep_their_times_and_modes() {
    for kind in kinds() {
        let stage = Stage::new().restore("tests/a.py", "strong").restore("src/sub/y", "y");
        stage.scene.write("src/sub/z", "z").write("src/run", "r").mode("src/run", 0o751);
        for name in ["tests/a.py", "src/x.py", "src/run", "src/sub/z", "src/sub", "src", "."] {
            let old = (1_000_000_000, 123_456_789);
            super::super::canvas::set_modified(&stage.scene.path(name), old).unwrap();
        }
        stage.scene.mode("src", 0o750);
        let place = stage.open(kind);
        let time = |name: &str| stage.says(&place, &format!("stat -c %Y.%a {name}"));
        for (name, mode) in [("src/x.py", "644"), ("src/run", "751"), ("src/sub/z", "644")] {
            assert_eq!(time(name), format!("1000000000.{mode}"), "{kind:?} {name}");
        }
        assert_eq!(time("src"), "1000000000.750", "{kind:?}: nothing changed right in it");
        assert_eq!(stage.says(&place, "stat -c %y src/x.py | cut -c 20-29"), ".123456789");
        // Tools that compare times must see that these changed.
        for name in ["tests/a.py", "src/sub/y", "src/sub", "tests"] {
            let newer = format!("test {name} -nt src/x.py && echo newer");
            assert_eq!(stage.says(&place, &newer), "newer", "{kind:?} {name}");
        }
    }
}

#[test]
fn make_rebuilds_from_a_restored_file() {
    for kind in kinds() {
        let stage = Stage::new().restore("in.txt", "strong");
        stage.scene.write("in.txt", "weak").write("out.txt", "weak");
        let script = "if test in.txt -nt out.txt; then cp in.txt out.txt; fi; cat out.txt";
        super::super::canvas::set_modified(&stage.scene.path("in.txt"), (1_000_000_000, 0))
            .unwrap();
        super::super::canvas::set_modified(&stage.scene.path("out.txt"), (1_000_000_001, 0))
            .unwrap();
        let place = stage.open(kind);
        assert_eq!(stage.says(&place, script), "strong", "{kind:?}");
    }
}

#[test]
fn directories_without_the_right_to_write_are_no_obstacle() {
    for kind in kinds() {
        let stage = Stage::new().restore("ro/deep/a", "restored").absent("ro/b");
        stage.scene.write("ro/deep/a", "a").write("ro/b", "b");
        stage.scene.mode("ro/deep", 0o555).mode("ro", 0o555);
        let place = stage.open(kind);
        assert_eq!(
            stage.says(&place, "cat ro/deep/a; stat -c %a ro ro/deep; ls ro"),
            "restored555\n555\ndeep",
            "{kind:?}"
        );
        drop(place);
        assert_eq!(fs::read_dir(stage.scratch()).unwrap().count(), 0);
        stage.scene.mode("ro", 0o755).mode("ro/deep", 0o755);
    }
}
