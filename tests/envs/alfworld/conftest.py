import sys
from pathlib import Path

import pytest

from trajevolve.envs.alfworld.problem import Goal, Problem

REAL_DATA = Path(__file__).parents[3].parent / "shared" / "data" / "alfworld"
# The comparison with the real engine is shared with the benchmark that records it.
sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))


@pytest.fixture
def real_data() -> Path:
    if not REAL_DATA.is_dir():
        pytest.skip(f"the published games are not at {REAL_DATA}")
    return REAL_DATA


@pytest.fixture
def kitchen() -> Problem:
    """A cabinet and a shelf that share a location, an open table, a closed fridge and a sink.

    Mug 2 lies on the table and in the cabinet at once; a lamp stands inside the closed cabinet.
    """
    objects = {
        "Mug_bar_1": "MugType",
        "Mug_bar_2": "MugType",
        "Egg_bar_1": "EggType",
        "Knife_bar_1": "KnifeType",
        "DeskLamp_bar_1": "DeskLampType",
        "Window_bar_1": "WindowType",
    }
    receptacles = {
        "Cabinet_bar_1": ("CabinetType", "loc_bar_1"),
        "Shelf_bar_1": ("ShelfType", "loc_bar_1"),
        "DiningTable_bar_1": ("DiningTableType", "loc_bar_2"),
        "Fridge_bar_1": ("FridgeType", "loc_bar_3"),
        "Sink_bar_1_bar_SinkBasin": ("SinkBasinType", "loc_bar_4"),
        "Microwave_bar_1": ("MicrowaveType", "loc_bar_5"),
    }
    inside = [
        ("Mug_bar_1", "DiningTable_bar_1"),
        ("Mug_bar_2", "Cabinet_bar_1"),
        ("Mug_bar_1", "Cabinet_bar_1"),
        ("Egg_bar_1", "DiningTable_bar_1"),
        ("Knife_bar_1", "DiningTable_bar_1"),
        ("DeskLamp_bar_1", "Cabinet_bar_1"),
        ("Window_bar_1", "Shelf_bar_1"),
    ]
    table = ("Mug_bar_1", "Egg_bar_1", "Knife_bar_1")
    return Problem(
        "plan_trial_kitchen",
        {
            "receptacleType": tuple((r, kind) for r, (kind, _) in receptacles.items()),
            "objectType": tuple(objects.items()),
            "canContain": tuple(
                (f"{place}Type", f"{name}Type")
                for place in ("Cabinet", "Shelf", "DiningTable", "Fridge", "SinkBasin")
                for name in ("Mug", "Egg", "Knife")
                if (place, name) != ("Fridge", "Knife")
            ),
            "pickupable": tuple(
                (o,) for o in objects if o.split("_")[0] in ("Mug", "Egg", "Knife")
            ),
            "isReceptacleObject": (("Mug_bar_1",), ("Mug_bar_2",)),
            "openable": (("Cabinet_bar_1",), ("Fridge_bar_1",), ("Microwave_bar_1",)),
            "atLocation": (("agent1", "loc_bar_0"),),
            "cleanable": (("Mug_bar_1",), ("Mug_bar_2",), ("Egg_bar_1",)),
            "heatable": (("Mug_bar_1",), ("Mug_bar_2",), ("Egg_bar_1",)),
            "coolable": (("Mug_bar_1",), ("Mug_bar_2",), ("Egg_bar_1",)),
            "sliceable": (("Egg_bar_1",),),
            "toggleable": (("DeskLamp_bar_1",),),
            "inReceptacle": tuple(inside),
            "inReceptacleObject": (("Egg_bar_1", "Mug_bar_2"),),
            "receptacleAtLocation": tuple((r, place) for r, (_, place) in receptacles.items()),
            "objectAtLocation": (
                *((o, "loc_bar_2") for o in table),
                ("Mug_bar_2", "loc_bar_1"),
                ("DeskLamp_bar_1", "loc_bar_1"),
                ("Window_bar_1", "loc_bar_1"),
            ),
        },
        Goal("pick_cool_then_place_in_recep", "EggType", "ShelfType"),
    )
