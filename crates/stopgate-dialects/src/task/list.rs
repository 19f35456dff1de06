//! The directory of tasks that an agent keeps for one session: a file each.

use super::record::{TaskRecord, TaskStanding};

/// Which of these records the hook judges, if any: the first that has a loop's metadata
/// and is being worked on, else the first that is being worked on at all.
///
/// A plain entry has no steps of its own: the rest of the list stands for them.
pub fn choose(records: &[TaskRecord]) -> Option<(usize, TaskRecord)> {
    let mut order: Vec<usize> = (0..records.len()).collect();
    order.sort_by_key(|at| rank(&records[*at].id));
    let active = |at: &&usize| records[**at].is_active();
    let looped = order.iter().filter(active).find(|at| records[**at].has_loop);
    let at = *looped.or_else(|| order.iter().find(active))?;
    let mut chosen = records[at].clone();
    if !chosen.has_loop {
        chosen.completed =
            subjects(records, &order, |record| record.status == TaskStanding::Completed);
        let waits = |record: &TaskRecord| {
            record.status == TaskStanding::Pending && is_free(record, records)
        };
        chosen.remaining = vec![chosen.subject.clone()];
        chosen.remaining.extend(subjects(records, &order, waits));
    }
    Some((at, chosen))
}

fn subjects(
    records: &[TaskRecord],
    order: &[usize],
    wanted: impl Fn(&TaskRecord) -> bool,
) -> Vec<String> {
    let in_order = order.iter().map(|at| &records[*at]);
    in_order.filter(|record| wanted(record)).map(|record| record.subject.clone()).collect()
}

/// Whether all that must come before it is finished.
fn is_free(record: &TaskRecord, records: &[TaskRecord]) -> bool {
    let open = |id: &String| {
        records.iter().any(|other| other.id == *id && other.status != TaskStanding::Completed)
    };
    !record.blocked_by.iter().any(open)
}

/// Agents count their tasks: 2 comes before 10.
fn rank(id: &str) -> (u64, String) {
    (id.parse().unwrap_or(u64::MAX), id.into())
}
