"""What every Pooled plugin in Python has in common: the greeting, TLS, health and the end.

The contract is core/plugin/modelv1/model.proto, whose first comment says in words what this module does.
"""

import base64
import datetime
import logging
import os
import sys
import threading
from concurrent import futures

import grpc
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

# How a program knows that Pooled started it. It is no secret.
COOKIE = ("POOLED_PLUGIN", "b9dd2d0a5f6f4d3c")


def serve(what, versions, max_message, register):
    """Serves until Pooled is done with it, and does not return.

    what says in words what the program is, versions are those of the contract that it speaks, max_message bounds a message in
    bytes, and register(server, version) puts the service up.

    Started by hand, the program says what it is and exits with status 2.
    """
    if os.environ.get(COOKIE[0]) != COOKIE[1]:
        print(f'This program is a Pooled plugin: {what}.\nCheck it with "pooled plugin check FOLDER".', file=sys.stderr)
        sys.exit(2)

    logging.basicConfig(level=logging.WARNING)  # grpcio says nothing of exceptions without it; Pooled shows their traces
    spoken = {int(v) for v in os.environ.get("PLUGIN_PROTOCOL_VERSIONS", "").split(",") if v}
    common = spoken & set(versions)
    if not common:
        sys.exit(f"Pooled speaks the versions {sorted(spoken)} of the contract, this plugin {sorted(versions)}")
    version = max(common)

    server = grpc.server(
        futures.ThreadPoolExecutor(max_workers=8),
        options=[("grpc.max_receive_message_length", max_message), ("grpc.max_send_message_length", max_message)],
    )
    register(server, version)
    over = threading.Event()
    server.add_generic_rpc_handlers((_Control(over),))

    path = os.path.join(os.environ["PLUGIN_UNIX_SOCKET_DIR"], "plugin.sock")
    credentials, certificate = _tls(os.environ.get("PLUGIN_CLIENT_CERT"))
    if credentials:
        server.add_secure_port("unix:" + path, credentials)
    else:
        server.add_insecure_port("unix:" + path)
    server.start()
    print(f"1|{version}|unix|{path}|grpc|{certificate}", flush=True)

    threading.Thread(target=_watch_stdin, args=(over,), daemon=True).start()
    over.wait()
    server.stop(grace=0.2).wait()
    os._exit(0)  # a call that does not end must not keep the process


def _watch_stdin(over):
    """Nothing is ever written to standard input: it ends when Pooled does."""
    while os.read(0, 4096):
        pass
    over.set()


class _Control(grpc.GenericRpcHandler):
    """Two small services in their wire form: health, and the message that asks the program to end."""

    def __init__(self, over):
        self._over = over

    def service(self, call):
        answer = {
            "/grpc.health.v1.Health/Check": lambda request, context: b"\x08\x01",  # status (field 1): SERVING (1)
            "/plugin.GRPCController/Shutdown": lambda request, context: (self._over.set(), b"")[1],
        }.get(call.method)
        return grpc.unary_unary_rpc_method_handler(answer) if answer else None


def _tls(client_certificate):
    """Returns credentials that let only Pooled in, and this side's certificate as the greeting has it."""
    if not client_certificate:
        return None, ""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.timezone.utc)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=1))
        .not_valid_after(now + datetime.timedelta(days=365))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    credentials = grpc.ssl_server_credentials(
        [(private, certificate.public_bytes(pem))],
        root_certificates=client_certificate.encode(),
        require_client_auth=True,
    )
    der = certificate.public_bytes(serialization.Encoding.DER)
    return credentials, base64.b64encode(der).decode().rstrip("=")
