/** Collections of the engine, by name. Null: there was none with the name. */
export type CollectionsBefore = ReadonlyMap<string, object | null>

export const undosInChunk = 1024

/** `i` a run of inserts, `u` update, `d` delete, `c` collections were replaced. */
export const undoOps = ['i', 'u', 'd', 'c'] as const
export type UndoOp = (typeof undoOps)[number]

/** Of a new chunk. Most copies of a cluster in tests change less, and each engine has a chunk. */
const capacityAtFirst = 32

type Columns = Uint8Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Float64Array<ArrayBuffer>

function grown<Column extends Columns>(column: Column, capacity: number): Column {
  const larger = new (column.constructor as new (length: number) => Column)(capacity)
  larger.set(column)
  return larger
}

/** In columns, because an object for each change would be work for the garbage collector. */
export class UndoChunk {
  /** Positions in {@link undoOps}. */
  ops = new Uint8Array(capacityAtFirst)
  namespaces: string[] = []
  seconds = new Uint32Array(capacityAtFirst)
  increments = new Uint32Array(capacityAtFirst)
  recordIds = new Float64Array(capacityAtFirst)
  /** i: the number of documents. */
  counts = new Uint32Array(capacityAtFirst)
  /** u, d: the memory with the document. */
  buffers: (ArrayBufferLike | null)[] = []
  starts = new Uint32Array(capacityAtFirst)
  lengths = new Uint32Array(capacityAtFirst)
  collections: (CollectionsBefore | null)[] = []
  sizes = new Uint32Array(capacityAtFirst)
  #capacity = capacityAtFirst

  /** Call before an undo is written to a position: the next one, or one that was used before. */
  reserve(at: number): void {
    if (at >= this.#capacity) this.#resize(this.#capacity * 2)
    this.buffers[at] = null
    this.collections[at] = null
  }

  /** Only then is the memory of the document free. */
  release(at: number): void {
    this.buffers[at] = null
    this.collections[at] = null
  }

  clone(): UndoChunk {
    const copy = new UndoChunk()
    copy.#capacity = this.#capacity
    copy.ops = this.ops.slice()
    copy.namespaces = this.namespaces.slice()
    copy.seconds = this.seconds.slice()
    copy.increments = this.increments.slice()
    copy.recordIds = this.recordIds.slice()
    copy.counts = this.counts.slice()
    copy.buffers = this.buffers.slice()
    copy.starts = this.starts.slice()
    copy.lengths = this.lengths.slice()
    copy.collections = this.collections.slice()
    copy.sizes = this.sizes.slice()
    return copy
  }

  #resize(capacity: number): void {
    this.#capacity = capacity
    this.ops = grown(this.ops, capacity)
    this.seconds = grown(this.seconds, capacity)
    this.increments = grown(this.increments, capacity)
    this.recordIds = grown(this.recordIds, capacity)
    this.counts = grown(this.counts, capacity)
    this.starts = grown(this.starts, capacity)
    this.lengths = grown(this.lengths, capacity)
    this.sizes = grown(this.sizes, capacity)
  }
}
