import type { ForeignBatch, JoinRequest, PipelineRun } from '@shardlab/query'
import type { TimeLimit, TimeSlice } from '@shardlab/member'
import type { CursorSource, FillingCommand } from '../../cursors/cursor-manager.js'
import type { SourceReads } from '../../cursors/source-reads.js'

export interface ForeignReader {
  /** @throws CommandError of the pipeline on the other collection */
  read(request: JoinRequest): ForeignBatch
}

export class PipelineSource implements CursorSource {
  readonly slice: TimeSlice
  readonly #input: CursorSource
  readonly #run: PipelineRun
  readonly #reader: ForeignReader
  /** Whether the input counts its work in the slice. */
  readonly #countsItself: boolean
  #taken = 0
  #ended = false

  constructor(input: CursorSource, run: PipelineRun, reader: ForeignReader, slice: TimeSlice) {
    this.slice = slice
    this.#input = input
    this.#run = run
    this.#reader = reader
    this.#countsItself = input.slice !== undefined
  }

  save(): void {
    this.#input.save?.()
  }

  restore(): void {
    this.#input.restore?.()
  }

  recordCost(): void {
    this.#input.recordCost?.()
  }

  get reads(): SourceReads | undefined {
    return this.#input.reads
  }

  get readsAhead(): boolean {
    return this.#input.readsAhead ?? false
  }

  get dry(): boolean {
    return !this.#ended && this.#input.dry === true
  }

  fill(invocation: FillingCommand, timeLimit: TimeLimit | null): Promise<void> {
    return this.#input.fill!(invocation, timeLimit)
  }

  close(): void {
    this.#input.close?.()
  }

  next(): Uint8Array | null {
    const run = this.#run
    const { slice } = this
    const { output } = run
    while (this.#taken >= output.length) {
      if (slice.isOver) return null
      output.length = 0
      this.#taken = 0
      if (run.hasWork) {
        const { request } = run
        if (request === null) slice.add(run.step())
        else {
          run.serve(this.#reader.read(request))
          slice.worked()
        }
        continue
      }
      if (this.#ended) return null
      const document = run.satisfied ? null : this.#input.next()
      if (document !== null) {
        run.push(document)
        if (!this.#countsItself) slice.worked()
      } else if (!run.satisfied && (slice.isOver || this.#input.dry === true)) return null
      else {
        this.#ended = true
        run.end()
      }
    }
    return output[this.#taken++]!
  }
}
