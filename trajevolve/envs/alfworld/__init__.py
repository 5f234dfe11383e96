"""ALFWorld: household tasks as text, on a symbolic simulator equal to the real engine."""

from trajevolve.envs.alfworld.environment import AlfworldEnvironment
from trajevolve.envs.alfworld.games import ground
from trajevolve.envs.alfworld.generator import generate_games
from trajevolve.envs.alfworld.planner import Planner
from trajevolve.envs.alfworld.searcher import Searcher

__all__ = ["AlfworldEnvironment", "Planner", "Searcher", "generate_games", "ground"]
