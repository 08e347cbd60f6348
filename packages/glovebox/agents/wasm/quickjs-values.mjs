/**
 * Reads what a program handed over, without running any code of the program's: only values of the kind that is asked
 * for are taken, and only up to a length.
 *
 * @param {import("quickjs-wasi").QuickJS} vm
 */
export function quickJsValues(vm) {
  const isTrue = (handle) => Boolean(handle?.isBool) && vm.dump(handle) === true
  /** The bytes of a Uint8Array where they are in the engine's memory: good until the engine runs again. */
  const bytes = (handle, most) => {
    // The engine's own word for it; what a program says of an object does not matter.
    if (!handle?.isObject || handle.className !== "Uint8Array") refuse("Bytes were")
    const engine = vm._getExports()
    const numbers = engine.wasm_malloc(12)
    if (numbers === 0) throw new Error("wasm_malloc failed")
    const buffer = engine.qjs_get_typed_array_buffer(handle.ptr, numbers, numbers + 4, numbers + 8)
    try {
      if (engine.qjs_is_exception(buffer) !== 0) {
        vm.getException().dispose()
        refuse("Bytes were")
      }
      const [offset, length] = new Uint32Array(engine.memory.buffer, numbers, 2)
      if (length > most) refuse("Fewer bytes were")
      const at = length === 0 ? 0 : engine.qjs_get_array_buffer(buffer, numbers + 8)
      if (length > 0 && at === 0) refuse("Bytes were")
      return new Uint8Array(engine.memory.buffer, at + (length === 0 ? 0 : offset), length)
    } finally {
      engine.qjs_free_value(buffer)
      engine.wasm_free(numbers)
    }
  }

  return { number, isTrue, text, bytes }
}

function refuse(what) {
  throw new TypeError(`${what} expected`)
}

function number(handle) {
  return handle?.isNumber ? handle.toNumber() : refuse("A number was")
}

function text(handle, most) {
  if (!handle?.isString) refuse("Text was")
  // The own length of a text, which nobody can change.
  const length = handle.getProp("length").consume((each) => each.toNumber())
  return length > most ? refuse("Shorter text was") : handle.toString()
}
