"""The flags every tritonserver of ours is started with, whoever starts it."""

from __future__ import annotations

# One header opens both protocols: Triton wants gRPC's to be called triton-grpc-protocol-<name>
# and lets HTTP's have any name.
_KEY_NAME = "tritalk"
KEY_HEADER = f"triton-grpc-protocol-{_KEY_NAME}"
RESTRICTABLE = (
    "health,metadata,inference,shared-memory,model-config,model-repository,statistics,trace,logging"
)
# BLS calls and token sends share one pool an instance; 32, the default, made 40 streams burst.
_POOL_THREADS = 160
_STUB_TIMEOUT = 120


def always(models: str, backends: str) -> list[str]:
    """For every server: where its models and backends are, and how those run. Models are loaded
    one by one, so that a called model is there before its callers, and one that fails leaves the
    others running."""
    return [
        f"--model-repository={models}",
        f"--backend-directory={backends}",
        "--model-control-mode=explicit",
        "--exit-on-error=false",
        "--log-format=ISO8601",
        f"--backend-config=python,stub-timeout-seconds={_STUB_TIMEOUT}",
        f"--backend-config=python,thread-pool-size={_POOL_THREADS}",
    ]


def restricted(key: str, apis: str = RESTRICTABLE) -> list[str]:
    """Demand ``key`` in the header :data:`KEY_HEADER` for ``apis`` over both protocols."""
    return [
        f"--grpc-restricted-protocol={apis}:{_KEY_NAME}={key}",
        f"--http-restricted-api={apis}:{KEY_HEADER}={key}",
    ]
