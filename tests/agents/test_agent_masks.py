"""Whatever an agent sees, it has something to do, and its safe default is among it."""

import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic.fields import FieldInfo
from tests.agents.workplaces import SmallProject, this_python, without

from whet.agents.catalogue import AGENTS, COMMANDER, SPECIALISTS, AnyAgent
from whet.agents.commander import Commander, CommanderState
from whet.agents.executor import Executor
from whet.core.records import Situation
from whet.tools.python import Python


def values(annotation: Any, limits: tuple[Any, ...] = ()) -> st.SearchStrategy[Any]:
    """Whatever the field of a record may hold."""
    arguments = get_args(annotation)
    if get_origin(annotation) is Annotated:
        found = [m for field in arguments[1:] if isinstance(field, FieldInfo) for m in field.metadata]
        return values(arguments[0], tuple(found))
    if get_origin(annotation) in (Union, types.UnionType):
        return st.one_of(*(values(argument, limits) for argument in arguments))
    if get_origin(annotation) is Literal:
        return st.sampled_from(arguments)
    if isinstance(annotation, type) and issubclass(annotation, Situation):
        return st.builds(annotation, **fields(annotation))
    most = next((m.le for m in limits if hasattr(m, "le")), 1000)
    plain: dict[Any, st.SearchStrategy[Any]] = {
        bool: st.booleans(),
        int: st.integers(0, int(most)),
        float: st.floats(0, float(most)) | st.just(0.0),
        types.NoneType: st.none(),
        dict: st.fixed_dictionaries({agent.name: st.integers(0, 3) for agent in SPECIALISTS}),
        tuple: st.sets(st.sampled_from([agent.name for agent in SPECIALISTS])).map(tuple),
    }
    return plain[get_origin(annotation) or annotation]


def fields(record: Any) -> dict[str, st.SearchStrategy[Any]]:
    return {name: values(f.annotation, tuple(f.metadata)) for name, f in record.model_fields.items()}


@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
@given(data=st.data())
def test_the_safe_default_is_always_allowed(agent: AnyAgent, data: st.DataObject) -> None:
    state = data.draw(st.builds(agent.state_type, **fields(agent.state_type)))
    allowed = agent.allowed(state)
    assert len({action.name for action in allowed}) == len(allowed) > 0
    assert set(allowed) <= set(agent.actions)
    assert agent.safe_default(state) in allowed


@given(state=st.builds(CommanderState, **fields(CommanderState)))
def test_blocked_agents_are_never_sent(state: CommanderState) -> None:
    sent = {action.name.removeprefix("dispatch_").replace("_", "-") for action in COMMANDER.allowed(state)}
    assert not sent.intersection(state.blocked)


def offered(project: SmallProject, python: Python) -> set[str]:
    agent = Executor()
    with project.workplace(python) as place:
        return {action.name for action in agent.allowed(agent.observe(place))}


def test_what_the_interpreter_lacks_is_not_offered(tmp_path: Any) -> None:
    project = SmallProject(tmp_path, {"test_two.py": "def test_a(): pass\ndef test_b(): pass\n"})
    full, bare = offered(project, this_python()), offered(project, without("pytest-xdist"))
    assert "execute_parallel_2" in full
    assert not [name for name in bare if name.startswith("execute_parallel")]
    assert "no_retry" not in full
    # no git, no history: nothing to select by, nothing that failed, nothing timed
    assert full.isdisjoint({"run_changed_only", "run_failed_first", "run_fast_first", "execute_sequential"})
    retrying = this_python().packages | {"pytest-rerunfailures": "15.0"}
    assert "no_retry" in offered(project, this_python().model_copy(update={"packages": retrying}))


@given(
    state=st.builds(CommanderState, **fields(CommanderState)),
    crew=st.sets(st.sampled_from([agent.name for agent in SPECIALISTS]), min_size=1),
)
def test_a_state_of_a_smaller_crew_means_the_same_to_the_whole_one(state: CommanderState, crew: set[str]) -> None:
    """A project without a service is visited by fewer; the catalogue's commander is asked about those states, too."""
    seen = state.model_copy(update={"visits": {name: state.visits[name] for name in crew}})
    there = Commander([agent.name for agent in SPECIALISTS if agent.name in crew])
    assert COMMANDER.allowed(seen) == there.allowed(seen)
    assert COMMANDER.safe_default(seen) == there.safe_default(seen)
