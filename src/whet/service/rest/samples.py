"""Examples for /openapi.json; a test sends every one of them."""

from typing import Any, Final

STATE: Final[dict[str, Any]] = {
    "situation": {
        "suite": "medium",
        "pace": "moderate",
        "failing": None,
        "changed": True,
        "history": "some",
        "budget": "ample",
    },
    "num_tests": 240,
    "total_duration_estimate": 61.5,
    "test_complexity": "moderate",
    "parallel_workers": 4,
    "available_memory_mb": 8192.0,
    "ci_environment": True,
    "avg_execution_time": 0.26,
    "flaky_test_rate": 0.01,
    "previous_failures": 0,
    "affected_tests": 12,
    "configured_workers": False,
    "retry_plugin": False,
}
DECISION: Final = "0f7b6ad3c8e94f51b0a2f0f1c3d4e5f6"
OUTCOME: Final[dict[str, Any]] = {
    "duration_seconds": 33.2,
    "exit_code": 0,
    "tests_collected": 240,
    "tests_run": 240,
    "confirmed_failures": 0,
    "unchecked_failures": 0,
    "unconfirmed_failures": 0,
    "missed_failures": None,
    "first_failure_seconds": None,
    "early_share": None,
    "workers": 4,
    "expected_seconds": 61.5,
    "speedup": 1.85,
    "test_seconds": 58.0,
    "usable_cores": 4,
}
