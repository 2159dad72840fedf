/** The messages of runs. */
import { unpack } from './codec.js'

/** Says what a run is: the first message of its data. */
export interface About {
  readonly kind: string
  /** Of Shardlab. */
  readonly version: string
  /** What all jobs have in common; a coordinator that resumes the run must have the same. */
  readonly parameters: string
}

export interface TodoMessage {
  /** Packed; null: it exceeds one message. */
  readonly input: Uint8Array | null
  /** Sequence numbers of its parts in the data. */
  readonly parts: readonly number[]
  /** How often the parts are joined; except for the last time, to a packed list of others. */
  readonly levels: number
  /** Size of the largest part. */
  readonly partBytes: number
  readonly msMax: number | null
}

export interface ResultPart {
  readonly attempt: string
  readonly part: number
  readonly parts: number
  /** Together a packed outcome. */
  readonly bytes: Uint8Array
}

/** From the worker of a job. */
export interface UpMessage {
  readonly attempt: string
  /**
   * `taken`: without content; `message`: of the job; `returned`: the sequence number with which the
   * job waits for another worker; `failed`: why its result cannot be stored.
   */
  readonly type: (typeof upTypes)[number]
  readonly content: unknown
}

const upTypes = ['taken', 'message', 'returned', 'failed'] as const

/** @throws TypeError for a message of a stranger */
export function readUp(bytes: Uint8Array): UpMessage {
  const message = unpack<UpMessage | null>(bytes)
  if (message === null || !upTypes.includes(message.type)) throw new TypeError('it is no message of a worker')
  return message
}
