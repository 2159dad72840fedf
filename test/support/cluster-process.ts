import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { MemoryUsage } from 'shardlab'

/** A cluster on threads in a process of its own, so that its memory is not that of the clients. */
export class ClusterProcess implements AsyncDisposable {
  readonly uri: string
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, uri: string) {
    this.#child = child
    this.uri = uri
  }

  static async start(): Promise<ClusterProcess> {
    const child = fork(fileURLToPath(new URL('cluster-process-entry.js', import.meta.url)))
    const [uri] = (await once(child, 'message')) as [string]
    return new ClusterProcess(child, uri)
  }

  get pid(): number {
    return this.#child.pid!
  }

  async memory(): Promise<MemoryUsage> {
    const answer = once(this.#child, 'message')
    this.#child.send('memory')
    const [memory] = (await answer) as [MemoryUsage]
    return memory
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.disconnect()
    await ended
  }
}
