"""Contact problems u = W r + b: solutions satisfy Coulomb's law, and where there is none or several, that is said."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kane.errors import InputError
from kane.simulate.contacts import ContactSolution, solve_contact_problem
from seeds import examples, generator
from unit.simulate.contact_laws import REFERENCE, Contacts, draw_contacts, records, violation

SOLVED = 1e-8
"""Violation of a law relative to b that the reference problems allow."""
CLOSED_FORM = 1e-12
"""Of problems of one or two contacts, whose conditions are below 100."""
SAME = 1e-6
"""Relative difference of u from two searches: what residuals of 1e-8 leave where W has a condition of 100 and more."""

PROBLEMS = np.load(REFERENCE / "contact_problems.npz")
NAMES = sorted({name.rsplit("/", 1)[0] for name in PROBLEMS.files})
FAMILIES = sorted({name.rsplit("-", 1)[0] for name in NAMES})

KINDS = st.lists(st.sampled_from(["cone", "cone", "normal", "bound", "free"]), min_size=1, max_size=8).map(tuple)
SEEDS = st.integers(0, 2**32 - 1)


def solve(contacts: Contacts, start: np.ndarray | None = None, count: bool = False) -> ContactSolution:
    """The solution of a problem."""
    return solve_contact_problem(
        contacts.W, contacts.b, contacts.mu, rows=contacts.rows, kinds=contacts.kinds, start=start, count=count
    )


def reference_problem(name: str) -> Contacts:
    """One of the problems that were made elsewhere; all of its contacts have friction."""
    W, b, mu = (PROBLEMS[f"{name}/{part}"] for part in ("W", "b", "mu"))
    k = len(mu)
    return Contacts(W, b, mu, ("cone",) * k, (len(b) // k,) * k)


@pytest.mark.parametrize("family", FAMILIES)
def test_reference_problems_are_solved(family: str) -> None:
    names = [name for name in NAMES if name.rsplit("-", 1)[0] == family]
    assert len(names) == 5
    for name in names:
        contacts = reference_problem(name)
        solution = solve(contacts)
        assert solution.solved, name
        assert violation(contacts, solution.r) < SOLVED, name
        u, r = contacts.blocks(solution.u), contacts.blocks(solution.r)
        # without measuring, as the file states it
        assert min(min(one[0], other[0]) for one, other in zip(u, r, strict=True)) > -SOLVED, name
        assert max(abs(min(one[0], other[0])) for one, other in zip(u, r, strict=True)) < SOLVED, name


def test_a_violation_is_found() -> None:
    contacts = Contacts(np.eye(2), np.array([-1.0, 0.3]), np.array([0.5]), ("cone",), (2,))
    good = np.array([1.0, -0.3])
    assert violation(contacts, good) < CLOSED_FORM
    for bad in ([1.0, -0.2], [1.0, 0.3], [0.9, -0.3], [1.1, -0.3], [0.0, 0.0], [-1.0, 0.0]):
        assert violation(contacts, np.array(bad)) > 0.05, bad


@pytest.mark.parametrize("angle", np.linspace(0.0, 6.0, 13))
def test_friction_is_the_same_in_all_directions(angle: float) -> None:
    """A block that slides in any direction: r = mu r_n against the slip, which no pyramid gives."""
    direction = np.array([np.cos(angle), np.sin(angle)])
    b = np.concatenate([[-1.0], 2.0 * direction])
    solution = solve_contact_problem(np.eye(3), b, [0.4])
    assert solution.r == pytest.approx(np.concatenate([[1.0], -0.4 * direction]), abs=CLOSED_FORM)
    assert solution.u == pytest.approx(np.concatenate([[0.0], 1.6 * direction]), abs=CLOSED_FORM)


def test_a_block_sticks_slides_or_leaves() -> None:
    for b, r in (([-1.0, 0.3], [1.0, -0.3]), ([-1.0, 0.6], [1.0, -0.4]), ([1.0, 0.6], [0.0, 0.0])):
        solution = solve_contact_problem(np.eye(2), b, [0.4])
        assert solution.r == pytest.approx(r, abs=CLOSED_FORM)
        assert solution.solutions == 1


def test_bounded_friction_holds_up_to_its_bound() -> None:
    for b, r in ((0.3, -0.3), (0.6, -0.5), (-4.0, 0.5)):
        solution = solve_contact_problem([[1.0]], [b], [0.5], kinds=["bound"])
        assert solution.r == pytest.approx([r], abs=CLOSED_FORM)
    plane = solve_contact_problem(np.eye(2), [3.0, 4.0], [2.0], rows=[2], kinds=["bound"])
    assert plane.r == pytest.approx([-1.2, -1.6], abs=CLOSED_FORM)


def test_free_rows_are_brought_to_rest() -> None:
    rng = generator(1)
    A = rng.normal(size=(4, 4))
    W, b = A @ A.T, rng.normal(size=4)
    solution = solve_contact_problem(W, b, [0.0], rows=[4], kinds=["free"])
    assert solution.r == pytest.approx(-np.linalg.solve(W, b), rel=1e-9)


@pytest.mark.parametrize("row", records()["V03"]["values"]["table"], ids=lambda row: f"{row['theta']}-{row['w']}")
def test_painleves_rod_has_as_many_solutions_as_its_record_says(row: dict[str, float]) -> None:
    expected = {"slides": 1, "leaves": 1, "inconsistent": 0, "indeterminate": 2}[str(row["result"])]
    solution = solve_contact_problem([[row["p"]]], [row["b"]], [0.0])
    assert solution.solutions == expected
    assert solution.solved == (expected > 0)
    if row["N_if_sliding"] is not None:  # the solution nearest to where the search begins
        pressed = solve_contact_problem([[row["p"]]], [row["b"]], [0.0], start=[2.0 * row["N_if_sliding"]])
        assert pressed.r == pytest.approx([row["N_if_sliding"]], rel=1e-10)


def test_painleves_rod_is_paradoxical_in_the_intervals_of_its_record() -> None:
    """W_nn + mu W_tn < 0 is where a rod that slides and is pressed down has no solution [record V01]."""
    record = records()["V01"]
    rod = record["parameters"]
    for mu, interval in zip(rod["mu"], record["values"]["theta_intervals"], strict=True):
        for theta in np.linspace(0.1, 1.5, 57):
            inside = bool(interval) and interval[0] < theta < interval[1]
            normal = 1.0 / rod["m"] + rod["l"] ** 2 * np.cos(theta) ** 2 / rod["J"]
            mixed = -(rod["l"] ** 2) * np.sin(theta) * np.cos(theta) / rod["J"]
            found = solve_contact_problem([[normal + mu * mixed]], [-rod["g"]], [0.0]).solutions
            assert found == (0 if inside else 1), (mu, theta)


def test_all_solutions_of_a_planar_problem_are_counted() -> None:
    """Two pressed contacts that drive each other apart: u = W r + b with negative off-diagonal growth has three."""
    W, b = np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([-1.0, -1.0])
    # r = (1, 0), (0, 1) and (1/3, 1/3), by hand
    assert solve_contact_problem(W, b, [0.0, 0.0]).solutions == 3
    for r in ([1.0, 0.0], [0.0, 1.0], [1 / 3, 1 / 3]):
        assert solve_contact_problem(W, b, [0.0, 0.0], start=r).r == pytest.approx(r, abs=CLOSED_FORM)


def test_redundant_contacts_are_one_solution() -> None:
    """A table on four legs in a row: reactions are not determined, the motion is."""
    x = np.array([-1.0, -0.3, 0.3, 1.0])
    J = np.stack([np.ones(4), x], axis=1)
    solution = solve_contact_problem(J @ J.T, J @ [-1.0, 0.2], np.zeros(4))
    assert solution.solutions == 1
    assert solution.u == pytest.approx(np.zeros(4), abs=CLOSED_FORM)
    assert J.T @ solution.r == pytest.approx([1.0, -0.2], abs=CLOSED_FORM)


@given(seed=SEEDS, kinds=KINDS, planar=st.booleans())
def test_random_problems_are_solved(seed: int, kinds: tuple[str, ...], planar: bool) -> None:
    """W of redundant contacts is singular; b belongs to it, as it does in every system of bodies."""
    contacts = draw_contacts(np.random.default_rng(seed), kinds, planar, friction=1.0 if planar else 0.7)
    solution = solve(contacts)
    assert solution.solved
    assert violation(contacts, solution.r) < SOLVED


@given(seed=SEEDS, kinds=KINDS, units=st.lists(st.floats(-4.0, 4.0), min_size=8, max_size=8))
def test_units_do_not_matter(seed: int, kinds: tuple[str, ...], units: list[float]) -> None:
    """Rows of a contact in other units, and b a million times smaller: the same r in those units."""
    contacts = draw_contacts(np.random.default_rng(seed), kinds, planar=True, freedoms=24)
    D = np.diag(np.repeat(10.0 ** np.array(units[: len(kinds)]), contacts.rows))
    mu = np.where(np.array(kinds) == "bound", 1e-6 * contacts.mu / 10.0 ** np.array(units[: len(kinds)]), contacts.mu)
    other = Contacts(D @ contacts.W @ D, 1e-6 * D @ contacts.b, mu, contacts.kinds, contacts.rows)
    one, two = solve(contacts), solve(other)
    assert two.solved
    assert 1e6 * D @ two.r == pytest.approx(one.r, rel=SAME, abs=SAME * np.abs(one.r).max())


@given(seed=SEEDS, kinds=st.lists(st.sampled_from(["normal", "free"]), min_size=1, max_size=8).map(tuple))
def test_the_order_of_contacts_does_not_matter(seed: int, kinds: tuple[str, ...]) -> None:
    """Without friction u is unique where W is positive semidefinite."""
    rng = np.random.default_rng(seed)
    contacts = draw_contacts(rng, kinds, planar=True)
    other, rows = contacts.reorder([int(i) for i in rng.permutation(len(kinds))])
    u = solve(contacts).u
    assert solve(other).u == pytest.approx(u[rows], rel=SAME, abs=SAME * np.abs(contacts.b).max())


@given(seed=SEEDS, k=st.integers(1, 8), planar=st.booleans())
def test_the_order_does_not_matter_with_little_friction(seed: int, k: int, planar: bool) -> None:
    rng = np.random.default_rng(seed)
    contacts = draw_contacts(rng, ("cone",) * k, planar, friction=0.02, freedoms=40)
    other, rows = contacts.reorder([int(i) for i in rng.permutation(k)])
    u = solve(contacts).u
    assert solve(other).u == pytest.approx(u[rows], rel=SAME, abs=SAME * np.abs(contacts.b).max())


@pytest.mark.parametrize("planar", [True, False])
def test_a_solution_is_recognised_when_the_search_begins_there(planar: bool) -> None:
    contacts = draw_contacts(generator(3), ("cone",) * 6, planar)
    first = solve(contacts)
    again = solve(contacts, start=first.r)
    assert first.method != "warm start"
    assert again.method == "warm start"
    assert again.r == pytest.approx(first.r, rel=1e-14)


@pytest.mark.parametrize("kind", ["cone", "bound"])
def test_one_contact_in_space_is_solved_by_itself(kind: str) -> None:
    """The cone is met exactly, so sweeps over one contact need no other method."""
    rng = generator(6)
    for _ in range(examples(100)):
        contacts = draw_contacts(rng, (kind,), planar=False, freedoms=6)
        solution = solve(contacts)
        assert solution.method in ("Gauss-Seidel", "warm start")
        assert violation(contacts, solution.r) < CLOSED_FORM


def test_iteration_and_enumeration_agree_where_there_is_one_solution() -> None:
    rng, alone = generator(4), 0
    for _ in range(examples(200)):
        contacts = draw_contacts(rng, ("cone",) * 4, planar=True, freedoms=9)
        quick, counted = solve(contacts), solve(contacts, count=True)
        assert counted.solved
        assert counted.solutions is not None
        if counted.solutions == 1:
            alone += 1
            assert quick.u == pytest.approx(counted.u, abs=SAME * np.abs(contacts.b).max())
    assert alone > examples(100)


def test_planar_problems_of_much_friction_are_solved() -> None:
    """Friction beyond all materials, contacts that wedge each other: Lemke's method is what is left for some."""
    rng, methods = generator(5), set()
    for _ in range(examples(400)):
        contacts = draw_contacts(rng, ("cone",) * int(rng.integers(7, 13)), planar=True, friction=3.0)
        solution = solve(contacts)
        methods.add(solution.method)
        assert violation(contacts, solution.r) < SOLVED
    assert {"Newton", "Lemke"} <= methods


def test_no_solution_is_said() -> None:
    """A free row that nothing can stop."""
    solution = solve_contact_problem(np.zeros((2, 2)), [1.0, 0.0], [0.0, 0.0], kinds=["free", "normal"])
    assert not solution.solved
    assert solution.solutions == 0


def test_nothing_happens_to_contacts_at_rest() -> None:
    solution = solve_contact_problem(np.eye(3), np.zeros(3), [0.4], start=[1.0, 0.1, 0.2])
    assert solution.solved
    assert not solution.r.any()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"W": np.eye(3)}, r"W has shape \(3, 3\)"),
        ({"b": [1.0, np.nan]}, "b has values that are not finite"),
        ({"mu": [-0.1]}, "friction is not negative"),
        ({"mu": [0.1, 0.1, 0.1]}, "say with `rows`"),
        ({"rows": [1]}, "b has 2 rows"),
        ({"kinds": ["sliding"]}, "one of normal, cone, bound, free"),
        ({"kinds": ["normal"]}, "a contact of kind 'normal' has 1"),
        ({"start": [1.0]}, r"start has shape \(1,\)"),
    ],
)
def test_what_is_wrong_with_a_problem_is_said(changes: dict[str, object], said: str) -> None:
    given_: dict[str, object] = {"W": np.eye(2), "b": [-1.0, 0.0], "mu": [0.5]}
    with pytest.raises(InputError, match=said):
        solve_contact_problem(**(given_ | changes))  # type: ignore[arg-type]
