/** What migrations leave in config.changelog. Server: move_timing_helper.cpp, sharding_logging.cpp. */
import {
  configAddress,
  RequestFailedError,
  type ActorContext,
  type RecipientCounts,
  type RequestOf,
} from '@shardlab/actor'
import { DocumentWriter } from '@shardlab/bson'
import type { KeyRange } from '../ranges/key-range.js'

/** The fields' names, for each number of steps that a version has. */
const stepNames = Array.from({ length: 10 }, (_, steps) =>
  Array.from({ length: steps }, (_, i) => `step ${i + 1} of ${steps}`),
)
/** How long the config server is waited for; a migration does not fail for want of an entry. */
const patience = { timeoutMs: 10_000 }

/** Appends an entry; one that does not get through is left out. */
export function noteChange(context: ActorContext, what: string, ns: string, details: Uint8Array): Promise<unknown> {
  return writeChange(context, what, ns, details).catch((error: unknown) => {
    if (!(error instanceof RequestFailedError)) throw error
    context.log('warn', 'a migration could not write to config.changelog', { what, ns })
  })
}

/** Appends an entry. @throws RequestFailedError */
export function writeChange(context: ActorContext, what: string, ns: string, details: Uint8Array): Promise<unknown> {
  return context.request(configAddress, 'config.log-change', changeOf(context, what, ns, details), patience)
}

function changeOf(
  context: ActorContext,
  what: string,
  ns: string,
  details: Uint8Array,
): RequestOf<'config.log-change'> {
  return { what, ns, details, from: `${context.address}:${context.endpoint}` }
}

/** `{ min, max, from, to }`. */
export function moveDetails({ min, max }: KeyRange, from: string, to: string): DocumentWriter {
  return new DocumentWriter(256).document('min', min).document('max', max).string('from', from).string('to', to)
}

/** {@link moveDetails} with what the recipient has taken over. */
export function commitDetails(range: KeyRange, from: string, to: string, counts: RecipientCounts): Uint8Array {
  const [cloned, clonedBytes, catchup, steady] = counts
  const details = moveDetails(range, from, to).startDocument('counts')
  details
    .int64('cloned', cloned)
    .int64('clonedBytes', clonedBytes)
    .int64('catchup', catchup)
    .int64('steady', steady)
    .end()
  return details.finish()
}

/** How long the steps of one side took: the entries `moveChunk.from` and `moveChunk.to`. */
export class MoveTiming {
  readonly #context: ActorContext
  readonly #side: 'from' | 'to'
  readonly #steps: number
  readonly #durationsMs: number[] = []
  #stepStartedAtMs: number

  /** @param steps how many there are; further ones are not told */
  constructor(context: ActorContext, side: 'from' | 'to', steps: number) {
    this.#context = context
    this.#side = side
    this.#steps = steps
    this.#stepStartedAtMs = context.now()
  }

  /** The next step is done. */
  done(): void {
    const now = this.#context.now()
    if (this.#durationsMs.length < this.#steps) this.#durationsMs.push(now - this.#stepStartedAtMs)
    this.#stepStartedAtMs = now
  }

  /** @param errmsg what ended it; default: nothing is told */
  write(ns: string, { min, max }: KeyRange, from: string, to: string, errmsg: string | null = null): Promise<unknown> {
    const details = new DocumentWriter(512)
    const names = stepNames[this.#steps]!
    for (let i = 0; i < this.#durationsMs.length; i++) details.int32(names[i]!, this.#durationsMs[i]!)
    details
      .document('min', min)
      .document('max', max)
      .string('to', to)
      .string('from', from)
      .string('note', this.#durationsMs.length === this.#steps ? 'success' : 'aborted')
    if (errmsg !== null && errmsg !== '') details.string('errmsg', errmsg)
    return noteChange(this.#context, `moveChunk.${this.#side}`, ns, details.finish())
  }
}
