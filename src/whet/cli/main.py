"""`whet`: commands are imported only when they are used, so that help is quick."""

import os
import sys
from importlib import import_module

import click

COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("whet.cli.run:run", "Visit a project: run, measure, find, and learn from it."),
    "api": ("whet.cli.api:api", "Test a running service by its OpenAPI document; learn which requests find faults."),
    "status": ("whet.cli.status:status", "What the fleet knows of this project and how well it does."),
    "ingest": ("whet.cli.ingest:ingest", "Learn from results: JUnit XML, Allure, Qase, pytest's cache."),
    "flaky": ("whet.cli.flaky:flaky", "Tests that pass and fail on the same code."),
    "rank": ("whet.cli.rank:rank", "The tests most likely to fail first, with a reason for each."),
    "quarantine": ("whet.cli.quarantine:quarantine", "Tests whose failures are told and do not count."),
    "explain": ("whet.cli.explain:explain", "Why a decision was made, and what came of it."),
    "review": ("whet.cli.review:review", "Low-confidence decisions: approve or override them."),
    "record": ("whet.cli.record:record", "Record a world: every action of an agent, for real, several times."),
    "eval": ("whet.cli.evaluate:evaluate", "Is learning worth it? Replay policies on recorded worlds."),
    "train": ("whet.cli.train:train", "Train a deep policy for an agent: DQN or PPO."),
    "bench": ("whet.cli.bench:bench", "Which policy is worth using where, on worlds nobody was trained on."),
    "learn": ("whet.cli.learn:learn", "Make a better policy of what runs showed; prove it; roll it out."),
    "models": ("whet.cli.models:models", "Trained policies: where they stand, and why."),
    "compare": ("whet.cli.compare:compare", "Two policies side by side, by what they earned."),
    "promote": ("whet.cli.steering:promote", "Put a candidate into production, or bring one back."),
    "rollback": ("whet.cli.steering:rollback", "Take a candidate out of use."),
    "pause": ("whet.cli.steering:pause", "Keep a candidate where it is."),
    "resume": ("whet.cli.steering:resume", "Let a paused candidate go on."),
    "memory": ("whet.cli.memory:memory", "What the fleet remembers: search it, look at it, forget it."),
    "rewards": ("whet.cli.rewards:rewards", "What outcomes are worth; preview other weights."),
    "export": ("whet.cli.export:export", "Take what runs showed elsewhere: one file that others can merge."),
    "merge": ("whet.cli.merge:merge", "Take in what others exported, in any order, as often as you like."),
    "audit": ("whet.cli.audit:audit", "The audit trail: show it, verify it."),
    "mcp": ("whet.cli.mcp:mcp", "Serve this project to coding agents (Model Context Protocol)."),
    "serve": ("whet.cli.serve:serve", "See and steer the fleet in a browser; REST and metrics for programs."),
    "keys": ("whet.cli.keys:keys", "Who may use whet serve: add, list, rotate, revoke."),
    "doctor": ("whet.cli.doctor:doctor", "Check what Whet needs, and say how to get what is missing."),
    "init": ("whet.cli.init:init", "Write a commented [tool.whet] (optional: everything has a default)."),
}


class LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_text) for name, (_, help_text) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="whet", prog_name="whet")
def cli() -> None:
    """A test fleet that learns.

    \b
    Start in any Python project with a pytest suite:
      whet run                  find failing, flaky and untested code; learn from the outcome
      whet run --minutes 2      the same within two minutes
      whet api http://127.0.0.1:8000/openapi.json    test a running HTTP service
      whet flaky                which tests cannot be trusted, and why
      whet explain              why the last decisions were made

    Exit codes: 0 fine, 1 findings, 2 usage or internal error; where pytest itself could not
    work, its own code is passed on (5: no tests).
    """


def main() -> None:
    from whet.core.errors import WhetError
    from whet.core.text import printable_lines

    try:
        cli()
    except WhetError as error:
        click.echo(f"whet: {printable_lines(str(error))}", err=True)
        sys.exit(error.exit_code)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        click.echo(f"whet: {printable_lines(str(error.strerror or error) + where)}", err=True)
        sys.exit(2)
    except Exception as error:
        if os.environ.get("WHET_DEBUG"):
            raise
        told = printable_lines(f"{type(error).__name__}: {error}")
        click.echo(f"whet: internal error, please report it: {told}\nWHET_DEBUG=1 shows where.", err=True)
        sys.exit(2)
