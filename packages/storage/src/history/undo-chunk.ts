/** Collections of the engine, by name. Null: there was none with the name. */
export type CollectionsBefore = ReadonlyMap<string, object | null>

export const undosInChunk = 1024

/** `i` a run of inserts, `u` update, `d` delete, `c` collections were replaced. */
export const undoOps = ['i', 'u', 'd', 'c'] as const
export type UndoOp = (typeof undoOps)[number]

/** In columns, because an object for each change would be work for the garbage collector. */
export class UndoChunk {
  /** Positions in {@link undoOps}. */
  readonly ops = new Uint8Array(undosInChunk)
  readonly namespaces = new Array<string>(undosInChunk).fill('')
  readonly seconds = new Uint32Array(undosInChunk)
  readonly increments = new Uint32Array(undosInChunk)
  readonly recordIds = new Float64Array(undosInChunk)
  /** i: the number of documents. */
  readonly counts = new Uint32Array(undosInChunk)
  /** u, d: the memory with the document. */
  readonly buffers = new Array<ArrayBufferLike | null>(undosInChunk).fill(null)
  readonly starts = new Uint32Array(undosInChunk)
  readonly lengths = new Uint32Array(undosInChunk)
  readonly collections = new Array<CollectionsBefore | null>(undosInChunk).fill(null)
  readonly sizes = new Uint32Array(undosInChunk)

  /** Only then is the memory of the document free. */
  release(at: number): void {
    this.buffers[at] = null
    this.collections[at] = null
  }

  clone(): UndoChunk {
    const copy = new UndoChunk()
    for (const name of ['ops', 'seconds', 'increments', 'recordIds', 'counts', 'starts', 'lengths', 'sizes'] as const)
      copy[name].set(this[name])
    for (let at = 0; at < undosInChunk; at++) {
      copy.namespaces[at] = this.namespaces[at]!
      copy.buffers[at] = this.buffers[at]!
      copy.collections[at] = this.collections[at]!
    }
    return copy
  }
}
