import { readdir, readFile } from 'node:fs/promises'

/**
 * Microseconds of CPU that all threads of a process have used, with the precision of the scheduler.
 * Null: this operating system does not say.
 */
export async function cpuUsOf(pid: number): Promise<number | null> {
  try {
    const threads = await readdir(`/proc/${pid}/task`)
    let ns = 0
    for (const thread of threads) {
      const text = await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0')
      ns += Number(text.split(' ', 1)[0])
    }
    return ns / 1000
  } catch {
    return null
  }
}
