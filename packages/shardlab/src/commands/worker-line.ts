/** What a worker does: on a terminal a line that changes. */
import { SingleBar } from 'cli-progress'
import { counted } from '@shardlab/quantities'
import type { WorkerEvent } from '@shardlab/jobs'

export interface WorkerLine {
  readonly show: (event: WorkerEvent) => void
  readonly print: (text: string) => void
  end(): void
}

export function workerLine(concurrency: number): WorkerLine {
  let running = 0
  let done = 0
  const bar = process.stderr.isTTY ? lineOnTerminal() : null
  const print = (text: string): void =>
    void process.stderr.write(`${bar === null ? '' : `\r${clearLine}`}shardlab: ${text}\n`)
  return {
    show(event) {
      if (event.type === 'ready') {
        process.stdout.write(`worker is ready for ${counted(concurrency, 'job')} at a time from ${event.address}\n`)
        bar?.start(1, 0, { running, done })
      } else if (event.type === 'refused') {
        print(
          `job ${event.run} needs Shardlab ${event.version}, and this worker has another version or build: start a worker of that version; this one leaves the job to others`,
        )
      } else if (event.type === 'news') print(event.sentence)
      else if (event.type === 'taken') running++
      else {
        running--
        if (event.how === 'stored') done++
      }
      bar?.update(0, { running, done })
    },
    print,
    end: () => bar?.stop(),
  }
}

const clearLine = '\u001B[K'

function lineOnTerminal(): SingleBar {
  return new SingleBar({
    format: '{running} in progress, {done} done',
    stream: process.stderr,
    clearOnComplete: true,
    hideCursor: true,
    linewrap: false,
  })
}
