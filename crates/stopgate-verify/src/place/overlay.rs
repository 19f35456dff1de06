//! The layers of an overlay: what hides parts of the tree and takes what a run writes.
//!
//! The upper layer is filled before it is mounted: restored files as they are, and a device
//! with the number 0 for each name that is not there, which is what an overlay itself leaves
//! behind when a name is deleted. A repository outside the tree gets a layer as well.

use std::fs;
use std::path::{Path, PathBuf};

use stopgate_system::ffi::OsStringExt;
use stopgate_system::fs::symlink;

use super::canvas::Canvas;
use super::git_copy::external_dirs;
use super::listing::Deadline;
use super::{PlaceError, PlaceRecipe, failed};

/// One directory that is covered.
#[derive(Debug)]
pub(super) struct Layer {
    /// Its directories are `lower-N`, `upper-N` and `work-N`.
    pub(super) number: usize,
    /// What is covered.
    pub(super) at: PathBuf,
}

/// All that is covered, the tree first.
#[derive(Debug)]
pub(super) struct Overlay {
    layers: Vec<Layer>,
    top: PathBuf,
}

impl Overlay {
    /// Fills the layers in a private directory.
    pub(super) fn make(
        recipe: &PlaceRecipe<'_>,
        private: &Path,
        deadline: &Deadline,
    ) -> Result<Self, PlaceError> {
        if let Some(inner) = mount_point_in(recipe.root) {
            let text = format!("{} is a mount point inside the tree", inner.display());
            return Err(PlaceError::Unsupported(text));
        }
        let mut overlay = Self { layers: Vec::new(), top: private.join("upper-0") };
        overlay.cover(recipe.root, private, |canvas| canvas.apply(recipe))?;
        for directory in external_dirs(recipe.root) {
            overlay.cover(&directory, private, |_| Ok(()))?;
        }
        deadline.check()?;
        Ok(overlay)
    }

    /// The layers in the order in which they are mounted.
    pub(super) fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// What covers the tree.
    pub(super) fn top(&self) -> &Path {
        &self.top
    }

    fn cover(
        &mut self,
        at: &Path,
        private: &Path,
        fill: impl FnOnce(&mut Canvas) -> Result<(), PlaceError>,
    ) -> Result<(), PlaceError> {
        let number = self.layers.len();
        let name = |what: &str| private.join(format!("{what}-{number}"));
        let mut canvas = Canvas::over(at, &name("upper")).map_err(failed(at))?;
        fill(&mut canvas)?;
        canvas.finish().map_err(failed(at))?;
        // A name without commas and colons, which mean something in mount options.
        symlink(at, name("lower")).map_err(failed(private))?;
        self.layers.push(Layer { number, at: at.into() });
        Ok(())
    }
}

/// A mount point below the root: an overlay would not show what is mounted there.
fn mount_point_in(root: &Path) -> Option<PathBuf> {
    let table = fs::read("/proc/self/mountinfo").ok()?;
    let points = table.split(|byte| *byte == b'\n').filter_map(|line| {
        let field = line.split(|byte| *byte == b' ').nth(4)?;
        Some(PathBuf::from(std::ffi::OsString::from_vec(unescape(field))))
    });
    points.into_iter().find(|point| point != root && point.starts_with(root))
}

/// Reads a field of the mount table, in which blanks and the like are octal numbers.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..3).and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = digits.filter(|_| *first == b'\\');
        let number = escaped.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        bytes.push(number.unwrap_or(*first));
        rest = if number.is_some() { &after[3..] } else { after };
    }
    bytes
}
