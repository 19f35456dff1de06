//! The systems that are emulated, and what differs between them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use stopgate_agents::Agent;
use stopgate_agents::settings::plugin_hooks;

use super::super::room::TrialRoom;
use crate::tools;

const MINGW: &str = "x86_64-w64-mingw32-gcc";
/// Leaves a file after a while.
const LATE: &str = "\
#include <stdio.h>
#include <windows.h>
int main(void) { Sleep(5000); fclose(fopen(\"late.txt\", \"w\")); return 0; }
";
/// Rust's library takes its chance from here; old emulators lack it.
const CHANCE: &str = "\
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(BYTE *data, SIZE_T size)
{ return SystemFunction036(data, (ULONG)size); }
";

/// A system that this machine is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum GuestSystem {
    Arm64,
    Windows,
}

impl GuestSystem {
    pub(in super::super) const ALL: [Self; 2] = [Self::Arm64, Self::Windows];

    /// The emulator's name, as Debian has it.
    pub(in super::super) const fn emulator(self) -> &'static str {
        match self {
            Self::Arm64 => "qemu-aarch64",
            Self::Windows => "wine",
        }
    }

    /// How it is called in the table.
    pub(super) const fn way(self) -> &'static str {
        match self {
            Self::Arm64 => "arm64, emulated",
            Self::Windows => "Windows, under wine",
        }
    }

    /// What must be on the PATH.
    pub(super) const fn tools(self) -> &'static [&'static str] {
        match self {
            Self::Arm64 => &["qemu-aarch64", "test", "git", "sleep", "touch"],
            Self::Windows => &[],
        }
    }

    /// The archive with its program, if one was made.
    pub(in super::super) fn archive(self, out: &Path) -> Result<Option<PathBuf>> {
        let end = match self {
            Self::Arm64 => "aarch64-unknown-linux-musl.tar.gz",
            Self::Windows => "x86_64-pc-windows-gnu.zip",
        };
        let is_it = |path: &PathBuf| path.to_string_lossy().ends_with(end);
        Ok(fs::read_dir(out)?.flatten().map(|entry| entry.path()).find(is_it))
    }

    /// Unpacks an archive; says where the program is.
    pub(super) fn unpack(self, room: &TrialRoom, archive: &Path) -> Result<PathBuf> {
        let place = room.path("program");
        fs::create_dir(&place)?;
        let (mut unpack, name) = match self {
            Self::Arm64 => {
                let mut tar = Command::new("tar");
                tar.arg("-xzf").arg(archive).arg("-C").arg(&place);
                (tar, "stopgate")
            }
            Self::Windows => {
                let mut zip = Command::new("python3");
                zip.args(["-m", "zipfile", "-e"]).arg(archive).arg(&place);
                (zip, "stopgate.exe")
            }
        };
        tools::run(&mut unpack)?;
        let inner = fs::read_dir(&place)?.flatten().map(|entry| entry.path().join(name));
        let program = inner.into_iter().find(|path| path.is_file()).context("find the program")?;
        if self == Self::Windows && tools::has(MINGW) {
            let library = program.with_file_name("bcryptprimitives.dll");
            compile(room, CHANCE, &library, &["-shared"])?;
        }
        Ok(program)
    }

    /// Variables that an emulator needs.
    pub(super) fn surround(self, command: &mut Command, room: &TrialRoom) {
        if self == Self::Windows {
            command.env("PATH", "/usr/bin:/bin").env("WINEDEBUG", "-all");
            command.env("WINEPREFIX", room.path("home/.wine"));
        }
    }

    /// A line that passes where `made.txt` exists.
    pub(super) const fn made_check(self) -> &'static str {
        match self {
            Self::Arm64 => "test -f made.txt",
            Self::Windows => "if not exist made.txt exit 1",
        }
    }

    /// A line that hangs, and leaves `late.txt` where it is not ended; nothing where that can't
    /// be made here.
    pub(super) fn late_check(self, room: &TrialRoom) -> Result<Option<&'static str>> {
        match self {
            Self::Arm64 => Ok(Some("sleep 5; touch late.txt")),
            Self::Windows if tools::has(MINGW) => {
                compile(room, LATE, &room.path("project/late.exe"), &[])?;
                Ok(Some("late.exe"))
            }
            Self::Windows => Ok(None),
        }
    }

    /// Directories that may be on a person's PATH: one with the program, one with npm's starter.
    /// None where plugins are the same as those of this machine.
    pub(super) fn places_on_path(self, room: &TrialRoom, program: &Path) -> Result<Vec<PathBuf>> {
        if self == Self::Arm64 {
            return Ok(Vec::new());
        }
        let starters = room.path("starters");
        fs::create_dir(&starters)?;
        let starter = format!("@ECHO off\r\n\"{}\" %*\r\n", self.seen(program));
        fs::write(starters.join("stopgate.cmd"), starter)?;
        let own = program.parent().context("find the program's directory")?;
        Ok(vec![own.to_path_buf(), starters])
    }

    /// The line of the Codex plugin, run by `cmd` with this directory on the PATH.
    pub(super) fn plugin_command(self, room: &TrialRoom, place: &Path) -> Result<Command> {
        let hooks = plugin_hooks(Agent::Codex).context("find the hooks of the Codex plugin")?;
        let hooks: serde_json::Value = serde_json::from_str(&hooks)?;
        let line = hooks["hooks"]["Stop"][0]["hooks"][0]["commandWindows"].as_str();
        let line = line.context("find the line for Windows")?;
        fs::write(room.path("project/line.cmd"), format!("@{line}\r\n"))?;
        let mut command = room.command(self.emulator());
        self.surround(&mut command, room);
        command.env("WINEPATH", self.seen(place)).current_dir(room.path("project"));
        command.args(["cmd", "/d", "/c", "line.cmd"]);
        Ok(command)
    }

    /// The person's home directory, as this machine sees it.
    pub(super) fn home(self, room: &TrialRoom) -> Result<PathBuf> {
        match self {
            Self::Arm64 => Ok(room.path("home")),
            Self::Windows => {
                let users = room.path("home/.wine/drive_c/users");
                let homes = fs::read_dir(&users)?.flatten().map(|entry| entry.path());
                let own = homes.into_iter().find(|path| !path.ends_with("Public"));
                own.context("find the person's home")
            }
        }
    }

    /// A path as the program sees it.
    pub(super) fn seen(self, path: &Path) -> String {
        let text = path.to_string_lossy();
        match self {
            Self::Arm64 => text.into_owned(),
            Self::Windows => format!("Z:{}", text.replace('/', "\\")),
        }
    }
}

fn compile(room: &TrialRoom, text: &str, into: &Path, options: &[&str]) -> Result<()> {
    let source = room.path("source.c");
    fs::write(&source, text)?;
    let mut compiler = Command::new(MINGW);
    compiler.arg("-O2").args(options).arg("-o").arg(into).arg(&source).arg("-ladvapi32");
    tools::run(&mut compiler)
}
