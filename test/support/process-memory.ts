import { readFileSync } from 'node:fs'

/** Linux only. */
export function residentBytes(processId: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${processId}/status`, 'latin1'))!
  return Number(kilobytes) * 1024
}
