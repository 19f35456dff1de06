//! Pages that are documentation of Rust as well: `#![doc = include_str!("../README.md")]`. Their
//! examples are run like those in comments.

use std::path::{Path, PathBuf};

use super::JudgeSet;
use super::files::{ProjectFiles, directory_of, extension_of, normal};
use super::names::is_foreign;
use super::stored_path::StoredPath;

/// How many sources are read.
const FILES_MAX: usize = 6_000;

/// Notes the pages that sources of Rust include as their documentation.
pub(super) fn note_documents(set: &mut JudgeSet, files: &dyn ProjectFiles) {
    if !set.judges_rust() {
        return;
    }
    let is_rust = |path: &&PathBuf| extension_of(path) == "rs" && !is_foreign(path);
    let mut found = Vec::new();
    for path in files.paths().iter().filter(is_rust).take(FILES_MAX) {
        let text = files.text(path).filter(|text| text.contains(".md\""));
        let text = text.unwrap_or_default();
        found.extend(pages(&text).filter_map(|page| page_at(files, path, page)));
    }
    set.ground.documents = found.into_iter().map(StoredPath).collect();
}

/// What documentation includes: `doc = include_str!("…")`, `doctest!("…")`.
fn pages(text: &str) -> impl Iterator<Item = &str> {
    let included = text.split("include_str!(").skip(1);
    let included = included.zip(text.split("include_str!(")).filter(|(_, before)| {
        let before = before.trim_end();
        before.strip_suffix('=').is_some_and(|before| before.trim_end().ends_with("doc"))
    });
    let tried = ["doctest!(", "doctest_file!("].into_iter();
    let tried = tried.flat_map(|begin| text.split(begin).skip(1));
    let is_page = |word: &&str| extension_of(Path::new(word)) == "md";
    included.map(|(rest, _)| rest).chain(tried).filter_map(move |rest| {
        let inner = rest.split(')').take(3).flat_map(|part| part.split('"'));
        inner.take(8).find(is_page)
    })
}

/// Where the page is: as seen from the source, or from its package.
fn page_at(files: &dyn ProjectFiles, source: &Path, page: &str) -> Option<PathBuf> {
    let place = match page.strip_prefix('/') {
        None => normal(&directory_of(source).join(page)),
        Some(page) => {
            let is_package = |own: &&Path| files.paths().contains(&own.join("Cargo.toml"));
            source.ancestors().skip(1).find(is_package).and_then(|own| normal(&own.join(page)))
        }
    };
    place.filter(|path| files.paths().contains(path))
}

#[cfg(test)]
mod tests {
    use super::pages;

    #[test]
    fn only_what_is_documentation_counts() {
        let text = "#![doc = include_str!(\"../README.md\")]\n\
            #![cfg_attr(doctest, doc=include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/a.md\")))]\n\
            doc_comment::doctest!(\"b.md\");\n\
            const TEXT: &str = include_str!(\"c.md\");\n";
        let found: Vec<&str> = pages(text).collect();
        assert_eq!(found, ["../README.md", "/a.md", "b.md"]);
    }
}
