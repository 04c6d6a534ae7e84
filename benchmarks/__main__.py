"""Run the benchmarks: `python -m benchmarks [PART OF A NAME ...]`; what is measured replaces its rows of results."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from benchmarks import (
    balls,
    bicycle,
    constraints,
    contact_motions,
    contact_records,
    contacts,
    ensemble_growth,
    evaluation,
    files,
    inverse_kinematics,
    large_trees,
    members,
    mobile_manipulator,
    operations,
    pages,
    robots,
    simulation,
    startup,
    touch,
    vehicle_motions,
)
from benchmarks.table import Part, cells, machine, read, write

BENCHMARKS = (
    operations.inverse_dynamics_operations,
    operations.free_inverse_dynamics_operations,
    operations.forward_dynamics_operations,
    evaluation.batch_inverse_dynamics,
    evaluation.batch_forward_dynamics,
    evaluation.single_inverse_dynamics,
    evaluation.single_forward_dynamics,
    simulation.runge_kutta_steps,
    startup.first_results,
    robots.inverse_dynamics,
    robots.forward_dynamics,
    robots.first_results,
    large_trees.forward_dynamics,
    large_trees.steps,
    large_trees.time_per_body,
    large_trees.growth,
    inverse_kinematics.success,
    inverse_kinematics.path,
    inverse_kinematics.against_roboticstoolbox,
    bicycle.first_results,
    bicycle.operations,
    bicycle.batch,
    bicycle.reactions,
    bicycle.linearizations,
    bicycle.energy,
    bicycle.steps,
    constraints.flat_parallelogram,
    constraints.singular_four_bars,
    constraints.squeezer,
    constraints.three_ways,
    mobile_manipulator.motions,
    mobile_manipulator.thresholds,
    mobile_manipulator.operations,
    mobile_manipulator.safety_filter,
    mobile_manipulator.motion_time,
    balls.balls_into_a_box,
    balls.many_contacts,
    contact_records.reference_records,
    contact_records.bouncing_ball,
    contact_records.disk_threshold,
    contact_records.cart_transitions,
    contact_records.rocking_block,
    contact_records.painleve_states,
    contact_motions.box_on_a_slope,
    contact_motions.thrown_cube,
    contact_motions.cart_steps,
    contact_motions.event_searches,
    contact_motions.random_impacts,
    contacts.solutions,
    contacts.times,
    vehicle_motions.circle,
    files.large_files,
    pages.pages,
    pages.drawing,
    touch.stiffest_wall,
    touch.clock,
    touch.machine_alone,
    touch.look_ahead,
    touch.creep,
    members.double_pendulums,
    members.pendulums_with_events,
    members.rollout,
    members.bicycles,
    members.contacts,
    members.scipy_in_a_loop,
    members.heyoka_in_batches,
    members.memory,
    ensemble_growth.small_blocks,
    ensemble_growth.processes,
)


def hold_to_one_core() -> None:
    """Keep this process, its threads and its children on one core, where the system allows it."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def main(wanted: list[str]) -> None:
    """Print each row as it is measured, and keep those of a benchmark as soon as it is done."""
    named = {f"{benchmark.__module__.split('.')[-1]}.{benchmark.__name__}": benchmark for benchmark in BENCHMARKS}
    chosen = [name for name in named if not wanted or any(part in name for part in wanted)]
    if not chosen:
        print(f"no benchmark has {' or '.join(wanted)} in its name; there are", *named, sep="\n  ", file=sys.stderr)
        sys.exit(2)  # as of any command line that names what is not there
    folder = Path(__file__).parent
    hold_to_one_core()
    for name in chosen:
        facts, rows = machine(), []
        for row in named[name]():
            rows.append(row)
            print(" | ".join(cells(row)), flush=True)
        kept = read(folder) | {name: Part(facts, tuple(rows))}
        write({known: kept[known] for known in named if known in kept}, folder)
    print("written: benchmarks/results.md, benchmarks/results.json")


if __name__ == "__main__":
    main(sys.argv[1:])
