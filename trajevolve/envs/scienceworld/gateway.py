"""The connection to a Java process: one call, one answer or one exception.

py4j's own client sends a command again when no answer came, which would be two steps where one was
asked for, and writes every failure to the root logger.
"""

from __future__ import annotations

import logging
from typing import Any

from py4j.java_gateway import GatewayClient, GatewayParameters, JavaGateway


def connect(port: int, token: str, timeout_s: float) -> Gateway:
    """Prepare the connection to a gateway server of this machine.

    Args:
        port: where it listens.
        token: what it asks for.
        timeout_s: longest wait for an answer.
    """
    # Failures are raised; py4j tells them to its logger as well.
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    return Gateway(
        gateway_parameters=GatewayParameters(port=port, auth_token=token, read_timeout=timeout_s)
    )


class Client(GatewayClient):
    """Sends each command once."""

    def send_command(self, command: str, retry: bool = False, binary: bool = False) -> Any:
        """Return the answer; after a failure the connection is closed and the failure raised."""
        connection = self._get_connection()
        try:
            response = connection.send_command(command)
        except BaseException:
            connection.close(reset=True)
            raise
        if binary:
            return response, self._create_connection_guard(connection)
        self._give_back_connection(connection)
        return response


class Gateway(JavaGateway):
    """A gateway over :class:`Client`."""

    def _create_gateway_client(self) -> Client:
        return Client(gateway_parameters=self.gateway_parameters)

    def forget(self) -> None:
        """Close the connections for good; objects that are collected later do not open another."""
        self._gateway_client.is_connected = False
        self.close()
