/** `shardlab worker` as a process of its own. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'

const program = fileURLToPath(new URL('../../../../packages/shardlab/bin/shardlab.js', import.meta.url))

export class WorkerProcess {
  readonly process: ChildProcess
  errors = ''

  private constructor(process: ChildProcess) {
    this.process = process
    process.stderr!.on('data', (text: Buffer) => (this.errors += text.toString()))
  }

  /** Resolves when the worker is ready. */
  static async start(t: Test, url: string, ...options: string[]): Promise<WorkerProcess> {
    const args = [program, 'worker', '--nats', url, '--concurrency', '1', ...options]
    const worker = new WorkerProcess(spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] }))
    t.teardown(() => worker.kill())
    const [text] = (await Promise.race([
      once(worker.process.stdout!, 'data'),
      worker.exit().then(() => [worker.errors]),
    ])) as [unknown]
    t.match(String(text), /^worker is ready for 1 jobs? at a time from nats:/)
    return worker
  }

  get isRunning(): boolean {
    return this.process.exitCode === null && this.process.signalCode === null
  }

  async exit(): Promise<number | null> {
    if (this.isRunning) await once(this.process, 'exit')
    return this.process.exitCode
  }

  async kill(): Promise<void> {
    this.process.kill('SIGKILL')
    await this.exit()
  }

  /** Resolves with the exit code. */
  interrupt(): Promise<number | null> {
    this.process.kill('SIGINT')
    return this.exit()
  }
}
