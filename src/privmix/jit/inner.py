"""How functions are compiled: inner ones only to be linked, the outermost with all that it reaches, once.

numba optimises every function by itself and makes machine code of it, although what privmix binds is called from the
outermost function alone and optimised again there; and it links a callee into each of its callers. Without both a
first fit compiles in less than half the time, to the same draws at the same speed.
"""

from __future__ import annotations

from typing import Any

from llvmlite.binding import Linkage
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import require_global_compiler_lock
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.environment import lookup_environment
from numba.core.typed_passes import NativeLowering

_ENVIRONMENT = "_ZN08NumbaEnv"


class InnerLibrary(JITCodeLibrary):
    """Code of one inner function: kept for linking, neither optimised by itself nor loaded."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        """Close the library; what it calls is linked by the outermost function."""
        require_global_compiler_lock()
        self._raise_if_finalized()
        for library in self._linking_libraries:
            self._reload_init.update(library._reload_init)
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return no address: nothing but compiled code calls an inner function."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """What numba would set this function's environment with; the outermost function does that."""
        return _NoEnvironment


class _NoEnvironment:
    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        pass


class OuterLibrary(JITCodeLibrary):
    """Code of an outermost function, with that of all inner functions linked in once."""

    def finalize(self) -> None:
        """Link in every library that is reached, then optimise and load."""
        reached: dict[Any, None] = {}
        _gather(self, reached)
        del reached[self]
        self._linking_libraries = list(reached)
        super().finalize()

    def _optimize_final_module(self) -> None:
        # Nothing outside calls the functions that were linked in: said so, those with one caller are inlined, however
        # long they are, and the others where that pays.
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.linkonce_odr:
                function.linkage = "internal"
        # numba has a cheaper pass before this one, which makes reference counts meet; compiled code here counts none.
        manager, builder = self._codegen._module_pass_manager()
        manager.run(self._final_module, builder)

    def set_environments(self) -> None:
        """Give every function that was linked in its environment, as numba does when it loads code from disk."""
        codegen: Any = self._codegen
        names = [variable.name for variable in self._final_module.global_variables]
        for name in names:
            environment = lookup_environment(name) if name.startswith(_ENVIRONMENT) else None
            if environment is not None:
                codegen.set_env(name, environment)


def _gather(library: Any, reached: dict[Any, None]) -> None:
    """Collect a library and those that it calls; numba's own have what they call linked in."""
    if library in reached:
        return
    reached[library] = None
    if isinstance(library, InnerLibrary | OuterLibrary):
        for callee in library._linking_libraries:
            _gather(callee, reached)


@register_pass(mutates_CFG=True, analysis_only=False)
class InnerLowering(NativeLowering):
    """Lower an inner function."""

    _name = "privmix_inner_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lower into a library that is only linked."""
        state.library = InnerLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().run_pass(state)


@register_pass(mutates_CFG=True, analysis_only=False)
class OuterLowering(NativeLowering):
    """Lower an outermost function."""

    _name = "privmix_outer_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lower into a library that is optimised, loaded and kept on disk."""
        state.library = OuterLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        changed = super().run_pass(state)
        state.library.set_environments()
        return changed


class InnerPipeline(Compiler):
    """numba's passes, with the lowering of an inner function."""

    lowering: type = InnerLowering

    def define_pipelines(self) -> list[PassManager]:
        """Return the passes."""
        [usual] = super().define_pipelines()
        manager = PassManager(usual.pipeline_name)
        for step, text in usual.passes:
            manager.add_pass(self.lowering if step is NativeLowering else step, text)
        manager.finalize()
        return [manager]


class OuterPipeline(InnerPipeline):
    """numba's passes, with the lowering of an outermost function."""

    lowering = OuterLowering
