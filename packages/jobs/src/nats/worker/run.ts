/** A run as its workers see it. */
import type { Consumer } from '@nats-io/jetstream'
import { millis, type Subscription } from '@nats-io/transport-node'
import { listen } from '@shardlab/nats'
import type { RunningJob } from '../../threads/job-threads.js'
import type { JobKind } from '../../types.js'
import { unpack } from '../codec.js'
import { persist, type JetStream } from '../jet-stream.js'
import { consumerName, keyOf, type RunNames } from '../names.js'

export class Run {
  readonly names: RunNames
  readonly kind: JobKind<unknown, unknown>
  readonly ackWaitMs: number
  /** By key. */
  readonly running = new Map<string, RunningJob<unknown>>()
  readonly #consumer: Consumer
  readonly #subscriptions: readonly Subscription[]
  isEnded = false

  private constructor(
    { link }: JetStream,
    names: RunNames,
    kind: JobKind<unknown, unknown>,
    consumer: Consumer,
    ackWaitMs: number,
  ) {
    this.names = names
    this.kind = kind
    this.#consumer = consumer
    this.ackWaitMs = ackWaitMs
    const { connection } = link
    this.#subscriptions = [
      listen(connection, names.down('*'), ({ subject, data }) => this.running.get(keyOf(subject))?.post(unpack(data))),
      listen(connection, names.stop, () => this.running.forEach((job) => job.stop())),
      listen(connection, names.ended, () => this.end()),
    ]
  }

  static async open(jetStream: JetStream, names: RunNames, kind: JobKind<unknown, unknown>): Promise<Run> {
    const consumer = await persist(jetStream, () => jetStream.client.consumers.get(names.todoStream, consumerName))
    const { config } = await consumer.info(true)
    return new Run(jetStream, names, kind, consumer, millis(config.ack_wait!))
  }

  get consumer(): Consumer {
    return this.#consumer
  }

  /** Its jobs are ended. */
  end(): void {
    this.isEnded = true
    for (const subscription of this.#subscriptions) subscription.unsubscribe()
    this.cancel()
  }

  cancel(): void {
    for (const job of this.running.values()) job.cancel()
  }
}
