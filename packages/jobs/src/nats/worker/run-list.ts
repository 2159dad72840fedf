/** Finds the runs on the server, and takes their jobs, from one run after the other. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsMsg } from '@nats-io/jetstream'
import type { Subscription } from '@nats-io/transport-node'
import { listen } from '@shardlab/nats'
import type { JobKind } from '../../types.js'
import { aboutOf } from '../about.js'
import { isNotFound, isSilence, persist, type JetStream } from '../jet-stream.js'
import { runOfTodoStream, todoOfAllRuns, wakeSubject, type RunNames } from '../names.js'
import { Run } from './run.js'
import type { WorkerEvent } from './worker-event.js'

/**
 * Without a message from a coordinator, runs are listed and idle workers ask again after this time.
 */
const pollMs = 1000
/** The shortest that the client allows. */
const takeMs = 1000
/** Until the server is asked again that did not answer. */
const silenceMs = 200

export interface TakenJob {
  readonly run: Run
  readonly message: JsMsg
}

export class RunList {
  readonly #jetStream: JetStream
  readonly #version: string
  readonly #kinds: readonly JobKind<unknown, unknown>[]
  readonly #onEvent: (event: WorkerEvent) => void
  /** In the order in which they are asked; a run of another version stays, to be reported once. */
  readonly #runs = new Map<string, Run | 'refused'>()
  readonly #subscription: Subscription
  #isStopped = false
  #wake: () => void = () => {}
  /** A coordinator has sent a message since the runs were listed. */
  #hasNews = true
  #foundAtMs = 0

  constructor(
    jetStream: JetStream,
    version: string,
    kinds: readonly JobKind<unknown, unknown>[],
    onEvent: (event: WorkerEvent) => void,
  ) {
    this.#jetStream = jetStream
    this.#version = version
    this.#kinds = kinds
    this.#onEvent = onEvent
    this.#subscription = listen(jetStream.link, wakeSubject, () => this.#onNews())
  }

  /** Waits for a job of any run; null after `stop`. @throws OptionError if the server is gone */
  async take(): Promise<TakenJob | null> {
    while (!this.#isStopped) {
      const woken = new Promise<void>((resolve) => (this.#wake = resolve))
      if (this.#isNewsDue()) await this.#find()
      const taken = await this.#takeFromAny()
      if (taken === 'nothing to do') await this.#rest(woken)
      else if (taken !== null) return taken
    }
    return null
  }

  /** A call of `take` that waits returns null. */
  stop(): void {
    this.#isStopped = true
    this.#wake()
  }

  /** Ends the jobs in progress. */
  cancel(): void {
    this.stop()
    for (const run of this.#runs.values()) if (run !== 'refused') run.cancel()
  }

  end(): void {
    this.#subscription.unsubscribe()
    for (const run of this.#runs.values()) if (run !== 'refused') run.end()
  }

  #onNews(): void {
    this.#hasNews = true
    this.#wake()
  }

  #isNewsDue(): boolean {
    return this.#hasNews || performance.now() - this.#foundAtMs >= pollMs
  }

  async #find(): Promise<void> {
    this.#hasNews = false
    this.#foundAtMs = performance.now()
    const found = await persist(this.#jetStream, async () => {
      const streams: string[] = []
      for await (const stream of this.#jetStream.manager.streams.names(todoOfAllRuns)) streams.push(stream)
      return streams
    })
    for (const [stream, run] of this.#runs) {
      // A run that has ended may be followed by another one of its name.
      const isEnded = run !== 'refused' && run.isEnded
      if (found.includes(stream) && !isEnded) continue
      this.#runs.delete(stream)
      if (run !== 'refused') run.end()
    }
    for (const stream of found) if (!this.#runs.has(stream)) await this.#add(stream)
  }

  async #add(stream: string): Promise<void> {
    const names = runOfTodoStream(stream)
    try {
      const run = await this.#open(names)
      if (run !== null) this.#runs.set(stream, run)
    } catch (error) {
      // The run has been removed, or its coordinator has not created the consumer yet.
      if (!isNotFound(error)) throw error
    }
  }

  async #open(names: RunNames): Promise<Run | 'refused' | null> {
    const about = await aboutOf(this.#jetStream, names)
    if (about === null) return null
    const kind = this.#kinds.find(({ name }) => name === about.kind)
    if (about.version === this.#version && kind !== undefined) return Run.open(this.#jetStream, names, kind)
    this.#onEvent({ type: 'refused', run: names.name, version: about.version })
    return 'refused'
  }

  /** null: a job was there, and another worker has taken it. */
  async #takeFromAny(): Promise<TakenJob | 'nothing to do' | null> {
    const inProgress: Run[] = []
    for (const [stream, run] of [...this.#runs]) {
      if (run === 'refused' || run.isEnded) continue
      try {
        const { num_pending, num_ack_pending } = await persist(this.#jetStream, () => run.consumer.info())
        if (num_pending > 0) {
          // To the end of the list, so that all runs get their turn.
          this.#runs.delete(stream)
          this.#runs.set(stream, run)
          return await this.#takeFrom(run)
        }
        if (num_ack_pending > run.attempts.size) inProgress.push(run)
      } catch (error) {
        if (!isNotFound(error)) throw error
      }
    }
    // Their workers may be dead, and then their jobs are given to others.
    const [run] = inProgress
    if (run === undefined) return 'nothing to do'
    this.#runs.delete(run.names.todoStream)
    this.#runs.set(run.names.todoStream, run)
    return this.#takeFrom(run)
  }

  async #takeFrom(run: Run): Promise<TakenJob | null> {
    try {
      const message = await persist(this.#jetStream, () => run.consumer.next({ expires: takeMs }))
      return message === null ? null : { run, message }
    } catch (error) {
      if (isNotFound(error)) return null
      if (isSilence(error)) {
        await sleep(silenceMs)
        return null
      }
      throw error
    }
  }

  async #rest(woken: Promise<void>): Promise<void> {
    let alarm: NodeJS.Timeout | undefined
    await Promise.race([woken, new Promise<void>((resolve) => (alarm = setTimeout(resolve, pollMs)))])
    clearTimeout(alarm)
  }
}
