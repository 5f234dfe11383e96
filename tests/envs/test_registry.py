"""Environments by name, and what is said when there is none."""

import subprocess
import sys

import pytest
from toys.house import HouseEnvironment

from trajevolve.config import EnvConfig
from trajevolve.envs import registry
from trajevolve.envs.registry import configured_env, make_env
from trajevolve.errors import UserError


def test_a_class_of_ones_own():
    assert isinstance(make_env("toys.house:HouseEnvironment"), HouseEnvironment)


def test_a_built_in_name():
    assert make_env("alfworld", difficulty="easy").spec.name == "alfworld"


def test_a_module_in_the_current_folder(tmp_path, monkeypatch):
    (tmp_path / "my_own_rooms.py").write_text(
        "from toys.house import HouseEnvironment\n"
        "def make(size=1):\n    return HouseEnvironment()\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert isinstance(make_env("my_own_rooms:make", size=2), HouseEnvironment)


@pytest.mark.parametrize(
    ("name", "options", "text"),
    [
        ("alfwrld", {}, "'alfwrld' is unknown; known: alfworld"),
        ("no_such_module:Env", {}, "no module 'no_such_module' on the path"),
        ("toys.nothing:Env", {}, "no module 'toys.nothing' on the path"),
        ("toys.house:Env", {}, "toys.house has no class or function 'Env'"),
        ("toys.house:HouseEnvironment", {"size": 3}, "has no option 'size'; it takes none"),
        ("alfworld", {"dato": "x"}, "has no option 'dato'; did you mean 'data'"),
        ("toys.house:house_task", {"goal": "hand"}, "expected an Environment, got Task"),
        ("os:abort", {}, "os has no class or function 'abort'"),
        (":", {}, "is unknown"),
    ],
)
def test_mistakes_are_explained(name, options, text):
    with pytest.raises(UserError, match=text):
        make_env(name, **options)


def test_a_missing_package_names_its_extra(monkeypatch):
    monkeypatch.setitem(registry.BUILT_IN, "shop", ("no_such_package.shop:Shop", "webshop"))
    with pytest.raises(UserError, match=r"run `make install EXTRAS=webshop`"):
        make_env("shop")


def test_a_type_error_inside_the_environment_keeps_its_traceback(monkeypatch):
    def broken(self):
        raise TypeError("inside")

    monkeypatch.setattr(HouseEnvironment, "__init__", broken)
    with pytest.raises(TypeError, match="inside"):
        make_env("toys.house:HouseEnvironment")


def test_options_of_a_configuration_reach_the_environment(tmp_path, monkeypatch):
    (tmp_path / "my_options.py").write_text(
        "from toys.house import HouseEnvironment\n"
        "def make(**options):\n"
        "    env = HouseEnvironment()\n    env.options = options\n    return env\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    given = {"name": "my_options:make", "options": {"size": 3, "wet": True}}
    assert configured_env(EnvConfig(**given)).options == {"size": 3, "wet": True}
    assert configured_env(EnvConfig(**given, workers=4)).options["workers"] == 4
    with pytest.raises(UserError, match=r"env\.options: workers has a key of its own"):
        configured_env(EnvConfig(name="my_options:make", options={"workers": 2}))


def test_importing_the_package_imports_nothing_heavy():
    code = (
        "import sys, trajevolve; trajevolve.verify; trajevolve.make_env; "
        "print([m for m in ('torch', 'transformers', 'pandas', 'mlflow', 'dvc', 'prefect') "
        "if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
