"""Kane's method on a pendulum that hangs on a cart, step by step, and which speeds make a double pendulum short."""

import kane

m = kane.Model("cart", gravity=(0, 0, "-g"), about="A particle on a massless rod, on a cart")
for name, value in {"g": 9.81, "l": 0.5, "M": 2.0, "m": 1.0}.items():
    m.parameter(name, value)
m.particle("cart", "M")
m.joint("rail", "prismatic", "ground", "cart", axis="x", coordinates=["x"], speeds=["u1"])
m.particle("bob", "m", center=(0, 0, "-l"))
m.joint("pin", "revolute", "cart", "bob", axis="-y", coordinates=["phi"], speeds=["u2"])

told = m.explain()
print(told)
assert told.equations[0] == "-(M + m) u1' - m l cos(φ) u2' + m l sin(φ) u2² + τ_u1 = 0"
assert told.to_html().startswith("<!doctype html>")  # a page of its own; to_latex() is for a document

double = kane.load("double-pendulum")
print(double.suggest_speeds(apply=True))
print(double.explain(beside="rates").equations[0])
