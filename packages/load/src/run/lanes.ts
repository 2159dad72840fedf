import { Worker } from 'node:worker_threads'
import { messageOf, OptionError } from '../option-error.js'
import type { GeneratorPool, LostGenerator } from '../types.js'
import { Lane, type LaneOptions, type LaneProgress, type LaneResult, type Segment } from './lane.js'
import { RemoteLane } from './remote-lane.js'
import type { LaneCall } from './serve-lane.js'

interface LaneHandle {
  run(segment: Segment): Promise<number>
  progress(): LaneProgress | Promise<LaneProgress>
  result(): LaneResult | Promise<LaneResult>
  stop(): void | Promise<void>
  close(): Promise<void>
}

export interface Generators {
  readonly pool: GeneratorPool
  /** Gets those that die. */
  readonly lost: LostGenerator[]
}

type Unnumbered<Call> = Call extends unknown ? Omit<Call, 'id'> : never

class ThreadLane implements LaneHandle {
  readonly #worker = new Worker(new URL('./lane.worker.js', import.meta.url))
  readonly #waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>()
  #calls = 0

  private constructor() {
    this.#worker.on('message', ({ id, value, error }: { id: number; value?: unknown; error?: string }) => {
      const waiting = this.#waiting.get(id)
      this.#waiting.delete(id)
      if (error === undefined) waiting?.resolve(value as never)
      else waiting?.reject(new Error(error))
    })
    this.#worker.on('error', (error) => this.#fail(error))
    this.#worker.on('exit', () => this.#fail(new Error('a load thread ended early')))
  }

  static async connect(options: LaneOptions): Promise<ThreadLane> {
    const lane = new ThreadLane()
    try {
      await lane.#call({ method: 'connect', options })
    } catch (error) {
      await lane.#worker.terminate()
      throw error
    }
    return lane
  }

  run(segment: Segment): Promise<number> {
    return this.#call({ method: 'run', segment })
  }

  progress(): Promise<LaneProgress> {
    return this.#call({ method: 'progress' })
  }

  result(): Promise<LaneResult> {
    return this.#call({ method: 'result' })
  }

  stop(): Promise<void> {
    return this.#call({ method: 'stop' })
  }

  async close(): Promise<void> {
    await this.#call({ method: 'close' })
    await this.#worker.terminate()
  }

  #call<Result>(call: Unnumbered<LaneCall>): Promise<Result> {
    const id = this.#calls++
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve, reject })
      this.#worker.postMessage({ ...call, id })
    })
  }

  #fail(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}

const headStartMs = 20
/** A message to a generator elsewhere takes longer. */
const remoteHeadStartMs = 500

export class Lanes {
  readonly #lanes: readonly LaneHandle[]
  /** All lanes start together after this delay. */
  readonly headStartMs: number

  private constructor(lanes: readonly LaneHandle[], headStartMs: number) {
    this.#lanes = lanes
    this.headStartMs = headStartMs
  }

  /**
   * @param threads 0: one lane in this thread
   * @param generators instead of threads of this process
   * @throws OptionError if a server that replied before refuses connections
   */
  static async connect(
    threads: number,
    options: Omit<LaneOptions, 'lane' | 'lanes'>,
    generators?: Generators,
  ): Promise<Lanes> {
    try {
      return await Lanes.#connect(threads, options, generators)
    } catch (error) {
      throw new OptionError(`the engine ${options.engine} cannot connect: ${messageOf(error)}`)
    }
  }

  static async #connect(
    threads: number,
    options: Omit<LaneOptions, 'lane' | 'lanes'>,
    generators?: Generators,
  ): Promise<Lanes> {
    const lanes = Math.max(1, threads)
    const optionsOf = (lane: number): LaneOptions => ({
      ...options,
      concurrency: Math.ceil(options.concurrency / lanes),
      lane,
      lanes,
    })
    if (threads === 0) return new Lanes([await Lane.connect(optionsOf(0))], headStartMs)
    const connect = (lane: number): Promise<LaneHandle> =>
      generators === undefined
        ? ThreadLane.connect(optionsOf(lane))
        : RemoteLane.connect(generators.pool, optionsOf(lane), generators.lost)
    const connecting = Array.from({ length: lanes }, (_, i) => connect(i))
    try {
      return new Lanes(await Promise.all(connecting), generators === undefined ? headStartMs : remoteHeadStartMs)
    } catch (error) {
      for (const lane of await Promise.allSettled(connecting)) if (lane.status === 'fulfilled') await lane.value.close()
      throw error
    }
  }

  /**
   * Resolves with one past the highest cycle that may have run.
   * @throws the error of a generator, if none is left
   */
  async run(segment: Segment): Promise<number> {
    const next = Math.max(...(await Promise.all(this.#lanes.map((lane) => lane.run(segment)))))
    this.#checkAlive()
    return next
  }

  async progress(): Promise<LaneProgress> {
    const all = await Promise.all(this.#lanes.map(async (lane) => lane.progress()))
    const p99s = all.flatMap(({ p99Us }) => (p99Us === null ? [] : [p99Us]))
    return {
      operations: all.reduce((sum, { operations }) => sum + operations, 0),
      errors: all.reduce((sum, { errors }) => sum + errors, 0),
      p99Us: p99s.length === 0 ? null : Math.max(...p99s),
    }
  }

  /** @throws the error of a generator, if none is left */
  async results(): Promise<LaneResult[]> {
    const results = await Promise.all(this.#lanes.map(async (lane) => lane.result()))
    this.#checkAlive()
    return results
  }

  #checkAlive(): void {
    const errors = this.#lanes.flatMap((lane) => (lane instanceof RemoteLane ? [lane.error] : []))
    if (errors.length === 0 || errors.includes(null)) return
    throw new OptionError(`no generator is left: ${messageOf(errors[0])}`)
  }

  async stop(): Promise<void> {
    await Promise.all(this.#lanes.map(async (lane) => lane.stop()))
  }

  async close(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.close()))
  }
}
