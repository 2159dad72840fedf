/** A server, with the queues and workers of one test on it. */
import type { Test } from 'tap'
import {
  natsQueue,
  runWorker,
  type JobKind,
  type NatsQueue,
  type NatsQueueOptions,
  type WorkerEvent,
} from '../../src/index.js'
import { echoJobs } from './echo-jobs.js'
import type { EchoInput } from './echo.js'
import { NatsServer, type ServerOptions } from '@shardlab/nats/testing'

export interface TestWorker {
  readonly events: WorkerEvent[]
  /** Resolves or rejects with the worker. */
  readonly ended: Promise<void>
  stop(): Promise<void>
}

export class OneServer {
  readonly server: NatsServer
  readonly #t: Test

  private constructor(t: Test, server: NatsServer) {
    this.#t = t
    this.server = server
  }

  static async start(t: Test, options: ServerOptions = {}): Promise<OneServer> {
    const server = await NatsServer.start(options)
    t.teardown(() => server.stop())
    return new OneServer(t, server)
  }

  async queue(options: Partial<NatsQueueOptions> = {}): Promise<NatsQueue<EchoInput, unknown>> {
    const queue = await natsQueue(echoJobs, {
      nats: { url: this.server.url },
      version: '1',
      ackWaitMs: 500,
      ...options,
    })
    this.#t.teardown(() => queue.end())
    return queue
  }

  worker({
    version = '1',
    concurrency = 2,
    goneMs = 60_000,
    kinds = [echoJobs] as readonly JobKind<EchoInput, unknown>[],
  } = {}): TestWorker {
    const [stop, hurry] = [new AbortController(), new AbortController()]
    const events: WorkerEvent[] = []
    const ended = runWorker({
      nats: { url: this.server.url, goneMs },
      ...{ version, kinds, concurrency, stop: stop.signal, hurry: hurry.signal },
      onEvent: (event) => void events.push(event),
    })
    // The test may not listen yet.
    ended.catch(() => {})
    const end = async (): Promise<void> => {
      stop.abort()
      hurry.abort()
      await ended.catch(() => {})
    }
    this.#t.teardown(end)
    return { events, ended, stop: end }
  }
}
