"""Trajectory evolution: refine trajectories and let the update learn from them (paper §3.4)."""
