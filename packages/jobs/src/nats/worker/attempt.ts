/** A job that a worker plays. */
import type { JsMsg } from '@nats-io/jetstream'
import type { RunningJob } from '../../threads/job-threads.js'
import { acknowledge, isAlreadyThere, publish, type JetStream } from '../jet-stream.js'
import { newId, wakeSubject, type RunNames } from '../names.js'

/** Signs of life within the time after which the server gives a job to another worker. */
const signsPerWait = 3
const confirmationMsMax = 5000

export class Attempt {
  readonly id = newId()
  readonly key: string
  /** null: its input is being read. */
  job: RunningJob<unknown> | null = null
  readonly #jetStream: JetStream
  readonly #names: RunNames
  readonly #signEveryMs: number
  /** The server may give the job to this worker again, after signs of life were lost. */
  readonly #messages: JsMsg[]
  readonly #signs: NodeJS.Timeout

  constructor(jetStream: JetStream, names: RunNames, key: string, message: JsMsg, ackWaitMs: number) {
    this.#jetStream = jetStream
    this.#names = names
    this.key = key
    this.#messages = [message]
    this.#signEveryMs = ackWaitMs / signsPerWait
    this.#signs = setInterval(() => this.#messages.forEach((each) => each.working()), this.#signEveryMs)
  }

  /** The worker has taken the same job again: it is not played twice. */
  join(message: JsMsg): void {
    this.#messages.push(message)
    message.working()
  }

  /** After its result is stored. @throws an error that {@link isNotFound} if the run was removed */
  async acknowledge(): Promise<void> {
    const { todoStream } = this.#names
    const timeoutMs = Math.min(confirmationMsMax, this.#signEveryMs)
    await Promise.all(this.#messages.map((each) => acknowledge(this.#jetStream, todoStream, each, timeoutMs)))
  }

  /**
   * For other workers. The job is published as a new message: the server counts each delivery of
   * one, and takes a delivery that was returned for one that ended its worker. If this process ends
   * in between, the coordinator misses the job and publishes it.
   *
   * @returns the sequence number of the job; null: the coordinator has published it
   * @throws an error that {@link isNotFound} if the run was removed
   */
  async giveBack(): Promise<number | null> {
    const { connection } = this.#jetStream.link
    await this.acknowledge()
    const { subject, data } = this.#messages[0]!
    try {
      const seq = await publish(this.#jetStream, this.#names.todoStream, subject, data)
      connection.publish(wakeSubject)
      return seq
    } catch (error) {
      if (isAlreadyThere(error)) return null
      throw error
    }
  }

  end(): void {
    clearInterval(this.#signs)
  }
}
