import type { NatsOptions } from '@shardlab/nats'

export interface NatsQueueOptions {
  readonly nats: NatsOptions
  /** Workers of other versions take no job. Default: this build of Shardlab. */
  readonly version?: string
  /** Default: a new one. The name of a run that is on the server resumes it. */
  readonly name?: string
  /**
   * What all jobs have in common, as text: a run is resumed only with equal parameters. Default:
   * empty.
   */
  readonly parameters?: string
  /**
   * After this time without a sign of life of its worker, a job is given to another one. Default
   * 15,000.
   */
  readonly ackWaitMs?: number
  /** Called with sentences for the user, such as about a message that cannot be read. */
  readonly onNews?: (sentence: string) => void
}
