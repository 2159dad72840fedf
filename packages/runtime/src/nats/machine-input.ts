/** Whether messages of the broker, which anyone may send, are what a machine understands. */
import type { MachineCommands, MachineQuestion } from './machine-protocol.js'

const commands: Readonly<Record<keyof MachineCommands, true>> = {
  join: true,
  leave: true,
  ping: true,
  add: true,
  start: true,
  kill: true,
  halt: true,
  stop: true,
  closeDisks: true,
  setLocations: true,
  openHost: true,
  closeHost: true,
  name: true,
  forget: true,
  replaceDisk: true,
  dropDisk: true,
  memory: true,
  describe: true,
  arm: true,
  heal: true,
  noteStrikes: true,
  applyFault: true,
  healFault: true,
  watch: true,
}

export function isMachineCommand(name: string): boolean {
  return Object.hasOwn(commands, name)
}

/** The cluster's name becomes a part of subjects and of paths. */
export function isQuestion(value: unknown): value is MachineQuestion {
  if (typeof value !== 'object' || value === null) return false
  const { type, version, cluster, hostId, processId } = value as Record<string, unknown>
  if (type === 'facts') return true
  return (
    type === 'join' &&
    typeof version === 'string' &&
    typeof processId === 'string' &&
    typeof cluster === 'string' &&
    /^[\w-]+$/.test(cluster) &&
    Number.isSafeInteger(hostId)
  )
}
