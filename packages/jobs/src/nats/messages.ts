/** The messages of runs. */

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
  /** `taken`: without content; `message`: of the job; `failed`: why its result cannot be stored. */
  readonly type: 'taken' | 'message' | 'failed'
  readonly content: unknown
}
