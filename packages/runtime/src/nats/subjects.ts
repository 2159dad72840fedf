/** The subjects of a cluster's messages. Hosts have numbers; that of the supervisor is 0. */
const root = 'shardlab'

/** Where a machine answers before it belongs to a cluster. */
export function machineSubject(machine: string): string {
  return `${root}.machine.${machine}`
}

/** A machine that starts tells it to clusters that may know its name. */
export const startedSubject = `${root}.machine-started`

export function packetSubject(cluster: string, to: number, from: number): string {
  return `${root}.cluster.${cluster}.${to}.packets.${from}`
}

/** Those of all hosts that send to this one. */
export function packetSubjects(cluster: string, to: number): string {
  return `${root}.cluster.${cluster}.${to}.packets.*`
}

export function senderOf(subject: string): number {
  return Number(subject.slice(subject.lastIndexOf('.') + 1))
}

/** Calls of the supervisor, for one host. */
export function callSubject(cluster: string, hostId: number): string {
  return `${root}.cluster.${cluster}.${hostId}.calls`
}

/** Answers and reports of one host, for the supervisor. */
export function reportSubject(cluster: string, hostId: number): string {
  return `${root}.cluster.${cluster}.${hostId}.reports`
}
