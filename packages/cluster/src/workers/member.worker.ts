/**
 * The program of a worker thread, bundled by `scripts/bundle.mjs`: hosts members, and evaluates
 * only the code of their roles.
 */
import { runWorkerHost } from '@shardlab/runtime'
import { lazyRoles } from '../roles.js'

export { loadRoles } from '../roles.js'

export function start(): void {
  runWorkerHost({ roles: lazyRoles })
}
