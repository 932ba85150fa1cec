# SPDX-License-Identifier: Apache-2.0
"""The synchronous and the asynchronous SDK behind one face, so that each case is written once.

The asynchronous one runs on a loop in a thread of its own; a call blocks until its coroutine is done. A
handler of a case is called in yet another thread, so it may make calls itself.
"""
import asyncio
import inspect
import os
import threading

from opensandbox import Sandbox
from opensandbox.config import ConnectionConfig, ConnectionConfigSync
from opensandbox.manager import SandboxManager
from opensandbox.models.execd import ExecutionHandlers
from opensandbox.models.execd_sync import ExecutionHandlersSync
from opensandbox.sync import SandboxManagerSync, SandboxSync

IMAGE = os.environ["OSB_IMAGE"]
# Many sandboxes live on a small machine at once.
RESOURCE = {"cpu": "500m", "memory": "512Mi"}


class SyncFace:
    name = "sync"

    def config(self, **options):
        return ConnectionConfigSync(**options)

    def create(self, image=IMAGE, config=None, **options):
        options.setdefault("resource", RESOURCE)
        return SandboxSync.create(image, connection_config=config, **options)

    def connect(self, sandbox_id, config=None):
        return SandboxSync.connect(sandbox_id, connection_config=config)

    def manager(self, config=None):
        return SandboxManagerSync.create(connection_config=config)

    def handlers(self, **functions):
        return ExecutionHandlersSync(**functions)


class Blocking:
    """An object of the asynchronous SDK whose coroutines are waited for."""

    def __init__(self, target, loop):
        self._target = target
        self._loop = loop

    def __getattr__(self, name):
        value = getattr(self._target, name)
        if callable(value):
            return lambda *a, **k: self._settle(value(*a, **k))
        # Services are objects of the SDK with calls of their own; the rest are plain values.
        if type(value).__module__.startswith("opensandbox.adapters"):
            return Blocking(value, self._loop)
        return value

    def _settle(self, result):
        if inspect.isawaitable(result):
            result = wait(self._loop, result)
        return self._iterate(result) if hasattr(result, "__aiter__") else result

    def _iterate(self, stream):
        iterator = stream.__aiter__()
        while True:
            try:
                yield wait(self._loop, iterator.__anext__())
            except StopAsyncIteration:
                return


async def _await(awaitable):
    return await awaitable


def wait(loop, awaitable):
    return asyncio.run_coroutine_threadsafe(_await(awaitable), loop).result()


class AsyncFace:
    name = "async"

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def config(self, **options):
        return ConnectionConfig(**options)

    def create(self, image=IMAGE, config=None, **options):
        options.setdefault("resource", RESOURCE)
        return Blocking(wait(self.loop, Sandbox.create(image, connection_config=config, **options)),
                        self.loop)

    def connect(self, sandbox_id, config=None):
        return Blocking(wait(self.loop, Sandbox.connect(sandbox_id, connection_config=config)), self.loop)

    def manager(self, config=None):
        return Blocking(wait(self.loop, SandboxManager.create(connection_config=config)), self.loop)

    def handlers(self, **functions):
        def in_thread(function):
            async def handler(message):
                await asyncio.to_thread(function, message)
            return handler
        return ExecutionHandlers(**{name: in_thread(f) for name, f in functions.items()})


def face(name):
    return {"sync": SyncFace, "async": AsyncFace}[name]()
