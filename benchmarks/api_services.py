"""More services for the yardstick of `whet api`, none of which it was made with: api_services.py YARDSTICK-FOLDER …

The rest of the command line is that of the yardstick's api_bench.py, which starts them and puts its proxy before them.
They need no account, no network and no database server.
"""

import importlib
import sys
from typing import Any

MORE: dict[str, dict[str, Any]] = {
    "jupyter": {
        "packages": ["jupyter-server", "ipykernel", "terminado"],
        "port": 7801, "ready": "/api", "spec": "/api/spec.yaml",
        "command": "{bin}/jupyter server --allow-root --no-browser --ip=127.0.0.1 --port=7801 "
        "--ServerApp.port_retries=0 --IdentityProvider.token= --ServerApp.disable_check_xsrf=True "
        "--ServerApp.root_dir={state} --ServerApp.terminals_enabled=True",
        "env": {"JUPYTER_CONFIG_DIR": "{state}/config", "JUPYTER_DATA_DIR": "{state}/data", "HOME": "{state}",
                "JUPYTER_RUNTIME_DIR": "{state}/run", "PATH": "{bin}:/usr/bin:/bin"},
        "frames": "site-packages/jupyter_",
    },
    "phoenix": {
        "packages": ["arize-phoenix"],
        "port": 7803, "ready": "/healthz", "spec": "/openapi.json",
        "command": "{bin}/phoenix serve",
        "env": {"PHOENIX_WORKING_DIR": "{state}", "PHOENIX_PORT": "7803", "PHOENIX_HOST": "127.0.0.1",
                "PHOENIX_GRPC_PORT": "7813", "PHOENIX_TELEMETRY_ENABLED": "false"},
        "frames": "site-packages/phoenix/",
    },
    "zenml": {
        "packages": ["zenml[server]"],
        "port": 7805, "ready": "/health", "spec": "/openapi.json",
        "command": "{bin}/uvicorn zenml.zen_server.zen_server_api:app --host 127.0.0.1 --port 7805",
        "env": {"ZENML_CONFIG_PATH": "{state}", "ZENML_SERVER_AUTH_SCHEME": "NO_AUTH", "ZENML_SERVER": "1",
                "ZENML_SERVER_AUTO_ACTIVATE": "1", "ZENML_ANALYTICS_OPT_IN": "false",
                "ZENML_SERVER_DEPLOYMENT_TYPE": "other", "PATH": "{bin}:/usr/bin:/bin"},
        "frames": "site-packages/zenml/",
    },
}  # fmt: skip


def main() -> None:
    sys.path.insert(0, sys.argv.pop(1))
    bench = importlib.import_module("api_bench")
    bench.SERVICES.update(MORE)
    bench.main()


if __name__ == "__main__":
    main()
