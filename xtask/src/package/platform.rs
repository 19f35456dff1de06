//! The platforms that packages are made for, and what each registry calls them.

use std::path::Path;

use anyhow::{Context, Result, bail};

/// A platform by the names that registries give it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Platform {
    /// Our word, and the end of the npm package's name.
    pub(crate) word: &'static str,
    /// Rust's target.
    pub(crate) target: &'static str,
    /// Node's `process.platform` and `process.arch`.
    pub(crate) node: (&'static str, &'static str),
    /// The wheel's platform tag.
    pub(crate) wheel: &'static str,
    /// Debian's architecture.
    pub(crate) debian: Option<&'static str>,
    /// Homebrew's blocks for system and processor.
    pub(crate) brew: Option<(&'static str, &'static str)>,
}

impl Platform {
    /// All of them.
    pub(crate) const ALL: [Self; 5] = [
        Self {
            word: "linux-x64",
            target: "x86_64-unknown-linux-musl",
            node: ("linux", "x64"),
            // A static program runs on either C library.
            wheel: "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
            debian: Some("amd64"),
            brew: Some(("on_linux", "on_intel")),
        },
        Self {
            word: "linux-arm64",
            target: "aarch64-unknown-linux-musl",
            node: ("linux", "arm64"),
            wheel: "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
            debian: Some("arm64"),
            brew: Some(("on_linux", "on_arm")),
        },
        Self {
            word: "darwin-arm64",
            target: "aarch64-apple-darwin",
            node: ("darwin", "arm64"),
            wheel: "macosx_11_0_arm64",
            debian: None,
            brew: Some(("on_macos", "on_arm")),
        },
        Self {
            word: "darwin-x64",
            target: "x86_64-apple-darwin",
            node: ("darwin", "x64"),
            wheel: "macosx_10_12_x86_64",
            debian: None,
            brew: Some(("on_macos", "on_intel")),
        },
        Self {
            word: "win32-x64",
            target: "x86_64-pc-windows-gnu",
            node: ("win32", "x64"),
            wheel: "win_amd64",
            debian: None,
            brew: None,
        },
    ];

    /// The platform of this word or target.
    pub(crate) fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|platform| platform.word == word || platform.target == word)
    }

    /// The program's file name.
    pub(crate) fn program(self) -> &'static str {
        if self.is_windows() { "stopgate.exe" } else { "stopgate" }
    }

    pub(crate) fn is_windows(self) -> bool {
        self.node.0 == "win32"
    }

    /// The platform of a program, by the first bytes of its file.
    pub(crate) fn of_program(bytes: &[u8]) -> Option<Self> {
        let half = |at: usize| Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
        let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let name = match bytes.get(..4)? {
            b"\x7fELF" => match half(18)? {
                62 => "linux-x64",
                183 => "linux-arm64",
                _ => return None,
            },
            [0xcf, 0xfa, 0xed, 0xfe] => match word(4)? {
                0x0100_000c => "darwin-arm64",
                0x0100_0007 => "darwin-x64",
                _ => return None,
            },
            [b'M', b'Z', ..] => {
                let header = word(0x3c)? as usize;
                (half(header + 4)? == 0x8664).then_some("win32-x64")?
            }
            _ => return None,
        };
        Self::named(name)
    }
}

/// A program and what it runs on.
#[derive(Clone, Debug)]
pub(crate) struct BuiltProgram {
    pub(crate) platform: Platform,
    pub(crate) bytes: Vec<u8>,
}

impl BuiltProgram {
    /// Reads the program that `FILE` or `PLATFORM=FILE` names.
    pub(crate) fn read(argument: &str) -> Result<Self> {
        let (said, file) = match argument.split_once('=') {
            Some((word, file)) => {
                let platform = Platform::named(word);
                (Some(platform.with_context(|| format!("find the platform {word}"))?), file)
            }
            None => (None, argument),
        };
        let bytes = std::fs::read(Path::new(file)).with_context(|| format!("read {file}"))?;
        let Some(platform) = Platform::of_program(&bytes) else {
            bail!("tell what {file} runs on: it is not a program of a known platform");
        };
        if let Some(said) = said.filter(|said| *said != platform) {
            bail!("package {file} for {}: it is a program for {}", said.word, platform.word);
        }
        Ok(Self { platform, bytes })
    }
}
