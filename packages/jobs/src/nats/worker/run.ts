/** A run as its workers see it. */
import type { Consumer } from '@nats-io/jetstream'
import { millis, type Subscription } from '@nats-io/transport-node'
import { listen } from '@shardlab/nats'
import type { JobKind } from '../../types.js'
import { unpack } from '../codec.js'
import { persist, type JetStream } from '../jet-stream.js'
import { consumerName, keyOf, type RunNames } from '../names.js'
import type { Attempt } from './attempt.js'

export class Run {
  readonly names: RunNames
  readonly kind: JobKind<unknown, unknown>
  readonly ackWaitMs: number
  /** By key: a job that the server gives to this worker twice is played once. */
  readonly attempts = new Map<string, Attempt>()
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
    this.#subscriptions = [
      listen(link, names.down('*'), ({ subject, data }) => {
        const message = unpack(data)
        this.attempts.get(keyOf(subject))?.job?.post(message)
      }),
      listen(link, names.stop, () => this.attempts.forEach(({ job }) => job?.stop())),
      listen(link, names.ended, () => this.end()),
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
    for (const { job } of this.attempts.values()) job?.cancel()
  }
}
