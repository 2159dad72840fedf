import { connect, type NatsConnection } from '@nats-io/transport-node'
import { unpack } from '../../src/nats/codec.js'
import type { UpMessage } from '../../src/nats/messages.js'
import { namesOf } from '../../src/nats/names.js'

/** What the workers of a server do. */
export class JobWatch {
  readonly #connection: NatsConnection
  readonly #waiting: { readonly count: number; readonly resolve: () => void }[] = []
  /** Number of times that a worker has taken a job. */
  taken = 0

  private constructor(connection: NatsConnection) {
    this.#connection = connection
    connection.subscribe(namesOf('*').up('*'), {
      callback: (_, { data }) => {
        if (unpack<UpMessage>(data).type !== 'taken') return
        this.taken++
        for (const { count, resolve } of this.#waiting) if (this.taken >= count) resolve()
      },
    })
  }

  /** Counts what workers take from now on. */
  static async start(url: string): Promise<JobWatch> {
    const connection = await connect({ servers: url })
    const watch = new JobWatch(connection)
    await connection.flush()
    return watch
  }

  /** Resolves when jobs have been taken so many times. */
  async whenTaken(count: number): Promise<void> {
    if (this.taken < count) await new Promise<void>((resolve) => this.#waiting.push({ count, resolve }))
  }

  end(): Promise<void> {
    return this.#connection.close()
  }
}
