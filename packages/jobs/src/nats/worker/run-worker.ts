/** Plays the jobs of all runs on the server, some at a time. */
import { hostname } from 'node:os'
import { connectNats, type NatsOptions } from '@shardlab/nats'
import { buildVersion } from '../../build-version.js'
import { JobThreads } from '../../threads/job-threads.js'
import type { JobKind } from '../../types.js'
import { openJetStream } from '../jet-stream.js'
import { partBytesOf } from '../parts.js'
import { playJob } from './play-job.js'
import { RunList } from './run-list.js'
import type { WorkerEvent } from './worker-event.js'

export interface WorkerOptions {
  readonly nats: NatsOptions
  /** Default: this build of Shardlab. */
  readonly version?: string
  readonly kinds: readonly JobKind<never, unknown>[]
  /** Jobs at a time. */
  readonly concurrency: number
  /** Aborted: takes no further job, and ends after those in progress. */
  readonly stop: AbortSignal
  /** Aborted: gives the jobs in progress to other workers, and ends. */
  readonly hurry: AbortSignal
  readonly onEvent: (event: WorkerEvent) => void
}

/** Resolves when stopped. @throws OptionError if the server cannot be used, or is gone */
export async function workJobs(options: WorkerOptions): Promise<void> {
  const { nats, version = buildVersion(), concurrency, stop, hurry, onEvent } = options
  const kinds = options.kinds as readonly JobKind<unknown, unknown>[]
  const link = await connectNats(nats, `shardlab worker on ${hostname()}`, (sentence) =>
    onEvent({ type: 'news', sentence }),
  )
  const threads = new Map(kinds.map((kind) => [kind.name, new JobThreads(kind, concurrency)]))
  const playing = new Set<Promise<void>>()
  let runs: RunList | null = null
  let failure: Error | null = null
  try {
    const partBytes = partBytesOf(link)
    const jetStream = await openJetStream(link)
    const list = new RunList(jetStream, version, kinds, onEvent)
    runs = list
    const fail = (error: unknown): void => {
      failure ??= error as Error
      list.stop()
    }
    stop.addEventListener('abort', () => list.stop(), { once: true })
    hurry.addEventListener('abort', () => list.cancel(), { once: true })
    link.onGone(fail)
    link.onGone(() => list.cancel())
    onEvent({ type: 'ready', address: link.address })
    for (;;) {
      while (playing.size >= concurrency) await Promise.race(playing)
      const taken = stop.aborted || failure !== null ? null : await list.take()
      if (taken === null) break
      const player = {
        ...{ jetStream, partBytes, onEvent },
        threads: threads.get(taken.run.kind.name)!,
        // Also a job that the server has given while the worker was being stopped.
        isReturning: () => stop.aborted || hurry.aborted,
      }
      const played: Promise<void> = playJob(player, taken.run, taken.message)
        .catch(fail)
        .finally(() => playing.delete(played))
      playing.add(played)
    }
    await Promise.all(playing)
    if (failure !== null) throw failure as Error
  } finally {
    runs?.end()
    await Promise.all([...threads.values()].map((each) => each.end()))
    if (link.error() === null) await link.connection.flush().catch(() => {})
    await link.close()
  }
}
