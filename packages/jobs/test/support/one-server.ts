/** A server, with the queues and workers of one test on it. */
import { jetstream, jetstreamManager, type JsMsg } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
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
import { consumerName, namesOf } from '../../src/nats/names.js'
import { NatsProxy, NatsServer, type ServerOptions } from '@shardlab/nats/testing'
import { JobWatch } from './job-watch.js'

/** The event of a worker that takes a job; undefined: any one. */
export const taking =
  (key?: string) =>
  (event: WorkerEvent): boolean =>
    event.type === 'taken' && (key === undefined || event.key === key)

export interface TestWorker {
  readonly events: WorkerEvent[]
  /** Resolves with the first event, also an earlier one, that is as the test wants it. */
  until(isWanted: (event: WorkerEvent) => boolean): Promise<WorkerEvent>
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
      // No worker is too slow for it, however busy the machine is.
      ackWaitMs: 3_600_000,
      ...options,
    })
    this.#t.teardown(() => queue.end())
    return queue
  }

  /** Between clients and the server. */
  async proxy(): Promise<NatsProxy> {
    const proxy = await NatsProxy.start(this.server.port)
    this.#t.teardown(() => proxy.stop())
    return proxy
  }

  /** Of the server, without a worker: takes jobs, and does with them what the test says. */
  async bareClient() {
    const connection = await connect({ servers: this.server.url })
    this.#t.teardown(() => connection.close())
    const manager = await jetstreamManager(connection)
    const streams = async (): Promise<string[]> => {
      const names: string[] = []
      for await (const name of manager.streams.names()) names.push(name)
      return names.sort()
    }
    const take = async (run: string): Promise<JsMsg> => {
      const consumer = await jetstream(connection).consumers.get(namesOf(run).todoStream, consumerName)
      for (;;) {
        const message = await consumer.next({ expires: 5000 })
        if (message !== null) return message
      }
    }
    /** Jobs that are not acknowledged. */
    const jobs = async (run: string): Promise<number> =>
      (await manager.streams.info(namesOf(run).todoStream)).state.messages
    /** Jobs that workers play. */
    const leases = async (run: string): Promise<number> =>
      (await manager.consumers.info(namesOf(run).todoStream, consumerName)).num_ack_pending
    return { connection, streams, take, jobs, leases }
  }

  /** Counts how often workers take jobs. */
  async watch(): Promise<JobWatch> {
    const watch = await JobWatch.start(this.server.url)
    this.#t.teardown(() => watch.end())
    return watch
  }

  worker({
    url = this.server.url,
    version = '1',
    concurrency = 2,
    goneMs = 60_000,
    kinds = [echoJobs] as readonly JobKind<EchoInput, unknown>[],
  } = {}): TestWorker {
    const [stop, hurry] = [new AbortController(), new AbortController()]
    const events: WorkerEvent[] = []
    const waiting = new Set<(event: WorkerEvent) => void>()
    const ended = runWorker({
      nats: { url, goneMs },
      ...{ version, kinds, concurrency, stop: stop.signal, hurry: hurry.signal },
      onEvent: (event) => {
        events.push(event)
        for (const wake of waiting) wake(event)
      },
    })
    // The test may not listen yet.
    ended.catch(() => {})
    const end = async (): Promise<void> => {
      stop.abort()
      hurry.abort()
      await ended.catch(() => {})
    }
    this.#t.teardown(end)
    const until = (isWanted: (event: WorkerEvent) => boolean): Promise<WorkerEvent> => {
      const found = events.find(isWanted)
      if (found !== undefined) return Promise.resolve(found)
      return new Promise((resolve) => waiting.add((event) => isWanted(event) && resolve(event)))
    }
    return { events, until, ended, stop: end }
  }
}
