import torch

from trajevolve.models.muon import Muon, orthogonalise


def test_singular_values_come_near_one():
    torch.manual_seed(0)
    for shape in ((3, 16, 16), (2, 12, 30), (2, 30, 12)):
        values = torch.linalg.svdvals(orthogonalise(torch.randn(shape)))
        assert values.min() > 0.5 and values.max() < 1.3


def test_it_minimises_a_matrix_distance():
    torch.manual_seed(0)
    target = torch.randn(8, 5)
    matrix = torch.nn.Parameter(torch.zeros(8, 5))
    optimiser = Muon([matrix])
    for step in range(300):
        optimiser.param_groups[0]["lr"] = 0.1 * (1 - step / 300)
        loss = (matrix - target).square().sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert loss < 0.1 * target.square().sum()
