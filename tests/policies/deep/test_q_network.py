import pytest
import torch
from tests.policies.deep.small_problems import SMALL, small_config

from whet.policies.deep.dqn_artefact import shapes_of
from whet.policies.deep.dqn_config import Config, Network
from whet.policies.deep.layout import Layout
from whet.policies.deep.networks import QNetwork, network_of

GROUPS = Layout(tokens=3, width=5)
RECALLING = Layout(tokens=1, width=5, memories=4, memory_width=6)


def rows_of(layout: Layout, present: int = 0, rows: int = 7, seed: int = 0) -> torch.Tensor:
    """Random numbers, with the first few memories there."""
    drawn = torch.randn(rows, layout.size, generator=torch.Generator().manual_seed(seed))
    if layout.memories:
        flags = (torch.arange(layout.memories) < present).float()
        drawn[:, layout.size - layout.memories :] = flags
    return drawn


def gradients(network: QNetwork, rows: torch.Tensor) -> dict[str, float]:
    network.zero_grad()
    network(rows).square().sum().backward()
    return {name: 0.0 if p.grad is None else float(p.grad.abs().max()) for name, p in network.named_parameters()}


@pytest.mark.parametrize("layout", [Layout(tokens=1, width=4), GROUPS, RECALLING])
def test_a_row_is_valued_alike_whoever_is_in_its_batch(layout: Layout) -> None:
    network = network_of(small_config(layout=layout), seed=1)
    mine, others = rows_of(layout, 2, rows=1), rows_of(layout, 3, rows=63, seed=9)
    with torch.no_grad():
        alone, among = network(mine)[0], network(torch.cat((others, mine)))[63]
    torch.testing.assert_close(alone, among, rtol=1e-5, atol=1e-6)


def test_training_one_row_sends_no_gradient_into_another() -> None:
    network = network_of(small_config(layout=RECALLING), seed=1)
    rows = rows_of(RECALLING, 2).requires_grad_()
    network(rows)[3].sum().backward()
    assert rows.grad is not None
    touched = rows.grad.abs().sum(dim=1) > 0
    assert touched.tolist() == [place == 3 for place in range(7)]


def test_nothing_in_it_behaves_differently_while_training() -> None:
    network, rows = network_of(small_config(layout=RECALLING), seed=1), rows_of(RECALLING, 2)
    assert not network.training
    with torch.no_grad():
        assert torch.equal(network(rows), network.train()(rows))


def test_attention_over_one_token_is_inert() -> None:
    """One group and nothing recalled: whatever query and key are, the only token gets all the weight."""
    network, alone = network_of(small_config(layout=RECALLING), seed=1), rows_of(RECALLING, present=0)
    found = gradients(network, alone)
    assert found["attention.query.weight"] == found["attention.query.bias"] == found["attention.key.weight"] == 0.0
    assert found["attention.value.weight"] > 0.0
    before = network(alone)
    with torch.no_grad():
        network.attention.query.weight.normal_()  # type: ignore[union-attr]  # this layout has attention
        network.attention.key.weight.normal_()  # type: ignore[union-attr]
    assert torch.equal(before, network(alone))


@pytest.mark.parametrize(("layout", "present"), [(GROUPS, 0), (RECALLING, 1), (RECALLING, 4)])
def test_attention_over_several_tokens_learns(layout: Layout, present: int) -> None:
    found = gradients(network_of(small_config(layout=layout), seed=1), rows_of(layout, present))
    assert min(found["attention.query.weight"], found["attention.key.weight"]) > 0.0


def test_where_there_is_never_more_than_one_token_attention_is_not_built() -> None:
    network = network_of(small_config(layout=Layout(tokens=1, width=4)), seed=1)
    assert network.attention is None


def test_what_stands_where_no_memory_is_does_not_count() -> None:
    network, rows = network_of(small_config(layout=RECALLING), seed=1), rows_of(RECALLING, present=2)
    other = rows.clone()
    third = RECALLING.state_size + 2 * RECALLING.memory_width
    other[:, third : third + 2 * RECALLING.memory_width] = 99.0
    with torch.no_grad():
        assert torch.equal(network(rows), network(other))


def test_a_memory_that_is_there_counts() -> None:
    network, rows = network_of(small_config(layout=RECALLING), seed=1), rows_of(RECALLING, present=2)
    other = rows.clone()
    other[:, RECALLING.state_size] += 1.0
    with torch.no_grad():
        assert not torch.allclose(network(rows), network(other))


def test_the_order_of_memories_does_not_matter() -> None:
    network, rows = network_of(small_config(layout=RECALLING), seed=1), rows_of(RECALLING, present=2)
    first, width = RECALLING.state_size, RECALLING.memory_width
    swapped = rows.clone()
    swapped[:, first : first + width] = rows[:, first + width : first + 2 * width]
    swapped[:, first + width : first + 2 * width] = rows[:, first : first + width]
    with torch.no_grad():
        torch.testing.assert_close(network(rows), network(swapped))


def test_the_heads_begin_apart() -> None:
    values = network_of(small_config(network=SMALL.model_copy(update={"heads": 3})), seed=1)(
        rows_of(Layout(tokens=1, width=4))
    )
    assert values.shape == (7, 3, 4)
    assert values.std(dim=1).min() > 0


def test_the_first_weights_depend_on_the_seed_and_disturb_nobody() -> None:
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    one, same, other = (network_of(small_config(), seed) for seed in (1, 1, 2))
    assert torch.equal(torch.rand(1), expected)
    first, equal, different = (each.encoder[0].weight for each in (one, same, other))
    assert torch.equal(first, equal)  # type: ignore[arg-type]  # a Linear's weight
    assert not torch.equal(first, different)  # type: ignore[arg-type]


@pytest.mark.parametrize("layout", [Layout(tokens=1, width=4), GROUPS, RECALLING])
def test_the_shapes_that_a_saved_network_must_have_are_those_of_the_network(layout: Layout) -> None:
    config = small_config(layout=layout)
    found = {name: tuple(tensor.shape) for name, tensor in network_of(config, 0).state_dict().items()}
    assert shapes_of(config) == found


def test_by_default_the_sizes_are_those_of_the_specification() -> None:
    config = Config(layout=GROUPS, actions=("a", "b"))
    shapes = shapes_of(config)
    assert shapes["encoder.0.weight"] == (512, 15)
    assert shapes["encoder.3.weight"] == (256, 512)
    assert shapes["heads.advantage"] == (3, 128, 2)


def test_attention_that_its_heads_cannot_share_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be shared"):
        Network(attention=10, attention_heads=4)
