"""Tests of many variants, of which an ordinary run takes one in so many, evenly spread, and `make test-long` all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

ONE_IN = {
    "test_a_box_pushed_off_its_middle_begins_to_slip_and_turn_at_its_limit": 3,
    "test_a_large_file_is_judged_with_work_in_proportion": 4,
    "test_a_model_follows_the_hand_for_a_second": 3,
    "test_a_motion_is_the_same_with_control_events_and_quaternions": 2,
    "test_a_page_is_one_file_that_asks_for_nothing_and_shows_the_mechanism_whole": 3,
    "test_a_page_moves_as_a_native_run_does": 3,
    "test_a_problem_in_another_process_gives_the_same_bits": 3,
    "test_a_robot_has_the_dynamics_that_pinocchio_gives_it": 4,
    "test_a_robot_with_a_point_mass_for_a_head_accelerates_as_worked_out_with_forty_digits": 3,
    "test_a_run_that_forgets_something_ends_otherwise": 3,
    "test_a_run_that_is_interrupted_again_and_again_ends_with_the_same_bits": 3,
    "test_a_search_finds_no_fault": 4,
    "test_a_table_stands_as_on_stiff_springs": 4,
    "test_a_tilted_linkage_closed_by_a_spatial_joint_moves_as_the_planar_one": 2,
    "test_an_arm_is_identified_from_efforts_of_pinocchio_as_well_as_its_angles_are_written": 3,
    "test_an_arm_of_six_axes_without_limits_or_laws_is_held": 2,
    "test_any_number_of_curves_makes_a_page": 3,
    "test_base_parameters_are_as_many_and_as_well_conditioned_whatever_the_digits_of_angles": 2,
    "test_built_in_models_load_back": 3,
    "test_commands_do_without_standard_streams": 3,
    "test_constrained_members_have_the_bits_of_motions_alone": 2,
    "test_drawn_forces_have_signs_which_their_axes_tell": 2,
    "test_every_bit_of_a_page_is_that_of_a_native_run": 2,
    "test_every_built_in_model_travels_before_and_after_it_was_asked": 4,
    "test_every_kind_of_joint_moves_as_in_the_written_out_form": 3,
    "test_every_option_of_a_joint_is_that_of_the_written_out_form": 3,
    "test_every_question_has_the_same_answer": 3,
    "test_looks_on_the_way_change_no_bit_of_the_end_and_find_the_extremes": 3,
    "test_members_have_the_bits_of_motions_alone": 3,
    "test_members_under_changing_constraints_have_the_bits_of_motions_alone": 3,
    "test_motions_of_the_models_pass_the_laws_of_contact": 2,
    "test_n_four_bars_go_through_their_flat_position": 3,
    "test_processes_give_the_bits_of_threads": 2,
    "test_rates_of_coordinates_and_speeds_are_those_of_sympy": 3,
    "test_reactions_in_evidence_are_those_of_sympys_auxiliary_equations": 3,
    "test_rows_that_may_end_hold_like_those_that_cannot": 3,
    "test_sympy_text_is_python_that_runs_and_computes_the_same": 2,
    "test_the_acceleration_of_a_row_between_driven_bodies_is_its_rate": 4,
    "test_the_example_draws_on_request": 3,
    "test_the_oracle_notices_another_constraint": 4,
    "test_the_work_per_character_does_not_grow_with_the_file": 4,
    "test_the_work_per_character_does_not_grow_with_the_robot": 4,
    "test_three_routes_agree_under_constraints": 3,
    "test_what_a_model_calls_itself_is_no_place_to_write": 3,
}
"""By the names of tests. Variants that differ in kind, such as all commands or all operations, are always taken."""


def leave_to_long_runs(items: Iterable[pytest.Item]) -> None:
    """Mark what an ordinary run does not take."""
    seen = Counter[str]()
    for item in items:
        if isinstance(item, pytest.Function) and (name := item.originalname) in ONE_IN:
            if seen[name] % ONE_IN[name]:
                item.add_marker(pytest.mark.long)
            seen[name] += 1
