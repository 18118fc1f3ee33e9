"""MLflow's own server application on loopback: `python mlflow_serving.py DATABASE FILES` prints its port.

`mlflow server` starts it together with its assistant, gateway and job runner, which need pandas and others; the
application that answers the tracking and registry calls needs Flask alone.
"""

import os
import sys

os.environ.update(
    {
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
        "_MLFLOW_SERVER_FILE_STORE": sys.argv[1],
        "_MLFLOW_SERVER_REGISTRY_STORE": sys.argv[1],
        "_MLFLOW_SERVER_ARTIFACT_DESTINATION": sys.argv[2],
        "_MLFLOW_SERVER_ARTIFACT_ROOT": "mlflow-artifacts:/",
        "_MLFLOW_SERVER_SERVE_ARTIFACTS": "true",
    }
)

from mlflow.server import app
from werkzeug.serving import make_server

server = make_server("127.0.0.1", 0, app, threaded=True)
print(server.server_port, flush=True)
server.serve_forever()
