//! Exact counts of one stop: instructions, system calls, fsyncs, memory.

use anyhow::Result;

use super::{KIB, MIB, Plan, Size, behind, transcript_of};
use crate::figures::count_ratio;
use crate::scene::{Call, ENDLESS, Scene};
use crate::table::{Gates, Table};
use crate::tools::{self, Tool};
use crate::trace::{self, Memory};
use crate::{journal, transcript};

const TRANSCRIPT_BYTES_MAX: u64 = 128 * KIB;
const SYNCS: [&str; 4] = ["fsync", "fdatasync", "sync_file_range", "msync"];
// Wanted are 2048; 260 of what is used are the stop's own, the rest is the program's file.
const PEAK_KIB_MAX: u64 = 3584;
const GROWTH_MAX: f64 = 1.1;

/// One path to be counted.
struct Path<'a> {
    name: String,
    scene: &'a Scene,
    call: Call,
    /// Instructions allowed.
    instructions_max: Option<u64>,
    peak_kib_max: u64,
    /// The row that this one may not outgrow.
    small: Option<usize>,
    store: Store,
}

/// What a path may do with the database.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Store {
    /// It must not open it.
    Closed,
    /// It writes to it.
    Written,
}

/// What was counted; nothing where the tool is missing.
struct Counted {
    instructions: Option<u64>,
    calls: Option<Calls>,
    memory: Option<Memory>,
}

struct Calls {
    all: usize,
    fsyncs: usize,
    opens: usize,
    transcript_bytes: u64,
}

/// Counts all paths and prints them.
pub(super) fn measure(
    plan: &Plan<'_>,
    small: &Scene,
    large: &Scene,
    gates: &mut Gates,
) -> Result<()> {
    let paths = paths(plan, small, large)?;
    let valgrind = tools::get("valgrind", "valgrind");
    let strace = tools::get("strace", "strace");
    let mut counted = Vec::new();
    for path in &paths {
        counted.push(count(path, valgrind, strace)?);
    }
    let columns = "one stop|instructions|gate|growth|syscalls|fsyncs|database opened|transcript read|peak KiB|own|gate|";
    let mut table = Table::headed("Counts of one stop", columns);
    for (path, own) in paths.iter().zip(&counted) {
        let first = path.small.and_then(|at| counted.get(at)).and_then(|c| c.instructions);
        table.row(row(path, own, first, gates));
    }
    if strace == Tool::Here {
        after_checkpoint(small, &mut table)?;
    }
    table.note("Fresh write-ahead log: one stop after a truncating checkpoint. Growth gate 1.10.");
    table.print();
    Ok(())
}

fn paths<'a>(plan: &Plan<'_>, small: &'a Scene, large: &'a Scene) -> Result<Vec<Path<'a>>> {
    let held = small.hook("held", "Stop")?;
    let path = |name: &str, scene: &'a Scene, call, max, first| Path {
        name: name.into(),
        scene,
        call,
        instructions_max: max,
        peak_kib_max: PEAK_KIB_MAX,
        small: first,
        store: Store::Written,
    };
    let mut free = path("no loop", small, small.hook("nobody", "Stop")?, Some(32_000), None);
    free.store = Store::Closed;
    let shortest = small.shortest_stop("nobody")?;
    let mut bare = path("no loop, shortest", small, shortest, Some(24_000), None);
    bare.store = Store::Closed;
    let batch = small.hook("batch", "PostToolBatch")?;
    let mut noop = path("no-op", small, held.clone(), None, None);
    noop.call.line = vec![small.install(&tools::noop()?)?];
    noop.store = Store::Closed;
    let mut paths = vec![
        noop,
        free,
        path("active", small, held, Some(650_000), None),
        path("active, 100,000 events", large, large.hook("held", "Stop")?, None, Some(2)),
        bare,
    ];
    let first = paths.len();
    for size in &plan.sizes {
        let call = small.stop_by_transcript(&behind(*size), &transcript_of(small, *size))?;
        let small_one = (paths.len() > first).then_some(first);
        paths.push(path(&format!("message read from {}", size.name), small, call, None, small_one));
    }
    let mut long = path("last line of 1 MB", small, long_line(small)?, None, None);
    long.peak_kib_max = 8192;
    paths.push(long);
    let mut tools_ran = path("tools ran, held", small, batch, None, None);
    tools_ran.store = Store::Closed;
    paths.push(tools_ran);
    Ok(paths)
}

/// A stop whose last message is one line of a megabyte.
fn long_line(small: &Scene) -> Result<Call> {
    let size = Size { name: "long line", bytes: 2 * MIB };
    let path = transcript_of(small, size);
    let line = "The next file follows the same pattern, and so does the one after it. ";
    transcript::write_ending(&path, size.bytes, &line.repeat((1 << 20) / line.len()))?;
    small.start("long", &ENDLESS)?;
    small.stop_by_transcript("long", &path)
}

fn count(path: &Path<'_>, valgrind: Tool, strace: Tool) -> Result<Counted> {
    let notes = path.scene.path("notes");
    let fresh = || -> Result<()> {
        journal::truncate_wal(&path.scene.home())?;
        path.call.run()?;
        Ok(())
    };
    fresh()?;
    let instructions =
        (valgrind == Tool::Here).then(|| trace::instructions(&path.call, &notes)).transpose()?;
    fresh()?;
    let calls = (strace == Tool::Here).then(|| calls(path)).transpose()?;
    let memory = (strace == Tool::Here).then(|| memory(&path.call)).transpose()?;
    Ok(Counted { instructions, calls, memory })
}

/// The memory of the program as it was built: more of a fresh copy's file is mapped at a time,
/// whether or not it is used.
fn memory(call: &Call) -> Result<Memory> {
    let mut call = call.clone();
    let name = call.line[0].file_name().unwrap_or_default().to_string_lossy().into_owned();
    call.line[0] = tools::built(&name)?;
    trace::memory(&call)
}

fn calls(path: &Path<'_>) -> Result<Calls> {
    let (asked, _) = trace::trace(&path.call, &path.scene.path("notes"))?;
    let named = |names: &[&str]| asked.iter().filter(|a| names.contains(&a.name.as_str())).count();
    let opens =
        asked.iter().filter(|a| a.name.starts_with("open") && a.line.contains("journal.db"));
    let reads = asked.iter().filter(|a| a.name.contains("read") && a.line.contains(".jsonl>"));
    let bytes = reads.filter_map(|a| a.line.rsplit(" = ").next()?.parse::<u64>().ok());
    Ok(Calls {
        all: asked.len(),
        fsyncs: named(&SYNCS),
        opens: opens.count(),
        transcript_bytes: bytes.sum(),
    })
}

fn row(path: &Path<'_>, own: &Counted, first: Option<u64>, gates: &mut Gates) -> [String; 12] {
    let mut words = Vec::new();
    let name = &path.name;
    let mut ask = |holds: bool, broken: String| words.push(gates.ask((!holds).then_some(broken)));
    let mut growth = String::new();
    if let (Some(count), Some(max)) = (own.instructions, path.instructions_max) {
        ask(count <= max, format!("{name}: {count} instructions > {max}"));
    }
    if let (Some(count), Some(first)) = (own.instructions, first) {
        let grown = count_ratio(count, first);
        growth = format!("{grown:.3}");
        ask(grown <= GROWTH_MAX, format!("{name}: {grown:.2} times the instructions"));
    }
    if let Some(calls) = &own.calls {
        ask(calls.fsyncs == 0, format!("{name}: {} fsyncs", calls.fsyncs));
        let closed = path.store == Store::Closed;
        ask(!closed || calls.opens == 0, format!("{name}: the database is opened"));
        let read = calls.transcript_bytes;
        let fits = path.peak_kib_max > PEAK_KIB_MAX || read <= TRANSCRIPT_BYTES_MAX;
        ask(fits, format!("{name}: {read} bytes of the transcript are read"));
    }
    if let Some(Memory { peak, .. }) = own.memory {
        ask(peak <= path.peak_kib_max, format!("{name}: {peak} KiB"));
    }
    if own.instructions.is_none() {
        words.push(gates.unmeasured("not measured: no valgrind"));
    }
    if own.calls.is_none() {
        words.push(gates.unmeasured("not measured: no strace"));
    }
    let broken = words.iter().find(|word| *word != "ok").cloned();
    let text = |count: Option<u64>| count.map_or_else(|| "-".into(), |count| count.to_string());
    let of = |pick: fn(&Calls) -> u64| own.calls.as_ref().map(pick);
    [
        name.clone(),
        text(own.instructions),
        path.instructions_max.map_or_else(String::new, |max| max.to_string()),
        growth,
        text(of(|calls| calls.all as u64)),
        text(of(|calls| calls.fsyncs as u64)),
        text(of(|calls| calls.opens.min(1) as u64)),
        text(of(|calls| calls.transcript_bytes)),
        text(own.memory.map(|memory| memory.peak)),
        text(own.memory.map(|memory| memory.own)),
        path.peak_kib_max.to_string(),
        broken.unwrap_or_else(|| "ok".into()),
    ]
}

/// The stop after one that made a checkpoint begins a new log: what it pays is shown.
fn after_checkpoint(small: &Scene, table: &mut Table) -> Result<()> {
    let call = small.hook("held", "Stop")?;
    let mut before = 0;
    while small.wal_bytes() >= before {
        before = small.wal_bytes();
        call.run()?;
    }
    let (asked, _) = trace::trace(&call, &small.path("notes"))?;
    let answered = asked.iter().position(|a| a.line.starts_with("write(1<"));
    let early = asked.iter().take(answered.unwrap_or(asked.len()));
    let syncs = early.filter(|a| SYNCS.contains(&a.name.as_str())).count();
    table.note(format!(
        "The stop after one that made a checkpoint pays {syncs} fsyncs before its answer; goal 0."
    ));
    Ok(())
}
