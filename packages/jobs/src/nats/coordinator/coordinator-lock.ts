/**
 * A run has one coordinator. It is the one whose record is the last of its subject in the data of
 * the run: the server stores a record only if no other one came in between, so of two coordinators
 * that begin at once one succeeds. A coordinator answers questions while it lives. Only one that
 * does not answer is replaced.
 */
import { hostname } from 'node:os'
import { errors, type Msg, type Subscription } from '@nats-io/transport-node'
import { listen, OptionError } from '@shardlab/nats'
import { pack, unpack } from '../codec.js'
import { isNoMessage, isNotFound, isOvertaken, persist, publish, type JetStream } from '../jet-stream.js'
import { newId, type RunNames } from '../names.js'

const answerMs = 1000
/** A coordinator may be busy, and a machine without power cannot close its connection. */
const questionsMax = 3

interface Holder {
  readonly id: string
  /** `123 on build1`. */
  readonly process: string
}

export class CoordinatorLock {
  readonly #jetStream: JetStream
  readonly #names: RunNames
  readonly #me: Holder = { id: newId(), process: `${process.pid} on ${hostname()}` }
  readonly #subscriptions: readonly Subscription[]
  #onLost: (error: OptionError) => void = () => {}

  private constructor(jetStream: JetStream, names: RunNames) {
    this.#jetStream = jetStream
    this.#names = names
    const { link } = jetStream
    const answer = (message: Msg): void => void message.respond(pack(this.#me))
    this.#subscriptions = [
      listen(link, names.coordinator('any'), answer),
      listen(link, names.coordinator(this.#me.id), answer),
      listen(link, names.coordinator('next'), ({ data }) => this.#onNext(unpack<Holder>(data))),
    ]
  }

  /**
   * @param createStream creates the stream of the data if it is not there
   * @throws OptionError if the run has a coordinator
   */
  static async take(
    jetStream: JetStream,
    names: RunNames,
    createStream: () => Promise<void>,
  ): Promise<CoordinatorLock> {
    // Also one that has just removed the streams, and so has no record any more.
    await refuseSecond(jetStream, names, 'any')
    const lock = new CoordinatorLock(jetStream, names)
    try {
      await lock.#take(createStream)
      return lock
    } catch (error) {
      lock.end()
      throw error
    }
  }

  async #take(createStream: () => Promise<void>): Promise<void> {
    const { dataStream, coordinators, coordinator } = this.#names
    for (;;) {
      try {
        await createStream()
        const last = await this.#last()
        // The answer to its record was lost.
        if (last?.id === this.#me.id) break
        if (last !== null) await refuseSecond(this.#jetStream, this.#names, last.id)
        await publish(this.#jetStream, dataStream, coordinators, pack(this.#me), last?.seq ?? 0)
        break
      } catch (error) {
        // Another coordinator has begun, or has ended and removed the stream.
        if (!isOvertaken(error) && !isNotFound(error)) throw error
      }
    }
    // One that did not answer learns that it was replaced.
    this.#jetStream.link.connection.publish(coordinator('next'), pack(this.#me))
  }

  /** Called when another coordinator has replaced this one, which did not answer. */
  onLost(listener: (error: OptionError) => void): void {
    this.#onLost = listener
  }

  /** Asks the server, for messages may have been lost. */
  async check(): Promise<void> {
    const last = await this.#last()
    if (last !== null) this.#onNext(last)
  }

  /** Whether the run is this coordinator's, and so may be removed. */
  async isHeld(): Promise<boolean> {
    return (await this.#last())?.id === this.#me.id
  }

  end(): void {
    for (const subscription of this.#subscriptions) subscription.unsubscribe()
  }

  #onNext({ id, process }: Holder): void {
    if (id !== this.#me.id)
      this.#onLost(
        new OptionError(
          `the job ${this.#names.name} at ${this.#jetStream.link.address} is now run by process ${process}, because this one did not answer`,
        ),
      )
  }

  /** null: the run has had no coordinator. */
  async #last(): Promise<(Holder & { readonly seq: number }) | null> {
    try {
      const { dataStream, coordinators } = this.#names
      const message = await persist(this.#jetStream, () =>
        this.#jetStream.manager.streams.getMessage(dataStream, { last_by_subj: coordinators }),
      )
      return message === null ? null : { ...unpack<Holder>(message.data), seq: message.seq }
    } catch (error) {
      if (isNoMessage(error)) return null
      throw error
    }
  }
}

/** @param id of one coordinator, or `any` @throws OptionError if it answers */
async function refuseSecond({ link }: JetStream, { name, coordinator }: RunNames, id: string): Promise<void> {
  for (let questions = 0; questions < questionsMax; questions++) {
    try {
      const { data } = await link.connection.request(coordinator(id), undefined, { timeout: answerMs })
      throw new OptionError(
        `the job ${name} at ${link.address} is run by process ${unpack<Holder>(data).process}: use another name, or wait until it has ended`,
      )
    } catch (error) {
      if (error instanceof OptionError) throw error
      // Nothing subscribes to it.
      if (!(error instanceof errors.TimeoutError)) return
    }
  }
}
