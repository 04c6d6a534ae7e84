"""Laws of impact: the records of published and closed-form impacts, and that no impact gains energy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from kane.errors import InputError
from kane.simulate.contacts import ImpactSolution, resolve_impact
from seeds import examples, generator
from unit.simulate.contact_laws import Contacts, draw_contacts, records, violation

RECORD = 1e-10
"""Of records, relative to velocities and impulses of about 1."""
SOLVED = 1e-8
"""Violation of a law relative to velocities."""
GAIN = 1e-9
"""Gain of energy relative to what impulses do with velocities: as much as residuals of 1e-8 leave of nothing."""

KINDS = st.lists(st.sampled_from(["cone", "cone", "normal", "bound", "free"]), min_size=1, max_size=6).map(tuple)
SEEDS = st.integers(0, 2**32 - 1)
LAWS = {
    "poisson": "poisson_lcp",
    "newton": "moreau_newton",
    "stronge": "routh_stronge",
    "path-newton": "routh_newton",
    "path-poisson": "routh_poisson",
}
"""What the records call the laws."""


def collide(contacts: Contacts, e: Any, law: str = "poisson") -> ImpactSolution:
    """The impact of contacts that move with b."""
    return resolve_impact(contacts.W, contacts.b, contacts.mu, e, rows=contacts.rows, kinds=contacts.kinds, law=law)


def energy_change(contacts: Contacts, impact: ImpactSolution) -> tuple[float, float]:
    """(kinetic energy gained, what it is small beside): v⁺ᵀ W⁺ v⁺ / 2 − vᵀ W⁺ v / 2, as impulses and velocities."""
    gain = 0.5 * impact.P @ (contacts.b + impact.v)
    return float(gain), float(0.5 * np.abs(impact.P) @ (np.abs(contacts.b) + np.abs(impact.v)))


def rod_impact(record: str, law: str) -> ImpactSolution:
    """The impact of the rod of a record, rows in the order normal, tangential."""
    given_, W = records()[record]["parameters"], records()[record]["values"]["W"]
    mobility = [[W[2], W[1]], [W[1], W[0]]]
    return resolve_impact(mobility, [given_["v_n"], given_["v_t"]], [given_["mu"]], [given_["e"]], law=law)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("record", ["I01", "I02", "I03", "I08"])
def test_a_rod_collides_as_its_record_says(record: str, law: str) -> None:
    expected, used = records()[record]["values"][LAWS[law]], law
    if expected["energy_change"] > 0.0:  # what gains energy is not taken
        used = {"newton": "poisson", "path-newton": "path-poisson"}[law]
        expected = records()[record]["values"][LAWS[used]]
    impact = rod_impact(record, law)
    assert impact.law == used
    assert pytest.approx([expected["P_n"], expected["P_t"]], abs=RECORD) == impact.P
    assert impact.v == pytest.approx([expected["v_n"], expected["v_t"]], abs=RECORD)


def test_newtons_law_gains_energy_in_one_of_the_records() -> None:
    assert [rod_impact(record, "newton").law for record in ("I01", "I02", "I03", "I08")] == ["newton"] * 3 + ["poisson"]


@pytest.mark.parametrize("law", ["path-newton", "path-poisson", "stronge"])
def test_an_impact_without_collision_frees_painleves_rod(law: str) -> None:
    record = records()["V05"]
    rod, expected = record["parameters"], record["values"][law.removeprefix("path-")]
    s, c = np.sin(rod["theta"]), np.cos(rod["theta"])
    share = rod["l"] ** 2 / rod["J"]
    W = [[1.0 / rod["m"] + share * c * c, -share * s * c], [-share * s * c, 1.0 / rod["m"] + share * s * s]]
    impact = resolve_impact(W, [0.0, -rod["V"]], [rod["mu"]], [rod["e"]], law=law)
    assert impact.law == law
    assert pytest.approx([expected["P_n"], expected["P_t"]], abs=RECORD) == impact.P
    assert impact.v == pytest.approx([expected["v_n"], expected["v_t"]], abs=RECORD)


@pytest.mark.parametrize("slip", [(2.0, 1.0), (2.0, -0.2), (0.7, 1.1)])
def test_an_impact_without_collision_follows_its_slip_as_it_turns(slip: tuple[float, float]) -> None:
    """dv/dP_n = W (1, −mu d) with d along the slip, by another integrator, until the slip stops; then it sticks."""
    W, mu = np.array([[1.0, 0.8, 0.3], [0.8, 1.5, 0.1], [0.3, 0.1, 1.2]]), 1.6

    def rates(_: float, v: Any) -> Any:
        return W @ [1.0, *(-mu * v[1:] / np.linalg.norm(v[1:]))]

    def stopped(_: float, v: Any) -> float:
        return float(np.linalg.norm(v[1:])) - 1e-9

    stopped.terminal = True  # type: ignore[attr-defined]
    way = solve_ivp(rates, (0.0, 100.0), [0.0, *slip], events=stopped, method="DOP853", rtol=1e-12, atol=1e-14)
    assert way.y[0].min() < -1e-3 and way.y[0, -1] < 0.0  # it is pressed together until the slip has stopped
    to_rest = np.linalg.solve(W, -np.array([0.0, *slip]))  # v = 0 at last, whatever the way
    impact = resolve_impact(W, [0.0, *slip], [mu], [0.5], law="path-newton")
    assert impact.law == "path-newton" and impact.v == pytest.approx(0.0, abs=RECORD)
    assert to_rest == pytest.approx(impact.P, abs=10 * RECORD)
    assert impact.P[0] > way.t[-1]


def test_no_impact_without_collision_where_friction_lets_go() -> None:
    """W_nn − mu d · W_nt > 0: the contact is not driven together."""
    W = np.array([[1.0, 0.8, 0.3], [0.8, 1.5, 0.1], [0.3, 0.1, 1.2]])
    impact = resolve_impact(W, [0.0, -2.0, 1.0], [1.6], [0.5], law="path-newton")
    assert np.all(impact.P == 0.0)


def test_a_path_in_space_is_not_followed_from_an_approach() -> None:
    W = np.array([[1.0, 0.8, 0.3], [0.8, 1.5, 0.1], [0.3, 0.1, 1.2]])
    assert resolve_impact(W, [-1.0, 2.0, 1.0], [1.6], [0.5], law="path-newton").law == "poisson"


@pytest.mark.parametrize("record", ["N01", "N02", "N03"])
@pytest.mark.parametrize("law", ["newton", "poisson", "sequential"])
def test_a_chain_of_balls_collides_as_its_record_says(record: str, law: str) -> None:
    balls, values = records()[record]["parameters"], records()[record]["values"]
    masses, before = np.array(balls["masses"]), np.array(balls["v_before"])
    J = np.diff(np.eye(len(masses)), axis=0)  # velocities of the gaps
    impact = resolve_impact(J / masses @ J.T, J @ before, np.zeros(len(J)), balls["e"], law=law)
    after = before + J.T @ impact.P / masses
    assert impact.law == law
    assert after == pytest.approx(values["sequential_left_to_right" if law == "sequential" else law], abs=RECORD)


@pytest.mark.parametrize("count", [2, 3, 5, 9])
def test_a_cradle_passes_the_speed_to_its_last_ball(count: int) -> None:
    J = np.diff(np.eye(count), axis=0)
    before = np.eye(count)[0]
    impact = resolve_impact(J @ J.T, J @ before, np.zeros(count - 1), np.ones(count - 1), law="sequential")
    assert before + J.T @ impact.P == pytest.approx(np.eye(count)[-1], abs=RECORD)


def test_a_sequence_that_never_ends_is_ended() -> None:
    """A small ball bounces for ever between two large ones that approach."""
    J = np.diff(np.eye(3), axis=0)
    impact = resolve_impact(J / [1.0, 1e-3, 1.0] @ J.T, J @ [1.0, 0.0, -1.0], [0.0, 0.0], [0.0, 0.0], law="sequential")
    assert impact.v == pytest.approx([0.0, 0.0], abs=RECORD)


@given(seed=SEEDS, kinds=KINDS, planar=st.booleans(), e=st.floats(0.0, 1.0))
def test_compression_and_expansion_satisfy_poissons_law(
    seed: int, kinds: tuple[str, ...], planar: bool, e: float
) -> None:
    """P_C from the plastic impact; P − P_C under Coulomb's law on v⁺, with normal impulses of e P_C at least."""
    contacts = draw_contacts(np.random.default_rng(seed), kinds, planar, friction=0.7)
    loose = Contacts(
        contacts.W, contacts.b, np.where(np.array(kinds) == "bound", 0.0, contacts.mu), kinds, contacts.rows
    )
    plastic = collide(contacts, np.zeros(len(kinds)), "plastic")
    assert violation(loose, plastic.P) < SOLVED
    impact = collide(contacts, np.full(len(kinds), e))
    assert impact.law == "poisson"
    size = np.abs(contacts.b).max()
    for kind, mu, compression, total, after in zip(
        kinds, contacts.mu, *map(contacts.blocks, (plastic.P, impact.P, impact.v)), strict=True
    ):
        expansion = total - compression
        if kind == "free":
            assert np.abs(after).max() < SOLVED * size
        elif kind == "bound":
            assert not total.any()
        else:
            surplus = expansion[0] - e * compression[0]
            assert surplus > -SOLVED * (1.0 + compression[0])
            assert after[0] > -SOLVED * size
            assert min(surplus, after[0]) < SOLVED * (size + compression[0])
            friction, slip = expansion[1:], np.linalg.norm(after[1:])
            assert np.linalg.norm(friction) < mu * expansion[0] + SOLVED * (1.0 + compression[0])
            if slip > 1e-4 * size:
                assert friction == pytest.approx(-mu * expansion[0] * after[1:] / slip, abs=1e-3 * (1.0 + expansion[0]))


@given(seed=SEEDS, kinds=KINDS, planar=st.booleans())
def test_newtons_law_returns_the_speed_of_approach(seed: int, kinds: tuple[str, ...], planar: bool) -> None:
    rng = np.random.default_rng(seed)
    contacts = draw_contacts(rng, kinds, planar, friction=0.7)
    e = rng.uniform(0.0, 1.0, len(kinds))
    impact = collide(contacts, e, "newton")
    if impact.law == "newton":
        for kind, share, before, after, P in zip(
            kinds, e, *map(contacts.blocks, (contacts.b, impact.v, impact.P)), strict=True
        ):
            if kind in ("cone", "normal"):
                surplus = after[0] + share * min(before[0], 0.0)
                assert surplus > -SOLVED * np.abs(contacts.b).max()
                assert min(surplus, P[0]) < SOLVED * (np.abs(contacts.b).max() + np.abs(impact.P).max())


@pytest.mark.parametrize("law", ["poisson", "newton", "sequential", "plastic", "stronge"])
@pytest.mark.parametrize("equal", [True, False], ids=["equal e", "different e"])
def test_no_impact_gains_energy(law: str, equal: bool) -> None:
    rng = generator(11)
    for number in range(examples(500)):
        k, planar = int(rng.integers(1, 7)), bool(rng.integers(2))
        contacts = draw_contacts(rng, tuple(rng.choice(["cone", "normal", "free"], k, p=[0.7, 0.2, 0.1])), planar)
        e = np.full(k, 1.0 if number % 5 == 0 else rng.uniform()) if equal else rng.uniform(0.0, 1.0, k)
        impact = collide(contacts, e, law)
        gain, size = energy_change(contacts, impact)
        assert gain <= GAIN * size
        assert not (equal and impact.guarded)
        normal = [v[0] for kind, v in zip(contacts.kinds, contacts.blocks(impact.v), strict=True) if kind != "free"]
        assert min(normal, default=0.0) > -SOLVED * np.abs(contacts.b).max()


def test_a_frictionless_impact_with_full_restitution_loses_nothing() -> None:
    rng = generator(12)
    for _ in range(examples(50)):
        contacts = draw_contacts(rng, ("normal",), planar=True)
        gain, size = energy_change(contacts, collide(contacts, [1.0]))
        assert abs(gain) <= GAIN * size


def test_different_restitutions_that_would_gain_energy_are_made_equal() -> None:
    """With much friction and e = 0 beside e = 1 that is one impact in some hundred."""
    rng, guarded = generator(13), 0
    for _ in range(examples(2000)):
        contacts = draw_contacts(rng, ("cone", "cone"), planar=True, friction=3.0, freedoms=4)
        impact = collide(contacts, rng.permutation([0.0, 1.0]))
        guarded += impact.guarded
        gain, size = energy_change(contacts, impact)
        assert gain <= GAIN * size
    assert guarded > 0


def test_contacts_with_equal_restitutions_are_not_guarded() -> None:
    """The impact of two contacts that is guarded with e = (0, 1), and its energy with any e for both."""
    J = np.array([[0.234, 0.554, 0.487, -0.246], [0.397, -0.628, -0.573, -0.924]])
    J = np.concatenate([J, [[-0.374, -0.375, 0.187, -0.346], [-1.657, -1.106, -0.268, 0.529]]])
    v = np.array([-0.8925, -0.5769, -0.7363, 1.0894])
    contacts = Contacts(J @ J.T, v, np.array([2.7817, 2.5698]), ("cone", "cone"), (2, 2))
    assert collide(contacts, [0.0, 1.0]).guarded
    for e in np.linspace(0.0, 1.0, 11):
        impact = collide(contacts, [e, e])
        assert not impact.guarded
        assert energy_change(contacts, impact)[0] <= 0.0


def test_path_laws_of_several_contacts_are_poissons() -> None:
    contacts = draw_contacts(generator(14), ("cone", "cone"), planar=True)
    assert {collide(contacts, [0.5, 0.5], law).law for law in ("stronge", "path-newton", "path-poisson")} == {"poisson"}


@pytest.mark.parametrize("law", ["poisson", "newton", "stronge", "sequential", "path-newton", "path-poisson"])
def test_a_ball_returns_with_its_coefficient_of_restitution(law: str) -> None:
    impact = resolve_impact([[0.5]], [-2.0], [0.0], [0.7], law=law)
    assert impact.law == law
    assert impact.v == pytest.approx([1.4], abs=RECORD)
    assert pytest.approx([6.8], abs=RECORD) == impact.P


def test_what_separates_is_left_alone() -> None:
    for law in ("poisson", "newton", "stronge", "sequential", "plastic", "path-newton"):
        assert not resolve_impact(np.eye(2), [0.5, 1.0], [0.3], [0.5], law=law).P.any()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"law": "hertz"}, "fix: one of poisson, newton"),
        ({"e": [1.1]}, "from 0 to 1"),
        ({"e": [0.1, 0.2]}, r"e has shape \(2,\)"),
        ({"v": [np.inf, 0.0]}, "v has values that are not finite"),
    ],
)
def test_what_is_wrong_with_an_impact_is_said(changes: dict[str, Any], said: str) -> None:
    impact: dict[str, Any] = {"W": np.eye(2), "v": [-1.0, 0.0], "mu": [0.5], "e": [0.5]}
    with pytest.raises(InputError, match=said):
        resolve_impact(**(impact | changes))
