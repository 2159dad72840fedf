import { CommandError } from '@shardlab/bson'
import type { MemoryIndex } from '../indexes/memory-index.js'
import type { RecordTable } from '../records/record-table.js'
import type { IndexBuild } from './types.js'

const keysInStep = 4096
const replacedInStep = 256
/** So many changed or new documents are left to the turn that creates the index. */
const leftMax = 1000
/** A collection may change as fast as its keys are added. */
const roundsMax = 10

/** Documents that have changed since their keys were added. */
interface Replacement {
  readonly recordIds: readonly number[]
  /** The documents with the keys that are in the index. */
  readonly previous: RecordTable
  /** All keys are removed before the first one is added, which may be equal to one of them. */
  phase: 'removing' | 'adding'
  at: number
}

/**
 * An index that is made in steps, from a state of the collection. When all its keys are added, it
 * follows the changes since that state, again in steps.
 */
export class MemoryIndexBuild implements IndexBuild {
  readonly spec: Uint8Array
  readonly #ns: string
  readonly #liveRecords: () => RecordTable
  readonly #onClose: (build: MemoryIndexBuild) => void
  readonly #empty: MemoryIndex
  #records: RecordTable
  #index: MemoryIndex
  /** Record ids of documents that were replaced or deleted. */
  readonly #changed = new Set<number>()
  #replacement: Replacement | null = null
  #rounds = 0

  constructor(
    ns: string,
    index: MemoryIndex,
    liveRecords: () => RecordTable,
    onClose: (build: MemoryIndexBuild) => void,
  ) {
    this.spec = index.spec
    this.#ns = ns
    this.#liveRecords = liveRecords
    this.#onClose = onClose
    this.#empty = index
    this.#records = liveRecords()
    this.#index = index.clone(this.#records)
  }

  noteChange(recordId: number): void {
    this.#changed.add(recordId)
  }

  step(): number {
    if (this.#replacement !== null) return this.#replaceSome(this.#replacement)
    const added = this.#index.catchUpSome(this.#ns, keysInStep)
    if (added > 0) return added
    const live = this.#liveRecords()
    const left = this.#changed.size + live.end - this.#records.end
    if (left <= leftMax || this.#rounds === roundsMax) return 0
    this.#rounds++
    this.#follow(live)
    return 1
  }

  /**
   * The index of these records, in one step.
   * @throws CommandError as {@link step}
   */
  finish(records: RecordTable): MemoryIndex {
    try {
      this.#settle()
      this.#follow(records)
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
      // The document that cannot be added may have changed since the state that was followed.
      this.#replacement = null
      this.#index = this.#empty.clone(records)
    }
    this.#settle()
    return this.#index
  }

  close(): void {
    this.#onClose(this)
  }

  #settle(): void {
    while (this.#replacement !== null) this.#replaceSome(this.#replacement)
    while (this.#index.catchUpSome(this.#ns, keysInStep) > 0) continue
  }

  #follow(records: RecordTable): void {
    const previous = this.#records
    const recordIds = [...this.#changed].filter((recordId) => recordId < previous.end)
    this.#changed.clear()
    this.#replacement = { recordIds, previous, phase: 'removing', at: 0 }
    this.#records = records
    this.#index = this.#index.clone(records)
  }

  #replaceSome(replacement: Replacement): number {
    const { recordIds, previous, phase, at } = replacement
    const end = Math.min(recordIds.length, at + replacedInStep)
    const removes = phase === 'removing'
    for (let i = at; i < end; i++) {
      const recordId = recordIds[i]!
      const document = (removes ? previous : this.#records).documentOf(recordId)
      if (document === undefined) continue
      if (removes) this.#index.remove(document, recordId)
      else this.#index.addAgain(this.#ns, document, recordId)
    }
    replacement.at = end
    if (end === recordIds.length) {
      if (removes) {
        replacement.phase = 'adding'
        replacement.at = 0
      } else this.#replacement = null
    }
    return Math.max(1, end - at)
  }
}
