import type { NodeHost } from '../host/node-host.js'

/** Parameter minSnapshotHistoryWindowInSeconds, also in versions that do not have it. */
export function snapshotWindowSeconds({ behaviours, parameters }: Pick<NodeHost, 'behaviours' | 'parameters'>): number {
  return behaviours.snapshotReads
    ? parameters.number('minSnapshotHistoryWindowInSeconds')
    : behaviours.snapshotHistoryWindowSeconds
}
